// The state of the slicing engine as plain data, and back.
#include "mopsus/archive.hpp"
#include "slicing.hpp"
#include "transfer.hpp"

namespace mopsus {

void SlicingEngine::transfer_classes(Archive& archive) {
    // Written as (parameter, slot number in order, class number): the classes are joined again.
    std::vector<std::pair<unsigned, Slot>> nodes;
    for (unsigned p = 0; p < program_.parameters; ++p)
        for (Slot slot = 1; slot <= domains_[p]->last(); ++slot)
            if (domains_[p]->kind(slot) != KeyKind::None) nodes.emplace_back(p, slot);
    std::vector<std::pair<std::uint64_t, Classes::Node>> firsts;
    for (const auto& [p, slot] : nodes) {
        std::uint32_t& node = domains_[p]->extra(slot)[leaves_[singles_[p]]->node];
        const std::uint64_t group = archive.number(!archive.reading() && node != kNil ? classes_.find(node) : 0, 0, 0xFFFFFFFF);
        if (!archive.reading() || group == 0) continue;
        node = classes_.enter(domains_[p]->key(slot));
        bool first = true;
        for (const auto& [known, other] : firsts)
            if (known == group) {
                classes_.join(other, node);
                first = false;
                break;
            }
        if (first) firsts.emplace_back(group, node);
    }
}

void SlicingEngine::transfer(Archive& archive) {
    std::vector<std::vector<Slot>> slots;
    for (auto& domain : domains_) slots.push_back(transfer_domain(archive, *domain, [](Slot) { return true; }));
    if (!archive.reading())  // from here on, slots are written by their place in that order
        for (std::size_t p = 0; p < slots.size(); ++p) {
            std::vector<Slot> place(domains_[p]->last() + 1, 0);
            for (std::size_t k = 0; k < slots[p].size(); ++k) place[slots[p][k]] = static_cast<Slot>(k + 1);
            slots[p] = std::move(place);
        }
    const auto transfer_values = [&](const std::vector<std::uint8_t>& parameters, Values values) {
        for (const std::uint8_t p : parameters) {
            if (!archive.reading()) {
                archive.number(slots[p][values[p]]);
            } else {
                values[p] = slots[p][archive.number(0, 1, slots[p].size()) - 1];
            }
        }
        return values;
    };
    archive.field(clock_, 1);
    for (unsigned k = 0; k < instances_.size(); ++k) {
        InstanceKind& kind = instances_[k];
        std::vector<Id> ids;
        for (Id id = 1; !archive.reading() && id <= kind.pool.last(); ++id)
            if ((kind.pool.at(id)[kind.flags] & kPresent) != 0) ids.push_back(id);
        const std::uint64_t count = archive.number(ids.size(), 0, 0xFFFFFFF0);
        for (std::uint64_t n = 0; n < count; ++n) {
            const bool reading = archive.reading();
            const Values values = transfer_values(kind.parameters, reading ? Values{} : values_of(k, ids[n]));
            const std::uint64_t birth = archive.number(reading ? 0 : birth_of(kind, record(k, ids[n])), 0, clock_);
            if (reading) {
                const LeafKind& own = *leaves_[kind.leaf_kind];
                const Id known = find_leaf(own, values);
                if (known != kNil && exact_of(own, leaf_at(own, known)) != kNone) throw BadSnapshot("an instance stands twice in the snapshot");
            }
            const Id id = reading ? add_instance(k, values, birth) : ids[n];
            std::uint32_t* at = record(k, id);
            for (std::size_t p = 0; p < properties_.size(); ++p) {
                if (reading) at[kind.states + p] = properties_[p].begin();
                at[kind.states + p] = properties_[p].transfer(archive, at[kind.states + p]);
            }
            const std::uint64_t mourning = archive.number(at[kind.flags] & kMourning, 0, kMourning);
            if (reading) at[kind.flags] |= static_cast<std::uint32_t>(mourning) & kMourning;
            if (history_.on()) at[kind.past] = transfer_history(archive, history_, at[kind.past], program_.events.size());
            if (program_.variables)
                Domain::store64(at + kind.user, transfer_user(archive, listener_, Domain::load64(at + kind.user)));
        }
    }
    for (auto& owned : leaves_) {
        LeafKind& kind = *owned;
        std::vector<std::pair<Id, Values>> leaves;
        if (!archive.reading()) {
            if (kind.single()) {
                const std::uint8_t p = kind.parameters[0];
                for (Slot slot = 1; slot <= domains_[p]->last(); ++slot)
                    if (domains_[p]->kind(slot) != KeyKind::None) {
                        Values values{};
                        values[p] = slot;
                        leaves.emplace_back(slot, values);
                    }
            } else if (kind.mask == 0) {
                leaves.emplace_back(1, Values{});
            } else {
                for (Id id = 1; id <= kind.pool.last(); ++id) {
                    Values values{};
                    for (std::size_t k = 0; k < kind.parameters.size(); ++k) values[kind.parameters[k]] = kind.pool.at(id)[kind.key + k];
                    bool valid = true;
                    for (const std::uint8_t p : kind.parameters)
                        valid = valid && values[p] != kNil && values[p] <= domains_[p]->last() && domains_[p]->kind(values[p]) != KeyKind::None;
                    if (valid && find_leaf(kind, values) == id) leaves.emplace_back(id, values);
                }
            }
        }
        const std::uint64_t count = archive.number(leaves.size(), 0, 0xFFFFFFF0);
        for (std::uint64_t n = 0; n < count; ++n) {
            const Values values = transfer_values(kind.parameters, archive.reading() ? Values{} : leaves[n].second);
            std::uint32_t* leaf = leaf_at(kind, archive.reading() ? make_leaf(kind, values) : leaves[n].first);
            if (kind.own >= 0) {
                const std::uint64_t done = archive.number(leaf[kind.exact] == kDone, 0, 1);
                if (archive.reading() && done == 1) {
                    if (leaf[kind.exact] != kNone) throw BadSnapshot("an instance of the snapshot is both there and gone");
                    leaf[kind.exact] = kDone;
                }
                Domain::store64(leaf + kind.exact + 1, archive.number(Domain::load64(leaf + kind.exact + 1), 0, clock_));
                if (maximal_) archive.field(leaf[kind.surpassed], 0, 1);
            }
            if (kind.stamped) Domain::store64(leaf + kind.stamp, archive.number(Domain::load64(leaf + kind.stamp), 0, clock_));
        }
    }
    if (program_.connected) transfer_classes(archive);
    archive.field(counts_.created);
    archive.field(counts_.collected, 0, counts_.created);
    archive.field(counts_.fallen, 0, counts_.collected);
    archive.field(counts_.most, counts_.alive(), counts_.created);
}

}  // namespace mopsus
