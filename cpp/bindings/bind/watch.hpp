// How the death of a monitored object is noticed: by a weak reference where its type has them,
// else by a hook in front of the deallocator of its (builtin) base type.
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "mopsus/engine/engine.hpp"

namespace mopsus::python {

// Says of most objects, at once, that nobody waits for their death. Whoever waits for one adds it, and removes it once.
class ExpectedDeaths {
public:
    bool has(const void* object) const { return counts_[place_of(object)] != 0; }
    void add(const void* object) { ++counts_[place_of(object)]; }
    void remove(const void* object) { --counts_[place_of(object)]; }

private:
    static constexpr std::size_t kPlaces = 2048;
    static std::size_t place_of(const void* object) {
        const auto address = reinterpret_cast<std::uintptr_t>(object);
        return (address >> 4 ^ address >> 15) % kPlaces;
    }
    std::array<std::uint32_t, kPlaces> counts_{};
};
inline ExpectedDeaths expected_deaths;

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
    friend std::uint64_t watch(PyObject*, Mourner&, Slot, bool);
    friend void unwatch(std::uint64_t, Mourner&, PyObject*);
    Engine& engine_;
    unsigned parameter_;
    std::uint64_t hooked_ = 0;  // objects that it watches by a hook
};

// A watch is an opaque word that the caller keeps with the slot: a weak reference (owned), or a
// mark that the object's type is hooked; then the object is found again by its address.
// With `by_reference` it is a weak reference wherever there can be one.
std::uint64_t watch(PyObject* object, Mourner& mourner, Slot slot, bool by_reference);
void unwatch(std::uint64_t word, Mourner& mourner, PyObject* object);
// The slot under which a mourner knows an object, by the object's own list of weak references; 0 if
// that list does not say.
Slot slot_by_weak_reference(PyObject* object, const Mourner& mourner);

// From now on `Steps` hears of the end of every object of this type.
void watch_deaths(PyTypeObject* type);

bool prepare_watching();  // false with a Python exception set

}  // namespace mopsus::python
