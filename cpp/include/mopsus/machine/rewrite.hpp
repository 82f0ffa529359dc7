// Machines that hold a string and rewrite it after every event.
//
// Left sides of rules are found by a complete automaton over symbols. A string is kept as the states
// that the automaton goes through along it: that is all that later rewriting depends on, and taking
// symbols from the end of a string takes the automaton back to where it was.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "mopsus/machine/machine.hpp"

namespace mopsus {

struct RewriteMachine final : Machine {
    // How a machine ends. The first two are decided by rules.
    enum Ending : std::uint8_t { kSucceed, kFail, kExhausted, kEndings };
    static constexpr std::uint8_t kRunning = kEndings;
    static constexpr std::uint16_t kUnheard = 0xFFFF;

    struct Rule {
        std::uint32_t taken = 0;           // symbols that go away, without `^` and `$`
        std::vector<std::uint16_t> right;  // symbols that come instead
        std::uint8_t ending = kRunning;    // what is decided instead
        bool at_end = false;               // the left side ends with `$`
    };

    std::uint32_t symbols = 2;           // events first; the last two are `^` and `$`
    std::vector<std::uint32_t> moves;    // [state * symbols + symbol]; state 0 has read nothing
    std::vector<std::uint32_t> matches;  // of each state: 1 + the rule whose left side ends there, or 0
    std::vector<Rule> rules;
    std::uint32_t budget = 1;   // rewriting steps for one event
    std::uint32_t longest = 1;  // symbols of a string
    std::array<std::uint16_t, kEndings> categories{kUnheard, kUnheard, kUnheard};
    std::vector<Mask> alive;                // parameter sets that lead to a report
    std::array<bool, kEndings> restarts{};  // of each ending: someone may start the machine over

    std::uint32_t states() const { return static_cast<std::uint32_t>(matches.size()); }
    std::uint16_t start() const { return static_cast<std::uint16_t>(symbols - 2); }
    std::uint16_t end() const { return static_cast<std::uint16_t>(symbols - 1); }

    void check(std::size_t events) const override;
    std::unique_ptr<Runner> runner(std::size_t events) const override;

    // Rewrite in passes from the head of the string, instead of applying the match that completes first.
    bool scanning = false;
};

}  // namespace mopsus
