// The main program, run as the interpreter would run it: as if nothing had been called before.
#pragma once

#include <Python.h>

namespace mopsus::python {

// Adds `run_main`.
bool prepare_main(PyObject* module);

}  // namespace mopsus::python
