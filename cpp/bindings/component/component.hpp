// Which component runs here, and coroutines each of whose steps is one of a component.
#pragma once

#include <Python.h>

namespace mopsus::python {

// Borrowed; null if nobody has said which runs in this thread.
PyObject* current_component();

// Adds `here`, `enter` and `Steps`.
bool prepare_components(PyObject* module);

}  // namespace mopsus::python
