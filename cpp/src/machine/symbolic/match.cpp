#include "match.hpp"

namespace mopsus {

Matcher::Matcher(const SymbolicMachine& machine)
    : machine_(machine), nodes_(machine.nodes.size()), slots_(machine.slots), guards_(machine, slots_) {
    using Node = SymbolicMachine::Node;
    for (std::size_t k = 0; k < machine.nodes.size(); ++k) {
        const Node& node = machine.nodes[k];
        if (node.kind != Node::Kind::Modality && node.kind != Node::Kind::Selection) continue;
        Entry& entry = nodes_[k];
        entry.first = static_cast<std::uint32_t>(cells_.size());
        entry.count = static_cast<std::uint32_t>(node.parts.size());
        entry.whole = node.whole;
        entry.guarded = !node.guard.empty();
        cells_.resize(cells_.size() + node.parts.size());
        for (std::size_t n = 0; n < node.parts.size(); ++n)
            lay_out(machine, node.parts[n], entry.first + n, entry.binds);
    }
}

void Matcher::lay_out(const SymbolicMachine& machine, Number pattern, std::size_t cell, std::vector<Number>& binds) {
    const SymbolicMachine::Pattern& source = machine.patterns[pattern];
    Cell made;
    made.kind = source.kind;
    made.rest = source.rest;
    made.count = static_cast<std::uint32_t>(source.parts.size());
    made.value = source.value;
    made.at = source.slot;
    if (source.kind == Kind::Bind) binds.push_back(source.slot);
    if (!source.parts.empty()) {
        made.at = static_cast<std::uint32_t>(cells_.size());
        cells_.resize(cells_.size() + source.parts.size());
        for (std::size_t n = 0; n < source.parts.size(); ++n) lay_out(machine, source.parts[n], made.at + n, binds);
    }
    cells_[cell] = made;
}

bool Matcher::fits(Number node) {
    const Entry& entry = nodes_[node];
    return fits_patterns(entry) && (!entry.guarded || guards_.holds(node, *arena_, letter_, *origin_));
}

void Matcher::bind(Number node, EventId letter, Term* fields, std::size_t count, Arena& arena) {
    letter_ = letter;
    data_ = {fields, count, &arena};
    arena_ = &arena;
    lenient_ = true;
    fits_patterns(nodes_[node]);
    lenient_ = false;
}

bool Matcher::fits_patterns(const Entry& entry) {
    if (!entry.whole) {
        for (std::uint32_t k = 0; k < entry.count; ++k) {
            const Cell& cell = cells_[entry.first + k];
            if (cell.kind == Kind::Any) continue;
            if (k >= data_.count || !fits(cell, data_.fields[k])) return false;
        }
        return true;
    }
    Term event = shaped(machine_.shapes[letter_]);
    return fits(cells_[entry.first], event);
}

Term Matcher::shaped(const SymbolicMachine::Shape& shape) {
    if (!shape.value.is_nothing()) return shape.value;
    if (shape.field >= 0)
        return static_cast<std::size_t>(shape.field) < data_.count ? data_.fields[shape.field] : Term();
    Term* items = arena_->terms(shape.parts.size());
    for (std::size_t k = 0; k < shape.parts.size(); ++k) items[k] = shaped(shape.parts[k]);
    return arena_->tuple(items, shape.parts.size());
}

bool Matcher::fits(const Cell& cell, Term& place) {
    switch (cell.kind) {
        case Kind::Any: return true;
        case Kind::Bind: slots_[cell.at] = place; return !place.is_nothing();
        case Kind::Same: return lenient_ || exactly_equal(slots_[cell.at], place, *arena_);
        case Kind::Literal: return lenient_ || exactly_equal(place, cell.value, *arena_);
        case Kind::Tuple: {
            const Term term = opened(place, *arena_);
            if (!term.is_boxed() || term.box().type != TermType::Tuple || term.box().size != cell.count) return false;
            if (!cell.value.is_nothing() && (term.tag().is_nothing() || term.tag().bytes() != cell.value.bytes()))
                return false;
            return fits_parts(cell, term.box().items, cell.count);
        }
        case Kind::List: return fits_list(cell, place);
        case Kind::Map: return fits_map(cell, place);
    }
    return false;
}

bool Matcher::fits_parts(const Cell& cell, Term* items, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k)
        if (!fits(cells_[cell.at + k], items[k])) return false;
    return true;
}

bool Matcher::fits_list(const Cell& cell, Term& place) {
    const Term term = opened(place, *arena_);
    if (term.type() != TermType::List) return false;
    const std::size_t fixed = cell.count - (cell.rest ? 1 : 0);
    if (cell.rest ? term.size() < fixed : term.size() != fixed) return false;
    if (!fits_parts(cell, term.items(), fixed)) return false;
    if (!cell.rest) return true;
    Term rest = arena_->list(term.items() + fixed, term.size() - fixed);
    return fits(cells_[cell.at + fixed], rest);
}

bool Matcher::fits_map(const Cell& cell, Term& place) {
    const Term term = opened(place, *arena_);
    if (term.type() != TermType::Map) return false;
    for (std::uint32_t k = 0; k < cell.count; k += 2) {
        const Term key = cells_[cell.at + k].value;
        Term* found = nullptr;
        for (std::size_t n = 0; n < term.size() && found == nullptr; ++n)
            if (exactly_equal(term.items()[2 * n], key, *arena_)) found = term.items() + 2 * n + 1;
        if (found == nullptr || !fits(cells_[cell.at + k + 1], *found)) return false;
    }
    return true;
}

}  // namespace mopsus
