// How the death of a monitored object is noticed: by a weak reference where its type has them,
// else by a hook in front of the deallocator of its (builtin) base type.
#pragma once

#include <Python.h>

#include <cstdint>

namespace mopsus::python {

// Someone who wants to hear that a value is gone. Called with the interpreter lock held, from
// inside any deallocation: it may only note the fact.
class Mourner {
public:
    virtual ~Mourner() = default;
    virtual void died(void* engine, unsigned parameter, std::uint32_t slot) = 0;
};

// A watch is an opaque word: 0, a weak reference (owned), or a tagged registration.
std::uint64_t watch(PyObject* object, Mourner& mourner, void* engine, unsigned parameter, std::uint32_t slot);
// Stop watching. `object` is only used as an address.
void unwatch(std::uint64_t watch, PyObject* object, Mourner& mourner, void* engine, unsigned parameter, std::uint32_t slot);
// The slot under which `object` is known to this engine, by its own list of weak references; 0 if
// that list does not say.
std::uint32_t slot_by_weak_reference(PyObject* object, void* engine, unsigned parameter);

bool prepare_watching();  // false with a Python exception set

}  // namespace mopsus::python
