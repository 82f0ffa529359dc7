// Logs of components as the core reads them, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace mopsus::python {

void add_log(nanobind::module_& module);

}  // namespace mopsus::python
