#include "mainprogram.hpp"

#include <utility>

namespace mopsus::python {

namespace {

#if PY_VERSION_HEX >= 0x030D0000
auto*& current_frame(PyThreadState* thread) { return thread->current_frame; }
#else
auto*& current_frame(PyThreadState* thread) { return thread->cframe->current_frame; }
#endif

#if PY_VERSION_HEX >= 0x030C0000
int& left(PyThreadState* thread) { return thread->py_recursion_remaining; }
int limit(const PyThreadState* thread) { return thread->py_recursion_limit; }
#else
int& left(PyThreadState* thread) { return thread->recursion_remaining; }
int limit(const PyThreadState* thread) { return thread->recursion_limit; }
#endif

// As long as it exists, the frames of this thread are as if they were not there: not seen, and not counted.
class Hidden {
public:
    explicit Hidden(int depth)
        : thread_(PyThreadState_Get()),
          frame_(std::exchange(current_frame(thread_), nullptr)),
          used_(limit(thread_) - left(thread_) - depth) {
        left(thread_) += used_;
    }
    ~Hidden() {
        left(thread_) -= used_;
        current_frame(thread_) = frame_;
    }
    Hidden(const Hidden&) = delete;
    Hidden& operator=(const Hidden&) = delete;

private:
    PyThreadState* thread_;
    decltype(std::exchange(current_frame(nullptr), nullptr)) frame_;
    int used_;
};

PyObject* run_main(PyObject*, PyObject* args) {
    PyObject *code = nullptr, *globals = nullptr;
    int depth = 0;
    if (!PyArg_ParseTuple(args, "O!O!i", &PyCode_Type, &code, &PyDict_Type, &globals, &depth)) return nullptr;
    const Hidden hidden(depth);
    return PyEval_EvalCode(code, globals, globals);
}

PyMethodDef functions[] = {
    {"run_main", run_main, METH_VARARGS,
     "Run the code of a main program in a namespace, as if only so many calls had been made before."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool prepare_main(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace mopsus::python
