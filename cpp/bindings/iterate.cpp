#include "iterate.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "classes.hpp"
#include "moment.hpp"
#include "saved_error.hpp"

namespace mopsus::python {

namespace {

// Stands for an iterable or iterator where it is iterated: the program sees the iterator's attributes, the loop its values.
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
    bool alone;          // as far as is known
    bool unbegun;        // its first event will create what is pending
    bool after;          // a step is told when it has succeeded, not before
    bool has_end;
    EventId end;
    Py_ssize_t holders;  // of the walk itself, while the loop runs; 0: it has not begun
    PyMonitor* monitor;
    Pending pending;
};

// As the interpreter has it, which is checked before it is relied upon.
struct ListIterator {
    PyObject_HEAD
    Py_ssize_t index;
    PyListObject* list;  // null at the end
};

PyTypeObject* list_iterator = nullptr;  // null: it is made otherwise

PyTypeObject* walk_type = nullptr;

// Loops come one after another: the last walks serve the next.
std::array<Walk*, 8> spares;
std::size_t spare_count = 0;

bool iterable(PyObject* object) { return Py_TYPE(object)->tp_iter != nullptr || PySequence_Check(object) != 0; }

// Takes what it stands for.
Walk* make_walk(PyObject* iterator, PyObject* iterable, Site* site) {
    Walk* self = nullptr;
    if (spare_count != 0) {
        self = spares[--spare_count];
        _Py_NewReference(reinterpret_cast<PyObject*>(self));
    } else {
        self = PyObject_GC_New(Walk, walk_type);
        if (self == nullptr) {
            Py_XDECREF(iterator);
            Py_XDECREF(iterable);
            return nullptr;
        }
    }
    self->iterator = iterator;
    self->iterable = iterable;
    self->site = as_site(Py_NewRef(reinterpret_cast<PyObject*>(site)));
    self->shape = nullptr;
    self->each = self->measured = self->passing = self->silent = self->alone = false;
    self->pending.monitor = nullptr;
    self->place = kNil;
    self->sought = site->taps - 1;
    PyObject_GC_Track(reinterpret_cast<PyObject*>(self));
    return self;
}

PyObject* object_of(Walk* walk) { return reinterpret_cast<PyObject*>(walk); }

// The end of the part of a shape that begins here.
const char* beyond(const char* shape) {
    int depth = 0;
    do {
        if (*shape == '(') ++depth;
        if (*shape == ')') --depth;
        ++shape;
    } while (depth > 0);
    return shape;
}

// What becomes of a value, which is taken.
PyObject* shaped(Walk* self, PyObject* value) {
    const char* at = self->shape;
    if (self->each) return unpacking(self->site, value, at);
    if (*at != '_' && *at != '(') return value;
    self->shape = beyond(at);
    return *at == '(' ? unpacking(self->site, value, at + 1) : value;
}

// The tap that is all that is done before and after a step of this iterator that goes well; or null.
const Tap* quick_of(const Taps& taps, PyObject* iterator) {
    const auto concerned = [&](const Tap* tap) { return tap->concerns(iterator); };
    const auto only = std::find_if(taps.before.begin(), taps.before.end(), concerned);
    if (only == taps.before.end() || !(*only)->simple || std::any_of(only + 1, taps.before.end(), concerned)) return nullptr;
    const bool alone = std::none_of(taps.around.begin(), taps.around.end(), concerned) &&
                       std::none_of(taps.returning.begin(), taps.returning.end(), concerned);
    return alone ? *only : nullptr;
}

// Most steps of most loops: an event without consequences, about an object that the monitor has seen before.
bool told_at_once(const Walk* self) {
    if (self->place == kNil || self->taps != self->site->taps || Unobserved::now()) return false;
    PyMonitor& monitor = *self->emission.monitor;
    return self->age == monitor.age() && monitor.emit_at(self->emission.event, self->place);
}

// Any other step; nothing of it may burden the quick ones.
[[gnu::noinline]] PyObject* told_step(Walk* self) {
    Site* site = self->site;
    PyObject* result = step(site, self->iterator, Steps::own(Py_TYPE(self->iterator)));
    self->place = kNil;
    if (self->sought != site->taps) {
        self->quick = site->second != nullptr ? quick_of(*site->second, self->iterator) : nullptr;
        self->sought = site->taps;
    }
    if (self->quick != nullptr) {
        self->emission = self->quick->emission;
        self->place = self->emission.monitor->place(self->emission.event, self->iterator);
        self->age = self->emission.monitor->age();
        self->taps = site->taps;
    }
    return self->shape == nullptr || result == nullptr ? result : shaped(self, result);
}

[[gnu::noinline]] PyObject* quick_step(Walk* self) {
    PyObject* result = Steps::own(Py_TYPE(self->iterator))(self->iterator);
    if (result == nullptr && self->silent) return nullptr;
    if (result == nullptr) return end_quick(self->site, self->iterator);
    return self->shape == nullptr ? result : shaped(self, result);
}

// Somebody else may have the iterator.
void be_usual(Walk* self) {
    self->alone = false;
    if (self->pending.monitor != nullptr) self->pending.monitor->make(self->pending);
}

// The taps of the site are served when a step has succeeded.
PyObject* told_after(Walk* self, PyObject* result) {
    if (self->site->second == nullptr || Unobserved::now()) return result;
    const HeldTaps taps(self->site->second);
    return serve_returning(*taps, on(self->iterator), result);
}

// The creation of what is pending is due, by this event; false if it must be told as usual.
bool begin(Walk* self, EventId event) {
    self->unbegun = false;
    self->pending.event = event;
    self->alone = self->monitor->begin_pending(self->pending);
    return self->alone;
}

// An event of a loop that has an instance pending, which may have been made meanwhile; false if it must be told as usual.
bool step_alone(Walk* self, EventId event) {
    if (self->taps != self->site->taps || Unobserved::now()) return false;
    if (self->unbegun) return begin(self, event);
    return self->pending.monitor != nullptr && self->pending.monitor->step_pending(self->pending, event);
}

// The loop has come to its end, or failed. `survives`: what it went over does not end with its iterator.
[[gnu::noinline]] PyObject* end_alone(Walk* self, bool survives) {
    Pending& pending = self->pending;
    if (pending.monitor != nullptr && pending.collection != nullptr) {
        if (survives && (Py_REFCNT(self) > self->holders || Py_REFCNT(self->iterator) != 1))
            pending.monitor->make(pending);
        else
            pending.monitor->end_pending(pending, survives);
        self->alone = false;
        return nullptr;
    }
    if (!self->has_end || Unobserved::now()) return nullptr;
    // The interpreter drops it at once, and what it has, too.
    if (self->holders == 1 && Py_REFCNT(self) == 1 && Py_REFCNT(self->iterator) == 1 && self->taps == self->site->taps && pending.monitor != nullptr &&
        pending.monitor->step_last(pending, self->end)) {
        self->alone = false;
        return nullptr;
    }
    {
        const SavedError saved;
        if (step_alone(self, self->end)) return nullptr;
    }
    return end_quick(self->site, self->iterator);
}

// A step of a loop that is alone with its iterator.
PyObject* lone_step(Walk* self) {
    if (self->holders == 0) self->holders = Py_REFCNT(self);
    if (self->taps != self->site->taps || Py_REFCNT(self->iterator) != 1 || Py_REFCNT(self) > self->holders ||
        (self->pending.monitor == nullptr && !self->unbegun)) {
        be_usual(self);
        return told_step(self);
    }
    if (Unobserved::now()) return told_step(self);
    if (!self->after) {
        if (self->pending.counter != nullptr)
            ++*self->pending.counter;
        else if (!step_alone(self, self->pending.step))
            return told_step(self);
    }
    const bool survives = self->pending.collection != nullptr && Py_REFCNT(self->pending.collection) > 1;
    PyObject* result = nullptr;
    if (auto* at = reinterpret_cast<ListIterator*>(self->iterator);
        Py_TYPE(self->iterator) == list_iterator && at->list != nullptr && at->index < PyList_GET_SIZE(at->list))
        result = Py_NewRef(PyList_GET_ITEM(at->list, at->index++));
    else
        result = Steps::own(Py_TYPE(self->iterator))(self->iterator);
    if (result == nullptr) return end_alone(self, survives);
    if (self->after) {
        if (self->pending.counter != nullptr && !Unobserved::anywhere())
            ++*self->pending.counter;
        else if (!step_alone(self, self->pending.step))
            result = told_after(self, result);
    }
    return self->shape == nullptr || result == nullptr ? result : shaped(self, result);
}

PyObject* walk_next(PyObject* object) {
    auto* self = reinterpret_cast<Walk*>(object);
    if (self->silent) return quick_step(self);
    if (self->alone) return lone_step(self);
    if (!told_at_once(self)) return told_step(self);
    if (Py_TYPE(self->iterator) == list_iterator && self->shape == nullptr) {
        auto* at = reinterpret_cast<ListIterator*>(self->iterator);
        if (at->list != nullptr && at->index < PyList_GET_SIZE(at->list)) return Py_NewRef(PyList_GET_ITEM(at->list, at->index++));
    }
    return quick_step(self);
}

// The iterator of an iterable, as an event. It may have been made already.
PyObject* iterator_of(Site* site, PyObject* given, PyObject* made = nullptr) {
    PyObject* iterator = perform(site->first, on(given), [&] {
        if (made == nullptr) made = PyObject_GetIter(given);
        // What nobody else has, no C code gets.
        Steps::fresh = made != nullptr && Py_REFCNT(made) == 1 ? made : nullptr;
        return made;
    });
    Steps::fresh = nullptr;
    return iterator;
}

PyObject* walk_iter(PyObject* object) {
    auto* self = reinterpret_cast<Walk*>(object);
    if (self->iterator != nullptr) return Py_NewRef(object);
    PyObject* iterator = iterator_of(self->site, self->iterable);
    if (iterator == nullptr) return nullptr;
    if (self->passing) {
        if (self->site->second != nullptr) Steps::note(iterator);
        return iterator;
    }
    self->iterator = iterator;
    return Py_NewRef(object);
}

PyObject* walk_attribute(PyObject* object, PyObject* name) {
    if (PyUnicode_CompareWithASCIIString(name, "__length_hint__") == 0) return PyObject_GenericGetAttr(object, name);
    const auto* self = reinterpret_cast<Walk*>(object);
    return PyObject_GetAttr(self->iterator != nullptr ? self->iterator : self->iterable, name);
}

PyObject* walk_length_hint(PyObject* object, PyObject*) {
    auto* self = reinterpret_cast<Walk*>(object);
    const Py_ssize_t hint = PyObject_LengthHint(self->measured ? self->iterable : self->iterator, 8);
    return hint >= 0 ? PyLong_FromSsize_t(hint) : nullptr;
}

PyObject* walk_repr(PyObject* object) {
    const auto* self = reinterpret_cast<Walk*>(object);
    return PyObject_Repr(self->iterator != nullptr ? self->iterator : self->iterable);
}

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
    if (Pending& pending = self->pending; pending.monitor != nullptr) {
        if (Py_REFCNT(self->iterator) == 1)
            pending.monitor->end_pending(pending, pending.collection != nullptr && Py_REFCNT(pending.collection) > 1);
        else
            pending.monitor->make(pending);
    }
    Py_CLEAR(self->iterator);
    Py_CLEAR(self->iterable);
    Py_CLEAR(self->site);
    if (spare_count < spares.size()) {
        spares[spare_count++] = self;  // keeps its type, too
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
    {Py_tp_iter, reinterpret_cast<void*>(walk_iter)},
    {Py_tp_iternext, reinterpret_cast<void*>(walk_next)},
    {Py_tp_getattro, reinterpret_cast<void*>(walk_attribute)},
    {Py_tp_repr, reinterpret_cast<void*>(walk_repr)},
    {Py_tp_methods, walk_methods},
    {Py_tp_doc, const_cast<char*>("An iterator whose steps are events.")},
    {0, nullptr},
};

PyType_Spec walk_spec = {"mopsus._core.Walk", sizeof(Walk), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         walk_slots};

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

// Is a tuple unpacked into as many targets, and could all that is told of its iterator, which nobody gets to see, be told at once?
bool passes(Site* site, PyObject* tuple, const char* shape) {
    const auto size = static_cast<std::size_t>(PyTuple_GET_SIZE(tuple));
    if (shape == nullptr || std::strlen(shape) < size || std::strspn(shape, "_") != size || (shape[size] != '\0' && shape[size] != ')')) return false;
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
    if (plan.kind == LoopPlan::Kind::Idle) return site->subject == nullptr ? iterator : object_of(loop_over(site, iterator, true));
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
        return done([&] { return PyObject_Vectorcall(args[0], args + 1, static_cast<size_t>(given) | PY_VECTORCALL_ARGUMENTS_OFFSET, names); });
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
PyObject* steps(PyObject*, PyObject* const* args, size_t, PyObject*) { return Steps::mark(args[0]) ? Py_NewRef(Py_None) : nullptr; }

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
    if (known.type == type && known.version == type->tp_version_tag && known.taps == site->taps && known.classes == classes_added) return true;
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

const char* shape_of(const Site* site) {
    return site->subject != nullptr ? PyUnicode_AsUTF8(site->subject) : nullptr;
}

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
    {"loop", loop},
    {"spread", spread},
    {"unpack", unpack},
    {"several", several},
    {"delegate", delegate},
    {"make", make},
    {"next", next},
    {"steps", steps, nullptr, nullptr, Steps::follow},
    {nullptr, nullptr},
};

bool prepare_iteration() {
    const Owned list(PyList_New(2));
    const Owned iterator(list ? PyObject_GetIter(list.get()) : nullptr);
    if (!iterator) return false;
    const auto* at = reinterpret_cast<ListIterator*>(iterator.get());
    if (Py_TYPE(iterator.get())->tp_basicsize == sizeof(ListIterator) && at->index == 0 && at->list == reinterpret_cast<PyListObject*>(list.get()))
        list_iterator = Py_TYPE(iterator.get());
    walk_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&walk_spec));
    return walk_type != nullptr;
}

}  // namespace mopsus::python
