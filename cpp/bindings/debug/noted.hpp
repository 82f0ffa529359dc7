// What an agent in a debugged program has noted, taken by monitors without any Python in between.
#pragma once

#include <nanobind/nanobind.h>

namespace mopsus::python {

void add_noted(nanobind::class_<class PyMonitor>& monitor);

}  // namespace mopsus::python
