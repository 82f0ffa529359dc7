#include "iterate.hpp"

#include <cstring>

#include "classes.hpp"
#include "bind/moment.hpp"
#include "walk.hpp"

namespace mopsus::python {

namespace {

bool iterable(PyObject* object) { return Py_TYPE(object)->tp_iter != nullptr || PySequence_Check(object) != 0; }

// Is anything of an iteration to be told? The interpreter itself complains about what cannot be iterated.
bool asked(const Site* site, PyObject* given) {
    return (site->first != nullptr || site->second != nullptr) && !Unobserved::now() && iterable(given);
}

// The same of a tuple that is unpacked, its iterator included.
bool idle_tuple(Site* site, PyObject* tuple) {
    auto& known = site->plain;
    if (known.known && known.taps == site->taps && known.classes == classes_added) return true;
    if (site->first != nullptr && HeldTaps(site->first)->concern(tuple)) return false;
    const Owned iterator(PyObject_GetIter(tuple));
    if (!iterator) {
        PyErr_Clear();
        return false;
    }
    if (!idle(site, iterator.get())) return false;
    known = {true, site->taps, classes_added};
    return true;
}

// Is a tuple unpacked into as many targets, and could all that is told of its iterator, which nobody gets to see, be
// told at once?
bool passes(Site* site, PyObject* tuple, const char* shape) {
    const auto size = static_cast<std::size_t>(PyTuple_GET_SIZE(tuple));
    if (shape == nullptr || std::strlen(shape) < size || std::strspn(shape, "_") != size ||
        (shape[size] != '\0' && shape[size] != ')'))
        return false;
    const LoopPlan* plan = site->loops.find(site, tuple);
    if (plan == nullptr) {
        const Owned iterator(PyObject_GetIter(tuple));
        if (!iterator) PyErr_Clear();
        if (iterator) site->loops.learn(site, tuple, iterator.get());
        return false;
    }
    if (plan->kind != LoopPlan::Kind::Stepped) return false;
    return plan->monitor->pass(plan->step, plan->after ? size : size + 1, plan->has_end ? &plan->end : nullptr);
}

// What goes over an iterator, which is taken. The shape of the targets of a loop is that of each of its values.
Walk* loop_over(Site* site, PyObject* iterator, bool silent) {
    Walk* made = make_walk(iterator, nullptr, site);
    if (made == nullptr) return nullptr;
    made->silent = silent;
    made->shape = shape_of(site);
    made->each = made->shape != nullptr;
    return made;
}

// An iterator need not be iterable itself, nor be its own iterator: a walk is both.
PyObject* usual_loop(Site* site, PyObject* iterator) {
    if (iterator == nullptr) return nullptr;
    const bool silent = Py_TYPE(iterator)->tp_iter == PyObject_SelfIter && idle(site, iterator);
    return silent && site->subject == nullptr ? iterator : object_of(loop_over(site, iterator, silent));
}

// A loop of which it is known what is to be done about it, unless somebody else has its iterator.
PyObject* planned_loop(Site* site, const LoopPlan plan, PyObject* given) {
    PyObject* iterator = PyObject_GetIter(given);
    if (iterator == nullptr) return nullptr;
    // An iterator of its own is also where the caller has it, until this call is over.
    const bool alone = Py_REFCNT(iterator) == (iterator == given ? 2 : 1);
    if (Py_TYPE(iterator) != plan.iterator || plan.taps != site->taps || (plan.kind != LoopPlan::Kind::Idle && !alone))
        return usual_loop(site, iterator_of(site, given, iterator));
    if (plan.kind == LoopPlan::Kind::Idle)
        return site->subject == nullptr ? iterator : object_of(loop_over(site, iterator, true));
    Walk* made = loop_over(site, iterator, false);
    if (made == nullptr) return nullptr;
    made->alone = made->unbegun = true;
    made->after = plan.after;
    made->has_end = plan.has_end;
    made->end = plan.end;
    made->holders = 0;
    made->taps = plan.taps;
    made->monitor = plan.monitor;
    made->pending.counter = nullptr;
    made->pending.iterator = iterator;
    made->pending.collection = plan.kind == LoopPlan::Kind::Created ? given : nullptr;
    made->pending.step = plan.step;
    made->pending.iterator_first = plan.iterator_first;
    if (plan.kind != LoopPlan::Kind::Created || begin(made, plan.creates)) return object_of(made);
    // The event takes its turn as any other.
    made->iterator = nullptr;
    Py_DECREF(made);
    return usual_loop(site, iterator_of(site, given, iterator));
}

// What stands for the iterable of a loop.
PyObject* loop(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    Site* site = as_site(object);
    if (!asked(site, args[0])) return Py_NewRef(args[0]);
    const LoopPlan* plan = site->loops.find(site, args[0]);
    if (plan != nullptr && plan->kind != LoopPlan::Kind::Usual) return planned_loop(site, *plan, args[0]);
    PyObject* iterator = iterator_of(site, args[0]);
    if (iterator != nullptr && plan == nullptr) site->loops.learn(site, args[0], iterator);
    return usual_loop(site, iterator);
}

// `*x`: the interpreter asks x how long it is, and keeps it until the end.
PyObject* spread(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    Site* site = as_site(object);
    if (!asked(site, args[0])) return Py_NewRef(args[0]);
    PyObject* iterator = iterator_of(site, args[0]);
    if (iterator == nullptr) return nullptr;
    if (Py_TYPE(iterator)->tp_iter == PyObject_SelfIter && idle(site, iterator)) return iterator;
    Walk* made = make_walk(iterator, Py_NewRef(args[0]), site);
    if (made != nullptr) made->measured = true;
    return object_of(made);
}

// `a, b = site(x)`.
PyObject* unpack(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    return unpacking(as_site(object), Py_NewRef(args[0]), shape_of(as_site(object)));
}

// `a = b, c = x` is written as `a, (b, c) = site(x)`: the value for each of the targets.
PyObject* several(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    PyObject* values = PyList_New(0);
    for (const char* at = shape_of(as_site(object)); values != nullptr && *at != '\0'; at = beyond(at)) {
        PyObject* value = Py_NewRef(args[0]);
        if (*at == '(') value = unpacking(as_site(object), value, at + 1);
        if (value == nullptr || PyList_Append(values, value) < 0) Py_CLEAR(values);
        Py_XDECREF(value);
    }
    if (values == nullptr) return nullptr;
    PyObject* all = PyList_AsTuple(values);
    Py_DECREF(values);
    return all;
}

// `yield from site(x)`: whoever asks the generator, or throws into it, finds the iterator itself there.
PyObject* delegate(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    Site* site = as_site(object);
    if (!asked(site, args[0]) || PyCoro_CheckExact(args[0])) return Py_NewRef(args[0]);
    Walk* made = make_walk(nullptr, Py_NewRef(args[0]), site);
    if (made != nullptr) made->passing = true;
    return object_of(made);
}

// A call of a function by its name. The first argument is what the name stands for, which need not be the function.
template <class Action>
PyObject* function(Site* self, PyObject* const* args, size_t flags, PyObject* names, Action&& done) {
    const Py_ssize_t given = PyVectorcall_NARGS(flags) - 1;
    const auto action = [&] {
        return done([&] {
            return PyObject_Vectorcall(args[0], args + 1, static_cast<size_t>(given) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                       names);
        });
    };
    if (self->subject != args[0] || given == 0) return action();
    Occasion occasion;
    occasion.target = args[1];
    occasion.arguments = args + 1;
    occasion.positional = given;
    occasion.names = names;
    return perform(self->first, occasion, action);
}

// `iter(x)`, `map(f, x)` and others that give an iterator.
PyObject* make(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) {
    return function(as_site(object), args, flags, names, [](auto&& call) {
        PyObject* made = call();
        if (made != nullptr) Steps::note(made);
        return made;
    });
}

// `next(x)`.
PyObject* next(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) {
    Site* self = as_site(object);
    const bool tells = self->subject == args[0] && self->first != nullptr && PyVectorcall_NARGS(flags) > 1;
    return function(self, args, flags, names, [&](auto&& call) {
        if (tells) Steps::told = args[1];
        PyObject* value = call();
        if (tells) Steps::told = nullptr;
        return value;
    });
}

// Generators of this code are known as what they are.
PyObject* steps(PyObject*, PyObject* const* args, size_t, PyObject*) {
    return Steps::mark(args[0]) ? Py_NewRef(Py_None) : nullptr;
}

}  // namespace

PyObject* end_quick(Site* site, PyObject* iterator) {
    Taps* raised = site->second;
    if (raised == nullptr || raised->raising.empty()) return nullptr;
    const HeldTaps taps(raised);
    serve_raising(*raised, on(iterator));
    return nullptr;
}

bool idle(Site* site, PyObject* iterator) {
    if (site->second == nullptr) return true;
    PyTypeObject* type = Py_TYPE(iterator);
    auto& known = site->idle;
    if (known.type == type && known.version == type->tp_version_tag && known.taps == site->taps &&
        known.classes == classes_added)
        return true;
    if (HeldTaps(site->second)->concern(iterator)) return false;
    if (type->tp_version_tag != 0) known = {type, type->tp_version_tag, site->taps, classes_added};
    return true;
}

PyObject* unpacking(Site* site, PyObject* value, const char* shape) {
    if (!asked(site, value)) return value;
    const bool flat = shape == nullptr || std::strchr(shape, '(') == nullptr;
    if (flat && PyTuple_CheckExact(value) && (idle_tuple(site, value) || passes(site, value, shape))) return value;
    Walk* made = make_walk(nullptr, value, site);
    if (made != nullptr) made->shape = shape;
    return object_of(made);
}

const char* shape_of(const Site* site) { return site->subject != nullptr ? PyUnicode_AsUTF8(site->subject) : nullptr; }

bool serve_raising(const Taps& taps, const Occasion& given) {
    Occasion occasion = given;
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    if (type != nullptr) PyErr_NormalizeException(&type, &value, &trace);
    if (value != nullptr && trace != nullptr) PyException_SetTraceback(value, trace);
    const Owned ended(type == nullptr ? PyObject_CallNoArgs(PyExc_StopIteration) : nullptr);
    occasion.exception = type != nullptr ? value : ended.get();
    const EndedWith exception(occasion.exception);
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

const Behaviour iteration[] = {
    {"loop", loop},         {"spread", spread}, {"unpack", unpack}, {"several", several},
    {"delegate", delegate}, {"make", make},     {"next", next},     {"steps", steps, nullptr, nullptr, Steps::follow},
    {nullptr, nullptr},
};

}  // namespace mopsus::python
