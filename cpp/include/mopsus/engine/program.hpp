// What the engine runs: the events of a specification and the machines of its properties.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mopsus/machine/machine.hpp"

namespace mopsus {

constexpr unsigned kMaxParameters = 16;
constexpr unsigned kMaxFields = 32;  // of one event

struct EventDecl {
    std::string name;
    std::vector<std::uint8_t> parameters;  // in call order
    bool creation = false;
    bool guarded = false;                  // has a condition or an action: ask the listener before each step
    std::vector<Mask> enable;              // domains from which this event may extend an instance
    std::vector<std::string> fields = {};  // data that follows the parameters and does not slice

    std::size_t values() const { return parameters.size() + fields.size(); }
    Mask mask() const {
        Mask mask = 0;
        for (const std::uint8_t p : parameters) mask |= 1U << p;
        return mask;
    }
};

enum class Binding : std::uint8_t { Any, Maximal, Full };

struct Program {
    unsigned parameters = 0;
    std::vector<EventDecl> events;
    std::vector<std::shared_ptr<const Machine>> machines;
    Binding binding = Binding::Any;
    bool connected = false;
    bool immediate = false;     // a report may change what the next event does: do not put it off
    bool variables = false;     // every instance carries a word of the listener's
    std::uint32_t history = 0;  // events remembered per instance

    // The unit of time of the first machine that has one; 0: nobody asks when an event happened.
    std::int64_t unit() const {
        for (const auto& machine : machines)
            if (machine->unit() != 0) return machine->unit();
        return 0;
    }
    // Does anybody look at the data of events? Does anybody call into another language for that?
    bool reads_data() const {
        return std::any_of(machines.begin(), machines.end(), [](const auto& machine) { return machine->reads_data(); });
    }
    bool calls_out() const {
        return std::any_of(machines.begin(), machines.end(), [](const auto& machine) { return machine->calls_out(); });
    }
    Mask all() const { return parameters == 0 ? 0 : (1U << parameters) - 1; }
    // Throws std::invalid_argument if anything refers outside of its range.
    void check() const;
};

}  // namespace mopsus
