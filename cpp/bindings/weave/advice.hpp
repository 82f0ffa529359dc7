// `_core.Advice(original, taps, kind)`: stands where a callable stood, calls it, and serves the taps on it.
//
// To the program it is the original, in what all stand-ins share and in how it binds to instances; tracebacks have no
// line of it. It adds neither frames nor exceptions of its own.
#pragma once

#include <Python.h>

namespace mopsus::python {

// Adds `Advice`, and what is done with one.
bool prepare_advice(PyObject* module);

}  // namespace mopsus::python
