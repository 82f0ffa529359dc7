// The state of the slicing engine as plain data, and back.
#include <unordered_map>

#include "mopsus/archive.hpp"
#include "slicing.hpp"
#include "transfer.hpp"

namespace mopsus {

// The node of every value, by the numbers of the writer: the node, the one that stands for its class, whether it is buried.
void SlicingEngine::transfer_classes(Archive& archive) {
    const bool reading = archive.reading();
    std::unordered_map<std::uint64_t, Classes::Node> nodes;
    std::unordered_map<std::uint64_t, Classes::Node> firsts;  // of each class
    for (unsigned p = 0; p < program_.parameters; ++p) {
        const LeafKind& single = *leaves_[singles_[p]];
        for (Slot slot = 1; slot <= domains_[p]->last(); ++slot) {
            if (domains_[p]->kind(slot) == KeyKind::None) continue;
            std::uint32_t& node = domains_[p]->extra(slot)[single.node];
            const std::uint64_t number = archive.number(reading ? 0 : node, 0, 0xFFFFFFFF);
            if (number == 0) {  // a value of a row that turned out to be a bad one
                if (reading && domains_[p]->extra(slot)[single.members] != 0) throw BadSnapshot("a value in the snapshot is of no class");
                continue;
            }
            const std::uint64_t group = archive.number(reading ? 0 : classes_.find(node), 1, 0xFFFFFFFF);
            const bool buried = archive.number(!reading && classes_.buried(node), 0, 1) != 0;
            if (!reading) continue;
            const Key key = domains_[p]->key(slot);
            const auto [known, fresh] = nodes.try_emplace(number, kNil);
            if (fresh) {
                if (!buried && classes_.knows(key)) throw BadSnapshot("a value in the snapshot is of two classes");
                known->second = classes_.add(key, buried);
                const auto [first, alone] = firsts.try_emplace(group, known->second);
                if (!alone) classes_.join(first->second, known->second);
            } else {
                const Key other = classes_.key(known->second);
                const auto first = firsts.find(group);
                const bool same = other.kind == key.kind && other.bits == key.bits && other.blob == key.blob && classes_.buried(known->second) == buried;
                if (!same || first == firsts.end() || classes_.find(first->second) != classes_.find(known->second))
                    throw BadSnapshot("the classes of values in the snapshot do not fit together");
                classes_.add_user(known->second);
            }
            node = known->second;
        }
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
    archive.field(clock_, 1, kMostCounted);
    std::uint64_t alive = 0;
    for (unsigned k = 0; k < instances_.size(); ++k) {
        InstanceKind& kind = instances_[k];
        std::vector<Id> ids;
        for (Id id = 1; !archive.reading() && id <= kind.pool.last(); ++id)
            if ((kind.pool.at(id)[kind.flags] & kPresent) != 0) ids.push_back(id);
        const std::uint64_t count = archive.number(ids.size(), 0, 0xFFFFFFF0);
        alive += count;
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
    for (unsigned p = 0; archive.reading() && p < program_.parameters; ++p)
        for (const Slot slot : slots[p])
            if (domains_[p]->dead(slot)) mourn(p, slot);
    transfer_counts(archive, counts_, alive, program_.events.size());
}

// Of a dead value only what instances need is still there, and they know of its death.
void SlicingEngine::mourn(unsigned p, Slot slot) {
    const LeafKind& single = *leaves_[singles_[p]];
    const std::uint32_t* leaf = domains_[p]->extra(slot);
    domains_[p]->release(slot);
    for (const List& list : single.lists)
        for (Id id = leaf[list.ends]; id != kNil; id = record(list.instance_kind, id)[list.links + 1])
            record(list.instance_kind, id)[instances_[list.instance_kind].flags] |= kMourning;
    if (const Id id = exact_of(single, leaf); is_instance(id)) {
        const auto kind = static_cast<unsigned>(single.own);
        record(kind, id)[instances_[kind].flags] |= kMourning;
    }
    if (leaf[single.members] == 0) free_slot(p, slot);
}

}  // namespace mopsus
