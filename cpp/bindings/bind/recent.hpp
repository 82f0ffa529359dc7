// The objects that events were about lately, with their slots: found without hashing, and forgotten when they die.
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>

#include "mopsus/engine/domain.hpp"

namespace mopsus::python {

class RecentObjects {
public:
    bool on = true;  // are any remembered?

    // The slot of an object as a value of a parameter; kNil: it is not known here.
    Slot find(unsigned parameter, PyObject* value) const {
        const Entry& entry = (*entries_)[place_of(value)];
        return entry.value == value && entry.parameter == parameter ? entry.slot : kNil;
    }
    void remember(unsigned parameter, PyObject* value, Slot slot) {
        if (!on) return;
        if (!own_) {
            own_ = std::make_unique<Entries>();
            entries_ = own_.get();
        }
        (*own_)[place_of(value)] = {value, slot, parameter};
    }
    void forget(PyObject* value) {
        if (own_) (*own_)[place_of(value)] = {};
    }
    void clear() {
        own_.reset();
        entries_ = &nothing_;
    }

private:
    struct Entry {
        PyObject* value;
        Slot slot;
        unsigned parameter;
    };
    static constexpr std::size_t kEntries = 2048;
    using Entries = std::array<Entry, kEntries>;
    static std::size_t place_of(const void* value) {
        const auto address = reinterpret_cast<std::uintptr_t>(value);
        return (address >> 4 ^ address >> 15) % kEntries;
    }

    static inline Entries nothing_{};  // of monitors that have seen none, which most have not
    const Entries* entries_ = &nothing_;
    std::unique_ptr<Entries> own_;
};

}  // namespace mopsus::python
