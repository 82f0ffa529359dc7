// Symbolic machines from Python, and predicates in Python that they call.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "mopsus/machine.hpp"

namespace mopsus::python {

std::shared_ptr<const Machine> make_symbolic(nanobind::tuple arguments);
// The predicates of a machine, which somebody must keep.
std::vector<PyObject*> predicates(const Machine& machine);

}  // namespace mopsus::python
