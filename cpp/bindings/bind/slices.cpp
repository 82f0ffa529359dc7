// What guarded machines ask of Python and tell it, and how a monitor goes back to where it was.
#include <array>

#include "monitor.hpp"
#include "saved_error.hpp"
#include "unobserved.hpp"

namespace mopsus::python {

void PyMonitor::use_names(PyObject* names) {
    for (SpecCode& code : codes_) code.forget_function();
    Py_XSETREF(names_, Py_NewRef(names));
}

void PyMonitor::listen(PyObject* change, PyObject* unmatched, std::vector<std::pair<std::string, std::string>> heeded) {
    Py_XSETREF(listeners_.change, Py_XNewRef(change));
    Py_XSETREF(listeners_.unmatched, Py_XNewRef(unmatched));
    listeners_.heeded = std::move(heeded);
}

std::size_t PyMonitor::values_of(const Occasion& occasion, PyObject** values) {
    const EventDecl& event = core_.program().events[occasion.event];
    const std::size_t count = event.values();
    if (const void* const* given = occasion.origin.values()) {
        for (std::size_t k = 0; k < count; ++k)
            values[k] = Py_NewRef(static_cast<PyObject*>(const_cast<void*>(given[k])));
        return count;
    }
    std::size_t made = 0;
    for (const std::uint8_t p : event.parameters) {
        char state = 'u';
        const Slot slot = occasion.slots[made];
        values[made] = slot != kNil ? to_python(occasion.engine, p, occasion.engine.domain(p).value(slot), state)
                                    : Py_NewRef(Py_None);
        ++made;
    }
    const EventData data = core_.program().reads_data() ? occasion.origin.data() : EventData{};
    for (std::size_t k = 0; made < count; ++k, ++made) {
        values[made] = k < data.count ? from_term(data.fields[k]) : Py_NewRef(Py_None);
        if (values[made] != nullptr) continue;
        PyErr_Clear();
        values[made] = Py_NewRef(Py_None);
    }
    return count;
}

std::int32_t PyMonitor::call(std::uint32_t number, std::uint64_t user, const Occasion* occasion) {
    if (closing_) return -1;
    const SavedError saved;
    const Unobserved unobserved;
    SpecCode& code = codes_[number];
    if (no_variables_ == nullptr) no_variables_ = PyDict_New();
    PyObject* variables = user != 0 ? as_object(user) : no_variables_;
    std::int32_t answer = -1;
    bool done = false;
    if (!code.takes_values()) {
        done = code.run(variables, names_, nullptr, 0, answer);
    } else if (const void* const* given = occasion->origin.values()) {
        const std::size_t count = core_.program().events[occasion->event].values();
        done = code.run(variables, names_, reinterpret_cast<PyObject* const*>(const_cast<void* const*>(given)), count,
                        answer);
    } else {
        std::array<PyObject*, kMaxParameters + kMaxFields> values;
        const std::size_t count = values_of(*occasion, values.data());
        done = code.run(variables, names_, values.data(), count, answer);
        for (std::size_t k = 0; k < count; ++k) Py_DECREF(values[k]);
    }
    if (done) return answer;
    Origins origins{static_cast<std::int32_t>(number),
                    occasion != nullptr ? static_cast<std::int32_t>(occasion->event) : -1, nullptr};
    Stamp stamp;
    if (occasion != nullptr) {
        stamp = occasion->origin.stamp();
        origins.stamp = &stamp;
    }
    fault(origins);
    return -1;
}

void PyMonitor::changed(Change&& change) { ready_.push_back({std::this_thread::get_id(), std::move(change)}); }

void PyMonitor::unmatched(const Occasion& occasion) {
    if (listeners_.unmatched == nullptr) return;
    std::array<PyObject*, kMaxParameters + kMaxFields> values;
    const std::size_t count = values_of(occasion, values.data());
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(count));
    for (std::size_t k = 0; k < count; ++k) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(k), values[k]);
    ready_.push_back({std::this_thread::get_id(), Unmatched{occasion.event, tuple}});
}

PyObject* PyMonitor::told(const Change& change) {
    if (listeners_.change == nullptr) Py_RETURN_NONE;
    const Shown shown = show(*change.instance.engine, change.values);
    return PyObject_CallFunction(listeners_.change, "iIIIONs#N", static_cast<int>(change.property), change.before,
                                 change.after, change.transition, change.success ? Py_True : Py_False, shown.values,
                                 shown.states.data(), static_cast<Py_ssize_t>(shown.states.size()), shown.serials);
}

PyObject* PyMonitor::told(const Unmatched& unmatched) {
    if (listeners_.unmatched != nullptr)
        return PyObject_CallFunction(listeners_.unmatched, "iN", static_cast<int>(unmatched.event), unmatched.values);
    Py_DECREF(unmatched.values);
    Py_RETURN_NONE;
}

bool PyMonitor::put(std::uint64_t engine, InstanceRef instance, std::uint32_t state) {
    if (!enter_for_trace()) return false;
    bool done = false;
    core_.each_engine([&](Engine& one) {
        if (reinterpret_cast<std::uintptr_t>(&one) == engine) done = one.put(instance, state);
    });
    leave();
    return done;
}

// ---- going back ----

bool PyMonitor::checkpoint(Checkpoint& checkpoint) {
    if (!enter_for_trace()) return false;
    bury();
    core_.each_engine([](Engine& engine) { engine.begin(); });
    Archive archive;
    archive.live = true;
    try {
        core_.transfer(archive);
    } catch (...) {
        leave();
        throw;
    }
    checkpoint.items = std::move(archive.items());
    checkpoint.reported = reported_;
    core_.each_engine([&](Engine& engine) {
        for (unsigned p = 0; p < core_.parameter_names().size(); ++p) {
            Domain& domain = engine.domain(p);
            for (Slot slot = 1; slot <= domain.last(); ++slot)
                if (domain.kind(slot) == KeyKind::Object && !domain.dead(slot))
                    checkpoint.objects.push_back(Py_NewRef(as_object(domain.bits(slot))));
        }
    });
    leave();
    return granted();
}

bool PyMonitor::rewind(const Checkpoint& checkpoint) {
    if (!enter_for_trace()) return false;
    core_.each_engine([&](Engine& engine) { unwatch_all(engine); });
    drop_ready();  // what has not been told yet has not happened any more
    core_.restart();
    choose_engine();
    Archive archive(checkpoint.items);
    archive.live = true;
    try {
        core_.transfer(archive);
    } catch (...) {
        leave();
        throw;
    }
    reported_ = checkpoint.reported;
    core_.each_engine([&](Engine& engine) {
        for (unsigned p = 0; p < core_.parameter_names().size(); ++p) {
            Domain& domain = engine.domain(p);
            for (Slot slot = 1; slot <= domain.last(); ++slot)
                if (domain.kind(slot) == KeyKind::Object && !domain.dead(slot))
                    watch_object(engine, p, slot, as_object(domain.bits(slot)));
        }
    });
    leave();
    return granted();
}

}  // namespace mopsus::python
