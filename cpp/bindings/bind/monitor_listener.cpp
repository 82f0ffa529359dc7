// What a monitor is told by its engine, and how it tells that to Python: reports, conditions, variables, faults.
#include "monitor.hpp"
#include "saved_error.hpp"
#include "unobserved.hpp"

#include <cstring>

namespace mopsus::python {

// What closes a generator, or cancels a task, is none: it would silently end one of the program's. A condition meets
// the latter where it asks a cancelled future for its result.
bool is_wish(PyObject* exception) {
    for (PyObject* kind : {PyExc_Exception, PyExc_GeneratorExit})
        if (PyObject_TypeCheck(exception, reinterpret_cast<PyTypeObject*>(kind)) != 0) return false;
    return std::strcmp(Py_TYPE(exception)->tp_name, "CancelledError") != 0;
}

void PyMonitor::fault(const Origins& origins) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value != nullptr && trace != nullptr) PyException_SetTraceback(value, trace);
    if (value != nullptr && is_wish(value)) {  // granted when we are done
        Py_XSETREF(wish_, Py_NewRef(value));
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return;
    }
    if (callbacks_.fault != nullptr && value != nullptr) {
        const Unobserved unobserved;
        PyObject* stamp = origins.stamp != nullptr ? stamp_to_python(*origins.stamp) : Py_NewRef(Py_None);
        PyObject* result = PyObject_CallFunction(callbacks_.fault, "OiiNO", value, static_cast<int>(origins.code),
                                                 static_cast<int>(origins.event), stamp,
                                                 origins.predicate != nullptr ? origins.predicate : Py_None);
        if (result == nullptr) forget_error();
        if (result == Py_True) Py_XSETREF(wish_, Py_NewRef(value));  // a handler of a signal of the program raised it
        Py_XDECREF(result);
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

bool PyMonitor::granted() {
    granting_ = false;
    if (wish_ == nullptr) return true;
    granting_ = true;
    PyObject* wish = std::exchange(wish_, nullptr);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(wish)), wish);
    Py_DECREF(wish);
    return false;
}

void PyMonitor::report(Report&& report) {
    if (closing_) return;
    if (report.user != 0) Py_INCREF(as_object(report.user));
    ++reported_[{report.property, report.category}];
    ready_.push_back({std::this_thread::get_id(), std::move(report)});
}

// Handlers may send events of their own: they do not run in the engine's turn.
void PyMonitor::event_done() {
    if (ready_.empty()) return;
    inside_ = false;
    set_quiet();
    deliver();
    inside_ = true;
    set_quiet();
    inside_thread_ = std::this_thread::get_id();
}

std::uint64_t PyMonitor::fork(std::uint64_t parent) {
    const SavedError saved;
    const Unobserved unobserved;
    PyObject* user = nullptr;
    if (callbacks_.fork != nullptr)
        user = PyObject_CallOneArg(callbacks_.fork, parent != 0 ? as_object(parent) : Py_None);
    else
        user = parent != 0 ? copy_of_variables(as_object(parent)) : PyDict_New();
    if (user == nullptr) fault();
    return reinterpret_cast<std::uintptr_t>(user);
}

void PyMonitor::drop(std::uint64_t user) {
    if (user != 0) trash_.push_back(as_object(user));  // its end may run code of the user's
}

std::string PyMonitor::save(std::uint64_t user) {
    PyObject* text = user != 0 && callbacks_.save != nullptr ? PyObject_CallOneArg(callbacks_.save, as_object(user))
                                                             : PyUnicode_FromString("");
    const char* bytes = text != nullptr ? PyUnicode_AsUTF8(text) : nullptr;
    if (bytes == nullptr) {
        Py_XDECREF(text);
        PyErr_Clear();
        throw BadSnapshot("a monitor variable has a value that a snapshot cannot hold");
    }
    std::string saved(bytes);
    Py_DECREF(text);
    return saved;
}

