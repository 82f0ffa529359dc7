#include "walk.hpp"

#include <algorithm>
#include <array>

#include "bind/moment.hpp"
#include "bind/saved_error.hpp"

namespace mopsus::python {

namespace {

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

}  // namespace

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

bool begin(Walk* self, EventId event) {
    self->unbegun = false;
    self->pending.event = event;
    self->alone = self->monitor->begin_pending(self->pending);
    return self->alone;
}

PyObject* iterator_of(Site* site, PyObject* given, PyObject* made) {
    PyObject* iterator = perform(site->first, on(given), [&] {
        if (made == nullptr) made = PyObject_GetIter(given);
        // What nobody else has, no C code gets.
        Steps::fresh = made != nullptr && Py_REFCNT(made) == 1 ? made : nullptr;
        return made;
    });
    Steps::fresh = nullptr;
    return iterator;
}

const char* beyond(const char* shape) {
    int depth = 0;
    do {
        if (*shape == '(') ++depth;
        if (*shape == ')') --depth;
        ++shape;
    } while (depth > 0);
    return shape;
}

namespace {

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
    if (only == taps.before.end() || !(*only)->simple || std::any_of(only + 1, taps.before.end(), concerned))
        return nullptr;
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
    // Looking up types now could cost the program its exception: the interpreter's look-up clears what is set.
    if (result == nullptr) return nullptr;
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
    return self->shape == nullptr ? result : shaped(self, result);
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

// An event of a loop that has an instance pending, which may have been made meanwhile; false if it must be told as
// usual.
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
    if (self->holders == 1 && Py_REFCNT(self) == 1 && Py_REFCNT(self->iterator) == 1 &&
        self->taps == self->site->taps && pending.monitor != nullptr &&
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
        if (at->list != nullptr && at->index < PyList_GET_SIZE(at->list))
            return Py_NewRef(PyList_GET_ITEM(at->list, at->index++));
    }
    return quick_step(self);
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

PyType_Spec walk_spec = {"mopsus._core.Walk", sizeof(Walk), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, walk_slots};

}  // namespace

bool prepare_iteration() {
    const Owned list(PyList_New(2));
    const Owned iterator(list ? PyObject_GetIter(list.get()) : nullptr);
    if (!iterator) return false;
    const auto* at = reinterpret_cast<ListIterator*>(iterator.get());
    if (Py_TYPE(iterator.get())->tp_basicsize == sizeof(ListIterator) && at->index == 0 &&
        at->list == reinterpret_cast<PyListObject*>(list.get()))
        list_iterator = Py_TYPE(iterator.get());
    walk_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&walk_spec));
    return walk_type != nullptr;
}

}  // namespace mopsus::python
