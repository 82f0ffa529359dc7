// Machines of every kind from what Python gives.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "mopsus/machine/machine.hpp"

namespace mopsus::python {

// `arguments` are those that `mopsus.monitor.plan` lays out for the kind; throws nb::value_error for an unknown kind.
std::shared_ptr<const Machine> make_machine(const std::string& kind, nanobind::tuple arguments);

}  // namespace mopsus::python