std::uint64_t PyMonitor::load(const std::string& text) {
    PyObject* user =
        callbacks_.load != nullptr ? PyObject_CallFunction(callbacks_.load, "s", text.c_str()) : Py_NewRef(Py_None);
    if (user == nullptr) {
        PyErr_Clear();
        throw BadSnapshot("the variables of an instance cannot be read");
    }
    return reinterpret_cast<std::uintptr_t>(user);
}

bool PyMonitor::live(Engine& engine, unsigned p, const Value& value) const {
    Domain& domain = engine.domain(p);
    const Slot slot = domain.find(value.key());
    return slot != kNil && domain.serial(slot) == value.serial;
}

PyObject* PyMonitor::to_python(Engine& engine, unsigned p, const Value& value, char& state) const {
    state = 'u';
    if (value.kind == KeyKind::None) Py_RETURN_NONE;
    state = 's';
    if (value.kind != KeyKind::Object) return scalar(value);
    state = live(engine, p, value) ? 'o' : 'd';
    if (state == 'o') return Py_NewRef(as_object(value.bits));
    const std::string_view name = type_names_.key(value.tag).blob;
    return PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "replace");
}

PyObject* PyMonitor::stamp_to_python(const Stamp& stamp) const {
    PyObject* time = nullptr;
    if (stamp.time_kind == Stamp::Time::None) {
        time = Py_NewRef(Py_None);
    } else if (stamp.time_kind == Stamp::Time::Instant) {
        // In the unit of the formulas, so that it can be compared with their bounds; else in seconds.
        const double unit = unit_ != 0 ? static_cast<double>(unit_) : 1e9;
        time = PyFloat_FromDouble(static_cast<double>(static_cast<std::int64_t>(stamp.time)) / unit);
    } else {
        time =
            scalar({stamp.time_kind == Stamp::Time::Int ? KeyKind::Int : KeyKind::Float, false, 0, 0, stamp.time, {}});
    }
    const std::string_view text = stamp.location != 0 ? core_.location_text(stamp.location) : std::string_view();
    PyObject* location =
        stamp.location != 0 ? PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape")
                            : Py_NewRef(Py_None);
    return Py_BuildValue("(LNNO)", static_cast<long long>(stamp.row), time, location,
                         stamp.location != 0 && core_.location_is_source(stamp.location) ? Py_True : Py_False);
}

// Of each step: modality, event, data, whether it fitted, slots with their values, fixed points, stamp.
PyObject* PyMonitor::steps_to_python(const Explanation& explanation) const {
    PyObject* steps = PyList_New(0);
    for (const ExplainedStep& step : explanation) {
        PyObject* data = PyList_New(0);
        PyObject* bindings = PyList_New(0);
        PyObject* unfolded = PyList_New(0);
        const auto append = [](PyObject* list, PyObject* item) {
            if (item == nullptr || PyList_Append(list, item) != 0) PyErr_Clear();
            Py_XDECREF(item);
        };
        for (const Term term : step.data) append(data, from_term(term));
        for (const auto& [slot, term] : step.bindings) append(bindings, Py_BuildValue("(IN)", slot, from_term(term)));
        for (const std::uint32_t node : step.unfolded) append(unfolded, PyLong_FromUnsignedLong(node));
        append(steps, Py_BuildValue("(IiNONNN)", step.modality, static_cast<int>(step.event), data,
                                    step.fitted ? Py_True : Py_False, bindings, unfolded, stamp_to_python(step.stamp)));
    }
    return steps;
}

