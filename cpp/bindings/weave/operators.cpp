// Sites for operators and statements: attributes, items, calls by name, `with`, `yield`.
#include <Python.h>
#include <opcode.h>

#include <array>

#include "iterate.hpp"
#include "manager.hpp"

namespace mopsus::python {

namespace {

PyObject* none_if(bool succeeded) { return succeeded ? Py_NewRef(Py_None) : nullptr; }

int status_of(PyObject* result) {
    Py_XDECREF(result);
    return result != nullptr ? 0 : -1;
}

Occasion about(PyObject* target, PyObject* const* arguments, Py_ssize_t count) {
    Occasion occasion;
    occasion.target = target;
    occasion.arguments = arguments;
    occasion.positional = count;
    return occasion;
}

// ---- attributes: `site(o)` and `site[o]` read, `site[o] = v` writes, `del site[o]` deletes ----

PyObject* attribute_get(PyObject* object, PyObject* target) {
    Site* self = as_site(object);
    return perform(self->first, about(target, nullptr, 0), [&] { return PyObject_GetAttr(target, self->subject); });
}

PyObject* attribute_call(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    return attribute_get(object, args[0]);
}

int attribute_set(PyObject* object, PyObject* target, PyObject* value) {
    Site* self = as_site(object);
    const auto action = [&] { return none_if(PyObject_SetAttr(target, self->subject, value) == 0); };
    if (value == nullptr) return status_of(perform(self->third, about(target, nullptr, 0), action));
    return status_of(perform(self->second, about(target, &value, 1), action));
}

// ---- items: `site(o, k)`; where something is assigned `site[o, k]` ----

PyObject* item_call(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    return perform(as_site(object)->first, about(args[0], args + 1, 1),
                   [&] { return PyObject_GetItem(args[0], args[1]); });
}

PyObject* item_get(PyObject* object, PyObject* both) {
    PyObject* const args[] = {PyTuple_GET_ITEM(both, 0), PyTuple_GET_ITEM(both, 1)};
    return item_call(object, args, 2, nullptr);
}

int item_set(PyObject* object, PyObject* both, PyObject* value) {
    Site* self = as_site(object);
    PyObject* target = PyTuple_GET_ITEM(both, 0);
    PyObject* const arguments[] = {PyTuple_GET_ITEM(both, 1), value};
    if (value == nullptr) {
        return status_of(perform(self->third, about(target, arguments, 1),
                                 [&] { return none_if(PyObject_DelItem(target, arguments[0]) == 0); }));
    }
    return status_of(perform(self->second, about(target, arguments, 2),
                             [&] { return none_if(PyObject_SetItem(target, arguments[0], value) == 0); }));
}

// ---- calls by name: the first argument is what the name stands for ----

PyObject* bound_to(PyObject* callable) {
    if (PyMethod_Check(callable)) return PyMethod_GET_SELF(callable);
    if (!PyCFunction_Check(callable)) return nullptr;
    PyObject* self = PyCFunction_GET_SELF(callable);
    return self == nullptr || PyModule_Check(self) ? nullptr : self;
}

PyObject* call(PyObject* object, PyObject* const* args, size_t flags, PyObject* names) {
    Site* self = as_site(object);
    const Py_ssize_t given = PyVectorcall_NARGS(flags) - 1;
    const auto done = [&] {
        return PyObject_Vectorcall(args[0], args + 1, static_cast<size_t>(given) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                   names);
    };
    if (self->subject != nullptr && self->subject != args[0]) return done();
    Occasion occasion = about(bound_to(args[0]), args + 1, given);
    occasion.names = names;
    return perform(self->first, occasion, done);
}

// ---- with ----

PyTypeObject* manager_type = nullptr;

PyObject *enter_name = nullptr, *exit_name = nullptr;

PyObject* managed(PyObject* object, PyObject* const* args, bool unpacks) {
    return make_manager(manager_type, object, args[0], enter_name, exit_name, unpacks);
}

PyObject* with(PyObject* object, PyObject* const* args, size_t, PyObject*) { return managed(object, args, false); }

// `with site(m) as (a, b)`.
PyObject* with_unpacked(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    return managed(object, args, true);
}

PyObject* manager_enter(PyObject* object, PyObject*) {
    auto* self = reinterpret_cast<Manager*>(object);
    const Owned enter(std::exchange(self->enter, nullptr));
    if (self->unpacks) {
        PyObject* value = PyObject_CallNoArgs(enter.get());
        return value != nullptr ? unpacking(self->site, value, shape_of(self->site)) : nullptr;
    }
    return perform(self->site->first, on(self->target), [&] { return PyObject_CallNoArgs(enter.get()); });
}

PyObject* manager_exit(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    auto* self = reinterpret_cast<Manager*>(object);
    const auto action = [&] { return PyObject_Vectorcall(self->exit, args, static_cast<size_t>(count), nullptr); };
    if (self->unpacks) return action();
    // The interpreter leaves it to the exception to keep the traceback, which the method may take away.
    std::array<Owned, 3> held;
    for (Py_ssize_t k = 0; k < count && k < 3; ++k) held[static_cast<std::size_t>(k)] = Owned(Py_NewRef(args[k]));
    return perform(self->site->second, about(self->target, args, count), action);
}

PyMethodDef manager_methods[] = {
    {"__enter__", manager_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(manager_exit)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot manager_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(manager_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(manager_traverse)},
    {Py_tp_methods, manager_methods},
    {Py_tp_doc, const_cast<char*>("A context manager whose use is told.")},
    {0, nullptr},
};

PyType_Spec manager_spec = {"mopsus._core.Manager", sizeof(Manager), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, manager_slots};

// ---- yield ----

// `yield site(v)`, `site(yield v)`: the target is the generator that runs.
PyObject* passing(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    Site* self = as_site(object);
    if (self->first == nullptr || Unobserved::now()) return Py_NewRef(args[0]);
    const Owned frame(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
    const Owned generator(frame ? PyFrame_GetGenerator(reinterpret_cast<PyFrameObject*>(frame.get())) : nullptr);
    return perform(self->first, about(generator.get(), args, 1), [&] { return Py_NewRef(args[0]); });
}

// Was the exception thrown into the frame where it was caught, at a `yield`? The interpreter notes where it came up.
bool is_thrown(PyObject* exception, PyFrameObject* frame) {
    const Owned trace(PyException_GetTraceback(exception));
    if (!trace) return false;
    const auto* at = reinterpret_cast<PyTracebackObject*>(trace.get());
    if (at->tb_frame != frame) return false;
    const Owned code(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const Owned bytes(PyCode_GetCode(reinterpret_cast<PyCodeObject*>(code.get())));
    if (!bytes || at->tb_lasti < 0 || at->tb_lasti >= PyBytes_GET_SIZE(bytes.get())) return false;
    const auto operation = static_cast<unsigned char>(PyBytes_AS_STRING(bytes.get())[at->tb_lasti]);
    return operation == YIELD_VALUE || operation == RESUME;
}

// In an `except` clause around a statement that yields, `site()`: what goes on by an exception goes on. The end of a
// generator that is closed is none.
PyObject* thrown(PyObject* object, PyObject* const*, size_t, PyObject*) {
    Site* self = as_site(object);
    if (self->first == nullptr || Unobserved::now()) Py_RETURN_NONE;
    PyObject* exception = PyErr_GetHandledException();
    const Owned held(exception);
    const Owned frame(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
    if (!held || !frame || PyErr_GivenExceptionMatches(exception, PyExc_GeneratorExit) != 0) Py_RETURN_NONE;
    if (!is_thrown(exception, reinterpret_cast<PyFrameObject*>(frame.get()))) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    const Owned generator(PyFrame_GetGenerator(reinterpret_cast<PyFrameObject*>(frame.get())));
    Occasion occasion = about(generator.get(), &exception, 1);
    occasion.exception = exception;
    return perform(self->first, occasion, [] { return Py_NewRef(Py_None); });
}

}  // namespace

PyObject* special(PyObject* object, PyObject* name) {
    PyObject* found = _PyType_Lookup(Py_TYPE(object), name);
    if (found == nullptr) return nullptr;
    const descrgetfunc bind = Py_TYPE(found)->tp_descr_get;
    Py_INCREF(found);
    if (bind == nullptr) return found;
    PyObject* bound = bind(found, object, reinterpret_cast<PyObject*>(Py_TYPE(object)));
    Py_DECREF(found);
    return bound;
}

const Behaviour operators[] = {
    {"attribute", attribute_call, attribute_get, attribute_set},
    {"item", item_call, item_get, item_set},
    {"call", call},
    {"with", with},
    {"with unpacked", with_unpacked},
    {"pass", passing},
    {"thrown", thrown},
    {nullptr, nullptr},
};

bool prepare_operators() {
    enter_name = PyUnicode_InternFromString("__enter__");
    exit_name = PyUnicode_InternFromString("__exit__");
    manager_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&manager_spec));
    return enter_name != nullptr && exit_name != nullptr && manager_type != nullptr;
}

}  // namespace mopsus::python
