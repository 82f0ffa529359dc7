// What the agent wants of the kernel: it has no library that would ask for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mopsus::agent {

enum SystemCall : std::uint64_t {
    kRead = 0,
    kOpen = 2,
    kClose = 3,
    kMap = 9,
    kProtect = 10,
    kUnmap = 11,
    kYield = 24,
    kAdvise = 28,
    kSleep = 35,
    kProcess = 39,
    kReadMemory = 310
};

inline std::uint64_t system_call(SystemCall number, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0,
                                 std::uint64_t d = 0, std::uint64_t e = 0, std::uint64_t f = 0) {
    register std::uint64_t r10 asm("r10") = d;
    register std::uint64_t r8 asm("r8") = e;
    register std::uint64_t r9 asm("r9") = f;
    std::uint64_t result;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}

std::uint64_t this_process();

// False: some of that is no memory of ours.
bool read_memory(std::uint64_t address, void* to, std::uint64_t length);

// Less if a signal comes.
void sleep_a_millisecond();

// Is there a debugger?
bool is_traced();

// Addresses of new memory, 0 if there is none: shared with a file; for code, at this address; that will hold zeros in
// copies of the process.
std::uint64_t map_file(const char* file, std::uint64_t length);
std::uint64_t map_code(std::uint64_t address, std::uint64_t length);
std::uint64_t map_unless_copied();

// The first bytes of a function are again what they were, if they are those of the jump now; others may be running it.
void put_back(std::uint64_t entry, const std::uint8_t* jump, const std::uint8_t* original);

}  // namespace mopsus::agent
