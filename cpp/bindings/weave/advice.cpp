#include "advice.hpp"

#include <structmember.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "depth.hpp"
#include "iterate.hpp"
#include "standin.hpp"
#include "taps.hpp"
#include "bind/unobserved.hpp"

namespace mopsus::python {

namespace {

struct Advice {
    StandIn base;
    vectorcallfunc vectorcall;
    Taps* taps;
    const Tap* only;    // the first one before a call, if `call_before` is how it is called
    Py_ssize_t offset;  // of the original's own vectorcall function; 0: it has none
    bool has_target;    // the first argument is the object whose method it is
    PyObject* place;    // of what an original has given for an object: the advice on that original, and the object
    PyObject* target;
};

PyTypeObject* advice_type = nullptr;
PyTypeObject* binding_type = nullptr;  // of those whose original binds to instances, as functions do
PyTypeObject* giving_type = nullptr;   // of those whose original gives something of its own for an instance or class

Advice* as_advice(PyObject* object) { return reinterpret_cast<Advice*>(object); }

// ---- calling ----

vectorcallfunc own_vectorcall(const Advice* self) {
    vectorcallfunc function = nullptr;
    if (self->offset > 0)
        std::memcpy(&function, reinterpret_cast<const char*>(self->base.original) + self->offset, sizeof function);
    return function;
}

[[gnu::noinline]] PyObject* call_deeply(const Advice* self, PyObject* const* args, std::size_t flags, PyObject* names) {
    const Depth depth;
    if (depth.refused()) return nullptr;
    if (const vectorcallfunc function = own_vectorcall(self); function != nullptr)
        return function(self->base.original, args, flags, names);
    return PyObject_Vectorcall(self->base.original, args, flags, names);
}

// Mostly a jump: it takes no room on the stack.
inline PyObject* call_original(const Advice* self, PyObject* const* args, std::size_t flags, PyObject* names) {
    const vectorcallfunc function = own_vectorcall(self);
    if (function == nullptr || !Depth::is_shallow()) return call_deeply(self, args, flags, names);
    return function(self->base.original, args, flags, names);
}

Occasion occasion_of(PyObject* object, PyObject* const* args, std::size_t flags, PyObject* names) {
    const Advice* self = as_advice(object);
    Occasion at;
    at.positional = PyVectorcall_NARGS(flags);
    at.arguments = args;
    if (self->has_target && at.positional > 0) {
        at.target = args[0];
        ++at.arguments;
        --at.positional;
    }
    at.names = names;
    at.place = object;
    at.name = self->base.name;
    return at;
}

[[gnu::noinline]] PyObject* call(PyObject* object, PyObject* const* args, std::size_t flags, PyObject* names) {
    const Advice* self = as_advice(object);
    return perform(self->taps, occasion_of(object, args, flags, names),
                   [&] { return call_original(self, args, flags, names); });
}

// The commonest case: one event before it, of the target alone.
PyObject* call_before(PyObject* object, PyObject* const* args, std::size_t flags, PyObject* names) {
    const Advice* self = as_advice(object);
    if (PyVectorcall_NARGS(flags) == 0 || Unobserved::anywhere() || !self->only->serve_silently(args[0]))
        return call(object, args, flags, names);
    return call_original(self, args, flags, names);
}

// Where the last source of a tap stands among what is given; -1: it is not given.
Py_ssize_t place_of(const Tap& tap, const Occasion& at) {
    const Tap::Source& source = tap.sources.back();
    if (source.index >= 0 && source.index < at.positional) return source.index;
    const Py_ssize_t count = at.names != nullptr && source.name ? PyTuple_GET_SIZE(at.names) : 0;
    for (Py_ssize_t k = 0; k < count; ++k)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(at.names, k), source.name.get()) == 0) return at.positional + k;
    return -1;
}

