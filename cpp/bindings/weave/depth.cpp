#include "depth.hpp"

#include <algorithm>
#include <cstddef>

#if defined(__linux__)
#include <pthread.h>
#endif

namespace mopsus::python {

namespace {

constexpr std::size_t kShallow = 128 << 10;
constexpr std::size_t kMargin = 512 << 10;  // for what is called in the end, which may be anything

struct Stack {
    const char* low = nullptr;  // null: not known
    const char* high = nullptr;
    std::size_t size() const { return static_cast<std::size_t>(high - low); }
};

Stack own_stack() {
    Stack stack;
#if defined(__linux__)
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
        stack.low = static_cast<const char*>(low);
        stack.high = stack.low + size;
    }
    pthread_attr_destroy(&attributes);
#endif
    return stack;
}

#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000
// These versions allow so many nested calls in C, whatever the room; running a Python function counts as two.
constexpr int kUnits = 2;
void allow(int units) { PyThreadState_Get()->c_recursion_remaining += units; }
#else
constexpr int kUnits = 0;
void allow(int) {}
#endif

}  // namespace

void Depth::enter(const char* here) {
    thread_local const Stack stack = own_stack();
    // A stack that somebody made by himself: the interpreter has to look after it.
    if (here <= stack.low || here > stack.high) return;
    top_ = stack.high;
    shallow_ = stack.high - std::min(kShallow, stack.size() / 4);
    if (here > shallow_) return;
    if (here < stack.low + std::min(kMargin, stack.size() / 4)) {
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded in calls that are monitored");
        refused_ = true;
        return;
    }
    allow(kUnits);
    given_ = true;
}

void Depth::leave() { allow(-kUnits); }

}  // namespace mopsus::python
