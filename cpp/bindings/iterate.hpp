// Places in rewritten code: what stands there does what was written, and serves taps.
#pragma once

#include <Python.h>

#include "taps.hpp"
#include "unobserved.hpp"

namespace mopsus::python {

// What sites of one kind do when they are called, and when they are used as `site[x]`.
struct Behaviour {
    const char* kind;
    vectorcallfunc call;
    binaryfunc get = nullptr;
    objobjargproc set = nullptr;  // deletes if there is no value
};

// A place, or all places of a module that are alike. Its taps may be replaced at any time.
struct Site {
    PyObject_HEAD
    vectorcallfunc call;
    const Behaviour* behaviour;
    PyObject* subject;  // name of an attribute, or the function that a call is about; or null
    Taps* first;        // iter, get, enter, or the only ones; null if there are none
    Taps* second;       // next, set, exit
    Taps* third;        // delete
    const Tap* quick;   // of the second, if it is all that is done before and after a step that goes well; or null
};

// Serve the taps of something that failed: an exception is set, or an iteration has come to its end and none is.
// Both stay as they are; false if the program is to stop instead.
bool serve_raising(const Taps& taps, const Occasion& occasion);
// Of something that gave a result, which is taken, and given back unless the program is to stop.
PyObject* serve_returning(const Taps& taps, const Occasion& occasion, PyObject* result);

// What happens, with its taps served before and after; `action` gives a new reference, or null. An exception that it
// leaves unset is the end of an iteration. (An occasion is never copied on the way of most events: it is large.)
template <class Action>
PyObject* perform(Taps* served, const Occasion& occasion, Action&& action) {
    if (served == nullptr || Unobserved::now()) return action();
    const HeldTaps taps(served);
    for (const Tap* tap : taps->around) {
        Skippable skippable;
        if (!tap->serve(occasion)) return nullptr;
        // What is left out does not happen: nobody else hears of it.
        if (skippable.skipped()) return skippable.result();
    }
    for (const Tap* tap : taps->before)
        if (!tap->serve(occasion)) return nullptr;
    PyObject* result = action();
    if (result != nullptr) return taps->returning.empty() ? result : serve_returning(*taps.operator->(), occasion, result);
    if (!taps->raising.empty()) serve_raising(*taps.operator->(), occasion);
    return nullptr;
}

// An operation that is a function of one object: that is its target and its argument.
inline Occasion on(PyObject*& object) {
    Occasion occasion;
    occasion.target = object;
    occasion.arguments = &object;
    occasion.positional = 1;
    return occasion;
}

inline Site* as_site(PyObject* object) { return reinterpret_cast<Site*>(object); }

// Kinds of sites, each list ended by one without a name.
extern const Behaviour iteration[];
extern const Behaviour operators[];
extern const Behaviour waiting[];

bool prepare_iteration();
bool prepare_operators();
bool prepare_waiting();
bool prepare_sites(PyObject* module);

}  // namespace mopsus::python
