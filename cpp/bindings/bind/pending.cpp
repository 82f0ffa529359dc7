// What a monitor does about instances that are still with their loops.
#include "pending.hpp"

#include "monitor.hpp"
#include "saved_error.hpp"
#include "weave/steps.hpp"

namespace mopsus::python {

namespace {

Key key_of_object(PyObject* object) { return Key::of_bits(KeyKind::Object, reinterpret_cast<std::uintptr_t>(object)); }

// Generators may be left in the middle of a loop: if very many are, looking through them would take longer than making
// instances.
constexpr unsigned kMostPending = 32;

}  // namespace

bool PyMonitor::begin_pending(Pending& pending) {
    if (inside_ || closed_ || !recent_.on || pending_count_ == kMostPending) return false;
    if (!deaths_.empty()) bury();
    Engine& engine = core_.engine();
    const EventDecl& event = core_.program().events[pending.event];
    const std::uint8_t iterator_parameter = event.parameters[pending.iterator_first ? 0 : 1];
    if (engine.domain(iterator_parameter).find(key_of_object(pending.iterator)) != kNil) return false;
    const Word before = table_->initial();
    const Word after = table_->step(before, pending.event);
    if ((after & kNotable) != 0) return false;

    if (pending.iterator_first) pending.iterator_serial = ++engine.numbered();
    if (pending.collection != nullptr) {
        const std::uint8_t parameter = event.parameters[pending.iterator_first ? 1 : 0];
        pending.collection_serial = 0;
        if (recent_.find(parameter, pending.collection) == kNil &&
            engine.domain(parameter).find(key_of_object(pending.collection)) == kNil) {
            for (const Pending* one = first_pending_; one != nullptr; one = one->after)
                if (one->collection == pending.collection) pending.collection_serial = one->collection_serial;
            if (pending.collection_serial == 0) pending.collection_serial = ++engine.numbered();
        }
    }
    if (!pending.iterator_first) pending.iterator_serial = ++engine.numbered();

    pending.deferred = engine.defer();
    pending.deferred.state = after;
    if (after != before) {
        pending.deferred.changed = true;
        if (core_.program().history != 0) pending.deferred.past = {pending.event, here()};
    }
    ++core_.seen[pending.event];
    pending.monitor = this;
    pending.before = last_pending_;
    pending.after = nullptr;
    (last_pending_ != nullptr ? last_pending_->after : first_pending_) = &pending;
    last_pending_ = &pending;
    ++pending_count_;
    find_counter(pending);
    return true;
}

void PyMonitor::find_counter(Pending& pending) {
    const bool idle = table_->step(pending.deferred.state, pending.step) == pending.deferred.state;
    pending.counter = idle ? &core_.seen[pending.step] : nullptr;
}

bool PyMonitor::step_pending(Pending& pending, EventId event) {
    if (inside_) return false;
    Deferred& deferred = pending.deferred;
    const Word after = table_->step(deferred.state, event);
    if (after != deferred.state) {
        if ((after & kNotable) != 0 || deferred.changed) return false;
        deferred.changed = true;
        if (core_.program().history != 0) deferred.past = {event, here()};
        deferred.state = after;
        find_counter(pending);
    }
    ++core_.seen[event];
    return true;
}

bool PyMonitor::pass(EventId step, std::size_t steps, const EventId* end) {
    if (inside_ || closed_ || !recent_.on) return false;
    Word state = table_->initial();
    const auto goes_on = [&](EventId event) {
        state = table_->step(state, event);
        return (state & kNotable) == 0;
    };
    for (std::size_t k = 0; k < steps; ++k)
        if (!goes_on(step)) return false;
    if (end != nullptr && !goes_on(*end)) return false;
    if (steps == 0 && end == nullptr) return true;
    if (!deaths_.empty()) bury();
    Engine& engine = core_.engine();
    ++engine.numbered();
    engine.defer();
    engine.end_deferred();
    core_.seen[step] += steps;
    if (end != nullptr) ++core_.seen[*end];
    return true;
}

void PyMonitor::detach(Pending& pending) {
    (pending.before != nullptr ? pending.before->after : first_pending_) = pending.after;
    (pending.after != nullptr ? pending.after->before : last_pending_) = pending.before;
    pending.monitor = nullptr;
    pending.counter = nullptr;
    --pending_count_;
}

// The slot of a value that was numbered when its instance was put off; somebody else may have brought it in since.
Slot PyMonitor::late_slot(unsigned p, PyObject* value, std::uint32_t serial) {
    Engine& engine = core_.engine();
    Domain& domain = engine.domain(p);
    const Key key = key_of_object(value);
    Slot slot = domain.find(key);
    if (slot != kNil) return slot;
    const SavedError saved;
    slot = domain.insert(key, serial);
    domain.set_tag(slot, type_name(Py_TYPE(value)));
    watch_object(engine, p, slot, value);
    return slot;
}

void PyMonitor::make(Pending& pending) {
    detach(pending);
    const std::vector<std::uint8_t>& parameters = core_.program().events[pending.event].parameters;
    std::array<Slot, 2> slots;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const bool is_iterator = pending.iterator_first == (k == 0);
        // It is still nobody's but the loop's: C code does not get it.
        PyObject* fresh = std::exchange(Steps::fresh, pending.iterator);
        slots[k] = is_iterator ? late_slot(parameters[k], pending.iterator, pending.iterator_serial)
                               : late_slot(parameters[k], pending.collection, pending.collection_serial);
        Steps::fresh = fresh;
    }
    core_.engine().adopt(pending.event, slots.data(), pending.deferred);
}

void PyMonitor::make_pending_of(PyObject* value) {
    for (Pending* one = first_pending_; one != nullptr; one = one->after) {
        if (!one->is_about(value)) continue;
        // All of one collection are made in the order in which they began.
        const PyObject* collection = one->collection;
        Pending* next = nullptr;
        for (Pending* each = first_pending_; each != nullptr; each = next) {
            next = each->after;
            if (each == one || (collection != nullptr && each->collection == collection)) make(*each);
        }
        return;
    }
}

void PyMonitor::make_all_pending() {
    while (first_pending_ != nullptr) make(*first_pending_);
}

void PyMonitor::stir_pending_of(PyObject* value) {
    for (Pending* one = first_pending_; one != nullptr; one = one->after)
        if (one->is_about(value)) one->counter = nullptr;
}

void PyMonitor::end_pending(Pending& pending, bool survives) {
    detach(pending);
    core_.engine().end_deferred();
    if (!survives || pending.collection_serial == 0) return;
    for (const Pending* one = first_pending_; one != nullptr; one = one->after)
        if (one->collection == pending.collection) return;  // which knows its number
    const unsigned parameter = core_.program().events[pending.event].parameters[pending.iterator_first ? 1 : 0];
    late_slot(parameter, pending.collection, pending.collection_serial);
}

}  // namespace mopsus::python
