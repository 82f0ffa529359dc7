// Between Python objects and the core's keys.
#pragma once

#include <Python.h>

#include <string>

#include "mopsus/key.hpp"

namespace mopsus::python {

// Objects travel through the core as words.
inline PyObject* as_object(std::uint64_t word) { return reinterpret_cast<PyObject*>(static_cast<std::uintptr_t>(word)); }

enum class KeyMode : std::uint8_t { ByKind, Identity, Equality };

// The key of a value as the architecture says: scalars by type and value, objects by identity.
// `scratch` must outlive the key. Kind Object: `bits` is the address.
Key key_of(PyObject* value, std::string& scratch);
// An object whose key is its identity but that is never collected: it lives as long as its class or module.
bool is_permanent(PyObject* value);

// A new reference to the Python value of a scalar; nullptr with an exception set on failure.
PyObject* scalar(const Value& value);

bool prepare_conversion();

}  // namespace mopsus::python
