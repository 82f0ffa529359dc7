// Between Python objects and terms.
//
// Scalars are converted at once, containers when somebody looks into them: a message that is only counted costs
// nothing, however large it is.
#pragma once

#include <Python.h>

#include "mopsus/machine/term.hpp"

namespace mopsus::python {

// The classes of `mopsus.model` that stand for terms, and for objects in reports.
struct TermTypes {
    PyObject* atom = nullptr;
    PyObject* string = nullptr;
    PyObject* pid = nullptr;
    PyObject* reference = nullptr;
    PyObject* object = nullptr;
};
extern TermTypes term_types;

// A text of one of those classes is told apart by its spelling.
inline bool is_spelling(const PyTypeObject* type) {
    const auto* object = reinterpret_cast<const PyObject*>(type);
    return object == term_types.pid || object == term_types.atom || object == term_types.string ||
           object == term_types.reference;
}

// The term borrows from the object, which must outlive it.
Term to_term(PyObject* value, Arena& arena);
// A new reference; nullptr with an exception set if there is no such value.
PyObject* from_term(Term term);

bool prepare_terms();
// Objects that terms no longer need end here, when code of theirs may run.
extern bool terms_were_dropped;
void end_dropped_terms();

}  // namespace mopsus::python
