// The program's own exception, while code of ours runs.
#pragma once

#include <Python.h>

namespace mopsus::python {

// The exception that is set, if any, is kept aside: a fault of ours must not become the program's.
class SavedError {
public:
    SavedError() { PyErr_Fetch(&type_, &value_, &trace_); }
    ~SavedError() { PyErr_Restore(type_, value_, trace_); }
    SavedError(const SavedError&) = delete;
    SavedError& operator=(const SavedError&) = delete;

private:
    PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

}  // namespace mopsus::python
