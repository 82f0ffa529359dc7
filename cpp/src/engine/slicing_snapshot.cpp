// The state of the slicing engine as plain data, and back.
#include <algorithm>
#include <unordered_map>

#include "mopsus/engine/archive.hpp"
#include "slicing.hpp"
#include "transfer.hpp"

namespace mopsus {

// The node of every value, by the numbers of the writer: the node, the one that stands for its class, whether it is
// buried.
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
                if (reading && domains_[p]->extra(slot)[single.members] != 0)
                    throw BadSnapshot("a value in the snapshot is of no class");
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
                const bool same = other.kind == key.kind && other.bits == key.bits && other.blob == key.blob &&
                                  classes_.buried(known->second) == buried;
                if (!same || first == firsts.end() || classes_.find(first->second) != classes_.find(known->second))
                    throw BadSnapshot("the classes of values in the snapshot do not fit together");
                classes_.add_user(known->second);
            }
            node = known->second;
        }
    }
}

// First the values, then instances, then leaves. Reading an instance makes the leaves that it needs; a leaf that is
// read after it adds what it alone knows: that an instance is gone, and when its values were last seen without one.
void SlicingEngine::transfer(Archive& archive) {
    const std::vector<Places> places = transfer_domains(archive, domains_, program_.parameters);
    archive.field(clock_, 1, kMostCounted);
    const std::uint64_t alive = transfer_instances(archive, places);
    for (auto& kind : leaves_) transfer_leaves(archive, places, *kind);
    if (program_.connected) transfer_classes(archive);
    for (unsigned p = 0; archive.reading() && p < program_.parameters; ++p)
        for (const Slot slot : places[p])
            if (domains_[p]->dead(slot)) mourn(p, slot);
    transfer_counts(archive, counts_, alive, program_.events.size());
}

SlicingEngine::Values SlicingEngine::transfer_values(Archive& archive, const std::vector<Places>& places,
                                                     const std::vector<std::uint8_t>& parameters, Values values) {
    for (const std::uint8_t p : parameters) {
        if (!archive.reading()) {
            archive.number(places[p][values[p]]);
        } else {
            values[p] = places[p][archive.number(0, 1, places[p].size()) - 1];
        }
    }
    return values;
}

// Gives how many there are.
std::uint64_t SlicingEngine::transfer_instances(Archive& archive, const std::vector<Places>& places) {
    std::uint64_t alive = 0;
    for (unsigned k = 0; k < instances_.size(); ++k) {
        InstanceKind& kind = instances_[k];
        std::vector<Id> ids;
        for (Id id = 1; !archive.reading() && id <= kind.pool.last(); ++id)
            if ((kind.pool.at(id)[kind.flags] & kPresent) != 0) ids.push_back(id);
        const std::uint64_t count = archive.number(ids.size(), 0, 0xFFFFFFF0);
        alive += count;
        for (std::uint64_t n = 0; n < count; ++n)
            transfer_instance(archive, places, k, archive.reading() ? kNil : ids[n]);
    }
    return alive;
}

// The instance of this number; when reading, a new one.
void SlicingEngine::transfer_instance(Archive& archive, const std::vector<Places>& places, unsigned k, Id id) {
    InstanceKind& kind = instances_[k];
    const bool reading = archive.reading();
    const Values values = transfer_values(archive, places, kind.parameters, reading ? Values{} : values_of(k, id));
    const std::uint64_t birth = archive.number(reading ? 0 : birth_of(kind, record(k, id)), 0, clock_);
    if (reading) {
        const LeafKind& own = *leaves_[kind.leaf_kind];
        const Id known = find_leaf(own, values);
        if (known != kNil && exact_of(own, leaf_at(own, known)) != kNone)
            throw BadSnapshot("an instance stands twice in the snapshot");
        id = add_instance(k, values, birth);
    }
    std::uint32_t* at = record(k, id);
    for (std::size_t p = 0; p < properties_.size(); ++p) {
        if (reading) at[kind.states + p] = properties_[p].begin();
        at[kind.states + p] = properties_[p].transfer(archive, at[kind.states + p]);
    }
    if (history_.on()) at[kind.past] = transfer_history(archive, history_, at[kind.past], program_.events.size());
    if (program_.variables)
        Domain::store64(at + kind.user, transfer_user(archive, listener_, Domain::load64(at + kind.user)));
}

SlicingEngine::Values SlicingEngine::values_of_leaf(const LeafKind& kind, Id id) const {
    Values values{};
    for (std::size_t k = 0; k < kind.parameters.size(); ++k)
        values[kind.parameters[k]] = kind.single() ? id : kind.pool.at(id)[kind.key + k];
    return values;
}

// The leaves of a kind that are in use. A pool does not say which of its records are: a record in use is the one that
// is found by the values in it.
std::vector<SlicingEngine::Id> SlicingEngine::leaves_in_use(const LeafKind& kind) const {
    if (kind.mask == 0) return {1};
    const auto present = [&](std::uint8_t p, Slot slot) {
        return slot != kNil && slot <= domains_[p]->last() && domains_[p]->kind(slot) != KeyKind::None;
    };
    std::vector<Id> leaves;
    const Id last = kind.single() ? domains_[kind.parameters[0]]->last() : kind.pool.last();
    for (Id id = 1; id <= last; ++id) {
        const Values values = values_of_leaf(kind, id);
        const bool valid = std::all_of(kind.parameters.begin(), kind.parameters.end(),
                                       [&](std::uint8_t p) { return present(p, values[p]); });
        if (valid && find_leaf(kind, values) == id) leaves.push_back(id);
    }
    return leaves;
}

void SlicingEngine::transfer_leaves(Archive& archive, const std::vector<Places>& places, LeafKind& kind) {
    const bool reading = archive.reading();
    const std::vector<Id> leaves = reading ? std::vector<Id>{} : leaves_in_use(kind);
    const std::uint64_t count = archive.number(leaves.size(), 0, 0xFFFFFFF0);
    for (std::uint64_t n = 0; n < count; ++n) {
        const Values values =
            transfer_values(archive, places, kind.parameters, reading ? Values{} : values_of_leaf(kind, leaves[n]));
        std::uint32_t* leaf = leaf_at(kind, reading ? make_leaf(kind, values) : leaves[n]);
        if (kind.own >= 0) {
            const std::uint64_t done = archive.number(leaf[kind.exact] == kDone, 0, 1);
            if (reading && done == 1) {
                if (leaf[kind.exact] != kNone) throw BadSnapshot("an instance of the snapshot is both there and gone");
                leaf[kind.exact] = kDone;
            }
            Domain::store64(leaf + kind.exact + 1, archive.number(Domain::load64(leaf + kind.exact + 1), 0, clock_));
            if (maximal_) archive.field(leaf[kind.surpassed], 0, 1);
        }
        if (kind.stamped)
            Domain::store64(leaf + kind.stamp, archive.number(Domain::load64(leaf + kind.stamp), 0, clock_));
    }
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
