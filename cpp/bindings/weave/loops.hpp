// What is to be done about loops at one place in a program. The types of what a loop goes over and of its iterator
// decide, so it is found out once for each of them.
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>

#include "bind/pending.hpp"
#include "taps.hpp"

namespace mopsus::python {

struct Site;

struct LoopPlan {
    enum class Kind : std::uint8_t {
        Usual,    // taps are to be asked one by one
        Idle,     // nobody asks for anything
        Created,  // an event creates an instance of the collection and the iterator, which may be pending
        Stepped,  // the first step creates an instance of the iterator alone, which may be pending
    };
    PyTypeObject *type, *iterator;
    unsigned version, iterator_version, taps, classes;  // as long as these are the same, it holds
    Kind kind;
    bool after;  // a step is told when it has succeeded, not before
    bool has_end;
    bool iterator_first;  // among the values of the event that creates an instance
    EventId creates, step, end;
    PyMonitor* monitor;
};

// The plans of one site. Zeroes are none.
class LoopPlans {
public:
    // Null: it is not known yet.
    const LoopPlan* find(const Site* site, PyObject* given) const;
    void learn(const Site* site, PyObject* given, PyObject* iterator);

private:
    static constexpr std::size_t kPlans = 16;
    static std::size_t place_of(const PyTypeObject* type) {
        return static_cast<std::size_t>(
            static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(type)) * 0x9E3779B97F4A7C15ULL >> 60);
    }
    std::array<LoopPlan, kPlans> plans_;
};

}  // namespace mopsus::python