bool PyMonitor::admit(EventId event, InstanceRef instance, std::uint64_t user, const std::vector<Value>& values,
                      Origin& origin) {
    if (callbacks_.admit == nullptr) return true;
    if (closing_) return false;
    const SavedError saved;
    const Unobserved unobserved;
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
    for (unsigned p = 0; p < values.size(); ++p) {
        char state = 'u';
        PyObject* value = to_python(*instance.engine, p, values[p], state);
        if (state == 'd') Py_SETREF(value, Py_NewRef(Py_None));
        PyTuple_SET_ITEM(tuple, p, value);
    }
    PyObject* result = PyObject_CallFunction(
        callbacks_.admit, "i(KIII)ONN", static_cast<int>(event),
        static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(instance.engine)), instance.kind, instance.id,
        instance.serial, user != 0 ? as_object(user) : Py_None, tuple, stamp_to_python(origin.stamp()));
    if (result == nullptr) {
        const Stamp stamp = origin.stamp();
        fault({-1, static_cast<std::int32_t>(event), &stamp});
        return false;
    }
    const bool yes = PyObject_IsTrue(result) == 1;
    Py_DECREF(result);
    return yes;
}

void PyMonitor::deliver() {
    const SavedError saved;
    const Unobserved unobserved;
    while (true) {
        // Each thread its own: what a handler says is about what that thread is doing.
        const auto next = std::find_if(ready_.begin(), ready_.end(),
                                       [](const Ready& one) { return one.thread == std::this_thread::get_id(); });
        if (next == ready_.end()) return;
        const auto news = std::move(next->news);
        ready_.erase(next);
        PyObject* result = std::visit([&](const auto& one) { return told(one); }, news);
        if (result == nullptr) fault();
        Py_XDECREF(result);
    }
}

void PyMonitor::drop_ready() {
    for (const Ready& one : ready_) {
        if (const auto* report = std::get_if<Report>(&one.news)) Py_XDECREF(as_object(report->user));
        if (const auto* unmatched = std::get_if<Unmatched>(&one.news)) Py_DECREF(unmatched->values);
    }
    ready_.clear();
}

PyMonitor::Shown PyMonitor::show(Engine& engine, const std::vector<Value>& values) const {
    const auto count = static_cast<Py_ssize_t>(values.size());
    Shown shown{PyTuple_New(count), PyTuple_New(count), std::string(values.size(), 'u')};
    for (unsigned p = 0; p < values.size(); ++p) {
        PyTuple_SET_ITEM(shown.values, p, to_python(engine, p, values[p], shown.states[p]));
        PyTuple_SET_ITEM(shown.serials, p, PyLong_FromUnsignedLong(values[p].serial));
    }
    return shown;
}

PyObject* PyMonitor::witness_to_python(const std::vector<PastEvent>& events) const {
    PyObject* witness = PyTuple_New(static_cast<Py_ssize_t>(events.size()));
    for (std::size_t k = 0; k < events.size(); ++k)
        PyTuple_SET_ITEM(witness, static_cast<Py_ssize_t>(k),
                         Py_BuildValue("(iN)", static_cast<int>(events[k].event), stamp_to_python(events[k].stamp)));
    return witness;
}

PyObject* PyMonitor::told(const Report& report) {
    PyObject* user = report.user != 0 ? as_object(report.user) : Py_NewRef(Py_None);
    if (callbacks_.report == nullptr) return user;
    const Shown shown = show(*report.instance.engine, report.values);
    PyObject* witness = witness_to_python(report.witness);
    return PyObject_CallFunction(
        callbacks_.report, "iiOiNs#NNN(KIII)NN", static_cast<int>(report.property), static_cast<int>(report.category),
        report.final ? Py_True : Py_False, static_cast<int>(report.event), shown.values, shown.states.data(),
        static_cast<Py_ssize_t>(shown.states.size()), shown.serials, stamp_to_python(report.stamp), witness,
        static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(report.instance.engine)), report.instance.kind,
        report.instance.id, report.instance.serial, user, steps_to_python(report.explanation));
}

bool PyMonitor::reset(std::uint64_t engine, InstanceRef instance, bool reported) {
    bool done = false;
    core_.each_engine([&](Engine& one) {
        if (reinterpret_cast<std::uintptr_t>(&one) == engine) done = one.reset(instance, reported);
    });
    return done;
}

}  // namespace mopsus::python
