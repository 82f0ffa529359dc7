// A thread that the interpreter ends while the program ends.
#pragma once

#include <cxxabi.h>
#include <unistd.h>

namespace mopsus::python {

// Calls something of the program. A daemon thread that wants to go on when the interpreter is being finalized is ended by
// pthread_exit, which unwinds its stack: what then destroys objects of ours would touch Python without holding its lock. Such a
// thread waits here for the end of the process instead, as later versions of Python let it.
template <class Call>
auto in_program(Call&& call) {
    try {
        return call();
    } catch (abi::__forced_unwind&) {
        for (;;) pause();
    }
}

}  // namespace mopsus::python