// With something else given, or something else got; events are of what the program gave and what the original gives.
PyObject* call_exchanging(PyObject* object, PyObject* const* args, std::size_t flags, PyObject* names) {
    const Advice* self = as_advice(object);
    if (Unobserved::now()) return call_original(self, args, flags, names);
    const HeldTaps taps(self->taps);
    Occasion at = occasion_of(object, args, flags, names);
    std::vector<PyObject*> given(args,
                                 args + PyVectorcall_NARGS(flags) + (names != nullptr ? PyTuple_GET_SIZE(names) : 0));
    std::vector<Owned> made;
    for (const Tap* tap : taps->giving) {
        const Py_ssize_t place = place_of(*tap, at);
        Owned other = place >= 0 ? tap->exchanged(at) : Owned();
        if (PyErr_Occurred() != nullptr) return nullptr;
        if (!other) continue;
        given[static_cast<std::size_t>(place + (at.arguments - args))] = other.get();
        made.push_back(std::move(other));
    }
    const std::size_t count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    Owned result(perform(self->taps, at, [&] { return call_original(self, given.data(), count, names); }));
    at.result = result.get();
    for (const Tap* tap : taps->getting) {
        if (!result) break;
        if (Owned other = tap->exchanged(at)) result = std::move(other);
        if (PyErr_Occurred() != nullptr) return nullptr;
        at.result = result.get();
    }
    return result.release();
}

PyObject* call_unobserved(PyObject* object, PyObject* const* args, std::size_t flags, PyObject* names) {
    return call_original(as_advice(object), args, flags, names);
}

PyObject* call_given(PyObject* object, PyObject* const* args, std::size_t flags, PyObject* names) {
    const Advice* self = as_advice(object);
    Occasion at;
    at.target = self->target;
    at.positional = PyVectorcall_NARGS(flags);
    at.arguments = args;
    at.names = names;
    at.place = self->place;
    at.name = as_stand_in(self->place)->name;
    return perform(as_advice(self->place)->taps, at, [&] { return call_original(self, args, flags, names); });
}

void use(Advice* self, Taps* taps) {
    self->taps = taps;
    const bool one = taps->before.size() == 1 && taps->size() == 1;
    self->only = one && self->has_target && taps->before.front()->simple ? taps->before.front() : nullptr;
    self->vectorcall = taps->empty()           ? call_unobserved
                       : taps->exchange()      ? call_exchanging
                       : self->only != nullptr ? call_before
                                               : call;
}

// ---- binding ----

PyObject* bind(PyObject* object, PyObject* instance, PyObject* type) {
    // Of a class, not of an instance; None has methods too.
    const bool of_class =
        instance == nullptr || (instance == Py_None && type != reinterpret_cast<PyObject*>(Py_TYPE(Py_None)));
    return of_class ? Py_NewRef(object) : PyMethod_New(object, instance);
}

Py_ssize_t vectorcall_offset(PyObject* original) {
    return (PyType_GetFlags(Py_TYPE(original)) & Py_TPFLAGS_HAVE_VECTORCALL) != 0
               ? Py_TYPE(original)->tp_vectorcall_offset
               : 0;
}

// An advice on what the original gives, or just that if it cannot be called.
PyObject* give(PyObject* object, PyObject* instance, PyObject* type) {
    PyObject* original = as_stand_in(object)->original;
    Owned given(Py_TYPE(original)->tp_descr_get(original, instance, type));
    if (!given || !PyCallable_Check(given.get())) return given.release();
    auto* self = as_advice(advice_type->tp_alloc(advice_type, 0));
    if (self == nullptr) return nullptr;
    begin_stand_in(&self->base, given.get(), nullptr, as_stand_in(object)->name);
    self->offset = vectorcall_offset(given.get());
    self->place = Py_NewRef(object);
    self->target = Py_XNewRef(instance);
    self->vectorcall = call_given;
    return reinterpret_cast<PyObject*>(self);
}

// ---- making ----

