// A property of an engine: its machine, made ready. Stepping a table is inlined: it is what most properties do.
#pragma once

#include <memory>

#include "mopsus/machine/machine.hpp"
#include "mopsus/machine/table.hpp"

namespace mopsus {

class Property {
public:
    Property(const Machine& machine, std::size_t events);

    const Table* table() const { return table_.get(); }
    Word begin() const { return table_ ? table_->initial() : runner_->begin(); }
    Word copy(Word state) const { return runner_ ? runner_->copy(state) : state; }
    void end(Word state) const {
        if (runner_) runner_->end(state);
    }
    // The state after a reset: the initial one, or if only what was `reported` is to end, the one without that.
    Word reset(Word state, bool reported) const {
        if (reported) return table_ ? table_->after_report(state) : runner_->after_report(state);
        end(state);
        return begin();
    }
    // Does such a reset leave something of the past?
    bool keeps_others() const { return table_ ? table_->keeps_others() : runner_->keeps_others(); }
    Word step(Word state, EventId event, Origin& origin) const {
        return table_ ? table_->step(state, event) : runner_->step(state, event, origin);
    }
    // What the last step reports, which was from `before` by `event`.
    const Outcome& outcome(Word before, EventId event) const {
        return table_ ? table_->outcome(before, event) : runner_->outcome();
    }
    bool alive(Word state, Mask dead) const {
        return table_ ? table_->alive(state, dead) : runner_->alive(state, dead);
    }
    std::optional<bool> holds(Word state) const { return runner_ ? runner_->holds(state) : std::nullopt; }
    Word transfer(Archive& archive, Word state) const;
    std::size_t bytes() const { return runner_ ? runner_->bytes() : 0; }
    void explain() const {
        if (runner_) runner_->explain();
    }
    // How the last step came to what it reports.
    Explanation explanation() const { return runner_ ? runner_->explanation() : Explanation(); }
    std::size_t largest() const { return runner_ ? runner_->largest() : 0; }

private:
    std::unique_ptr<const Table> table_;
    std::unique_ptr<Runner> runner_;
};

}  // namespace mopsus
