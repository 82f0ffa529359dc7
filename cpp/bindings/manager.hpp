// What stands for a context manager, asynchronous or not, between the evaluation of its expression and the end of the block.
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

}  // namespace mopsus::python
