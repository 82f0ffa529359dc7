// `monitor.event("name")`: a callable that hands an event to the core without any Python in between.
#pragma once

#include <Python.h>

#include "monitor.hpp"

namespace mopsus::python {

// A new emitter; `owner` (the Python object that holds `monitor`) is kept alive by it.
PyObject* make_emitter(PyObject* owner, PyMonitor& monitor, EventId event);
bool prepare_emitters(PyObject* module);

}  // namespace mopsus::python
