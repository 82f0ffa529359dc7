// Symbolic machines from Python, and predicates in Python that they call.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "monitor.hpp"
#include "mopsus/machine/machine.hpp"

namespace mopsus::python {

std::shared_ptr<const Machine> make_symbolic(nanobind::tuple arguments);
// The predicates of a machine are kept by the monitor that runs it, and errors in them are its faults.
void keep_predicates(const Machine& machine, PyMonitor& monitor);

}  // namespace mopsus::python
