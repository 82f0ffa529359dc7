// A machine laid out for stepping: one 32-bit cell per state and event.
#pragma once

#include <cstdint>
#include <vector>

#include "mopsus/program.hpp"

namespace mopsus {

class Table {
public:
    // A row is a state's number times the number of events, so that a step needs no multiplication.
    using Row = std::uint32_t;
    static constexpr std::uint32_t kNotable = 1U << 31;  // the step reports, or the state is useless afterwards

    struct Outcome {
        std::vector<std::uint16_t> categories;
        std::vector<bool> final;
    };

    Table(const Machine& machine, std::size_t events);

    std::uint32_t step(Row row, EventId event) const { return cells_[row + event]; }
    const std::uint32_t* cells() const { return cells_.data(); }
    static Row row_of(std::uint32_t cell) { return cell & ~kNotable; }
    Row initial() const { return initial_; }
    std::size_t rows() const { return cells_.size(); }
    std::uint32_t events() const { return events_; }

    // What the step from `row` by `event` reports.
    const Outcome& outcome(Row row, EventId event) const { return outcomes_[outcome_of_[row + event]]; }
    // Can a state still lead to a report when the parameters in `dead` never occur again?
    bool alive(Row row, Mask dead) const {
        for (const Mask need : alive_[row / events_])
            if ((need & dead) == 0) return true;
        return false;
    }

private:
    std::uint32_t events_;
    Row initial_;
    std::vector<std::uint32_t> cells_;
    std::vector<std::uint32_t> outcome_of_;
    std::vector<Outcome> outcomes_;
    std::vector<std::vector<Mask>> alive_;
};

}  // namespace mopsus
