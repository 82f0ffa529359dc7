// An instance that only a loop can reach.
//
// `for x in c` makes an iterator that nobody else has, and most loops come to their end with no event but their own
// steps, none of which changes anything. To make an instance for the two, and to remove it when the iterator dies,
// would cost more than such a loop itself. So it stays with the loop, *pending*, and has only the numbers that it would
// have got. It is made as soon as an event is about one of its values, the state of the monitor is asked for, or
// somebody else has got hold of the iterator.
#pragma once

#include <Python.h>

#include <cstdint>

#include "mopsus/engine/engine.hpp"

namespace mopsus::python {

class PyMonitor;

struct Pending {
    PyMonitor* monitor;       // null: nothing is pending
    Pending *before, *after;  // of the monitor, in the order in which they began
    // If another step would change nothing: where steps are counted, and that is all that is done about one. Else null.
    std::uint64_t* counter;
    PyObject* iterator;    // both are borrowed: the loop has the iterator, and that the collection until its end
    PyObject* collection;  // null: it is about the iterator alone
    std::uint32_t iterator_serial, collection_serial;
    EventId event;        // that creates it
    EventId step;         // that a step of the loop is
    bool iterator_first;  // among the values of the event that creates it
    Deferred deferred;

    bool is_about(const PyObject* value) const { return value == iterator || value == collection; }
};

}  // namespace mopsus::python
