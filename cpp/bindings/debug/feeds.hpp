// Events that code of a debugged program feeds to monitors: which they are, where their values lie in a frame, and how
// they are sent, with no Python in between.
//
// Whoever includes this defines Py_BUILD_CORE first: the values of a frame lie where only the interpreter itself looks.
#pragma once

#include <Python.h>

#include <internal/pycore_frame.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "carried.hpp"
#include "bind/saved_error.hpp"
#include "weave/taps.hpp"

namespace mopsus::python {

inline constexpr std::size_t kMostValues = 16;  // values of all events of some code at one moment
inline constexpr std::size_t kMostEvents = 64;
inline constexpr int kResult = -1;

enum class Done { Yes, Failed, No };  // No: somebody else must do it, and nothing has been done

using Frame = _PyInterpreterFrame;

// Where a value of an event comes from: an argument or the result, attributes of it, and what it is converted to, if to
// anything.
struct ValueSource {
    int argument = 0;
    std::vector<Owned> attributes;
    Owned type;
    int shared = 0;  // do inner functions use the argument, too? Then a cell has it

    bool is_result() const { return argument == kResult; }
    Done take(const Frame* frame, Owned& taken) const {
        PyObject* value = frame->localsplus[argument];
        if (shared != 0 && value != nullptr && PyCell_Check(value)) value = PyCell_GET(value);
        if (value == nullptr) return Done::No;
        taken = Owned(Py_NewRef(value));
        return refine(taken);
    }
    Done refine(Owned& value) const {
        for (const Owned& name : attributes) {
            value = Owned(PyObject_GetAttr(value.get(), name.get()));
            if (!value) return failed();
        }
        if (!type || reinterpret_cast<PyObject*>(Py_TYPE(value.get())) == type.get()) return Done::Yes;
        value = Owned(PyObject_CallOneArg(type.get(), value.get()));
        return value ? Done::Yes : failed();
    }

private:
    // Whoever does it instead finds the same error, and says so.
    static Done failed() {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) return Done::Failed;
        PyErr_Clear();
        return Done::No;
    }
};

// An event: whom to call, with what.
struct Feed {
    Owned emit;
    Owned name;      // what whoever asked for it calls it
    Owned remember;  // takes its values if a history has the event, and gives a number by which it knows them; may be
                     // null
    std::vector<ValueSource> sources;
    PyMonitor* monitor = nullptr;  // if it is an event of one
    std::uint32_t place = 0;       // where it comes from, as the monitor knows it; 0: the line that runs then
    // By property, the states that need the event. Looked at if the monitor has several events at the same moment: what
    // one of them makes needed waits for the next time.
    std::vector<std::vector<bool>> needs;
    bool chosen = false;

    bool is_needed() const {
        const std::vector<std::vector<bool>> occupied = monitor->core().engine().occupied();
        for (std::size_t k = 0; k < std::min(occupied.size(), needs.size()); ++k)
            for (std::size_t state = 0; state < std::min(occupied[k].size(), needs[k].size()); ++state)
                if (occupied[k][state] && needs[k][state]) return true;
        return occupied.empty();
    }
};

struct Fed {
    std::vector<Feed> before, after;

    int traverse(visitproc visit, void* arg) const {
        for (const auto* feeds : {&before, &after})
            for (const Feed& each : *feeds)
                for (const Owned* one : {&each.emit, &each.remember}) Py_VISIT(one->get());
        return 0;
    }
};

// A bit for each event that is to be sent; there is room for as many.
inline std::uint64_t wanted_of(const std::vector<Feed>& feeds) {
    std::uint64_t wanted = ~std::uint64_t{0};
    for (std::size_t k = 0; k < feeds.size(); ++k)
        if (feeds[k].chosen && !feeds[k].is_needed()) wanted &= ~(std::uint64_t{1} << k);
    return wanted;
}

inline std::int64_t remember(const Feed& feed, PyObject* const* values) {
    if (is_carrier(feed.remember.get())) return carry(feed.remember.get(), values, feed.sources.size());
    const SavedError saved;
    const Owned number(PyObject_Vectorcall(feed.remember.get(), values, feed.sources.size(), nullptr));
    const long long found = number ? PyLong_AsLongLong(number.get()) : 0;
    return PyErr_Occurred() == nullptr ? found : 0;
}

// False with an exception set if the program is to stop; errors are told, and change nothing.
inline bool send(const Feed& feed, PyObject* const* values, double began) {
    const auto call = [&] { return Owned(PyObject_Vectorcall(feed.emit.get(), values, feed.sources.size(), nullptr)); };
    Owned done;
    if (feed.monitor != nullptr) {
        const PyMonitor::Numbers numbers = [&] { return remember(feed, values); };
        const PyMonitor::From from(*feed.monitor, feed.place, feed.remember ? &numbers : nullptr, began);
        done = call();
    } else {
        done = call();
    }
    if (done) return true;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
    if (PyErr_ExceptionMatches(errors.closed))
        PyErr_Clear();
    else
        PyErr_WriteUnraisable(feed.emit.get());
    return true;
}

// The values of events, until they are sent.
class Values {
public:
    Values() = default;
    Values(Values&& other) noexcept : values_(other.values_), count_(std::exchange(other.count_, 0)) {}
    Values& operator=(Values&&) = delete;
    ~Values() {
        for (std::size_t k = 0; k < count_; ++k) Py_XDECREF(values_[k]);
    }
    // All but results.
    Done take(const std::vector<Feed>& feeds, const Frame* frame) {
        for (const Feed& feed : feeds)
            for (const ValueSource& source : feed.sources) {
                Owned value;
                if (!source.is_result())
                    if (const Done done = source.take(frame, value); done != Done::Yes) return done;
                values_[count_++] = value.release();
            }
        return Done::Yes;
    }
    Done take_result(const std::vector<Feed>& feeds, PyObject* result) {
        std::size_t at = 0;
        for (const Feed& feed : feeds)
            for (const ValueSource& source : feed.sources) {
                if (source.is_result()) {
                    Owned value(Py_NewRef(result));
                    if (const Done done = source.refine(value); done != Done::Yes) return done;
                    Py_XSETREF(values_[at], value.release());
                }
                ++at;
            }
        return Done::Yes;
    }
    // False with an exception set if the program is to stop.
    bool send(const std::vector<Feed>& feeds, double began) const {
        PyObject* const* at = values_.data();
        std::uint64_t wanted = wanted_of(feeds);
        for (const Feed& feed : feeds) {
            if ((wanted & 1) != 0 && !python::send(feed, at, began)) return false;
            wanted >>= 1;
            at += feed.sources.size();
        }
        return true;
    }
    // Pairs of a name and a tuple of values, None where the result will be.
    Owned list(const std::vector<Feed>& feeds) const;
    int traverse(visitproc visit, void* arg) const {
        for (std::size_t k = 0; k < count_; ++k) Py_VISIT(values_[k]);
        return 0;
    }

private:
    std::array<PyObject*, kMostValues> values_;
    std::size_t count_ = 0;
};

// A function that has not returned yet, and what was taken of it when it was entered.
struct Call {
    std::shared_ptr<const Fed> fed;
    Values values;
};

// Takes events as Python gives them; false with an exception set if they are none, or too many.
bool read_feeds(std::vector<Feed>& feeds, PyObject* given);

}  // namespace mopsus::python
