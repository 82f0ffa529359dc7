// The Python type of places in rewritten code, `_core.Site`.
#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <cstring>
#include <utility>

#include "iterate.hpp"

namespace mopsus::python {

namespace {

PyTypeObject* site_type = nullptr;

const Behaviour* find(const char* kind) {
    for (const Behaviour* list : {iteration, asynchronous, operators, exceptions, waiting}) {
        for (; list->kind != nullptr; ++list)
            if (std::strcmp(list->kind, kind) == 0) return list;
    }
    return nullptr;
}

PyObject* create(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    const char* kind = nullptr;
    PyObject* subject = Py_None;
    static const char* const names[] = {"kind", "subject", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|O", const_cast<char**>(names), &kind, &subject)) return nullptr;
    const Behaviour* behaviour = find(kind);
    if (behaviour == nullptr) {
        PyErr_Format(PyExc_ValueError, "no such kind of site: %s", kind);
        return nullptr;
    }
    auto* self = reinterpret_cast<Site*>(type->tp_alloc(type, 0));
    if (self == nullptr) return nullptr;
    self->call = behaviour->call;
    self->behaviour = behaviour;
    self->subject = subject != Py_None ? Py_NewRef(subject) : nullptr;
    return reinterpret_cast<PyObject*>(self);
}

bool put(Taps*& place, PyObject* sequence) {
    Taps* made = nullptr;
    const Py_ssize_t count = PyObject_Length(sequence);
    if (count < 0) return false;
    if (count > 0) {
        made = Taps::make(sequence, nullptr, true);
        if (made == nullptr) return false;
    }
    if (Taps* old = std::exchange(place, made); old != nullptr) old->drop();
    return true;
}

const Tap* quick_of(const Taps* taps) {
    if (taps == nullptr || taps->before.size() != 1 || !taps->around.empty() || !taps->returning.empty())
        return nullptr;
    const Tap* only = taps->before[0];
    return only->simple && !only->target ? only : nullptr;
}

PyObject* tap(PyObject* object, PyObject* args) {
    auto* self = reinterpret_cast<Site*>(object);
    PyObject *first = nullptr, *second = nullptr, *third = nullptr;
    if (!PyArg_ParseTuple(args, "OOO", &first, &second, &third)) return nullptr;
    self->quick = nullptr;
    ++self->taps;
    if (!put(self->first, first) || !put(self->second, second) || !put(self->third, third)) return nullptr;
    self->quick = quick_of(self->second);
    if (self->behaviour->tapped != nullptr) self->behaviour->tapped(self);
    Py_RETURN_NONE;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    auto* self = reinterpret_cast<Site*>(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->subject);
    for (const Taps* taps : {self->first, self->second, self->third}) {
        const int stop = taps != nullptr ? taps->traverse(visit, arg) : 0;
        if (stop != 0) return stop;
    }
    return 0;
}

int clear(PyObject* object) {
    auto* self = reinterpret_cast<Site*>(object);
    Py_CLEAR(self->subject);
    self->quick = nullptr;
    ++self->taps;
    for (Taps** place : {&self->first, &self->second, &self->third})
        if (Taps* old = std::exchange(*place, nullptr); old != nullptr) old->drop();
    if (self->behaviour->tapped != nullptr) self->behaviour->tapped(self);
    return 0;
}

void dealloc(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    clear(object);
    type->tp_free(object);
    Py_DECREF(type);
}

PyObject* get(PyObject* object, PyObject* key) {
    const Behaviour* behaviour = as_site(object)->behaviour;
    if (behaviour->get != nullptr) return behaviour->get(object, key);
    PyErr_SetString(PyExc_TypeError, "this site has no items");
    return nullptr;
}

int set(PyObject* object, PyObject* key, PyObject* value) {
    const Behaviour* behaviour = as_site(object)->behaviour;
    if (behaviour->set != nullptr) return behaviour->set(object, key, value);
    PyErr_SetString(PyExc_TypeError, "this site has no items");
    return -1;
}

// Messages of the interpreter name what is called: let it be the function that was written.
PyObject* attribute(PyObject* object, PyObject* name) {
    PyObject* subject = as_site(object)->subject;
    const bool named = subject != nullptr && PyCallable_Check(subject) &&
                       (PyUnicode_CompareWithASCIIString(name, "__qualname__") == 0 ||
                        PyUnicode_CompareWithASCIIString(name, "__module__") == 0);
    return named ? PyObject_GetAttr(subject, name) : PyObject_GenericGetAttr(object, name);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Site, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyMethodDef methods[] = {
    {"tap", tap, METH_VARARGS, "Replace the taps: those of the first, second and third thing that the site does."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_getattro, reinterpret_cast<void*>(attribute)},
    {Py_mp_subscript, reinterpret_cast<void*>(get)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set)},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>("What stands at a place in rewritten code.")},
    {0, nullptr},
};

PyType_Spec spec = {"mopsus._core.Site", sizeof(Site), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
                    slots};

}  // namespace

bool is_site(PyObject* object) { return Py_TYPE(object) == site_type; }

bool prepare_sites(PyObject* module) {
    for (auto prepare : {prepare_iteration, prepare_steps, prepare_asynchronous, prepare_operators, prepare_exceptions,
                         prepare_waiting})
        if (!prepare()) return false;
    site_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return site_type != nullptr && PyModule_AddObjectRef(module, "Site", reinterpret_cast<PyObject*>(site_type)) == 0;
}

}  // namespace mopsus::python
