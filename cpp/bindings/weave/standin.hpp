// What stands for an object of the program, in the dictionary of a module or class, and is that object in all but
// identity: attributes (read and written), equality, hash, `repr`, `isinstance`, copying and pickling are the
// original's.
#pragma once

#include <Python.h>

namespace mopsus::python {

struct StandIn {
    PyObject_HEAD
    PyObject* original;
    PyObject* before;  // what stood in its place: the original, or what that is a part of
    PyObject* name;    // under which it stands; may be null
    PyObject* weak_references;
};

inline StandIn* as_stand_in(PyObject* object) { return reinterpret_cast<StandIn*>(object); }

bool is_stand_in(PyObject* object);
extern PyTypeObject* stand_in_type;

// The parts that all have. `before` and `name` may be null.
void begin_stand_in(StandIn* self, PyObject* original, PyObject* before, PyObject* name);
int traverse_stand_in(PyObject* self, visitproc visit, void* arg);
void end_stand_in(PyObject* self);

// What every such type has of its own, as all types have it: `__doc__`.
extern PyGetSetDef stand_in_attributes[];

// Adds the base of all such types, and what is asked of one: it has no attributes of its own that a program could
// stumble over.
bool prepare_stand_ins(PyObject* module);

}  // namespace mopsus::python
