// Points of a debugged Python program whose events go straight to monitors.
#pragma once

#include <Python.h>

namespace mopsus::python {

bool prepare_gates(PyObject* module);

}  // namespace mopsus::python
