// Exceptions of the program, while code of ours runs.
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

// Forgets what went wrong in Python code that was only asked something. A Ctrl-C that came just then is raised as soon
// as the program goes on: it is not about what was asked.
inline void forget_error() {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    if (type != nullptr && PyErr_GivenExceptionMatches(type, PyExc_KeyboardInterrupt) != 0) {
        PyErr_NormalizeException(&type, &value, &trace);
        const auto raise = [](void* error) {
            auto* interrupt = static_cast<PyObject*>(error);
            PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(interrupt)), interrupt);
            Py_DECREF(interrupt);
            return -1;
        };
        if (Py_AddPendingCall(raise, Py_NewRef(value)) != 0) Py_DECREF(value);
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

}  // namespace mopsus::python
