#include "code.hpp"

#include <utility>

namespace mopsus::python {

SpecCode::SpecCode(SpecCode&& other) noexcept
    : code_(std::exchange(other.code_, nullptr)),
      states_(std::exchange(other.states_, nullptr)),
      function_(std::exchange(other.function_, nullptr)),
      role_(other.role_) {}

int SpecCode::traverse(visitproc visit, void* arg) {
    Py_VISIT(code_);
    Py_VISIT(states_);
    Py_VISIT(function_);
    return 0;
}

void SpecCode::clear() {
    Py_CLEAR(function_);
    Py_CLEAR(code_);
    Py_CLEAR(states_);
}

// A new reference. One function serves all slices, one after the other, unless somebody still has it.
PyObject* SpecCode::function(PyObject* variables, PyObject* names) {
    if (function_ != nullptr && Py_REFCNT(function_) == 1) {
        auto* known = reinterpret_cast<PyFunctionObject*>(function_);
        if (known->func_globals != variables) Py_SETREF(known->func_globals, Py_NewRef(variables));
        return Py_NewRef(function_);
    }
    PyObject* made = PyFunction_New(code_, variables);
    if (made == nullptr) return nullptr;
    Py_XSETREF(reinterpret_cast<PyFunctionObject*>(made)->func_builtins, Py_NewRef(names));
    Py_XSETREF(function_, Py_NewRef(made));
    return made;
}

bool SpecCode::run(PyObject* variables, PyObject* names, PyObject* const* values, std::size_t count,
                   std::int32_t& answer) {
    PyObject* copy = role_ == Role::AssigningGuard ? PyDict_Copy(variables) : Py_NewRef(variables);
    PyObject* called = copy != nullptr ? function(copy, names) : nullptr;
    PyObject* result = called != nullptr ? PyObject_Vectorcall(called, values, count, nullptr) : nullptr;
    const bool done = result != nullptr && read(result, answer);
    Py_XDECREF(result);
    Py_XDECREF(called);
    Py_XDECREF(copy);
    return done;
}

bool SpecCode::read(PyObject* result, std::int32_t& answer) {
    answer = -1;
    if (result == Py_None || !takes_values()) return true;
    if (role_ != Role::Block) {
        answer = PyObject_IsTrue(result);
        return answer >= 0;
    }
    PyObject* state = PyUnicode_Check(result) ? PyDict_GetItemWithError(states_, result) : nullptr;
    if (state == nullptr) {
        if (PyErr_Occurred() == nullptr)
            PyErr_Format(PyExc_ValueError, "a block returns the name of a state, or nothing: %R is none", result);
        return false;
    }
    answer = static_cast<std::int32_t>(PyLong_AsLong(state));
    return true;
}

PyObject* copy_of_variables(PyObject* variables) {
    PyObject* copy = PyDict_Copy(variables);
    Py_ssize_t at = 0;
    PyObject *name = nullptr, *value = nullptr;
    while (copy != nullptr && PyDict_Next(variables, &at, &name, &value) != 0) {
        if (!PyFunction_Check(value) || PyFunction_GET_GLOBALS(value) != variables) continue;
        auto* made = reinterpret_cast<PyFunctionObject*>(PyFunction_NewWithQualName(
            PyFunction_GET_CODE(value), copy, reinterpret_cast<PyFunctionObject*>(value)->func_qualname));
        const auto* original = reinterpret_cast<PyFunctionObject*>(value);
        if (made == nullptr) {
            Py_CLEAR(copy);
            break;
        }
        Py_XSETREF(made->func_builtins, Py_NewRef(original->func_builtins));
        Py_XSETREF(made->func_defaults, Py_XNewRef(original->func_defaults));
        Py_XSETREF(made->func_kwdefaults, Py_XNewRef(original->func_kwdefaults));
        Py_XSETREF(made->func_closure, Py_XNewRef(original->func_closure));
        const int stored = PyDict_SetItem(copy, name, reinterpret_cast<PyObject*>(made));
        Py_DECREF(made);
        if (stored != 0) Py_CLEAR(copy);
    }
    return copy;
}

}  // namespace mopsus::python
