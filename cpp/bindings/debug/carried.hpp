// What events of a debugged program carried, kept for whoever explains a verdict.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace mopsus::python {

bool prepare_carried(PyObject* module);

// Is this a `Carrier`?
bool is_carrier(const PyObject* object);

// Let a carrier keep what an event carried; the number of the event. Errors leave it unknown: then it is 0.
std::int64_t carry(PyObject* carrier, PyObject* const* values, std::size_t count);

}  // namespace mopsus::python
