// Sites of `async for` and `async with`: as of loops and managers, but their steps are awaited.
#include <Python.h>

#include "iterate.hpp"
#include "manager.hpp"

namespace mopsus::python {

namespace {

// ---- async for ----

// Stands for an asynchronous iterable, and then for its iterator.
struct AsyncWalk {
    PyObject_HEAD
    PyObject* iterable;
    PyObject* iterator;  // once the loop has begun
    Site* site;
};

PyTypeObject* async_walk_type = nullptr;

const PyAsyncMethods* methods_of(PyObject* object) { return Py_TYPE(object)->tp_as_async; }

// The interpreter itself complains about what is no asynchronous iterable, and about iterators that are none.
PyObject* async_loop(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    Site* site = as_site(object);
    const bool asked = (site->first != nullptr || site->second != nullptr) && !Unobserved::now();
    if (!asked || methods_of(args[0]) == nullptr || methods_of(args[0])->am_aiter == nullptr) return Py_NewRef(args[0]);
    auto* self = PyObject_GC_New(AsyncWalk, async_walk_type);
    if (self == nullptr) return nullptr;
    self->iterable = Py_NewRef(args[0]);
    self->iterator = nullptr;
    self->site = as_site(Py_NewRef(object));
    PyObject_GC_Track(reinterpret_cast<PyObject*>(self));
    return reinterpret_cast<PyObject*>(self);
}

PyObject* async_walk_iter(PyObject* object) {
    auto* self = reinterpret_cast<AsyncWalk*>(object);
    PyObject* iterable = self->iterable;
    PyObject* iterator =
        perform(self->site->first, on(iterable), [&] { return methods_of(iterable)->am_aiter(iterable); });
    const bool told = iterator != nullptr && self->site->second != nullptr && methods_of(iterator) != nullptr &&
                      methods_of(iterator)->am_anext != nullptr;
    if (!told) return iterator;
    Py_CLEAR(self->iterable);
    self->iterator = iterator;
    return Py_NewRef(object);
}

PyObject* async_walk_next(PyObject* object) {
    auto* self = reinterpret_cast<AsyncWalk*>(object);
    Site* site = self->site;
    PyObject* iterator = self->iterator;
    if (site->second != nullptr && !Unobserved::now()) {
        const HeldTaps taps(site->second);
        if (!serve_first(*taps, on(iterator))) return nullptr;
    }
    return waiting_for(methods_of(iterator)->am_anext(iterator), iterator, site, &Site::second);
}

int async_walk_traverse(PyObject* object, visitproc visit, void* arg) {
    auto* self = reinterpret_cast<AsyncWalk*>(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->iterable);
    Py_VISIT(self->iterator);
    Py_VISIT(self->site);
    return 0;
}

void async_walk_dealloc(PyObject* object) {
    auto* self = reinterpret_cast<AsyncWalk*>(object);
    PyTypeObject* type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->iterable);
    Py_XDECREF(self->iterator);
    Py_XDECREF(self->site);
    type->tp_free(object);
    Py_DECREF(type);
}

PyType_Slot async_walk_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(async_walk_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(async_walk_traverse)},
    {Py_am_aiter, reinterpret_cast<void*>(async_walk_iter)},
    {Py_am_anext, reinterpret_cast<void*>(async_walk_next)},
    {Py_tp_doc, const_cast<char*>("An asynchronous iterator whose steps are events.")},
    {0, nullptr},
};

PyType_Spec async_walk_spec = {"mopsus._core.AsyncWalk", sizeof(AsyncWalk), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               async_walk_slots};

// ---- async with ----

PyTypeObject* async_manager_type = nullptr;
PyObject *enter_name = nullptr, *exit_name = nullptr;

PyObject* async_with(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    return make_manager(async_manager_type, object, args[0], enter_name, exit_name, false);
}

// A call of one of its methods, whose end is that of the awaitable it gives.
template <class Action>
PyObject* managed(Manager* self, Taps* Site::* which, Action&& action) {
    Taps* served = self->site->*which;
    if (served == nullptr || Unobserved::now()) return action();
    const HeldTaps taps(served);
    if (!serve_first(*taps, on(self->target))) return nullptr;
    return waiting_for(action(), self->target, self->site, which);
}

PyObject* async_enter(PyObject* object, PyObject*) {
    auto* self = reinterpret_cast<Manager*>(object);
    const Owned enter(std::exchange(self->enter, nullptr));
    return managed(self, &Site::first, [&] { return PyObject_CallNoArgs(enter.get()); });
}

PyObject* async_exit(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    auto* self = reinterpret_cast<Manager*>(object);
    return managed(self, &Site::second,
                   [&] { return PyObject_Vectorcall(self->exit, args, static_cast<size_t>(count), nullptr); });
}

PyMethodDef async_manager_methods[] = {
    {"__aenter__", async_enter, METH_NOARGS, nullptr},
    {"__aexit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(async_exit)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot async_manager_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(manager_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(manager_traverse)},
    {Py_tp_methods, async_manager_methods},
    {Py_tp_doc, const_cast<char*>("An asynchronous context manager whose use is told.")},
    {0, nullptr},
};

PyType_Spec async_manager_spec = {"mopsus._core.AsyncManager", sizeof(Manager), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  async_manager_slots};

}  // namespace

const Behaviour asynchronous[] = {{"async loop", async_loop}, {"async with", async_with}, {nullptr, nullptr}};

bool prepare_asynchronous() {
    enter_name = PyUnicode_InternFromString("__aenter__");
    exit_name = PyUnicode_InternFromString("__aexit__");
    async_walk_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&async_walk_spec));
    async_manager_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&async_manager_spec));
    return enter_name != nullptr && exit_name != nullptr && async_walk_type != nullptr && async_manager_type != nullptr;
}

}  // namespace mopsus::python
