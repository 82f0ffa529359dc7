// `_core.Classes`: the classes that a tap asks for. More may come while the program runs, and they are not kept alive.
#pragma once

#include <Python.h>

#include "taps.hpp"

namespace mopsus::python {

bool prepare_classes(PyObject* module);

// From a tuple of classes; null with an exception set if one is none.
Owned make_classes(PyObject* tuple);
bool are_classes(PyObject* object);
// How often classes were added anywhere: what was found out by them before may not hold any more.
inline unsigned classes_added = 0;
// Is the value an instance of one of them, or of one exactly? May run code of a metaclass that is not plain.
bool is_instance_of(PyObject* classes, PyObject* value);
bool is_exactly_of(PyObject* classes, PyObject* value);
// Will the last answer of `is_instance_of` about the value be the same as long as its type stays as it is?
bool is_settled(PyObject* classes, PyObject* value);

// What a tap has found out by these classes is forgotten when there are more of them.
void add_user(PyObject* classes, const Tap* tap);
void remove_user(PyObject* classes, const Tap* tap);

}  // namespace mopsus::python
