#include "flat.hpp"

#include "mopsus/engine/archive.hpp"
#include "transfer.hpp"

namespace mopsus {

bool FlatEngine::fits(const Program& program) {
    if (program.parameters > 1 || program.machines.empty()) return false;
    for (const EventDecl& event : program.events)
        if (event.mask() != program.all()) return false;
    return true;
}

FlatEngine::FlatEngine(const Program& program, Listener& listener)
    : Engine(program, listener),
      history_(program.history, program.events.size()),
      stride_(static_cast<std::uint32_t>(program.machines.size()) + (program.history != 0 ? 1 : 0)) {
    for (const EventDecl& event : program.events) guarded_ = guarded_ || event.guarded;
    if (properties_.size() == 1) table_ = properties_[0].table();
    domains_.push_back(std::make_unique<Domain>(0, values_));
    // Without a parameter there is one instance; it has slot 1, whose value nobody looks up.
    if (program.parameters == 0) domains_[0]->insert(Key::of_bits(KeyKind::Null, 0));
}

FlatEngine::~FlatEngine() {
    for (const std::uint64_t user : users_)
        if (user != 0) listener_.drop(user);
}

void FlatEngine::make_room(Slot slot) {
    if (slot < slots_) return;
    slots_ = slot < 16 ? 16 : slot + slot / 2;
    words_.resize(static_cast<std::size_t>(slots_) * stride_, kAbsent);
    done_.resize(slots_);
    if (program_.variables) users_.resize(slots_, 0);
}

void FlatEngine::adopt(EventId, const Slot* slots, const Deferred& deferred) {
    const Slot slot = slots[0];
    make_room(slot);
    at(slot)[0] = deferred.state;
    if (history_.on())
        at(slot)[past()] = deferred.changed ? history_.add(0, deferred.past.event, deferred.past.stamp) : 0;
    done_[slot] = false;
    if (history_.full()) compact_history();
}

void FlatEngine::begin(Slot slot) {
    make_room(slot);
    std::uint32_t* words = at(slot);
    for (std::size_t k = 0; k < properties_.size(); ++k) words[k] = properties_[k].begin();
    if (history_.on()) words[past()] = 0;
    done_[slot] = false;
    if (program_.variables) users_[slot] = listener_.fork(0);
    counts_.create();
}

bool FlatEngine::any_alive(Slot slot) {
    for (std::size_t k = 0; k < properties_.size(); ++k)
        if (properties_[k].alive(at(slot)[k], 0)) return true;
    return false;
}

// The instance will never report again. Its slot remembers that it existed.
void FlatEngine::retire(Slot slot) {
    if (done_[slot]) return;
    done_[slot] = true;
    ++counts_.collected;
    for (std::size_t k = 0; k < properties_.size(); ++k) properties_[k].end(at(slot)[k]);
    if (history_.on()) at(slot)[past()] = kDone;
    if (program_.variables) listener_.drop(std::exchange(users_[slot], 0));
}

std::vector<Value> FlatEngine::values(Slot slot) const {
    if (program_.parameters == 0) return {};
    return {domains_[0]->value(slot)};
}

void FlatEngine::report(Slot slot, unsigned property, EventId event, Word before, const Stamp& stamp) {
    const Outcome& outcome = properties_[property].outcome(before, event);
    for (std::size_t k = 0; k < outcome.categories.size(); ++k) {
        Report report;
        report.property = static_cast<std::uint16_t>(property);
        report.category = outcome.categories[k];
        report.final = outcome.final[k];
        report.event = event;
        report.stamp = stamp;
        report.instance = {this, 0, slot, domains_[0]->serial(slot)};
        report.user = program_.variables ? users_[slot] : 0;
        report.values = values(slot);
        if (history_.on()) report.witness = history_.read(at(slot)[past()]);
        report.explanation = properties_[property].explanation();
        listener_.report(std::move(report));
    }
}

void FlatEngine::note(Slot slot, EventId event, Word before, const Stamp& stamp) {
    if (done_[slot]) return;
    report(slot, 0, event, before, stamp);
    if (any_alive(slot)) return;
    count_fall(&before, at(slot), event);
    retire(slot);
}

void FlatEngine::compact_history() {
    if (history_.put_off(counts_.alive(), slots_)) return;
    history_.compact([&](auto&& visit) {
        for (Slot slot = 0; slot < slots_; ++slot)
            if (present(slot) && at(slot)[past()] != kDone) visit(at(slot)[past()]);
    });
}

void FlatEngine::step(EventId event, const Slot* slots, Origin& origin) {
    const Slot slot = program_.parameters == 0 ? 1 : slots[0];
    if (slot == kNil) return;
    if (!present(slot)) {
        if (!program_.events[event].creation) return;
        begin(slot);
    }
    if (done_[slot]) return;
    if (program_.events[event].guarded) {
        const InstanceRef self{this, 0, slot, domains_[0]->serial(slot)};
        if (!listener_.admit(event, self, program_.variables ? users_[slot] : 0, values(slot), origin)) return;
    }
    std::uint32_t* words = at(slot);
    // Few specifications have many properties; remember the rows before the step on the stack.
    constexpr std::size_t kSmall = 8;
    std::array<Word, kSmall> small;
    std::vector<Word> large(properties_.size() > kSmall ? properties_.size() : 0);
    Word* before = large.empty() ? small.data() : large.data();
    Word flags = 0;
    bool moved = false;
    for (std::size_t k = 0; k < properties_.size(); ++k) {
        before[k] = words[k];
        const Word after = properties_[k].step(before[k], event, origin);
        flags |= after;
        words[k] = plain(after);
        moved = moved || words[k] != before[k];
    }
    moved = moved || (flags & kMoved) != 0;
    const bool notable = (flags & kNotable) != 0;
    if (!notable && !(history_.on() && moved)) return;
    const Stamp stamp = origin.stamp();
    if (history_.on()) words[past()] = history_.add(words[past()], event, stamp);
    if (notable) {
        for (unsigned k = 0; k < properties_.size(); ++k) report(slot, k, event, before[k], stamp);
        if (!any_alive(slot)) {
            count_fall(before, at(slot), event);
            retire(slot);
        }
    }
    if (history_.full()) compact_history();
}

void FlatEngine::forget(unsigned p, Slot slot) {
    if (present(slot)) {
        retire(slot);
        at(slot)[0] = kAbsent;
    }
    domains_[p]->recycle(slot);
}

bool FlatEngine::reset(InstanceRef instance, bool reported) {
    const Slot slot = instance.id;
    if (!present(slot) || done_[slot] || domains_[0]->serial(slot) != instance.serial) return false;
    if (reset_states(at(slot), reported) && history_.on()) at(slot)[past()] = 0;
    return true;
}

std::size_t FlatEngine::bytes() const {
    std::size_t states = 0;
    for (const Property& property : properties_) states += property.bytes();
    return states + history_.bytes() + domains_[0]->bytes() + words_.capacity() * sizeof(std::uint32_t) +
           done_.capacity() / 8 + users_.capacity() * sizeof(std::uint64_t);
}

void FlatEngine::each_instance(const Visit& visit) {
    for (Slot slot = 0; slot < slots_; ++slot)
        if (present(slot) && !done_[slot])
            visit(values(slot), standings(at(slot)),
                  [&] { return history_.read(history_.on() ? at(slot)[past()] : 0); });
}

std::vector<std::vector<bool>> FlatEngine::occupied() {
    std::vector<std::vector<bool>> found;
    for (std::size_t k = 0; k < properties_.size(); ++k) {
        const Table* table = properties_[k].table();
        if (table == nullptr) return {};
        std::vector<bool>& states = found.emplace_back(table->rows() / table->events(), false);
        for (Slot slot = 0; slot < slots_; ++slot)
            if (present(slot) && !done_[slot]) states[at(slot)[k] / table->events()] = true;
    }
    return found;
}

void FlatEngine::transfer(Archive& archive) {
    const std::vector<Slot> slots = transfer_domain(archive, *domains_[0], [this](Slot slot) { return present(slot); });
    if (program_.parameters == 0 && (slots.size() > 1 || (slots.size() == 1 && slots[0] != 1)))
        throw BadSnapshot("an instance in the snapshot is of a value that is not asked for");
    std::uint64_t alive = 0;
    for (const Slot slot : slots) {
        const bool done = archive.number(!archive.reading() && done_[slot], 0, 1) != 0;
        if (archive.reading()) begin(slot);
        if (done) {
            if (archive.reading()) retire(slot);
            continue;
        }
        ++alive;
        for (std::size_t k = 0; k < properties_.size(); ++k)
            at(slot)[k] = properties_[k].transfer(archive, at(slot)[k]);
        if (history_.on())
            at(slot)[past()] = transfer_history(archive, history_, at(slot)[past()], program_.events.size());
        if (program_.variables) users_[slot] = transfer_user(archive, listener_, users_[slot]);
    }
    for (const Slot slot : slots)  // what is dead is forgotten at once
        if (domains_[0]->dead(slot)) throw BadSnapshot("an instance in the snapshot is of a dead value");
    transfer_counts(archive, counts_, alive, program_.events.size());
}

}  // namespace mopsus
