// What the engines' snapshots have in common.
#pragma once

#include <utility>
#include <vector>

#include "mopsus/engine/archive.hpp"
#include "mopsus/engine/domain.hpp"
#include "mopsus/engine/engine.hpp"
#include "mopsus/engine/history.hpp"
#include "plain_value.hpp"

namespace mopsus {

inline Value transfer_value(Archive& archive, Value value) {
    if (value.kind == KeyKind::Object && !archive.live) throw BadSnapshot("live objects cannot be part of a snapshot");
    archive.field(value.kind, static_cast<std::uint64_t>(archive.live ? KeyKind::Object : KeyKind::Int),
                  static_cast<std::uint64_t>(KeyKind::Tuple));
    archive.field(value.dead, 0, 1);
    if (archive.live) {
        archive.field(value.serial);
        archive.field(value.tag);
    }
    if (is_blob(value.kind))
        value.blob = archive.text(std::move(value.blob));
    else
        value.bits = archive.number(value.bits);
    if (archive.reading() && !archive.live && !is_plain_value(value))
        throw BadSnapshot("a value in the snapshot is none");
    return value;
}

// The slots of a domain for which `wanted` holds, in an order that both sides share; no value that lives twice. When
// all that refers to them has been read, those of dead values have to be released.
template <class Wanted>
std::vector<Slot> transfer_domain(Archive& archive, Domain& domain, Wanted&& wanted) {
    std::vector<Slot> slots;
    if (!archive.reading())
        for (Slot slot = 1; slot <= domain.last(); ++slot)
            if (domain.kind(slot) != KeyKind::None && wanted(slot)) slots.push_back(slot);
    const std::uint64_t count = archive.number(slots.size(), 0, 0xFFFFFFF0);
    std::vector<bool> seen;  // by slot
    for (std::uint64_t k = 0; k < count; ++k) {
        const Value value = transfer_value(
            archive, archive.reading() ? Value{KeyKind::Int, false, 0, 0, 0, {}} : domain.value(slots[k]));
        if (!archive.reading()) continue;
        Slot slot = value.dead ? kNil : domain.find(value.key());
        if (slot == kNil) slot = domain.insert(value.key());
        if (slot >= seen.size()) seen.resize(slot + slot / 2 + 1);
        if (seen[slot]) throw BadSnapshot("a value stands twice in the snapshot");
        seen[slot] = true;
        if (archive.live) {
            domain.set_serial(slot, value.serial);
            domain.set_tag(slot, value.tag);
        }
        if (value.dead) domain.bury(slot);
        slots.push_back(slot);
    }
    return slots;
}

// How a snapshot names the values of one parameter: by their place, from 1, in the order in which they were written.
// When reading these are the slots in that order; when writing, the place of each slot.
using Places = std::vector<Slot>;

inline std::vector<Places> transfer_domains(Archive& archive, const std::vector<std::unique_ptr<Domain>>& domains,
                                            unsigned parameters) {
    std::vector<Places> all;
    for (unsigned p = 0; p < parameters; ++p) {
        Places slots = transfer_domain(archive, *domains[p], [](Slot) { return true; });
        if (!archive.reading()) {
            Places places(domains[p]->last() + 1, 0);
            for (std::size_t k = 0; k < slots.size(); ++k) places[slots[k]] = static_cast<Slot>(k + 1);
            slots = std::move(places);
        }
        all.push_back(std::move(slots));
    }
    return all;
}

inline void transfer_stamp(Archive& archive, Stamp& stamp) {
    stamp.row = static_cast<std::int64_t>(archive.number(static_cast<std::uint64_t>(stamp.row)));
    stamp.time = archive.number(stamp.time);
    archive.field(stamp.time_kind, 0, 3);
    if (!archive.reading()) {
        archive.number(stamp.location);
    } else {
        const std::uint64_t location = archive.number(0, 0, archive.locations.size());
        stamp.location = location != 0 ? archive.locations[location - 1] : 0;
    }
}

inline History::Head transfer_history(Archive& archive, History& history, History::Head head, std::size_t events) {
    std::vector<PastEvent> past;
    if (!archive.reading()) past = history.read(head);
    History::Head read = 0;
    const std::uint64_t count = archive.number(past.size(), 0, 0xFFFFFF);
    for (std::uint64_t k = 0; k < count; ++k) {
        PastEvent event = archive.reading() ? PastEvent{} : past[k];
        archive.field(event.event, 0, events - 1);
        transfer_stamp(archive, event.stamp);
        if (archive.reading()) read = history.add(read, event.event, event.stamp);
    }
    return archive.reading() ? read : head;
}

inline std::uint64_t transfer_user(Archive& archive, Listener& listener, std::uint64_t user) {
    const std::string text = archive.text(archive.reading() ? std::string() : listener.save(user));
    if (!archive.reading()) return user;
    const std::uint64_t loaded = listener.load(text);  // may refuse: then the old one stays
    if (user != 0) listener.drop(user);
    return loaded;
}

constexpr std::uint64_t kMostCounted = 1ULL << 62;

// `alive` is how many instances there are.
inline void transfer_counts(Archive& archive, Counts& counts, std::uint64_t alive, std::size_t events) {
    archive.field(counts.created, alive, kMostCounted);
    archive.field(counts.collected, 0, counts.created);
    counts.fallen.resize(events, 0);
    std::uint64_t left = counts.collected;
    for (std::uint64_t& fallen : counts.fallen) {
        archive.field(fallen, 0, left);
        left -= fallen;
    }
    archive.field(counts.most, counts.alive(), counts.created);
    if (archive.reading() && counts.alive() != alive)
        throw BadSnapshot("the instances in the snapshot are not as many as it says");
}

}  // namespace mopsus
