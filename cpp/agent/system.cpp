#include "system.hpp"

namespace mopsus::agent {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kLine = 64;  // of the processor's cache: what lies within one is read and written at once
constexpr std::uint64_t kJump = 5;   // bytes of a hook
constexpr std::uint64_t kReadable = 1;
constexpr std::uint64_t kWritable = 2;
constexpr std::uint64_t kExecutable = 4;
constexpr std::uint64_t kShared = 1;
constexpr std::uint64_t kPrivate = 0x22;  // and of no file
constexpr std::uint64_t kNoFile = ~std::uint64_t{0};

bool failed(std::uint64_t result) { return result > ~std::uint64_t{4095}; }

std::uint64_t word(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

}  // namespace

std::uint64_t this_process() { return system_call(kProcess); }

bool read_memory(std::uint64_t address, void* to, std::uint64_t length) {
    const std::uint64_t local[2] = {word(to), length};
    const std::uint64_t remote[2] = {address, length};
    return system_call(kReadMemory, this_process(), word(local), 1, word(remote), 1) == length;
}

void sleep_a_millisecond() {
    const std::uint64_t time[2] = {0, 1'000'000};
    system_call(kSleep, word(time));
}

bool is_traced() {
    char text[1024];
    const std::uint64_t file = system_call(kOpen, word("/proc/self/status"));
    if (failed(file)) return false;
    const std::uint64_t length = system_call(kRead, file, word(text), sizeof text);
    system_call(kClose, file);
    constexpr char label[] = "TracerPid:\t";
    constexpr std::uint64_t size = sizeof label - 1;
    for (std::uint64_t at = 0; at + size < length && length <= sizeof text; ++at) {
        std::uint64_t same = 0;
        while (same < size && text[at + same] == label[same]) ++same;
        if (same == size) return text[at + size] != '0';
    }
    return false;
}

std::uint64_t map_file(const char* file, std::uint64_t length) {
    constexpr std::uint64_t kReadWrite = 2;
    constexpr std::uint64_t kNotDumped = 16;
    const std::uint64_t opened = system_call(kOpen, word(file), kReadWrite);
    if (failed(opened)) return 0;
    const std::uint64_t address = system_call(kMap, 0, length, kReadable | kWritable, kShared, opened);
    system_call(kClose, opened);
    if (failed(address)) return 0;
    system_call(kAdvise, address, length, kNotDumped);
    return address;
}

std::uint64_t map_code(std::uint64_t address, std::uint64_t length) {
    constexpr std::uint64_t kFixedNoReplace = 0x100000;
    const std::uint64_t got =
        system_call(kMap, address, length, kReadable | kExecutable, kPrivate | kFixedNoReplace, kNoFile);
    if (got == address) return got;
    if (!failed(got)) system_call(kUnmap, got, length);  // an old kernel takes the address for a wish
    return 0;
}

std::uint64_t map_unless_copied() {
    constexpr std::uint64_t kWipeOnFork = 18;
    const std::uint64_t page = system_call(kMap, 0, kPage, kReadable | kWritable, kPrivate, kNoFile);
    if (failed(page)) return 0;
    return failed(system_call(kAdvise, page, kPage, kWipeOnFork)) ? 0 : page;
}

void put_back(std::uint64_t entry, const std::uint8_t* jump, const std::uint8_t* original) {
    std::uint8_t now[kJump];
    if (!read_memory(entry, now, kJump)) return;
    for (std::uint64_t k = 0; k < kJump; ++k) {
        if (now[k] != jump[k]) return;
    }
    const std::uint64_t page = entry & ~(kPage - 1);
    const std::uint64_t length = entry + kJump - page;
    if (failed(system_call(kProtect, page, length, kReadable | kWritable | kExecutable))) return;
    auto* code = reinterpret_cast<volatile std::uint8_t*>(entry);
    const std::uint64_t column = entry % kLine;
    if (column + sizeof(std::uint64_t) <= kLine) {
        std::uint64_t all = 0;
        for (std::uint64_t k = sizeof all; k-- > 0;) all = all << 8 | (k < kJump ? original[k] : code[k]);
        asm volatile("movq %1, (%0)" : : "r"(entry), "r"(all) : "memory");
    } else if (column + 2 <= kLine) {
        // Whoever comes by meanwhile waits: it jumps to where it is.
        asm volatile("movw %1, (%0)" : : "r"(entry), "r"(std::uint16_t{0xFEEB}) : "memory");
        for (std::uint64_t k = 2; k < kJump; ++k) code[k] = original[k];
        const auto two = static_cast<std::uint16_t>(original[1] << 8 | original[0]);
        asm volatile("movw %1, (%0)" : : "r"(entry), "r"(two) : "memory");
    }  // otherwise nothing that is seen at once stands for a beginning: the hook stays, and does nothing
    system_call(kProtect, page, length, kReadable | kExecutable);
}

}  // namespace mopsus::agent
