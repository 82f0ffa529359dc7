// Whose doing an event is, beside the line that it comes from: of which part of a run, or of the collector of garbage;
// and the exception that what it tells of has ended with.
#pragma once

#include <Python.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace mopsus::python {

// Does the collector of garbage run in this thread? What happens then could as well have happened before or later, and
// elsewhere.
bool is_collecting();

// A part of a run that somebody numbers: a test of many. Events that come from nowhere else carry its number.
class Part {
public:
    // From now on it is this one. The threads that run now, but for this one, began before it.
    void begin(std::int64_t number);
    // Of what this thread is doing: 0 if that belongs to no part, as the thread began before this one.
    std::int64_t number() const;

private:
    std::int64_t number_ = 0;
    std::vector<std::uint64_t> older_;  // threads, by the interpreter's numbers, which are never used again
};

// While one of these exists, the event that this thread sends is that something has ended with this exception.
class EndedWith {
public:
    explicit EndedWith(PyObject* exception) : outer_(std::exchange(innermost, exception)) {}
    ~EndedWith() { innermost = outer_; }
    EndedWith(const EndedWith&) = delete;
    EndedWith& operator=(const EndedWith&) = delete;

    static PyObject* now() { return innermost; }  // borrowed; null: with none

private:
    inline static thread_local PyObject* innermost = nullptr;
    PyObject* outer_;
};

bool prepare_moments(PyObject* module);

}  // namespace mopsus::python
