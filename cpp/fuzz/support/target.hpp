// A target of the fuzzer: a function of bytes, which ends the process if anything is wrong. Built with libFuzzer each
// is a program; built without, all of them are in a list, so that the tests can go through what was found before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace mopsus::fuzz {

struct Target {
    const char* name;
    void (*one)(const std::uint8_t*, std::size_t);
};

inline std::vector<Target>& targets() {
    static std::vector<Target> all;
    return all;
}

struct Register {
    Register(const char* name, void (*one)(const std::uint8_t*, std::size_t)) { targets().push_back({name, one}); }
};

[[noreturn]] inline void fail(const char* what, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    std::abort();
}

}  // namespace mopsus::fuzz

#define EXPECT(condition) \
    if (!(condition)) mopsus::fuzz::fail(#condition, __FILE__, __LINE__)

// The name is that of the file and of the folder of its corpus.
#ifdef MOPSUS_FUZZER
#define FUZZ_TARGET(name)                                                               \
    static void name(const std::uint8_t* data, std::size_t size);                       \
    extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
        name(data, size);                                                               \
        return 0;                                                                       \
    }                                                                                   \
    static void name(const std::uint8_t* data, std::size_t size)
#else
#define FUZZ_TARGET(name)                                         \
    static void name(const std::uint8_t* data, std::size_t size); \
    static const mopsus::fuzz::Register registered{#name, name};  \
    static void name(const std::uint8_t* data, std::size_t size)
#endif
