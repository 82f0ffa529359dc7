#include "component.hpp"

#include <structmember.h>

#include <cstddef>
#include <utility>

#include "weave/taps.hpp"
#include "bind/unobserved.hpp"

namespace mopsus::python {

namespace {

// ---- here ----

// What was said to run in this thread; owned. What is left when a thread ends stays: nobody may be called then.
thread_local PyObject* current = nullptr;

PyObject* here(PyObject*, PyObject*) { return Py_NewRef(current != nullptr ? current : Py_None); }

PyObject* enter(PyObject*, PyObject* component) {
    PyObject* before = std::exchange(current, component != Py_None ? Py_NewRef(component) : nullptr);
    return before != nullptr ? before : Py_NewRef(Py_None);
}

// As long as one of these exists, a component runs here.
class Entered {
public:
    explicit Entered(PyObject* component) : before_(std::exchange(current, Py_XNewRef(component))) {}
    ~Entered() { Py_XDECREF(std::exchange(current, before_)); }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

private:
    PyObject* before_;
};

// ---- steps ----

// Stands for a coroutine whose beginning and end are told, and whose steps are those of a component.
struct Steps {
    PyObject_HEAD
    PyObject* coroutine;
    PyObject* component;  // null: whoever awaits it
    PyObject* begin;      // or null
    PyObject* end;        // or null, and when it has been told
    PyObject* weak_references;
    bool begun;
};

PyTypeObject* steps_type = nullptr;

Steps* as_steps(PyObject* object) { return reinterpret_cast<Steps*>(object); }

// Errors of whoever is told do not reach the program; an order to stop does, as soon as it can.
void tell(PyObject* whom, PyObject* first, PyObject* second) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    {
        const Unobserved unobserved;
        const Owned done(PyObject_CallFunctionObjArgs(whom, first, second, nullptr));
        if (!done) PyErr_WriteUnraisable(whom);
    }
    PyErr_Restore(type, value, trace);
}

void tell_begin(Steps* self) {
    if (!std::exchange(self->begun, true) && self->begin != nullptr) tell(self->begin, nullptr, nullptr);
}

void tell_end(Steps* self, PyObject* result, PyObject* error) {
    const Owned end(std::exchange(self->end, nullptr));
    if (end) tell(end.get(), result != nullptr ? result : Py_None, error != nullptr ? error : Py_None);
}

// The end by the exception that is set, which stays. A StopIteration is a result.
void tell_failure(Steps* self) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value != nullptr && trace != nullptr) PyException_SetTraceback(value, trace);
    if (value != nullptr && PyErr_GivenExceptionMatches(type, PyExc_StopIteration)) {
        const Owned result(PyObject_GetAttrString(value, "value"));
        tell_end(self, result.get(), nullptr);
    } else {
        tell_end(self, nullptr, value);
    }
    PyErr_Restore(type, value, trace);
}

PySendResult steps_send(PyObject* object, PyObject* sent, PyObject** result) {
    Steps* self = as_steps(object);
    const Owned held(Py_NewRef(object));
    const Entered entered(self->component != nullptr ? self->component : current);
    tell_begin(self);
    const PySendResult how = PyIter_Send(self->coroutine, sent, result);
    if (how == PYGEN_RETURN) tell_end(self, *result, nullptr);
    if (how == PYGEN_ERROR) tell_failure(self);
    return how;
}

PyObject* sent_by_method(PyObject* object, PyObject* value) {
    PyObject* result = nullptr;
    if (steps_send(object, value, &result) != PYGEN_RETURN) return result;
    const Owned held(result);
    const Owned stop(PyObject_CallOneArg(PyExc_StopIteration, result));  // made here: raising would unpack a tuple
    if (stop) PyErr_SetObject(PyExc_StopIteration, stop.get());
    return nullptr;
}

PyObject* steps_next(PyObject* object) { return sent_by_method(object, Py_None); }

PyObject* call_method(PyObject* object, const char* name, PyObject* const* args, Py_ssize_t count) {
    Steps* self = as_steps(object);
    const Owned held(Py_NewRef(object));
    const Owned method(PyObject_GetAttrString(self->coroutine, name));
    if (!method) return nullptr;
    const Entered entered(self->component != nullptr ? self->component : current);
    return PyObject_Vectorcall(method.get(), args, static_cast<std::size_t>(count), nullptr);
}

PyObject* steps_throw(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    PyObject* yielded = call_method(object, "throw", args, count);
    if (yielded == nullptr) tell_failure(as_steps(object));
    return yielded;
}

PyObject* steps_close(PyObject* object, PyObject*) {
    Steps* self = as_steps(object);
    PyObject* done = call_method(object, "close", nullptr, 0);
    if (done == nullptr) {
        tell_failure(self);
    } else if (self->begun && self->end != nullptr) {
        const Owned closed(PyObject_CallNoArgs(PyExc_GeneratorExit));
        if (closed) tell_end(self, nullptr, closed.get());
    }
    return done;
}

