// The rows of a trace, how they are read, and how events are found among them, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "mopsus/trace/columns.hpp"

namespace mopsus::python {

struct Columns {
    std::shared_ptr<OwnedColumns> owned;
};

void add_columns(nanobind::module_& module);
void add_recogniser(nanobind::module_& module);

}  // namespace mopsus::python
