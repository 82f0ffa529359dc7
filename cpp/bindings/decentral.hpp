// Decentralized monitoring: automata over inputs, memories, and execution history encodings.
#pragma once

#include <nanobind/nanobind.h>

namespace mopsus::python {

void add_decentral(nanobind::module_& module);

}  // namespace mopsus::python
