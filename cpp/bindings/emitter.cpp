#include "emitter.hpp"

#include <structmember.h>

#include <cstddef>

namespace mopsus::python {

namespace {

struct Emitter {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject* owner;
    PyMonitor* monitor;
    EventId event;
    Py_ssize_t arity;
};

PyTypeObject* emitter_type = nullptr;

const EventDecl& declaration(const Emitter* self) { return self->monitor->core().program().events[self->event]; }

const std::string& parameter(const Emitter* self, Py_ssize_t k) {
    return self->monitor->core().parameter_names()[declaration(self).parameters[static_cast<std::size_t>(k)]];
}

// Arguments by name as well as by position.
PyObject* call_by_name(Emitter* self, PyObject* const* args, Py_ssize_t given, PyObject* names) {
    const Py_ssize_t named = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
    std::array<PyObject*, kMaxParameters> values{};
    if (given + named != self->arity) {
        PyErr_Format(errors.values, "event %s takes %zd value%s (%zd given)", declaration(self).name.c_str(), self->arity,
                     self->arity == 1 ? "" : "s", given + named);
        return nullptr;
    }
    for (Py_ssize_t k = 0; k < given; ++k) values[static_cast<std::size_t>(k)] = args[k];
    for (Py_ssize_t n = 0; n < named; ++n) {
        PyObject* name = PyTuple_GET_ITEM(names, n);
        Py_ssize_t k = 0;
        while (k < self->arity && PyUnicode_CompareWithASCIIString(name, parameter(self, k).c_str()) != 0) ++k;
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

PyObject* call(PyObject* object, PyObject* const* args, std::size_t flagged, PyObject* names) {
    auto* self = reinterpret_cast<Emitter*>(object);
    const Py_ssize_t given = PyVectorcall_NARGS(flagged);
    if (names != nullptr || given != self->arity) return call_by_name(self, args, given, names);
    if (given == 1 && self->monitor->emit_quietly(self->event, args[0])) Py_RETURN_NONE;
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

PyObject* represent(PyObject* object) {
    const auto* self = reinterpret_cast<Emitter*>(object);
    std::string text = "<event " + declaration(self).name + "(";
    for (Py_ssize_t k = 0; k < self->arity; ++k) text += (k != 0 ? ", " : "") + parameter(self, k);
    return PyUnicode_FromString((text + ")>").c_str());
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Emitter, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>("An event of a monitor, to be called with its parameters' values.")},
    {0, nullptr},
};

PyType_Spec spec = {"mopsus._core.Emitter", sizeof(Emitter), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

bool prepare_emitters(PyObject* module) {
    emitter_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return emitter_type != nullptr && PyModule_AddObjectRef(module, "Emitter", reinterpret_cast<PyObject*>(emitter_type)) == 0;
}

PyObject* make_emitter(PyObject* owner, PyMonitor& monitor, EventId event) {
    auto* self = PyObject_GC_New(Emitter, emitter_type);
    if (self == nullptr) return nullptr;
    self->call = call;
    self->owner = Py_NewRef(owner);
    self->monitor = &monitor;
    self->event = event;
    self->arity = static_cast<Py_ssize_t>(monitor.core().program().events[event].parameters.size());
    PyObject_GC_Track(reinterpret_cast<PyObject*>(self));
    return reinterpret_cast<PyObject*>(self);
}

}  // namespace mopsus::python
