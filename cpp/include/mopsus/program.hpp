// What the engine runs: the events of a specification and the machines of its properties.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mopsus {

using Mask = std::uint32_t;  // a set of parameters
using EventId = std::uint16_t;

constexpr unsigned kMaxParameters = 16;

struct EventDecl {
    std::string name;
    std::vector<std::uint8_t> parameters;  // in call order
    bool creation = false;
    bool guarded = false;      // has a condition or an action: ask the listener before each step
    std::vector<Mask> enable;  // domains from which this event may extend an instance

    Mask mask() const {
        Mask mask = 0;
        for (const std::uint8_t p : parameters) mask |= 1U << p;
        return mask;
    }
};

// A complete table machine. Categories are small numbers that only the caller interprets.
struct Machine {
    std::uint32_t states = 1;
    std::uint32_t initial = 0;
    std::vector<std::uint32_t> next;                     // [state * events + event]
    std::vector<std::vector<std::uint16_t>> categories;  // of each state, those to be reported
    std::vector<std::vector<std::uint16_t>> final;       // of each state, those that stay for ever
    std::vector<std::vector<Mask>> alive;                // of each state, parameter sets that lead to a report
};

enum class Binding : std::uint8_t { Any, Maximal, Full };

struct Program {
    unsigned parameters = 0;
    std::vector<EventDecl> events;
    std::vector<Machine> machines;
    Binding binding = Binding::Any;
    bool connected = false;
    bool immediate = false;     // a report may change what the next event does: do not put it off
    bool variables = false;     // every instance carries a word of the listener's
    std::uint32_t history = 0;  // events remembered per instance

    Mask all() const { return parameters == 0 ? 0 : (1U << parameters) - 1; }
    // Throws std::invalid_argument if anything refers outside of its range.
    void check() const;
};

}  // namespace mopsus
