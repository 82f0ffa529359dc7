// `_core.Accessor(original, before, name)`: stands where a property, a slot or any other descriptor of data stood, and
// serves the taps on what is read, assigned and deleted through it. What is asked of the class itself is the original's
// business.
#pragma once

#include <Python.h>

namespace mopsus::python {

bool prepare_accessors(PyObject* module);

}  // namespace mopsus::python
