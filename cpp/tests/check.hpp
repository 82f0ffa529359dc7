// A test is a function; the runner calls all of them and counts.
#pragma once

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mopsus::test {

struct Test {
    const char* name;
    std::function<void()> run;
};

inline std::vector<Test>& all() {
    static std::vector<Test> tests;
    return tests;
}

struct Register {
    Register(const char* name, std::function<void()> run) { all().push_back({name, std::move(run)}); }
};

inline void require(bool ok, const char* text, const char* file, int line) {
    if (!ok) throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": not so: " + text);
}

}  // namespace mopsus::test

#define TEST(name)                                                    \
    static void name();                                               \
    static const mopsus::test::Register register_##name{#name, name}; \
    static void name()
#define REQUIRE(condition) mopsus::test::require((condition), #condition, __FILE__, __LINE__)
