// Decentralized monitoring for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace mopsus::python {

void add_decentral(nanobind::module_& module);
// Messages, and the monitors that send them.
void add_decentral_monitors(nanobind::module_& module);
// The monitors of decentralized specifications.
void add_node(nanobind::module_& module);
void add_simulation(nanobind::module_& module);

}  // namespace mopsus::python
