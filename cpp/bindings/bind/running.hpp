// The instruction that runs, without making a frame object of it as the interpreter does for those who ask.
#pragma once

#include <Python.h>

namespace mopsus::python {

struct Instruction {
    PyObject* code = nullptr;  // borrowed; null: no Python runs
    int offset = 0;            // as `f_lasti`
    bool operator==(const Instruction&) const = default;
};

Instruction running_instruction();

}  // namespace mopsus::python
