// Metric temporal formulas over the times of events.
//
// A formula is a list of operators over truth values. Each event is a point in time, at which every
// value is true or false. Past operators are evaluated at the point; whatever depends on the future
// follows behind, and its values come out in the order of the points.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mopsus/machine/machine.hpp"

namespace mopsus {

struct TimedMachine final : Machine {
    static constexpr std::uint64_t kForever = ~0ULL;

    // An interval: how long ago, or how far ahead.
    struct Bounds {
        std::uint64_t low = 0;
        std::uint64_t high = kForever;
        std::uint64_t width = kForever;  // high less low, before both were rounded inwards

        bool has(std::uint64_t distance) const { return low <= distance && distance <= high; }
    };
    // Of an instance's times: as the trace has them, or in nanoseconds because some are no integers.
    enum Scale : std::uint8_t { kUnits, kNanoseconds };

    enum class Kind : std::uint8_t { Not, And, Or, Xor, Previous, Since, Next, Until };
    struct Operator {
        Kind kind = Kind::Not;
        std::vector<std::uint32_t>
            operands;                    // values; of `since` and `until` the left one may be missing: it always holds
        std::array<Bounds, 2> bounds{};  // by scale
    };
    enum Verdict : std::uint8_t { kHolds, kFails, kUntimed, kDisordered };

    std::vector<std::vector<bool>> letters;                  // values that depend on the event alone, by event
    std::vector<Operator> operators;                         // values that follow the letters; operands come first
    std::uint32_t formula = 0;                               // the number of the value that is reported
    std::int64_t nanoseconds = 1'000'000'000;                // of the unit of the trace's times
    std::array<std::int32_t, 4> categories{-1, -1, -1, -1};  // by verdict; -1: not reported
    std::vector<Mask> alive;                                 // parameter sets that lead to a report

    void check(std::size_t events) const override;
    std::int64_t unit() const override { return nanoseconds; }
    std::unique_ptr<Runner> runner(std::size_t events) const override;
};

}  // namespace mopsus
