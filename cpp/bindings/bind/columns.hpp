// Blocks of CSV as the core reads them, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace mopsus::python {

void add_columns(nanobind::module_& module);

}  // namespace mopsus::python