// What has begun and is given up has an end, too.
void finalize(PyObject* object) {
    Steps* self = as_steps(object);
    if (!self->begun || self->end == nullptr) return;
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    const Owned done(steps_close(object, nullptr));
    if (!done) PyErr_WriteUnraisable(self->coroutine);
    PyErr_Restore(type, value, trace);
}

PyObject* steps_await(PyObject* object) { return Py_NewRef(object); }

bool is_own(PyObject* name) {
    for (const char* own : {"send", "throw", "close", "__await__"})
        if (PyUnicode_CompareWithASCIIString(name, own) == 0) return true;
    return false;
}

PyObject* get_attribute(PyObject* object, PyObject* name) {
    return is_own(name) ? PyObject_GenericGetAttr(object, name) : PyObject_GetAttr(as_steps(object)->coroutine, name);
}

int set_attribute(PyObject* object, PyObject* name, PyObject* value) {
    return PyObject_SetAttr(as_steps(object)->coroutine, name, value);
}

PyObject* represent(PyObject* object) { return PyObject_Repr(as_steps(object)->coroutine); }

int traverse(PyObject* object, visitproc visit, void* arg) {
    const Steps* self = as_steps(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->coroutine);
    Py_VISIT(self->component);
    Py_VISIT(self->begin);
    Py_VISIT(self->end);
    return 0;
}

int clear(PyObject* object) {
    Steps* self = as_steps(object);
    Py_CLEAR(self->component);
    Py_CLEAR(self->begin);
    Py_CLEAR(self->end);
    return 0;
}

void dealloc(PyObject* object) {
    if (PyObject_CallFinalizerFromDealloc(object) < 0) return;  // it is needed again
    PyTypeObject* type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (as_steps(object)->weak_references != nullptr) PyObject_ClearWeakRefs(object);
    clear(object);
    Py_CLEAR(as_steps(object)->coroutine);
    type->tp_free(object);
    Py_DECREF(type);
}

PyObject* or_null(PyObject* object) { return object != Py_None ? Py_NewRef(object) : nullptr; }

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *coroutine = nullptr, *component = nullptr, *begin = nullptr, *end = nullptr;
    if (!PyArg_ParseTuple(args, "OOOO", &coroutine, &component, &begin, &end)) return nullptr;
    auto* self = as_steps(type->tp_alloc(type, 0));
    if (self == nullptr) return nullptr;
    self->coroutine = Py_NewRef(coroutine);
    self->component = or_null(component);
    self->begin = or_null(begin);
    self->end = or_null(end);
    return reinterpret_cast<PyObject*>(self);
}

PyMethodDef methods[] = {
    {"send", sent_by_method, METH_O, nullptr},
    {"throw", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(steps_throw)), METH_FASTCALL, nullptr},
    {"close", steps_close, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Steps, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

template <class Function>
void* slot(Function function) {
    return reinterpret_cast<void*>(function);
}

PyType_Slot slots[] = {
    {Py_tp_new, slot(make)},
    {Py_tp_dealloc, slot(dealloc)},
    {Py_tp_finalize, slot(finalize)},
    {Py_tp_traverse, slot(traverse)},
    {Py_tp_clear, slot(clear)},
    {Py_tp_iter, slot(PyObject_SelfIter)},
    {Py_tp_iternext, slot(steps_next)},
    {Py_tp_getattro, slot(get_attribute)},
    {Py_tp_setattro, slot(set_attribute)},
    {Py_tp_repr, slot(represent)},
    {Py_am_await, slot(steps_await)},
    {Py_am_send, slot(steps_send)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_doc,
     const_cast<char*>("A coroutine whose beginning and end are told, and whose steps are those of a component.")},
    {0, nullptr},
};

PyType_Spec spec = {"mopsus._core.Steps", sizeof(Steps), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, slots};

// ---- what is done with them ----

const Steps* checked(PyObject* object) { return Py_TYPE(object) == steps_type ? as_steps(object) : nullptr; }

PyObject* component_of(PyObject*, PyObject* object) {
    const Steps* self = checked(object);
    return Py_NewRef(self != nullptr && self->component != nullptr ? self->component : Py_None);
}

PyObject* coroutine_of(PyObject*, PyObject* object) {
    const Steps* self = checked(object);
    return Py_NewRef(self != nullptr ? self->coroutine : object);
}

PyMethodDef functions[] = {
    {"here", here, METH_NOARGS, "The component that runs in this thread; None: nobody has said."},
    {"enter", enter, METH_O, "Let a component run in this thread (None: nobody knows which); gives the one before."},
    {"component_of", component_of, METH_O, "The component whose steps a coroutine takes, or None."},
    {"coroutine_of", coroutine_of, METH_O, "The coroutine that something stands for, or it itself."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* current_component() { return current; }

bool prepare_components(PyObject* module) {
    steps_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return steps_type != nullptr &&
           PyModule_AddObjectRef(module, "Steps", reinterpret_cast<PyObject*>(steps_type)) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace mopsus::python
