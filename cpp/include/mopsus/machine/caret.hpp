// Machines for past-time formulas with calls: a program over bits, and a stack of saved bits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mopsus/machine/machine.hpp"

namespace mopsus {

struct CaretMachine final : Machine {
    enum class Role : std::uint8_t { None, Call, Begin, End, Return };
    enum class Op : std::uint8_t { Event, True, Not, And, Or, Xor, Previous, Since, Trigger, At };
    // What happens to the bit of a step at calls. Abstract: at the end of a call it is again what it was after its
    // beginning. Stack: it changes only where something is opened, and after the end of a call it is again what it was
    // before.
    enum class Memory : std::uint8_t { None, Plain, Abstract, Stack };

    struct Step {
        Op op = Op::True;
        Memory memory = Memory::None;
        bool initial = false;
        bool calls = false;   // of Stack: changes at calls
        bool begins = false;  // changes at begins
        std::uint32_t left = 0;
        std::uint32_t right = 0;
    };
    static constexpr std::uint16_t kUnheard = 0xFFFF;

    std::vector<Role> roles;  // of each event
    std::vector<Step> steps;  // the last one is the formula
    std::uint32_t deepest = 1;
    std::uint16_t validation = kUnheard;
    std::uint16_t violation = kUnheard;
    std::uint16_t exhausted = kUnheard;
    std::vector<Mask> alive;  // parameter sets that lead to a report
    bool restarts = false;    // someone may start an exhausted machine over

    void check(std::size_t events) const override;
    std::unique_ptr<Runner> runner(std::size_t events) const override;
};

}  // namespace mopsus
