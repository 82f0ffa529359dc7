#include "mopsus/engine/archive.hpp"
#include "mopsus/engine/property.hpp"

namespace mopsus {

std::unique_ptr<const Table> Machine::table(std::size_t /*events*/) const { return nullptr; }

Explanation Runner::explanation() { return {}; }

Property::Property(const Machine& machine, std::size_t events)
    : table_(machine.table(events)), runner_(machine.runner(events)) {}

// The state of a table is written as its number.
Word Property::transfer(Archive& archive, Word state) const {
    if (runner_) {
        runner_->transfer(archive, state);
        return state;
    }
    const std::uint32_t events = table_->events();
    return static_cast<Word>(archive.number(state / events, 0, table_->rows() / events - 1)) * events;
}

}  // namespace mopsus
