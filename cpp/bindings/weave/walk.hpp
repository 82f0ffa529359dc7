// Iterators whose steps are events: what stands for an iterable or iterator where rewritten code iterates.
#pragma once

#include "iterate.hpp"

namespace mopsus::python {

// Stands for an iterable or iterator where it is iterated: the program sees the iterator's attributes, the loop its
// values.
struct Walk {
    PyObject_HEAD
    PyObject* iterator;  // null until it is asked for
    PyObject* iterable;  // where the interpreter would keep it during the iteration; or null
    Site* site;
    // What becomes of the values, or null: `_` is a value as it is, `(…)` one that is unpacked into targets of that
    // shape, and from `*` on they stay as they are. With `each`, the shape is that of every value.
    const char* shape;
    bool each;
    bool measured;  // its length is that of the iterable
    bool passing;   // to be replaced by its iterator when that is asked for
    bool silent;    // nothing is told of its steps
    // The quick tap, as long as the site has these taps, and where its monitor finds the iterator.
    const Tap* quick;
    unsigned sought;  // for which taps it was looked for
    unsigned taps;
    Slot place;
    unsigned age;  // of the monitor
    Emission emission;
    // ---- a loop whose iterator nobody else has; see pending.hpp ----
    bool alone;    // as far as is known
    bool unbegun;  // its first event will create what is pending
    bool after;    // a step is told when it has succeeded, not before
    bool has_end;
    EventId end;
    Py_ssize_t holders;  // of the walk itself, while the loop runs; 0: it has not begun
    PyMonitor* monitor;
    Pending pending;
};

// One that stands for these, which are taken; null with an exception set if there is no memory.
Walk* make_walk(PyObject* iterator, PyObject* iterable, Site* site);
inline PyObject* object_of(Walk* walk) { return reinterpret_cast<PyObject*>(walk); }

// The iterator of an iterable, as an event. It may have been made already.
PyObject* iterator_of(Site* site, PyObject* given, PyObject* made = nullptr);

// The creation of what is pending is due, by this event; false if it must be told as usual.
bool begin(Walk* walk, EventId event);

// The end of the part of a shape that begins here.
const char* beyond(const char* shape);

}  // namespace mopsus::python
