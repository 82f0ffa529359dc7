#include "moment.hpp"

#include <algorithm>

namespace mopsus::python {

namespace {

thread_local bool collecting = false;

// What `gc.callbacks` calls in the thread that collects, before and after.
PyObject* collector(PyObject*, PyObject* const* args, Py_ssize_t given) {
    if (given == 2 && PyUnicode_Check(args[0])) collecting = PyUnicode_CompareWithASCIIString(args[0], "start") == 0;
    Py_RETURN_NONE;
}

PyObject* ended_with(PyObject*, PyObject*) {
    return Py_NewRef(EndedWith::now() != nullptr ? EndedWith::now() : Py_None);
}

PyMethodDef functions[] = {
    {"collector", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(collector)), METH_FASTCALL,
     "For `gc.callbacks`: what happens while the collector of garbage runs has no place of its own."},
    {"ended_with", ended_with, METH_NOARGS,
     "The exception that what the current event tells of has ended with; None if it has not."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool is_collecting() { return collecting; }

void Part::begin(std::int64_t number) {
    number_ = number;
    older_.clear();
    PyThreadState* here = PyThreadState_Get();
    for (PyThreadState* one = PyInterpreterState_ThreadHead(PyThreadState_GetInterpreter(here)); one != nullptr;
         one = PyThreadState_Next(one))
        if (one != here) older_.push_back(PyThreadState_GetID(one));
}

std::int64_t Part::number() const {
    if (older_.empty()) return number_;
    const bool is_older =
        std::find(older_.begin(), older_.end(), PyThreadState_GetID(PyThreadState_Get())) != older_.end();
    return is_older ? 0 : number_;
}

bool prepare_moments(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace mopsus::python
