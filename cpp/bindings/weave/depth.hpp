// Calls through an advice take room on the stack of C that calls between Python functions do not take. A program that
// recurses deeply must not notice, as long as there is room; when there is none, it gets a RecursionError, not a crash.
#pragma once

#include <Python.h>

namespace mopsus::python {

// Exists during a call that the interpreter alone would have made without recursion in C.
class Depth {
public:
    Depth() {
        if (!is_shallow()) enter(static_cast<const char*>(__builtin_frame_address(0)));
    }
    ~Depth() {
        if (given_) leave();
    }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

    // Here nothing has to be seen to, as mostly: a call may be made without one of these.
    static bool is_shallow() {
        const char* here = static_cast<const char*>(__builtin_frame_address(0));
        return here > shallow_ && here <= top_;
    }
    // No room is left; an exception is set.
    bool refused() const { return refused_; }

private:
    void enter(const char* here);
    static void leave();

    bool given_ = false;  // the interpreter's own count of C calls does not include this one
    bool refused_ = false;
    // Of the thread that asked last: where its stack begins, and down to where nothing has to be seen to.
    inline static const char* top_ = nullptr;
    inline static const char* shallow_ = nullptr;
};

}  // namespace mopsus::python
