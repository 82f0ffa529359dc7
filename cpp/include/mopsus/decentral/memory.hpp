// What was observed: inputs at timestamps, each true or false.
//
// Memories of several monitors are joined. Whatever the order, and however often the same memory comes, the result is
// the same; so messages may be late, out of order and doubled.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mopsus/decentral/automaton.hpp"

namespace mopsus::decentral {

using Time = std::uint64_t;

struct Atom {
    Time time;
    Input input;

    auto operator<=>(const Atom&) const = default;
};

// Instead of an input: the component observed nothing at that timestamp, so that what runs on it does not move; or
// it observed something that the monitor does not read.
constexpr Input kNothing = ~Input{0};
constexpr Input kSomething = kNothing - 1;

struct Observation {
    Atom atom;
    bool value;

    bool operator==(const Observation&) const = default;
};

class Memory {
public:
    // Should an atom have been observed both ways, which no sound system does, it is true.
    void add(Observation observation);
    std::optional<bool> get(Atom atom) const;
    void merge(const Memory& other);
    // Forget everything up to and including `time`; how many observations that were.
    std::size_t drop(Time time);
    void clear() { observations_.clear(); }

    bool empty() const { return observations_.empty(); }
    // By time and input.
    std::span<const Observation> observations() const { return observations_; }
    // Those later than `time`.
    std::span<const Observation> after(Time time) const;

    bool operator==(const Memory&) const = default;

private:
    // Almost everything is added at the end and dropped from the beginning.
    std::vector<Observation> observations_;
};

}  // namespace mopsus::decentral
