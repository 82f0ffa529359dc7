// Python code of guarded machines: guards, blocks and actions, each compiled once and run with the variables of a
// slice.
//
// A slice's variables are a dictionary, which is the *globals* of the code while it runs: so every name means what it
// means in Python, in inner functions and comprehensions too, and what code assigns is there for the next. Names that
// are no variables are looked up where Python looks for builtins.
#pragma once

#include <Python.h>

#include <cstdint>

namespace mopsus::python {

class SpecCode {
public:
    enum class Role : std::uint8_t {
        Guard,
        AssigningGuard,  // runs with a copy of the variables: guards change nothing
        Block,
        Action,
        Initialization,
    };
    // `states`: by name, what a block may answer.
    SpecCode(PyObject* code, Role role, PyObject* states)
        : code_(Py_NewRef(code)), states_(Py_NewRef(states)), role_(role) {}
    SpecCode(SpecCode&& other) noexcept;
    SpecCode& operator=(const SpecCode&) = delete;
    ~SpecCode() { clear(); }

    // Those of the event: what guards and blocks see.
    bool takes_values() const { return role_ <= Role::Block; }
    // What `Listener::call` answers; nothing, with an exception set, if the code raised one.
    bool run(PyObject* variables, PyObject* names, PyObject* const* values, std::size_t count, std::int32_t& answer);
    // Names are looked up elsewhere from now on.
    void forget_function() { Py_CLEAR(function_); }
    int traverse(visitproc visit, void* arg);
    void clear();

private:
    PyObject* function(PyObject* variables, PyObject* names);
    bool read(PyObject* result, std::int32_t& answer);

    PyObject* code_;
    PyObject* states_;
    PyObject* function_ = nullptr;  // of the last call
    Role role_;
};

// A new reference to a copy of a slice's variables, in which functions that see the variables see those of the copy.
PyObject* copy_of_variables(PyObject* variables);

}  // namespace mopsus::python