PyTypeObject* kind_of(PyObject* original, bool has_target) {
    // A bound method binds no more.
    if (Py_TYPE(original)->tp_descr_get == nullptr || PyMethod_Check(original)) return advice_type;
    const bool as_function = (PyType_GetFlags(Py_TYPE(original)) & Py_TPFLAGS_METHOD_DESCRIPTOR) != 0 ||
                             Py_TYPE(original) == &PyClassMethodDescr_Type;
    return as_function || !has_target ? binding_type : giving_type;
}

PyObject* make(PyTypeObject*, PyObject* args, PyObject* named) {
    static const char* keywords[] = {"original", "taps", "kind", "name", "before", nullptr};
    PyObject* original = nullptr;
    PyObject* taps = nullptr;
    const char* kind = "function";
    PyObject* name = nullptr;
    PyObject* before = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO|sUO", const_cast<char**>(keywords), &original, &taps, &kind,
                                     &name, &before))
        return nullptr;
    const bool has_target = std::strcmp(kind, "method") == 0;
    if (!has_target && std::strcmp(kind, "function") != 0)
        return PyErr_Format(PyExc_ValueError, "an advice is of a function or a method, not of a %s", kind);
    if (!PyCallable_Check(original) && Py_TYPE(original)->tp_descr_get == nullptr)
        return PyErr_Format(PyExc_TypeError, "%R cannot be called", original);
    Taps* served = Taps::make(taps, original, has_target);
    if (served == nullptr) return nullptr;

    PyTypeObject* type = kind_of(original, has_target);
    auto* self = as_advice(type->tp_alloc(type, 0));
    if (self == nullptr) {
        served->drop();
        return nullptr;
    }
    begin_stand_in(&self->base, original, before, name);
    self->has_target = has_target;
    self->offset = vectorcall_offset(original);
    use(self, served);
    return reinterpret_cast<PyObject*>(self);
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    const Taps* taps = as_advice(object)->taps;
    const int stop = taps != nullptr ? taps->traverse(visit, arg) : 0;
    Py_VISIT(as_advice(object)->place);
    Py_VISIT(as_advice(object)->target);
    return stop != 0 ? stop : traverse_stand_in(object, visit, arg);
}

// The original stays as long as the advice: whoever still calls one gets the other.
int clear(PyObject* object) {
    Advice* self = as_advice(object);
    self->vectorcall = call_unobserved;
    if (Taps* taps = std::exchange(self->taps, nullptr); taps != nullptr) taps->drop();
    Py_CLEAR(self->place);
    Py_CLEAR(self->target);
    return 0;
}

void dealloc(PyObject* object) {
    PyObject_GC_UnTrack(object);
    clear(object);
    end_stand_in(object);
}

// ---- types ----

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Advice, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

template <class Function>
void* slot(Function function) {
    return reinterpret_cast<void*>(function);
}

constexpr unsigned kFlags =
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE;

bool make_types(PyObject* module) {
    PyType_Slot slots[] = {
        {Py_tp_new, slot(make)},
        {Py_tp_call, slot(PyVectorcall_Call)},
        {Py_tp_dealloc, slot(dealloc)},
        {Py_tp_traverse, slot(traverse)},
        {Py_tp_clear, slot(clear)},
        {Py_tp_members, members},
        {Py_tp_getset, stand_in_attributes},
        {0, nullptr},
    };
    PyType_Spec spec = {"mopsus._core.Advice", sizeof(Advice), 0, kFlags | Py_TPFLAGS_BASETYPE, slots};
    advice_type =
        reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(stand_in_type)));
    if (advice_type == nullptr) return false;
    PyType_Slot binding_slots[] = {
        {Py_tp_descr_get, slot(bind)}, {Py_tp_dealloc, slot(dealloc)},      {Py_tp_traverse, slot(traverse)},
        {Py_tp_clear, slot(clear)},    {Py_tp_getset, stand_in_attributes}, {0, nullptr},
    };
    PyType_Spec binding_spec = {"mopsus._core.BindingAdvice", sizeof(Advice), 0, kFlags | Py_TPFLAGS_METHOD_DESCRIPTOR,
                                binding_slots};
    binding_type = reinterpret_cast<PyTypeObject*>(
        PyType_FromSpecWithBases(&binding_spec, reinterpret_cast<PyObject*>(advice_type)));
    binding_slots[0].pfunc = slot(give);
    PyType_Spec giving_spec = {"mopsus._core.GivingAdvice", sizeof(Advice), 0, kFlags, binding_slots};
    giving_type = reinterpret_cast<PyTypeObject*>(
        PyType_FromSpecWithBases(&giving_spec, reinterpret_cast<PyObject*>(advice_type)));
    return binding_type != nullptr && giving_type != nullptr &&
           PyModule_AddObjectRef(module, "Advice", reinterpret_cast<PyObject*>(advice_type)) == 0;
}

