// Processes that end by os._exit, which nothing else comes before: what was found up to there is told first. The
// function stays the object that it is; its C function is exchanged in place.
#include "exiting.hpp"

#include "taps.hpp"
#include "bind/unobserved.hpp"

namespace mopsus::python {

namespace {

using FastNamed = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

PyCFunction own_exit = nullptr;
PyObject* last_words = nullptr;  // what is called with the status, and gives the one to end with; null if nobody asked

PyObject* call_own(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    return reinterpret_cast<FastNamed>(reinterpret_cast<void (*)()>(own_exit))(self, args, count, names);
}

PyObject* leave(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const bool one = count + (names != nullptr ? PyTuple_GET_SIZE(names) : 0) == 1;
    if (last_words == nullptr || !one || !PyLong_Check(args[0])) return call_own(self, args, count, names);
    const Owned words(std::exchange(last_words, nullptr));  // once: they may end the process themselves
    Owned status;
    {
        const Unobserved here;
        status = Owned(PyObject_CallOneArg(words.get(), args[0]));
    }
    if (!status || !PyLong_Check(status.get())) {
        PyErr_Clear();  // whatever it is, the program ends as it wants to
        return call_own(self, args, count, names);
    }
    PyObject* const given[] = {status.get()};
    return call_own(self, given, 1, nullptr);
}

bool take_exit() {
    const Owned module(PyImport_ImportModule("posix"));
    const Owned function(module ? PyObject_GetAttrString(module.get(), "_exit") : nullptr);
    if (!function) return false;
    PyMethodDef* definition =
        PyCFunction_CheckExact(function.get()) ? reinterpret_cast<PyCFunctionObject*>(function.get())->m_ml : nullptr;
    if (definition == nullptr || definition->ml_flags != (METH_FASTCALL | METH_KEYWORDS)) {
        PyErr_SetString(PyExc_RuntimeError, "the interpreter ends processes in a way that is not known");
        return false;
    }
    own_exit = std::exchange(definition->ml_meth, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(leave)));
    return true;
}

PyObject* before_exit(PyObject*, PyObject* words) {
    if (own_exit == nullptr && !take_exit()) return nullptr;
    const Owned before(std::exchange(last_words, words == Py_None ? nullptr : Py_NewRef(words)));
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"before_exit", before_exit, METH_O,
     "Call this with the status before os._exit ends the process, with the status that it gives; None: nothing."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool prepare_exiting(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace mopsus::python
