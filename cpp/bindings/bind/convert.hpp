// Between Python objects and the core's keys.
#pragma once

#include <Python.h>

#include <string>

#include "mopsus/engine/key.hpp"
#include "terms.hpp"

namespace mopsus::python {

// Objects travel through the core as words.
inline PyObject* as_object(std::uint64_t word) {
    return reinterpret_cast<PyObject*>(static_cast<std::uintptr_t>(word));
}

enum class KeyMode : std::uint8_t { ByKind, Identity, Equality };

// The key of a value as the architecture says: scalars by type and value, objects by identity.
// `scratch` must outlive the key. Kind Object: `bits` is the address.
Key key_of(PyObject* value, std::string& scratch);
// Are all values of this type told apart by identity?
inline bool has_identity(const PyTypeObject* type) {
    return type != &PyLong_Type && type != &PyUnicode_Type && type != &PyFloat_Type && type != &PyTuple_Type &&
           type != &PyBytes_Type && type != &PyBool_Type && type != Py_TYPE(Py_None) && !is_spelling(type);
}
// An object whose key is its identity but that is never collected: it lives as long as its class or module.
bool is_permanent(PyObject* value);

// A new reference to the Python value of a scalar; nullptr with an exception set on failure.
PyObject* scalar(const Value& value);

bool prepare_conversion();

}  // namespace mopsus::python
