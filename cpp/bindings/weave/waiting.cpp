// The site of `await`, and what stands for something awaited whose end is told.
//
// `await x` is written as `site(site[x], await site())`: what is awaited is x itself, so that whoever looks at the
// coroutine from outside, or throws into it, finds what was written; and its result is told. Only to tell of an
// exception that comes out of it, something else has to stand there.
#include <Python.h>

#include <vector>

#include "iterate.hpp"

namespace mopsus::python {

namespace {

// Stands for something awaitable, and for the iterator that waits for it.
struct Wait {
    PyObject_HEAD
    PyObject* target;   // what it is told of
    PyObject* awaited;  // the target itself, or what its method gave
    PyObject* inner;    // once the interpreter has begun to wait
    Site* site;
    Taps* Site::* taps;  // of the site: which are served
    bool returning;      // is its result told, too?
};

PyTypeObject* wait_type = nullptr;

Wait* as_wait(PyObject* object) { return reinterpret_cast<Wait*>(object); }

// What has ended, and how: takes the result, and gives it back unless the program is to stop.
PyObject* ended(Wait* self, PyObject* result) {
    if (self->site->*(self->taps) == nullptr || Unobserved::now()) return result;
    const HeldTaps taps(self->site->*(self->taps));
    if (result == nullptr) serve_raising(*taps, on(self->target));
    return result != nullptr && self->returning ? serve_returning(*taps, on(self->target), result) : result;
}

// StopIteration with this value, which is taken.
void stop_with(PyObject* value) {
    if (value == nullptr) return;
    const Owned held(value);
    const Owned stop(PyObject_CallOneArg(PyExc_StopIteration, value));  // made here: raising would unpack a tuple
    if (stop) PyErr_SetObject(PyExc_StopIteration, stop.get());
}

// The value of the StopIteration that is set. A new reference; null with an exception set if another one is set.
PyObject* value_of_stop() {
    if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return nullptr;
    PyObject *type = nullptr, *stop = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &stop, &trace);
    PyErr_NormalizeException(&type, &stop, &trace);
    PyObject* value = PyObject_GetAttrString(stop, "value");
    Py_XDECREF(type);
    Py_XDECREF(stop);
    Py_XDECREF(trace);
    return value;
}

PySendResult wait_send(PyObject* object, PyObject* sent, PyObject** result) {
    Wait* self = as_wait(object);
    const PySendResult how = PyIter_Send(self->inner, sent, result);
    if (how == PYGEN_NEXT) return how;
    *result = ended(self, how == PYGEN_RETURN ? *result : nullptr);
    return *result != nullptr ? PYGEN_RETURN : PYGEN_ERROR;
}

PyObject* sent_by_method(PyObject* object, PyObject* value) {
    PyObject* result = nullptr;
    if (wait_send(object, value, &result) == PYGEN_RETURN) {
        stop_with(result);
        return nullptr;
    }
    return result;
}

PyObject* wait_next(PyObject* object) { return sent_by_method(object, Py_None); }

PyObject* wait_throw(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    Wait* self = as_wait(object);
    const Owned inner_throw(PyObject_GetAttrString(self->inner, "throw"));
    if (!inner_throw) return nullptr;
    PyObject* yielded = PyObject_Vectorcall(inner_throw.get(), args, static_cast<size_t>(count), nullptr);
    if (yielded != nullptr) return yielded;
    PyObject* value = value_of_stop();
    stop_with(ended(self, value));
    return nullptr;
}

PyObject* wait_attribute(PyObject* object, PyObject* name) {
    for (const char* own : {"send", "throw"})
        if (PyUnicode_CompareWithASCIIString(name, own) == 0) return PyObject_GenericGetAttr(object, name);
    Wait* self = as_wait(object);
    return PyObject_GetAttr(self->inner != nullptr ? self->inner : self->awaited, name);
}

bool awaited_already(PyObject* coroutine) {
    const Owned inner(PyObject_GetAttrString(coroutine, "cr_await"));
    return inner && inner.get() != Py_None;
}

// What the interpreter would wait for. A new reference.
PyObject* iterator_of(PyObject* target) {
    if (PyCoro_CheckExact(target)) {
        if (!awaited_already(target)) return Py_NewRef(target);
        PyErr_SetString(PyExc_RuntimeError, "coroutine is being awaited already");
        return nullptr;
    }
    PyObject* iterator = Py_TYPE(target)->tp_as_async->am_await(target);
    if (iterator == nullptr) return nullptr;
    if (PyCoro_CheckExact(iterator)) {
        PyErr_SetString(PyExc_TypeError, "__await__() returned a coroutine");
        Py_CLEAR(iterator);
    } else if (!PyIter_Check(iterator)) {
        PyErr_Format(PyExc_TypeError, "__await__() returned non-iterator of type '%.100s'", Py_TYPE(iterator)->tp_name);
        Py_CLEAR(iterator);
    }
    return iterator;
}

PyObject* wait_await(PyObject* object) {
    Wait* self = as_wait(object);
    self->inner = iterator_of(self->awaited);
    if (self->inner == nullptr) {
        ended(self, nullptr);
        return nullptr;
    }
    return Py_NewRef(object);
}

int wait_traverse(PyObject* object, visitproc visit, void* arg) {
    Wait* self = as_wait(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->target);
    Py_VISIT(self->awaited);
    Py_VISIT(self->inner);
    Py_VISIT(self->site);
    return 0;
}

int wait_clear(PyObject* object) {
    Wait* self = as_wait(object);
    Py_CLEAR(self->inner);
    Py_CLEAR(self->awaited);
    Py_CLEAR(self->target);
    return 0;
}

void wait_dealloc(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    wait_clear(object);
    Py_XDECREF(as_wait(object)->site);
    type->tp_free(object);
    Py_DECREF(type);
}

PyMethodDef wait_methods[] = {
    {"send", sent_by_method, METH_O, nullptr},
    {"throw", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(wait_throw)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot wait_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(wait_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(wait_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(wait_clear)},
    {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
    {Py_tp_iternext, reinterpret_cast<void*>(wait_next)},
    {Py_tp_getattro, reinterpret_cast<void*>(wait_attribute)},
    {Py_am_await, reinterpret_cast<void*>(wait_await)},
    {Py_am_send, reinterpret_cast<void*>(wait_send)},
    {Py_tp_methods, wait_methods},
    {Py_tp_doc, const_cast<char*>("Something awaited whose end is told.")},
    {0, nullptr},
};

PyType_Spec wait_spec = {"mopsus._core.Wait", sizeof(Wait), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, wait_slots};

bool awaitable(PyObject* object) {
    const PyAsyncMethods* methods = Py_TYPE(object)->tp_as_async;
    return PyCoro_CheckExact(object) || (methods != nullptr && methods->am_await != nullptr);
}

// Takes the awaitable.
PyObject* make_wait(PyObject* given, PyObject* target, Site* site, Taps* Site::* which, bool returning) {
    const Owned held(given);
    auto* self = PyObject_GC_New(Wait, wait_type);
    if (self == nullptr) return nullptr;
    self->target = Py_NewRef(target);
    self->awaited = Py_NewRef(given);
    self->inner = nullptr;
    self->site = as_site(Py_NewRef(reinterpret_cast<PyObject*>(site)));
    self->taps = which;
    self->returning = returning;
    PyObject_GC_Track(reinterpret_cast<PyObject*>(self));
    return reinterpret_cast<PyObject*>(self);
}

// Of generators that serve as coroutines, and of what cannot be awaited, the interpreter takes care.
bool told_of(const Site* site, PyObject* target) {
    return site->first != nullptr && !Unobserved::now() && awaitable(target);
}

thread_local std::vector<PyObject*> begun;  // what `site[x]` has left for `site()`; owned

PyObject* begin(PyObject* object, PyObject* target) {
    Site* site = as_site(object);
    PyObject* waited = Py_NewRef(target);
    if (told_of(site, target)) {
        const HeldTaps taps(site->first);
        if (!serve_first(*taps, on(target))) {
            Py_DECREF(waited);
            return nullptr;
        }
        if (!taps->raising.empty()) waited = make_wait(waited, target, site, &Site::first, false);
        if (waited == nullptr) return nullptr;
    }
    begun.push_back(waited);
    return Py_NewRef(target);
}

PyObject* await(PyObject* object, PyObject* const* args, size_t flags, PyObject*) {
    Site* site = as_site(object);
    if (PyVectorcall_NARGS(flags) == 0) {
        PyObject* waited = begun.back();
        begun.pop_back();
        return waited;
    }
    PyObject* target = args[0];
    if (!told_of(site, target)) return Py_NewRef(args[1]);
    const HeldTaps taps(site->first);
    return serve_returning(*taps, on(target), Py_NewRef(args[1]));
}

}  // namespace

bool serve_first(const Taps& taps, const Occasion& occasion) {
    for (const auto* list : {&taps.before, &taps.around})
        for (const Tap* tap : *list)
            if (!tap->serve(occasion)) return false;
    return true;
}

PyObject* waiting_for(PyObject* given, PyObject* target, Site* site, Taps* Site::* which) {
    const Taps* taps = site->*which;
    const bool told = given != nullptr && taps != nullptr && !(taps->returning.empty() && taps->raising.empty()) &&
                      !Unobserved::now();
    return told && awaitable(given) ? make_wait(given, target, site, which, true) : given;
}

const Behaviour waiting[] = {{"await", await, begin}, {nullptr, nullptr}};

bool prepare_waiting() {
    wait_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&wait_spec));
    return wait_type != nullptr;
}

}  // namespace mopsus::python
