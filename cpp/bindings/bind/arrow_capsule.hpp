// Arrow data that Python objects lend, as capsules.
#pragma once

#include <nanobind/nanobind.h>

#include "mopsus/trace/arrow.hpp"

namespace mopsus::python {

// What a capsule holds; it is released by the new owner.
template <class T>
T taken(nanobind::handle capsule, const char* name) {
    auto* held = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (held == nullptr) nanobind::raise_python_error();
    T moved = *held;
    held->release = nullptr;
    return moved;
}

template <class T>
void free_capsule(PyObject* capsule) {
    auto* held = static_cast<T*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    if (held->release != nullptr) held->release(held);
    delete held;
}

}  // namespace mopsus::python