// ---- what is done with an advice ----

Advice* checked(PyObject* object) {
    if (PyObject_TypeCheck(object, advice_type)) return as_advice(object);
    PyErr_Format(PyExc_TypeError, "this is no advice: %R", object);
    return nullptr;
}

PyObject* taps_of(PyObject*, PyObject* object) {
    const Advice* self = checked(object);
    if (self == nullptr) return nullptr;
    return self->taps != nullptr ? Py_NewRef(self->taps->objects()) : PyTuple_New(0);
}

PyObject* serve(PyObject*, PyObject* args) {
    PyObject* object = nullptr;
    PyObject* taps = nullptr;
    if (!PyArg_ParseTuple(args, "OO", &object, &taps)) return nullptr;
    Advice* self = checked(object);
    Taps* made = self != nullptr ? Taps::make(taps, self->base.original, self->has_target) : nullptr;
    if (made == nullptr) return nullptr;
    Taps* before = self->taps;
    use(self, made);
    if (before != nullptr) before->drop();
    Py_RETURN_NONE;
}

PyObject* leave_out(PyObject*, PyObject* result) { return PyBool_FromLong(skip(result)); }

// Types that refuse assignment are changed all the same, and their subclasses and all code that knows them are told.
PyObject* set_type_attribute(PyObject*, PyObject* args) {
    PyObject* type = nullptr;
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    if (!PyArg_ParseTuple(args, "O!U|O", &PyType_Type, &type, &name, &value)) return nullptr;
    auto* holder = reinterpret_cast<PyTypeObject*>(type);
#if PY_VERSION_HEX >= 0x030C0000
    const Owned own(PyType_GetDict(holder));
#else
    const Owned own(Py_XNewRef(holder->tp_dict));
#endif
    if (!own || (value != nullptr ? PyDict_SetItem(own.get(), name, value) : PyDict_DelItem(own.get(), name)) < 0)
        return nullptr;
    PyType_Modified(holder);
    Py_RETURN_NONE;
}

// For weaving itself, which must not be part of what it watches.
PyObject* unobserved(PyObject*, PyObject* const* args, Py_ssize_t given, PyObject* names) {
    if (given == 0) return PyErr_Format(PyExc_TypeError, "unobserved takes a function and its arguments");
    const Unobserved here;
    return PyObject_Vectorcall(args[0], args + 1, static_cast<std::size_t>(given - 1), names);
}

PyMethodDef functions[] = {
    {"unobserved", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(unobserved)),
     METH_FASTCALL | METH_KEYWORDS, "Call a function with what it does in this thread being nobody's event."},
    {"taps", taps_of, METH_O, "The taps that an advice serves."},
    {"serve", serve, METH_VARARGS, "Give an advice other taps."},
    {"skip", leave_out, METH_O,
     "Leave out what an `around` event is about, with this result; False if there is nothing to leave out."},
    {"set_type_attribute", set_type_attribute, METH_VARARGS,
     "Set an attribute in the dictionary of any type; without a value, delete it."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool prepare_advice(PyObject* module) { return make_types(module) && PyModule_AddFunctions(module, functions) == 0; }

}  // namespace mopsus::python
