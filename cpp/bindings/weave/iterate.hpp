// Places in rewritten code: what stands there does what was written, and serves taps.
#pragma once

#include <Python.h>

#include "loops.hpp"
#include "steps.hpp"
#include "taps.hpp"
#include "bind/unobserved.hpp"

namespace mopsus::python {

struct Site;

// What sites of one kind do when they are called, and when they are used as `site[x]`.
struct Behaviour {
    const char* kind;
    vectorcallfunc call;
    binaryfunc get = nullptr;
    objobjargproc set = nullptr;      // deletes if there is no value
    void (*tapped)(Site*) = nullptr;  // its taps have been replaced
};

// A place, or all places of a module that are alike. Its taps may be replaced at any time.
struct Site {
    PyObject_HEAD
    vectorcallfunc call;
    const Behaviour* behaviour;
    PyObject* subject;  // name of an attribute, the function that a call is about, or the shape of targets; or null
    Taps* first;        // iter, get, enter, or the only ones; null if there are none
    Taps* second;       // next, set, exit
    Taps* third;        // delete
    unsigned taps;      // how often they were replaced
    struct {
        PyTypeObject* type;
        unsigned version, taps, classes;
    } idle;  // the type of the last iterator that none of the second is about, as long as that holds
    struct {
        bool known;
        unsigned taps, classes;
    } plain;           // whether none is about tuples and their iterators, as long as that holds
    LoopPlans loops;   // what is to be done about loops, by the types of what they go over
    const Tap* quick;  // of the second, if it is all that is done before and after a step that goes well; or null
};

// Serve the taps of something that failed: an exception is set, or an iteration has come to its end and none is.
// Both stay as they are; false if the program is to stop instead.
bool serve_raising(const Taps& taps, const Occasion& occasion);
// Of something that gave a result, which is taken, and given back unless the program is to stop.
PyObject* serve_returning(const Taps& taps, const Occasion& occasion, PyObject* result);

// Of something that is about to happen and that nothing can take the place of; false if the program is to stop.
bool serve_first(const Taps& taps, const Occasion& occasion);
// What stands for an awaitable, which is taken: taps of the site are served when it has been awaited. Null stays null.
PyObject* waiting_for(PyObject* given, PyObject* target, Site* site, Taps* Site::* which);
// A special method, found and bound as the interpreter does it; null without an exception if there is none.
PyObject* special(PyObject* object, PyObject* name);

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
    if (result != nullptr)
        return taps->returning.empty() ? result : serve_returning(*taps.operator->(), occasion, result);
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

// The end, or the failure, of an iteration whose steps are told by one tap only.
PyObject* end_quick(Site* site, PyObject* iterator);

// A step of an iterator by its type's own function, with the second taps of the site served.
inline PyObject* step(Site* site, PyObject* iterator, iternextfunc next) {
    // Nearly every step of nearly every loop: an event without consequences.
    const Tap* quick = site->quick;
    if (quick != nullptr && !Unobserved::now() &&
        quick->emission.monitor->emit_silently(quick->emission.event, iterator)) {
        PyObject* result = next(iterator);
        return result != nullptr ? result : end_quick(site, iterator);
    }
    Taps* taps = site->second;
    if (taps == nullptr) return next(iterator);
    const Occasion occasion = on(iterator);
    return perform(taps, occasion, [&] { return next(iterator); });
}

// Is nothing told of the steps of an iterator? Its type decides, which is asked once.
bool idle(Site* site, PyObject* iterator);

// What unpacks a value into targets of this shape; the value itself if that cannot be iterated. Takes the value.
PyObject* unpacking(Site* site, PyObject* value, const char* shape);
// The shape of targets that a site is about.
const char* shape_of(const Site* site);

bool is_site(PyObject* object);
inline Site* as_site(PyObject* object) { return reinterpret_cast<Site*>(object); }

// Kinds of sites, each list ended by one without a name.
extern const Behaviour iteration[];
extern const Behaviour asynchronous[];
extern const Behaviour operators[];
extern const Behaviour exceptions[];
extern const Behaviour waiting[];

bool prepare_iteration();
bool prepare_asynchronous();
bool prepare_operators();
bool prepare_exceptions();
bool prepare_waiting();
bool prepare_sites(PyObject* module);

}  // namespace mopsus::python
