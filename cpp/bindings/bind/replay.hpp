// Events made ready beforehand: their data lies in terms, so that a monitor takes them without any Python in between.
#pragma once

#include <nanobind/nanobind.h>

namespace mopsus::python {

void add_replay(nanobind::module_& module);

}  // namespace mopsus::python
