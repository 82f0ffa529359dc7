#include "mopsus/machine/table.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace mopsus {

void TableMachine::check(std::size_t events) const {
    const auto require = [](bool ok, const char* what) {
        if (!ok) throw std::invalid_argument(what);
    };
    const std::size_t cells = static_cast<std::size_t>(states) * events;
    require(states >= 1 && cells < kMoved, "machine too large");
    require(initial < states && next.size() == cells, "machine table has the wrong size");
    require(categories.size() == states && final.size() == states && alive.size() == states,
            "machine tables differ in size");
    for (const std::uint32_t to : next) require(to < states, "machine step outside of its states");
    require(after_report.empty() || after_report.size() == states, "machine tables differ in size");
    for (const std::uint32_t to : after_report) require(to < states, "machine reset outside of its states");
}

std::unique_ptr<const Table> TableMachine::table(std::size_t events) const {
    return std::make_unique<Table>(*this, events);
}

Table::Table(const TableMachine& machine, std::size_t events)
    : events_(static_cast<std::uint32_t>(events)),
      initial_(machine.initial * events_),
      cells_(machine.next.size()),
      outcome_of_(machine.next.size(), 0),
      outcomes_(1),
      alive_(machine.alive) {
    for (const std::uint32_t to : machine.after_report) after_report_.push_back(to * events_);
    std::map<std::pair<std::vector<std::uint16_t>, std::vector<bool>>, std::uint32_t> known;
    const auto has = [](const std::vector<std::uint16_t>& set, std::uint16_t item) {
        return std::find(set.begin(), set.end(), item) != set.end();
    };
    for (std::uint32_t state = 0; state < machine.states; ++state) {
        reported_.push_back(!machine.categories[state].empty());
        for (std::uint32_t event = 0; event < events_; ++event) {
            const std::size_t at = static_cast<std::size_t>(state) * events_ + event;
            const std::uint32_t to = machine.next[at];
            Outcome outcome;
            for (const std::uint16_t category : machine.categories[to]) {
                const bool final = has(machine.final[to], category);
                if (final && !machine.every && has(machine.final[state], category)) continue;  // said before
                outcome.categories.push_back(category);
                outcome.final.push_back(final);
            }
            const bool dies = machine.alive[to].empty() && !machine.alive[state].empty();
            if (!outcome.categories.empty()) {
                const auto [entry, fresh] = known.try_emplace({outcome.categories, outcome.final},
                                                              static_cast<std::uint32_t>(outcomes_.size()));
                if (fresh) outcomes_.push_back(outcome);
                outcome_of_[at] = entry->second;
            }
            cells_[at] = to * events_ | ((dies || !outcome.categories.empty()) ? kNotable : 0);
        }
    }
}

}  // namespace mopsus
