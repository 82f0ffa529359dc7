// Sites for exceptions: `raise`, `assert` and `except` in rewritten code, and what the interpreter itself tells.
#include <Python.h>
#include <opcode.h>

#include "iterate.hpp"

namespace mopsus::python {

namespace {

Occasion of_exception(PyObject*& exception) {
    Occasion occasion = on(exception);
    occasion.exception = exception;
    return occasion;
}

// Tell that an exception is raised. What is raised then, because an event may put another in its place; null if the
// program is to stop instead.
PyObject* tell(Taps* taps, PyObject* exception) {
    PyObject* result = perform(taps, of_exception(exception), [&] { return Py_NewRef(exception); });
    if (result == nullptr || PyExceptionInstance_Check(result)) return result;
    Py_DECREF(result);  // nothing can be raised instead of something
    return Py_NewRef(exception);
}

// ---- rewritten code ----

// What `raise` makes of a class. A new reference.
PyObject* instance(PyObject* given) {
    if (!PyExceptionClass_Check(given)) return Py_NewRef(given);
    PyObject* made = PyObject_CallNoArgs(given);
    if (made != nullptr && !PyExceptionInstance_Check(made)) {
        PyErr_Format(PyExc_TypeError, "calling %R should have returned an instance of BaseException, not %R", given,
                     Py_TYPE(made));
        Py_CLEAR(made);
    }
    return made;
}

// False with an exception set if it is not a cause.
bool set_cause(PyObject* exception, PyObject* given) {
    if (given != Py_None && !PyExceptionClass_Check(given) && !PyExceptionInstance_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "exception causes must derive from BaseException");
        return false;
    }
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* cause = given == Py_None ? nullptr : instance(given);
#else  // which did not ask what a class gives
    PyObject* cause = given == Py_None                ? nullptr
                      : PyExceptionClass_Check(given) ? PyObject_CallNoArgs(given)
                                                      : Py_NewRef(given);
#endif
    if (cause == nullptr && given != Py_None) return false;
    PyException_SetCause(exception, cause);
    return true;
}

// `raise site(e)`, `raise site(e, cause)`.
PyObject* raise(PyObject* object, PyObject* const* args, size_t flags, PyObject*) {
    Owned exception(instance(args[0]));
    if (!exception || !PyExceptionInstance_Check(exception.get()))
        return exception.release();  // the interpreter complains
    if (PyVectorcall_NARGS(flags) > 1 && !set_cause(exception.get(), args[1])) return nullptr;
    return tell(as_site(object)->first, exception.get());
}

// Where an assertion has failed, `raise site()` or `raise site(message)`.
PyObject* fail(PyObject* object, PyObject* const* args, size_t flags, PyObject*) {
    const Owned exception(PyObject_Vectorcall(PyExc_AssertionError, args, flags, nullptr));
    return exception ? tell(as_site(object)->first, exception.get()) : nullptr;
}

// At the beginning of an `except` block.
PyObject* handle(PyObject* object, PyObject* const*, size_t, PyObject*) {
    PyObject* exception = PyErr_GetHandledException();
    if (exception == nullptr) Py_RETURN_NONE;
    PyObject* result = perform(as_site(object)->first, of_exception(exception), [&] { return Py_NewRef(Py_None); });
    Py_DECREF(exception);
    return result;
}

// ---- what the interpreter tells: `site(code, offset, exception)`, in every frame that an exception comes to ----

#if PY_VERSION_HEX >= 0x030C0000

// Of what code objects carry: the site of their module, or None. Borrowed: a site of a module is never given up, and a
// reference from code to monitors would be one that no garbage collection sees.
Py_ssize_t place_index = -1;

// The site of the module that runs in the frame; null if nobody asks about that module. `find` knows, and is asked once
// for each code.
Site* place_of(PyObject* find, PyObject* code, PyFrameObject* frame) {
    void* known = nullptr;
    if (PyUnstable_Code_GetExtra(code, place_index, &known) < 0) PyErr_Clear();
    if (known == nullptr) {
        const Unobserved unobserved;
        const Owned globals(PyFrame_GetGlobals(frame));
        const Owned found(PyObject_CallOneArg(find, globals.get()));
        if (!found) PyErr_WriteUnraisable(find);
        known = found ? found.get() : Py_None;
        if (PyUnstable_Code_SetExtra(code, place_index, known) < 0) PyErr_Clear();
    }
    return known != Py_None ? static_cast<Site*>(known) : nullptr;
}

// What the interpreter itself raises to end an iteration, or a generator.
bool is_an_end(PyObject* exception) {
    for (PyObject* type : {PyExc_StopIteration, PyExc_StopAsyncIteration, PyExc_GeneratorExit})
        if (PyErr_GivenExceptionMatches(exception, type) != 0) return true;
    return false;
}

// Is it raised here, by a statement or for the first time? Else it comes from another frame, whose traceback it has.
bool is_raised(PyObject* exception, PyObject* code, PyFrameObject* frame) {
    const Owned trace(PyException_GetTraceback(exception));
    if (!trace) return false;
    const auto* at = reinterpret_cast<PyTracebackObject*>(trace.get());
    if (at->tb_frame != frame) return false;
    if (at->tb_next == nullptr && !is_an_end(exception)) return true;
    const Owned bytes(PyCode_GetCode(reinterpret_cast<PyCodeObject*>(code)));
    if (!bytes) PyErr_Clear();
    // The offset that we are told is that of the instruction for statements only.
    const bool inside = bytes && at->tb_lasti >= 0 && at->tb_lasti < PyBytes_GET_SIZE(bytes.get());
    return inside && static_cast<unsigned char>(PyBytes_AS_STRING(bytes.get())[at->tb_lasti]) == RAISE_VARARGS;
}

PyObject* raised(PyObject* object, PyObject* const* args, size_t, PyObject*) {
    if (Unobserved::now()) Py_RETURN_NONE;
    const Owned current(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
    auto* frame = reinterpret_cast<PyFrameObject*>(current.get());
    PyObject *code = args[0], *exception = args[2];
    if (frame == nullptr) Py_RETURN_NONE;
    const Site* place = place_of(as_site(object)->subject, code, frame);
    if (place == nullptr || place->first == nullptr || !is_raised(exception, code, frame)) Py_RETURN_NONE;
    const Owned result(tell(place->first, exception));
    if (!result) return nullptr;
    if (result.get() == exception) Py_RETURN_NONE;
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(result.get())), result.get());
    PyTraceBack_Here(frame);
    return nullptr;
}

#endif

}  // namespace

const Behaviour exceptions[] = {
    {"raise", raise},   {"assert", fail}, {"handle", handle},
#if PY_VERSION_HEX >= 0x030C0000
    {"raised", raised},
#endif
    {nullptr, nullptr},
};

bool prepare_exceptions() {
#if PY_VERSION_HEX >= 0x030C0000
    place_index = PyUnstable_Eval_RequestCodeExtraIndex(nullptr);
    if (place_index < 0) PyErr_SetString(PyExc_RuntimeError, "code objects have no room left for marks");
    return place_index >= 0;
#else
    return true;
#endif
}

}  // namespace mopsus::python
