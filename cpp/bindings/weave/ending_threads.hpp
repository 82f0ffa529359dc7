// Threads that the interpreter ends while the program ends.
#pragma once

namespace mopsus::python {

// From now on they wait for the end of the process, instead of leaving our functions in the midst of their work.
void let_ended_threads_wait();

}  // namespace mopsus::python
