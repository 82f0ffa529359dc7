// Rewritten code and its *original*: the code that the compiler makes of the same source without Mopsus.
//
// The rewritten code runs; the program is given the original. Originals are read when somebody asks for one: until then
// all rewritten code of a module shares the marshalled original of the module.
#pragma once

#include <Python.h>

namespace mopsus::python {

// What is given out for code: its original if it was rewritten, else itself. New reference; null with an exception.
PyObject* original_of(PyObject* code);
// What runs for code: the rewritten one if it is an original whose function still exists, else itself. New reference;
// null with an exception.
PyObject* running_of(PyObject* code);
bool is_rewritten(PyObject* code);
// Code with some attributes replaced (by `replace`, given `code` and keywords), as the program asks for it. What is
// made of rewritten code, and differs in nothing that its instructions depend on, runs rewritten, too.
PyObject* replaced(PyObject* code, PyObject* keywords, PyObject* (*replace)(PyObject*, PyObject*));

// Adds `bind` and `alike`.
bool prepare_twins(PyObject* module);
// Whether everything that gives code to the program gives originals from now on; an exception is set otherwise.
bool give_originals();

}  // namespace mopsus::python
