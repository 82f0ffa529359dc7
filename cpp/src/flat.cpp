#include "flat.hpp"

#include "mopsus/archive.hpp"
#include "transfer.hpp"

namespace mopsus {

bool FlatEngine::fits(const Program& program) {
    if (program.parameters > 1) return false;
    for (const EventDecl& event : program.events)
        if (event.mask() != program.all()) return false;
    return true;
}

FlatEngine::FlatEngine(const Program& program, Listener& listener)
    : Engine(program, listener), history_(program.history), states_(program.machines.size()) {
    for (const EventDecl& event : program.events) guarded_ = guarded_ || event.guarded;
    domains_.push_back(std::make_unique<Domain>());
    // Without a parameter there is one instance; it has slot 1, whose value nobody looks up.
    if (program.parameters == 0) domains_[0]->insert(Key::of_bits(KeyKind::Null, 0));
}

FlatEngine::~FlatEngine() {
    for (const std::uint64_t user : users_)
        if (user != 0) listener_.drop(user);
}

void FlatEngine::begin(Slot slot) {
    if (slot >= live_.size()) {
        const std::size_t room = slot < 16 ? 16 : slot + slot / 2;
        for (std::size_t k = 0; k < states_.size(); ++k) states_[k].resize(room, tables_[k].initial());
        live_.resize(room, kAbsent);
        if (history_.on()) past_.resize(room, 0);
        if (program_.variables) users_.resize(room, 0);
    }
    live_[slot] = kLive;
    for (std::size_t k = 0; k < states_.size(); ++k) states_[k][slot] = tables_[k].initial();
    if (history_.on()) past_[slot] = history_.open();
    if (program_.variables) users_[slot] = listener_.fork(0);
    ++counts_.created;
}

bool FlatEngine::any_alive(Slot slot) const {
    for (std::size_t k = 0; k < tables_.size(); ++k)
        if (tables_[k].alive(states_[k][slot], 0)) return true;
    return false;
}

// The instance will never report again. Its slot remembers that it existed.
void FlatEngine::retire(Slot slot) {
    if (live_[slot] != kLive) return;
    live_[slot] = kDone;
    ++counts_.collected;
    if (history_.on()) {
        history_.close(past_[slot]);
        past_[slot] = 0;
    }
    if (program_.variables) listener_.drop(std::exchange(users_[slot], 0));
}

std::vector<Value> FlatEngine::values(Slot slot) const {
    if (program_.parameters == 0) return {};
    return {domains_[0]->value(slot)};
}

void FlatEngine::report(Slot slot, unsigned property, EventId event, Table::Row before, const Stamp& stamp) {
    const Table::Outcome& outcome = tables_[property].outcome(before, event);
    for (std::size_t k = 0; k < outcome.categories.size(); ++k) {
        Report report;
        report.property = static_cast<std::uint16_t>(property);
        report.category = outcome.categories[k];
        report.final = outcome.final[k];
        report.event = event;
        report.stamp = stamp;
        report.instance = {0, slot, domains_[0]->serial(slot)};
        report.user = program_.variables ? users_[slot] : 0;
        report.values = values(slot);
        if (history_.on()) report.witness = history_.read(past_[slot]);
        listener_.report(std::move(report));
    }
}

void FlatEngine::note(Slot slot, EventId event, Table::Row before, Origin& origin) {
    if (live_[slot] != kLive) return;
    report(slot, 0, event, before, origin.stamp());
    if (!any_alive(slot)) retire(slot);
}

void FlatEngine::step(EventId event, const Slot* slots, Origin& origin) {
    const Slot slot = program_.parameters == 0 ? 1 : slots[0];
    if (slot == 0) return;
    if (!started(slot)) {
        if (!program_.events[event].creation) return;
        begin(slot);
    }
    if (live_[slot] == kDone) return;
    const InstanceRef self{0, slot, domains_[0]->serial(slot)};
    if (program_.events[event].guarded) {
        if (!listener_.admit(event, self, program_.variables ? users_[slot] : 0, values(slot))) return;
        // The listener ran code of the user's: the instance may be gone.
        if (domains_[0]->kind(slot) == KeyKind::None || domains_[0]->serial(slot) != self.serial || live_[slot] != kLive)
            return;
    }
    std::uint32_t notable = 0;
    bool moved = false;
    // Few specifications have many properties; remember the rows before the step on the stack.
    constexpr std::size_t kSmall = 16;
    std::array<Table::Row, kSmall> small;
    std::vector<Table::Row> large;
    Table::Row* before = small.data();
    if (tables_.size() > kSmall) {
        large.resize(tables_.size());
        before = large.data();
    }
    for (std::size_t k = 0; k < tables_.size(); ++k) {
        before[k] = states_[k][slot];
        const std::uint32_t cell = tables_[k].step(before[k], event);
        notable |= cell;
        states_[k][slot] = Table::row_of(cell);
        moved = moved || states_[k][slot] != before[k];
    }
    notable &= Table::kNotable;
    if (notable == 0 && !(history_.on() && moved)) return;
    const Stamp stamp = origin.stamp();
    if (history_.on() && (moved || notable != 0)) history_.add(past_[slot], {event, stamp});
    if (notable == 0) return;
    for (unsigned k = 0; k < tables_.size(); ++k) report(slot, k, event, before[k], stamp);
    if (domains_[0]->serial(slot) == self.serial && live_[slot] == kLive && !any_alive(slot)) retire(slot);
}

void FlatEngine::forget(unsigned p, Slot slot) {
    if (slot < live_.size()) {
        retire(slot);
        live_[slot] = kAbsent;
    }
    domains_[p]->recycle(slot);
}

bool FlatEngine::reset(InstanceRef instance) {
    const Slot slot = instance.id;
    if (!started(slot) || live_[slot] != kLive || domains_[0]->serial(slot) != instance.serial) return false;
    for (std::size_t k = 0; k < states_.size(); ++k) states_[k][slot] = tables_[k].initial();
    if (history_.on()) history_.clear(past_[slot]);
    return true;
}

std::size_t FlatEngine::bytes() const {
    std::size_t bytes = history_.bytes() + live_.capacity() + past_.capacity() * sizeof(std::uint32_t) +
                        users_.capacity() * sizeof(std::uint64_t);
    for (const auto& domain : domains_) bytes += domain->bytes();
    for (const auto& states : states_) bytes += states.capacity() * sizeof(Table::Row);
    return bytes;
}

void FlatEngine::transfer(Archive& archive) {
    std::vector<Slot> slots = transfer_domain(archive, *domains_[0], [this](Slot slot) { return started(slot); });
    for (const Slot slot : slots) {
        const auto how = archive.number(archive.reading() ? 0 : live_[slot], kLive, kDone);
        if (archive.reading()) begin(slot);
        for (std::size_t k = 0; k < states_.size(); ++k)
            states_[k][slot] = transfer_row(archive, tables_[k], states_[k][slot]);
        if (how == kDone) {
            if (archive.reading()) retire(slot);
            continue;
        }
        if (history_.on()) transfer_history(archive, history_, past_[slot], program_.events.size());
        if (program_.variables) users_[slot] = transfer_user(archive, listener_, users_[slot]);
    }
    archive.field(counts_.created);
    archive.field(counts_.collected, 0, counts_.created);
}

}  // namespace mopsus
