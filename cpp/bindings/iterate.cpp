#include "iterate.hpp"

namespace mopsus::python {

namespace {

// Stands for an iterator in a loop: the program sees the iterator's attributes, the loop its values.
struct Walk {
    PyObject_HEAD
    PyObject* iterator;
    PyObject* iterable;  // where the interpreter would keep it during the iteration; or null
    Site* site;
};

PyTypeObject* walk_type = nullptr;

Walk* spare = nullptr;  // loops come one after another: the last walk serves the next

// What a loop ends with, or fails with, when its steps are told by one tap only.
PyObject* walk_ends(Walk* self) {
    Taps* raised = self->site->second;
    if (raised == nullptr || raised->raising.empty()) return nullptr;
    const HeldTaps taps(raised);
    serve_raising(*raised, on(self->iterator));
    return nullptr;
}

PyObject* walk_next(PyObject* object) {
    auto* self = reinterpret_cast<Walk*>(object);
    PyObject* iterator = self->iterator;
    const iternextfunc next = Py_TYPE(iterator)->tp_iternext;
    // Nearly every step of nearly every loop: an event without consequences.
    const Tap* quick = self->site->quick;
    if (quick != nullptr && !Unobserved::now() && quick->emission.monitor->step_known(quick->emission.event, iterator)) {
        PyObject* result = next(iterator);
        return result != nullptr ? result : walk_ends(self);
    }
    Taps* taps = self->site->second;
    if (taps == nullptr) return next(iterator);
    const Occasion occasion = on(self->iterator);
    return perform(taps, occasion, [&] { return next(iterator); });
}

PyObject* walk_attribute(PyObject* object, PyObject* name) {
    if (PyUnicode_CompareWithASCIIString(name, "__length_hint__") == 0) return PyObject_GenericGetAttr(object, name);
    return PyObject_GetAttr(reinterpret_cast<Walk*>(object)->iterator, name);
}

PyObject* walk_length_hint(PyObject* object, PyObject*) {
    auto* self = reinterpret_cast<Walk*>(object);
    const Py_ssize_t hint = PyObject_LengthHint(self->iterable != nullptr ? self->iterable : self->iterator, 8);
    return hint >= 0 ? PyLong_FromSsize_t(hint) : nullptr;
}

PyObject* walk_repr(PyObject* object) { return PyObject_Repr(reinterpret_cast<Walk*>(object)->iterator); }

int walk_traverse(PyObject* object, visitproc visit, void* arg) {
    auto* self = reinterpret_cast<Walk*>(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->iterator);
    Py_VISIT(self->iterable);
    Py_VISIT(self->site);
    return 0;
}

void walk_dealloc(PyObject* object) {
    auto* self = reinterpret_cast<Walk*>(object);
    PyObject_GC_UnTrack(object);
    Py_CLEAR(self->iterator);
    Py_CLEAR(self->iterable);
    Py_CLEAR(self->site);
    if (spare == nullptr) {
        spare = self;  // keeps its type, too
        return;
    }
    PyTypeObject* type = Py_TYPE(object);
    type->tp_free(object);
    Py_DECREF(type);
}

PyMethodDef walk_methods[] = {
    {"__length_hint__", walk_length_hint, METH_NOARGS, "As of the iterator."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot walk_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(walk_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(walk_traverse)},
    {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
    {Py_tp_iternext, reinterpret_cast<void*>(walk_next)},
    {Py_tp_getattro, reinterpret_cast<void*>(walk_attribute)},
    {Py_tp_repr, reinterpret_cast<void*>(walk_repr)},
    {Py_tp_methods, walk_methods},
    {Py_tp_doc, const_cast<char*>("An iterator whose steps are events.")},
    {0, nullptr},
};

PyType_Spec walk_spec = {"mopsus._core.Walk", sizeof(Walk), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         walk_slots};

// Takes the iterator; the iterable is borrowed.
PyObject* walk(PyObject* iterator, PyObject* iterable, Site* site) {
    Walk* self = spare;
    if (self != nullptr) {
        spare = nullptr;
        _Py_NewReference(reinterpret_cast<PyObject*>(self));
    } else {
        self = PyObject_GC_New(Walk, walk_type);
        if (self == nullptr) {
            Py_DECREF(iterator);
            return nullptr;
        }
    }
    self->iterator = iterator;
    self->iterable = Py_XNewRef(iterable);
    self->site = reinterpret_cast<Site*>(Py_NewRef(reinterpret_cast<PyObject*>(site)));
    PyObject_GC_Track(reinterpret_cast<PyObject*>(self));
    return reinterpret_cast<PyObject*>(self);
}

bool iterable(PyObject* object) { return Py_TYPE(object)->tp_iter != nullptr || PySequence_Check(object) != 0; }

// What stands for the iterable of a loop. The interpreter itself complains about what cannot be iterated.
PyObject* begin(Site* site, PyObject* given, bool keep) {
    const bool asked = site->first != nullptr || site->second != nullptr;
    if (!asked || Unobserved::now() || !iterable(given)) return Py_NewRef(given);
    PyObject* iterator = perform(site->first, on(given), [&] { return PyObject_GetIter(given); });
    if (iterator == nullptr) return nullptr;
    // An iterator need not be iterable itself, nor be its own iterator: a walk is both.
    if (site->second == nullptr && Py_TYPE(iterator)->tp_iter == PyObject_SelfIter) return iterator;
    return walk(iterator, keep ? given : nullptr, site);
}

PyObject* loop(PyObject* object, PyObject* const* args, size_t, PyObject*) { return begin(as_site(object), args[0], false); }

// `*x`: the interpreter asks x how long it is, and keeps it until the end.
PyObject* spread(PyObject* object, PyObject* const* args, size_t, PyObject*) { return begin(as_site(object), args[0], true); }

// `iter(x)`, `next(x)`. The first argument is what the name stands for, which need not be the function.
PyObject* function(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) {
    Site* self = as_site(object);
    const Py_ssize_t given = PyVectorcall_NARGS(flags) - 1;
    const auto done = [&] { return PyObject_Vectorcall(args[0], args + 1, static_cast<size_t>(given) | PY_VECTORCALL_ARGUMENTS_OFFSET, names); };
    if (self->subject != args[0] || given == 0) return done();
    Occasion occasion;
    occasion.target = args[1];
    occasion.arguments = args + 1;
    occasion.positional = given;
    occasion.names = names;
    return perform(self->first, occasion, done);
}

}  // namespace

bool serve_raising(const Taps& taps, const Occasion& given) {
    Occasion occasion = given;
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    if (type != nullptr) PyErr_NormalizeException(&type, &value, &trace);
    if (value != nullptr && trace != nullptr) PyException_SetTraceback(value, trace);
    const Owned ended(type == nullptr ? PyObject_CallNoArgs(PyExc_StopIteration) : nullptr);
    occasion.exception = type != nullptr ? value : ended.get();
    for (const Tap* tap : taps.raising) {
        if (tap->serve(occasion)) continue;
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return false;
    }
    PyErr_Restore(type, value, trace);
    return true;
}

PyObject* serve_returning(const Taps& taps, const Occasion& given, PyObject* result) {
    Occasion occasion = given;
    occasion.result = result;
    for (const Tap* tap : taps.returning) {
        if (tap->serve(occasion)) continue;
        Py_DECREF(result);
        return nullptr;
    }
    return result;
}

const Behaviour iteration[] = {{"loop", loop}, {"spread", spread}, {"function", function}, {nullptr, nullptr}};

bool prepare_iteration() {
    walk_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&walk_spec));
    return walk_type != nullptr;
}

}  // namespace mopsus::python
