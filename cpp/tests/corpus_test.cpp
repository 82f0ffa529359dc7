// What the fuzzer has found, and what it begins with, without a fuzzer. A target ends the process if anything is wrong.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "check.hpp"
#include "support/target.hpp"

namespace mopsus {

namespace {

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST(every_file_of_the_corpora_is_harmless) {
    REQUIRE(!fuzz::targets().empty());
    for (const fuzz::Target& target : fuzz::targets()) {
        std::size_t count = 0;
        for (const auto& entry :
             std::filesystem::directory_iterator(std::filesystem::path(MOPSUS_CORPUS) / target.name)) {
            const std::vector<std::uint8_t> bytes = bytes_of(entry.path());
            target.one(bytes.data(), bytes.size());
            ++count;
        }
        REQUIRE(count != 0);
    }
}

}  // namespace mopsus
