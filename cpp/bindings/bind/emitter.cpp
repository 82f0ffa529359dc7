#include "emitter.hpp"

namespace mopsus::python {

namespace {

// What the callable of an event refers to. The callable itself is a built-in function, because the
// interpreter calls those more quickly than anything else.
struct Emitter {
    PyObject_HEAD
    PyObject* owner;
    PyMonitor* monitor;
    EventId event;
    Py_ssize_t arity;
    PyMethodDef method;
};

PyTypeObject* emitter_type = nullptr;

const EventDecl& declaration(const Emitter* self) { return self->monitor->core().program().events[self->event]; }

// The name of a value: a parameter or, after all of those, a field.
const std::string& name_of(const Emitter* self, Py_ssize_t k) {
    const EventDecl& event = declaration(self);
    const auto at = static_cast<std::size_t>(k);
    if (at >= event.parameters.size()) return event.fields[at - event.parameters.size()];
    return self->monitor->core().parameter_names()[event.parameters[at]];
}

// Arguments by name as well as by position.
PyObject* call_by_name(Emitter* self, PyObject* const* args, Py_ssize_t given, PyObject* names) {
    const Py_ssize_t named = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
    std::array<PyObject*, kMaxParameters + kMaxFields> values{};
    if (given + named != self->arity) {
        PyErr_Format(errors.values, "event %s takes %zd value%s (%zd given)", declaration(self).name.c_str(),
                     self->arity, self->arity == 1 ? "" : "s", given + named);
        return nullptr;
    }
    for (Py_ssize_t k = 0; k < given; ++k) values[static_cast<std::size_t>(k)] = args[k];
    for (Py_ssize_t n = 0; n < named; ++n) {
        PyObject* name = PyTuple_GET_ITEM(names, n);
        Py_ssize_t k = 0;
        while (k < self->arity && PyUnicode_CompareWithASCIIString(name, name_of(self, k).c_str()) != 0) ++k;
        if (k == self->arity || values[static_cast<std::size_t>(k)] != nullptr) {
            PyErr_Format(errors.values, "event %s has %s parameter %R", declaration(self).name.c_str(),
                         k == self->arity ? "no" : "more than one value for", name);
            return nullptr;
        }
        values[static_cast<std::size_t>(k)] = args[given + n];
    }
    if (!self->monitor->emit(self->event, values.data())) return nullptr;
    Py_RETURN_NONE;
}

PyObject* call(PyObject* object, PyObject* const* args, Py_ssize_t given, PyObject* names) {
    auto* self = reinterpret_cast<Emitter*>(object);
    if (names != nullptr || given != self->arity) return call_by_name(self, args, given, names);
    if (given == 1) {
        const PyMonitor::Quiet quiet = self->monitor->emit_quietly(self->event, args[0]);
        if (quiet == PyMonitor::Quiet::Done) Py_RETURN_NONE;
        if (quiet == PyMonitor::Quiet::Raised) return nullptr;
    }
    if (!self->monitor->emit(self->event, args)) return nullptr;
    Py_RETURN_NONE;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(reinterpret_cast<Emitter*>(object)->owner);
    return 0;
}

void dealloc(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(reinterpret_cast<Emitter*>(object)->owner);
    type->tp_free(object);
    Py_DECREF(type);
}

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_doc, const_cast<char*>("An event of a monitor.")},
    {0, nullptr},
};

PyType_Spec spec = {"mopsus._core.Emitter", sizeof(Emitter), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

bool prepare_emitters(PyObject* module) {
    emitter_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return emitter_type != nullptr &&
           PyModule_AddObjectRef(module, "Emitter", reinterpret_cast<PyObject*>(emitter_type)) == 0;
}

Emission emission_of(PyObject* callable) {
    if (!PyCFunction_CheckExact(callable)) return {};
    PyObject* bound = PyCFunction_GET_SELF(callable);
    if (bound == nullptr || Py_TYPE(bound) != emitter_type) return {};
    const auto* emitter = reinterpret_cast<Emitter*>(bound);
    return {emitter->monitor, emitter->event};
}

PyObject* make_emitter(PyObject* owner, PyMonitor& monitor, EventId event) {
    auto* self = PyObject_GC_New(Emitter, emitter_type);
    if (self == nullptr) return nullptr;
    self->owner = Py_NewRef(owner);
    self->monitor = &monitor;
    self->event = event;
    self->arity = static_cast<Py_ssize_t>(monitor.core().program().events[event].values());
    self->method = {declaration(self).name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
                    METH_FASTCALL | METH_KEYWORDS,
                    "Send this event; takes the values of its parameters and fields in declared order, or by name."};
    PyObject_GC_Track(reinterpret_cast<PyObject*>(self));
    PyObject* function = PyCFunction_New(&self->method, reinterpret_cast<PyObject*>(self));
    Py_DECREF(self);
    return function;
}

}  // namespace mopsus::python
