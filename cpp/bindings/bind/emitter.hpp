// `monitor.event("name")`: a callable that hands an event to the core without any Python in between.
#pragma once

#include <Python.h>

#include "monitor.hpp"

namespace mopsus::python {

// A new emitter; `owner` (the Python object that holds `monitor`) is kept alive by it.
PyObject* make_emitter(PyObject* owner, PyMonitor& monitor, EventId event);
// What a callable made by `make_emitter` sends, and to whom; nothing (monitor == nullptr) for any other object.
struct Emission {
    PyMonitor* monitor = nullptr;
    EventId event = 0;
};
Emission emission_of(PyObject* callable);
bool prepare_emitters(PyObject* module);

}  // namespace mopsus::python
