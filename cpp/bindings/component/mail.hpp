// Messages in queues, told to whoever listens.
#pragma once

#include <Python.h>

namespace mopsus::python {

// Adds `Mail`.
bool prepare_mail(PyObject* module);

}  // namespace mopsus::python
