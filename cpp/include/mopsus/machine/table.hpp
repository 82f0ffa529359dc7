// Finite machines, laid out for stepping: one 32-bit cell per state and event.
#pragma once

#include <cstdint>
#include <vector>

#include "mopsus/machine/machine.hpp"

namespace mopsus {

// A complete table.
struct TableMachine final : Machine {
    std::uint32_t states = 1;
    std::uint32_t initial = 0;
    std::vector<std::uint32_t> next;                     // [state * events + event]
    std::vector<std::vector<std::uint16_t>> categories;  // of each state, those to be reported
    std::vector<std::vector<std::uint16_t>> final;       // of each state, those that stay for ever
    std::vector<std::vector<Mask>> alive;                // of each state, parameter sets that lead to a report
    bool every = false;                                  // is what stays reported again by every step?
    std::vector<std::uint32_t> after_report;  // of each state, where a reset by a handler leads; empty: to `initial`

    void check(std::size_t events) const override;
    std::unique_ptr<const Table> table(std::size_t events) const override;
};

class Table {
public:
    // A row is a state's number times the number of events, so that a step needs no multiplication.
    using Row = Word;

    Table(const TableMachine& machine, std::size_t events);

    // The row after the step, which may be notable.
    Word step(Row row, EventId event) const { return cells_[row + event]; }
    const Word* cells() const { return cells_.data(); }
    Row initial() const { return initial_; }
    std::size_t rows() const { return cells_.size(); }
    std::uint32_t events() const { return events_; }

    // What the step from `row` by `event` reports.
    const Outcome& outcome(Row row, EventId event) const { return outcomes_[outcome_of_[row + event]]; }
    // Is an instance here because of a report, or has it stayed where one is due?
    bool reported(Row row) const { return reported_[row / events_]; }
    bool alive(Row row, Mask dead) const { return any_free_of(alive_[row / events_], dead); }
    Row after_report(Row row) const { return after_report_.empty() ? initial_ : after_report_[row / events_]; }
    bool keeps_others() const { return !after_report_.empty(); }

private:
    std::uint32_t events_;
    Row initial_;
    std::vector<Word> cells_;
    std::vector<std::uint32_t> outcome_of_;
    std::vector<Outcome> outcomes_;
    std::vector<std::vector<Mask>> alive_;
    std::vector<bool> reported_;
    std::vector<Row> after_report_;
};

}  // namespace mopsus
