// What stands for a context manager, asynchronous or not, between the evaluation of its expression and the end of the
// block.
#pragma once

#include <Python.h>

#include "iterate.hpp"

namespace mopsus::python {

struct Manager {
    PyObject_HEAD
    PyObject* target;
    PyObject* enter;
    PyObject* exit;
    Site* site;
    bool unpacks;  // tells how its value is unpacked; else when it is entered and left
};

inline int manager_traverse(PyObject* object, visitproc visit, void* arg) {
    auto* self = reinterpret_cast<Manager*>(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->target);
    Py_VISIT(self->enter);
    Py_VISIT(self->exit);
    Py_VISIT(self->site);
    return 0;
}

inline void manager_dealloc(PyObject* object) {
    auto* self = reinterpret_cast<Manager*>(object);
    PyTypeObject* type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->enter);
    Py_XDECREF(self->exit);
    Py_XDECREF(self->target);
    Py_XDECREF(self->site);
    type->tp_free(object);
    Py_DECREF(type);
}

// What stands for `target` where the site is tapped, or else the target itself.
inline PyObject* make_manager(PyTypeObject* type, PyObject* site, PyObject* target, PyObject* enter_name,
                              PyObject* exit_name, bool unpacks) {
    const Site* taps = as_site(site);
    PyTypeObject* kind = Py_TYPE(target);
    const bool asked = (taps->first != nullptr || taps->second != nullptr) && !Unobserved::now();
    // The interpreter itself complains about what is no context manager.
    if (!asked || _PyType_Lookup(kind, enter_name) == nullptr || _PyType_Lookup(kind, exit_name) == nullptr)
        return Py_NewRef(target);
    Owned enter(special(target, enter_name));
    if (!enter) return nullptr;
    Owned exit(special(target, exit_name));
    if (!exit) return nullptr;
    auto* self = PyObject_GC_New(Manager, type);
    if (self == nullptr) return nullptr;
    self->target = Py_NewRef(target);
    self->enter = enter.release();
    self->exit = exit.release();
    self->site = as_site(Py_NewRef(site));
    self->unpacks = unpacks;
    PyObject_GC_Track(reinterpret_cast<PyObject*>(self));
    return reinterpret_cast<PyObject*>(self);
}

}  // namespace mopsus::python
