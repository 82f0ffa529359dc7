// What components do, on its way to a monitor in another process.
#pragma once

#include <nanobind/nanobind.h>

namespace mopsus::python {

void add_rings(nanobind::module_& module);

}  // namespace mopsus::python
