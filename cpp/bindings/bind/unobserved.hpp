// Monitoring code that calls monitored functions is not monitored: while it runs in a thread, that
// thread's events are nobody's. Objects that the collector of garbage ends meanwhile are the program's all the same.
#pragma once

#include "moment.hpp"

namespace mopsus::python {

// As long as one of these exists in a thread, the thread is unobserved. Needs the interpreter lock.
class Unobserved {
public:
    Unobserved() {
        ++depth();
        ++count_;
    }
    ~Unobserved() {
        --depth();
        --count_;
    }
    Unobserved(const Unobserved&) = delete;
    Unobserved& operator=(const Unobserved&) = delete;

    static bool now() { return count_ != 0 && depth() != 0 && !is_collecting(); }
    // Is any thread? That is known at once.
    static bool anywhere() { return count_ != 0; }

private:
    static int& depth() {
        thread_local int value = 0;
        return value;
    }
    inline static int count_ = 0;  // in all threads: mostly none, and then no thread has to be asked
};

// As long as one of these exists, debuggers, profilers and the like are not told what this thread does: they are the
// program's.
class Untraced {
public:
    Untraced() : thread_(PyThreadState_Get()) { PyThreadState_EnterTracing(thread_); }
    ~Untraced() { PyThreadState_LeaveTracing(thread_); }
    Untraced(const Untraced&) = delete;
    Untraced& operator=(const Untraced&) = delete;

private:
    PyThreadState* thread_;
};

}  // namespace mopsus::python
