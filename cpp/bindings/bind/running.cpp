#define Py_BUILD_CORE 1  // frames lie where only the interpreter itself looks
#include "running.hpp"

#include <internal/pycore_frame.h>

namespace mopsus::python {

Instruction running_instruction() {
#if PY_VERSION_HEX >= 0x030D0000
    _PyInterpreterFrame* frame = PyThreadState_Get()->current_frame;
#else
    _PyInterpreterFrame* frame = PyThreadState_Get()->cframe->current_frame;
#endif
    while (frame != nullptr && _PyFrame_IsIncomplete(frame)) frame = frame->previous;
    if (frame == nullptr) return {};
#if PY_VERSION_HEX >= 0x030D0000
    auto* code = reinterpret_cast<PyCodeObject*>(frame->f_executable);
    const auto at = frame->instr_ptr - _PyCode_CODE(code);
#else
    PyCodeObject* code = frame->f_code;
    const auto at = frame->prev_instr - _PyCode_CODE(code);
#endif
    return {reinterpret_cast<PyObject*>(code), static_cast<int>(at) * static_cast<int>(sizeof(_Py_CODEUNIT))};
}

}  // namespace mopsus::python
