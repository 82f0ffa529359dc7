// The slices of guarded machines as plain data, and back.
#include "inherit.hpp"
#include "mopsus/engine/archive.hpp"
#include "transfer.hpp"

namespace mopsus {

void InheritEngine::transfer(Archive& archive) {
    const std::vector<Places> places = transfer_domains(archive, domains_, program_.parameters);
    archive.field(begun_, 0, 1);
    archive.field(disturbed_, 0, 1);
    std::uint64_t alive = 0;
    for (Forest& forest : forests_) alive += transfer_forest(archive, places, forest);
    for (unsigned p = 0; archive.reading() && p < program_.parameters; ++p)
        for (const Slot slot : places[p]) {
            if (!domains_[p]->dead(slot)) continue;
            domains_[p]->release(slot);
            if (unused(p, slot)) domains_[p]->recycle(slot);
        }
    transfer_counts(archive, counts_, alive, program_.events.size());
}

// The slices in the order in which they were made, so that a parent comes before its children. Gives how many there
// are.
std::uint64_t InheritEngine::transfer_forest(Archive& archive, const std::vector<Places>& places, Forest& forest) {
    const bool reading = archive.reading();
    std::vector<Id> ids;
    for (Id id = 1; !reading && id <= forest.slices.last(); ++id)
        if (at(forest, id)[kPresent] != 0) ids.push_back(id);
    std::sort(ids.begin(), ids.end(), [&](Id a, Id b) { return at(forest, a)[kSerial] < at(forest, b)[kSerial]; });
    std::vector<std::uint64_t> place_of(forest.slices.last() + 1, 0);
    for (std::size_t k = 0; k < ids.size(); ++k) place_of[ids[k]] = k + 1;
    const std::uint64_t count = archive.number(ids.size(), 0, begun_ ? 0xFFFFFFF0 : 0);
    for (std::uint64_t n = 0; n < count; ++n) {
        const Values values = transfer_values(archive, places, reading ? Values{} : values_of(forest, ids[n]));
        const std::uint64_t state =
            archive.number(reading ? 0 : at(forest, ids[n])[kState], 0, forest.machine->states.size() - 1);
        std::uint64_t parent = 0;
        if (!reading) {
            const std::uint32_t* slice = at(forest, ids[n]);
            if (present({this, forest.property, slice[kParent], slice[kParentSerial]}) != nullptr)
                parent = place_of[slice[kParent]];
        }
        parent = archive.number(parent, 0, n);
        if (reading) {
            check_new(forest, values);
            ids.push_back(
                add(forest, values, static_cast<Machine::State>(state), parent != 0 ? ids[parent - 1] : kNil));
            if (mask_of(forest, ids[n]) == 0) forest.root = ids[n];
        }
        std::uint32_t* slice = at(forest, ids[n]);
        if (history_.on()) slice[kPast] = transfer_history(archive, history_, slice[kPast], program_.events.size());
        if (forest.machine->variables)
            Domain::store64(slice + kUser, transfer_user(archive, listener_, user_of(forest, ids[n])));
    }
    return count;
}

// 0 stands for a parameter that the slice does not bind.
InheritEngine::Values InheritEngine::transfer_values(Archive& archive, const std::vector<Places>& places,
                                                     Values values) {
    const bool reading = archive.reading();
    for (unsigned p = 0; p < program_.parameters; ++p) {
        const std::uint64_t place = archive.number(reading ? 0 : places[p][values[p]], 0, places[p].size());
        if (reading) values[p] = place != 0 ? places[p][place - 1] : kNil;
    }
    return values;
}

// A snapshot from elsewhere may say anything.
void InheritEngine::check_new(Forest& forest, const Values& values) {
    Mask mask = 0;
    for (unsigned p = 0; p < program_.parameters; ++p)
        if (values[p] != kNil) mask |= 1U << p;
    for (unsigned k = 0; k < leaf_kinds_.size(); ++k) {
        if (leaf_kinds_[k].mask != mask) continue;
        const std::uint32_t* leaf = leaf_at(forest, k, values);
        if (leaf == nullptr || leaf[kExact] == kNil) return;
        throw BadSnapshot("a slice stands twice in the snapshot");
    }
    throw BadSnapshot("a slice of the snapshot binds what no event binds");
}

}  // namespace mopsus
