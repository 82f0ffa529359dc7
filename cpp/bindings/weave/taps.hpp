// What is to be told at one point of a program: the native form of `Tap` of joinpoints.py.
#pragma once

#include <Python.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bind/emitter.hpp"

namespace mopsus::python {

// An owned reference.
class Owned {
public:
    Owned() = default;
    explicit Owned(PyObject* stolen) : object_(stolen) {}
    Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Owned() { Py_XDECREF(object_); }
    PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }
    explicit operator bool() const { return object_ != nullptr; }

private:
    PyObject* object_ = nullptr;
};

// What happens, for taps to choose from; all borrowed, and null where there is none.
struct Occasion {
    PyObject* target = nullptr;
    PyObject* const* arguments = nullptr;  // by position, then by name; the target is not one of them
    Py_ssize_t positional = 0;
    PyObject* names = nullptr;  // tuple
    PyObject* result = nullptr;
    PyObject* exception = nullptr;
    PyObject* place = nullptr;  // the callable that was called, and the name under which it stands
    PyObject* name = nullptr;
};

struct Tap {
    enum class Moment : std::uint8_t { Before, Returning, Raising, After, Around, Giving, Getting };
    enum class From : std::uint8_t { Target, Argument, Result, Exception, Thread, Task };
    struct Source {
        From kind = From::Target;
        Py_ssize_t index = -1;  // of an argument; -1: by name only
        Owned name;             // null: by position only
        Owned fallback;         // the default value of an argument, if it has one
        Owned types;            // classes; null: any
    };

    Tap() = default;
    ~Tap();
    Tap(const Tap&) = delete;
    Tap& operator=(const Tap&) = delete;

    Moment moment = Moment::Before;
    Owned emit;
    Emission emission;  // what `emit` does, if it is an event of a monitor
    std::vector<Source> sources;
    Owned admits, target;
    bool exact = false, entry = false;
    Py_ssize_t at_most = -1, at_least = 0;
    bool by_type = false;  // the type of the target decides, among others
    bool bare = false;     // its event, of a monitor, has a single parameter and carries no data
    bool simple =
        false;  // nothing but the target is told, to a monitor, and nothing but its type decides whether it is

    // Send the event if the occasion is one for it. False with an exception set only if the program is to stop
    // (Ctrl-C, an order to exit): errors are reported.
    bool serve(const Occasion& occasion) const {
        if (simple && occasion.target != nullptr) {
            if (!suits(occasion)) return true;
            switch (emission.monitor->emit_quietly(emission.event, occasion.target)) {
                case PyMonitor::Quiet::Done: return true;
                case PyMonitor::Quiet::Raised: return forgiven();
                case PyMonitor::Quiet::No: break;
            }
        }
        return serve_slowly(occasion);
    }
    // The same for a simple tap if nothing has to be found out and nobody's code runs; else nothing is done.
    bool serve_silently(PyObject* object) const {
        if (by_type) {
            const Known& known = known_of(Py_TYPE(object));
            if (known.type != Py_TYPE(object) || known.version != Py_TYPE(object)->tp_version_tag) return false;
            if (!known.yes) return true;
        }
        return emission.monitor->emit_silently(emission.event, object);
    }
    // Can it have to do with what this object does? False only if the type of the object excludes it.
    bool concerns(PyObject* object) const;
    // What takes the place of the argument or result that is the last source; nothing if it stays.
    Owned exchanged(const Occasion& occasion) const;
    // What was found out about types may not hold any more.
    void forget() const { known_ = {}; }
    int traverse(visitproc visit, void* arg) const;

private:
    // What was found out about a type, as long as it stays as it is.
    struct Known {
        PyTypeObject* type = nullptr;
        unsigned version = 0;
        bool yes = false;
    };
    static constexpr std::size_t kKnown = 4;
    mutable std::array<Known, kKnown> known_;
    Known& known_of(PyTypeObject* type) const { return known_[(reinterpret_cast<std::uintptr_t>(type) >> 5) % kKnown]; }

    bool suits(const Occasion& occasion) const {
        if (!by_type) return true;
        PyTypeObject* type = Py_TYPE(occasion.target);
        const Known& known = known_of(type);
        return known.type == type && known.version == type->tp_version_tag ? known.yes : find_out(occasion);
    }
    bool find_out(const Occasion& occasion) const;
    bool serve_slowly(const Occasion& occasion) const;
    bool applies(const Occasion& occasion) const;  // by types
    bool counts(const Occasion& occasion) const;   // by the number of arguments
    struct Chosen;
    bool choose(const Occasion& occasion, Chosen& chosen) const;
    bool admitted(const Occasion& occasion) const;
    bool send(PyObject* const* values) const;
    bool forgiven() const;
};

// The taps of one place, by when they are served. Counted by hand, because whoever serves one may take it away.
class Taps {
public:
    // From a sequence of `Tap` objects; null with an exception set if one is wrong. `original`, if there is one, is
    // asked for the names and default values of its arguments, the first of which may be a target.
    static Taps* make(PyObject* taps, PyObject* original, bool has_target);

    std::vector<const Tap*> around, before, returning, raising, giving, getting;
    bool exchange() const { return !giving.empty() || !getting.empty(); }
    bool empty() const { return all_.empty(); }
    bool concern(PyObject* object) const;  // does one of them?
    template <class Test>
    bool all_of(Test&& test) const {
        return std::all_of(all_.begin(), all_.end(), [&](const auto& tap) { return test(*tap); });
    }
    std::size_t size() const { return all_.size(); }
    PyObject* objects() const { return objects_.get(); }
    void hold() { ++count_; }
    void drop() {
        if (--count_ == 0) delete this;
    }
    int traverse(visitproc visit, void* arg) const;

private:
    int count_ = 1;
    Owned objects_;  // the tuple that it was made from
    std::vector<std::unique_ptr<Tap>> all_;
};

class HeldTaps {
public:
    explicit HeldTaps(Taps* taps) : taps_(taps) { taps_->hold(); }
    ~HeldTaps() { taps_->drop(); }
    HeldTaps(const HeldTaps&) = delete;
    HeldTaps& operator=(const HeldTaps&) = delete;
    const Taps* operator->() const { return taps_; }
    const Taps& operator*() const { return *taps_; }

private:
    Taps* taps_;
};

// ---- in place of what happens ----

// While one of these exists, `skip` in its thread says that the program's own action is left out.
class Skippable {
public:
    Skippable();
    ~Skippable();
    Skippable(const Skippable&) = delete;
    Skippable& operator=(const Skippable&) = delete;
    bool skipped() const { return static_cast<bool>(result_); }
    PyObject* result() { return result_.release(); }

private:
    friend bool skip(PyObject* result);
    Skippable* outer_;
    Owned result_;
};

// Leave out what the innermost `Skippable` is about, with this result; false if there is none.
bool skip(PyObject* result);

}  // namespace mopsus::python
