// `_core.Advice(original, taps, kind)`: stands where a callable stood, calls it, and serves the taps on it.
//
// To the program it is the original: attributes (read and written), equality, hash, `repr`, `isinstance`, pickling by name and
// binding to instances are the original's; tracebacks have no line of it. It adds neither frames nor exceptions of its own.
#pragma once

#include <Python.h>

namespace mopsus::python {

// Adds `Advice`, and what is done with one: an advice has no attributes of its own that a program could stumble over.
bool prepare_advice(PyObject* module);

}  // namespace mopsus::python
