// What is counted in a run.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "mopsus/decentral/network.hpp"

namespace mopsus::decentral {

// A sum of numbers, how many there were, and the largest.
struct Spread {
    std::uint64_t sum = 0;
    std::uint64_t count = 0;
    std::uint64_t most = 0;

    void add(std::uint64_t value) {
        sum += value;
        ++count;
        if (value > most) most = value;
    }
};

// Work of one sort: all of it; of each round, what the busiest monitor did; the most that one did in a round; and how
// unevenly components shared it, summed over rounds (0: all did the same).
struct Load {
    std::uint64_t total = 0;
    std::uint64_t critical = 0;
    std::uint64_t most = 0;
    double imbalance = 0;
};

// Adds up a load round by round.
class LoadCounter {
public:
    explicit LoadCounter(std::size_t components) : by_component_(components) {}

    // What one monitor did in its turn.
    void add(Component component, std::uint64_t amount) {
        if (amount == 0) return;
        if (by_component_[component] == 0) touched_.push_back(component);
        by_component_[component] += amount;
        sum_ += amount;
        busiest_ = std::max(busiest_, amount);
    }

    void end_round() {
        if (sum_ == 0) return;
        load_.total += sum_;
        load_.critical += busiest_;
        load_.most = std::max(load_.most, busiest_);
        // Shares of all components add up to 1, so the squares of their distances from an even share come out as this.
        double squares = 0;
        for (const Component each : touched_) {
            const double share = static_cast<double>(by_component_[each]) / static_cast<double>(sum_);
            squares += share * share;
            by_component_[each] = 0;
        }
        load_.imbalance += squares - 1 / static_cast<double>(by_component_.size());
        touched_.clear();
        sum_ = busiest_ = 0;
    }

    const Load& load() const { return load_; }

private:
    std::vector<std::uint64_t> by_component_;
    std::vector<Component> touched_;
    std::uint64_t sum_ = 0;
    std::uint64_t busiest_ = 0;
    Load load_;
};

struct Measures {
    std::uint64_t messages = 0;
    std::array<std::uint64_t, std::variant_size_v<Content>> messages_by_kind{};
    std::uint64_t data = 0;
    std::uint64_t bytes = 0;
    // Timestamps that verdicts told were about.
    std::uint64_t answers = 0;
    // Observations given to monitors, and turns that monitors took.
    std::uint64_t observations = 0;
    std::uint64_t turns = 0;
    // How late states became known: in timestamps since the one known before; in timestamps that a turn made
    // superfluous; in rounds since their timestamp.
    Spread gap;
    Spread batch;
    Spread age;
    Load simplifications;
    Load evaluations;
    std::uint64_t longest = 0;
    Network::Counters network;
};

}  // namespace mopsus::decentral
