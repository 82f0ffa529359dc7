#include "check.hpp"

int main() {
    int failed = 0;
    for (const auto& test : mopsus::test::all()) {
        try {
            test.run();
        } catch (const std::exception& error) {
            ++failed;
            std::printf("FAILED %s: %s\n", test.name, error.what());
        }
    }
    std::printf("core: %d passed, %d failed\n", static_cast<int>(mopsus::test::all().size()) - failed, failed);
    return failed == 0 ? 0 : 1;
}
