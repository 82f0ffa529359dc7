#pragma once

#include <Python.h>

namespace mopsus::python {

bool prepare_exiting(PyObject* module);

}  // namespace mopsus::python
