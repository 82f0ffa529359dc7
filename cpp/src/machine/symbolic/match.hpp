// Does an event fit a modality? Patterns fill slots, guards read them.
#pragma once

#include <vector>

#include "mopsus/engine/origin.hpp"
#include "mopsus/machine/symbolic.hpp"
#include "guard.hpp"

namespace mopsus {

class Matcher {
public:
    using Number = SymbolicMachine::Number;

    explicit Matcher(const SymbolicMachine& machine);

    // From now on it is about this event.
    void begin(EventId letter, Origin& origin) {
        letter_ = letter;
        origin_ = &origin;
        data_ = origin.data();
        arena_ = data_.arena != nullptr ? data_.arena : &own_;
        if (arena_ == &own_) own_.clear();
    }
    // Do the patterns of a node that waits for this letter fit, and does its guard hold? Fills the slots of the
    // patterns.
    bool fits(Number node);
    // Only fills the slots, from data that did fit.
    void bind(Number node, EventId letter, Term* fields, std::size_t count, Arena& arena);
    const std::vector<Number>& binds(Number node) const { return nodes_[node].binds; }

    std::vector<Term>& slots() { return slots_; }
    const EventData& data() const { return data_; }
    Arena& arena() { return *arena_; }

private:
    using Kind = SymbolicMachine::Pattern::Kind;
    // Patterns lie in one row, the parts of each beside each other.
    struct Cell {
        Kind kind = Kind::Any;
        bool rest = false;
        std::uint32_t count = 0;
        std::uint32_t at = 0;  // the slot, or the first part
        Term value;
    };
    struct Entry {
        std::uint32_t first = 0;  // cells
        std::uint32_t count = 0;
        bool whole = false;
        bool guarded = false;
        std::vector<Number> binds;
    };

    void lay_out(const SymbolicMachine& machine, Number pattern, std::size_t cell, std::vector<Number>& binds);
    bool fits(const Cell& cell, Term& place);
    bool fits_parts(const Cell& cell, Term* items, std::size_t count);
    bool fits_list(const Cell& cell, Term& place);
    bool fits_map(const Cell& cell, Term& place);
    bool fits_patterns(const Entry& entry);
    Term shaped(const SymbolicMachine::Shape& shape);

    const SymbolicMachine& machine_;
    std::vector<Cell> cells_;
    std::vector<Entry> nodes_;
    std::vector<Term> slots_;
    Guards guards_;
    EventId letter_ = 0;
    Origin* origin_ = nullptr;
    EventData data_;
    Arena own_;  // for events without data
    Arena* arena_ = &own_;
    bool lenient_ = false;  // only bind
};

}  // namespace mopsus
