// What C code takes from iterators: `sum(it)`, `list(it)`, `zip(it, …)`.
//
// C code asks the type of an iterator for its slot `tp_iternext`, so a function of ours stands in the slots of those
// types of which an iterator is to be heard of. Such an iterator was made in rewritten code, or was a value of an
// event; it is known by its address until it dies. Generators that are made in rewritten code are known by their code,
// because nothing tells when one is made. The slot of a type is its own again as soon as no such iterator is left.
#pragma once

#include <Python.h>

namespace mopsus::python {

struct Site;

class Steps {
public:
    // Serve the second taps of this site from now on, or nobody's if it has none.
    static void follow(Site* site);
    // What was found out by classes may not hold any more: there are more of them.
    static void look_again();
    // Its steps are to be heard of wherever they are made. Does nothing with what is no iterator.
    static void note(PyObject* object) {
        if (site_ != nullptr && object != fresh && PyIter_Check(object) != 0) add(object);
    }
    static void forget(PyObject* object);
    // Generators of this code, and of the code in it, are to be heard of.
    static bool mark(PyObject* code);

    // What the type of an iterator does for a step by itself.
    static iternextfunc own(PyTypeObject* type) {
        const iternextfunc next = type->tp_iternext;
        return next == told_next ? own_of(type) : next;
    }

    // The iterator of a loop that begins, if nobody but the loop has it: C code never gets it.
    inline static PyObject* fresh = nullptr;
    // The iterator whose next step has been told already.
    inline static PyObject* told = nullptr;

private:
    static void add(PyObject* object);
    static void hook(PyTypeObject* type);
    static void unhook(PyTypeObject* type);
    static bool is_known(PyObject* iterator);
    static iternextfunc own_of(PyTypeObject* type);
    static PyObject* told_next(PyObject* iterator);
    static void hook_generators(bool wanted);

    inline static Site* site_ = nullptr;
};

bool prepare_steps();

}  // namespace mopsus::python
