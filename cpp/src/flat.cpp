#include "flat.hpp"

#include "mopsus/archive.hpp"
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
      history_(program.history),
      stride_(static_cast<std::uint32_t>(program.machines.size()) + (program.history != 0 ? 1 : 0)) {
    for (const EventDecl& event : program.events) guarded_ = guarded_ || event.guarded;
    domains_.push_back(std::make_unique<Domain>(0, values_));
    // Without a parameter there is one instance; it has slot 1, whose value nobody looks up.
    if (program.parameters == 0) domains_[0]->insert(Key::of_bits(KeyKind::Null, 0));
}

FlatEngine::~FlatEngine() {
    for (const std::uint64_t user : users_)
        if (user != 0) listener_.drop(user);
}

void FlatEngine::begin(Slot slot) {
    if (slot >= slots_) {
        slots_ = slot < 16 ? 16 : slot + slot / 2;
        words_.resize(static_cast<std::size_t>(slots_) * stride_, kAbsent);
        done_.resize(slots_);
        if (program_.variables) users_.resize(slots_, 0);
    }
    std::uint32_t* words = at(slot);
    for (std::size_t k = 0; k < tables_.size(); ++k) words[k] = tables_[k].initial();
    if (history_.on()) words[tables_.size()] = 0;
    done_[slot] = false;
    if (program_.variables) users_[slot] = listener_.fork(0);
    ++counts_.created;
}

bool FlatEngine::any_alive(Slot slot) {
    for (std::size_t k = 0; k < tables_.size(); ++k)
        if (tables_[k].alive(at(slot)[k], 0)) return true;
    return false;
}

// The instance will never report again. Its slot remembers that it existed.
void FlatEngine::retire(Slot slot) {
    if (done_[slot]) return;
    done_[slot] = true;
    ++counts_.collected;
    if (history_.on()) at(slot)[tables_.size()] = kDone;
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
        report.instance = {this, 0, slot, domains_[0]->serial(slot)};
        report.user = program_.variables ? users_[slot] : 0;
        report.values = values(slot);
        if (history_.on()) report.witness = history_.read(at(slot)[tables_.size()]);
        listener_.report(std::move(report));
    }
}

void FlatEngine::note(Slot slot, EventId event, Table::Row before, const Stamp& stamp) {
    if (done_[slot]) return;
    report(slot, 0, event, before, stamp);
    if (!any_alive(slot)) retire(slot);
}

void FlatEngine::compact_history() {
    history_.compact([&](auto&& visit) {
        for (Slot slot = 0; slot < slots_; ++slot)
            if (present(slot) && at(slot)[tables_.size()] != kDone) visit(at(slot)[tables_.size()]);
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
        if (!listener_.admit(event, self, program_.variables ? users_[slot] : 0, values(slot))) return;
    }
    std::uint32_t* words = at(slot);
    // Few specifications have many properties; remember the rows before the step on the stack.
    constexpr std::size_t kSmall = 8;
    std::array<Table::Row, kSmall> small;
    std::vector<Table::Row> large(tables_.size() > kSmall ? tables_.size() : 0);
    Table::Row* before = large.empty() ? small.data() : large.data();
    std::uint32_t cells = 0;
    bool moved = false;
    for (std::size_t k = 0; k < tables_.size(); ++k) {
        before[k] = words[k];
        const std::uint32_t cell = tables_[k].step(before[k], event);
        cells |= cell;
        words[k] = Table::row_of(cell);
        moved = moved || words[k] != before[k];
    }
    const bool notable = (cells & Table::kNotable) != 0;
    if (!notable && !(history_.on() && moved)) return;
    const Stamp stamp = origin.stamp();
    if (history_.on()) words[tables_.size()] = history_.add(words[tables_.size()], event, stamp);
    if (notable) {
        for (unsigned k = 0; k < tables_.size(); ++k) report(slot, k, event, before[k], stamp);
        if (!any_alive(slot)) retire(slot);
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

bool FlatEngine::reset(InstanceRef instance) {
    const Slot slot = instance.id;
    if (!present(slot) || done_[slot] || domains_[0]->serial(slot) != instance.serial) return false;
    for (std::size_t k = 0; k < tables_.size(); ++k) at(slot)[k] = tables_[k].initial();
    if (history_.on()) at(slot)[tables_.size()] = 0;
    return true;
}

std::size_t FlatEngine::bytes() const {
    return history_.bytes() + domains_[0]->bytes() + words_.capacity() * sizeof(std::uint32_t) + done_.capacity() / 8 +
           users_.capacity() * sizeof(std::uint64_t);
}

void FlatEngine::transfer(Archive& archive) {
    const std::vector<Slot> slots = transfer_domain(archive, *domains_[0], [this](Slot slot) { return present(slot); });
    for (const Slot slot : slots) {
        const bool done = archive.number(!archive.reading() && done_[slot], 0, 1) != 0;
        if (archive.reading()) begin(slot);
        for (std::size_t k = 0; k < tables_.size(); ++k) at(slot)[k] = transfer_row(archive, tables_[k], at(slot)[k]);
        if (done) {
            if (archive.reading()) retire(slot);
            continue;
        }
        if (history_.on()) at(slot)[tables_.size()] = transfer_history(archive, history_, at(slot)[tables_.size()], program_.events.size());
        if (program_.variables) users_[slot] = transfer_user(archive, listener_, users_[slot]);
    }
    archive.field(counts_.created);
    archive.field(counts_.collected, 0, counts_.created);
}

}  // namespace mopsus
