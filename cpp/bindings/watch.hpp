// How the death of a monitored object is noticed: by a weak reference where its type has them,
// else by a hook in front of the deallocator of its (builtin) base type.
#pragma once

#include <Python.h>

#include <cstdint>

#include "mopsus/engine.hpp"

namespace mopsus::python {

// Someone who wants to hear that a value of one parameter of one engine is gone. Called with the
// interpreter lock held, from inside any deallocation: it may only note the fact.
class Mourner {
public:
    Mourner(Engine& engine, unsigned parameter) : engine_(engine), parameter_(parameter) {}
    virtual ~Mourner() = default;
    virtual void died(Slot slot) = 0;

    Engine& engine() const { return engine_; }
    unsigned parameter() const { return parameter_; }
    Domain& domain() const { return engine_.domain(parameter_); }

private:
    friend std::uint64_t watch(PyObject*, Mourner&, Slot);
    friend void unwatch(std::uint64_t, Mourner&);
    Engine& engine_;
    unsigned parameter_;
    std::uint64_t hooked_ = 0;  // objects that it watches by a hook
};

// A watch is an opaque word that the caller keeps with the slot: a weak reference (owned), or a
// mark that the object's type is hooked; then the object is found again by its address.
std::uint64_t watch(PyObject* object, Mourner& mourner, Slot slot);
void unwatch(std::uint64_t word, Mourner& mourner);
// The slot under which a mourner knows an object, by the object's own list of weak references; 0 if
// that list does not say.
Slot slot_by_weak_reference(PyObject* object, const Mourner& mourner);

// From now on `Steps` hears of the end of every object of this type.
void watch_deaths(PyTypeObject* type);

bool prepare_watching();  // false with a Python exception set

}  // namespace mopsus::python
