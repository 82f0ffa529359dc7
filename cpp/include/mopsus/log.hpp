// Logs of components in text: an event on each line, such as `send(<0.20.0>,<0.30.0>,{done,7})`.
//
// Only what is plain is read: a line with a fault in it, a map, an escaped character or a number beyond measure is
// *odd*, and whoever called looks at it by the definition of the format. What is read means what the definition says.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mopsus/term.hpp"

namespace mopsus {

enum class Happening : std::uint8_t { Fork, Init, Exit, Send, Recv };

struct LogEvent {
    Happening kind = Happening::Recv;
    Term subject;
    Term other;      // the child of a fork, the parent of an init, the receiver of a send
    Term module;     // of a fork or init, with the next two
    Term function;
    Term arguments;  // a list
    Term data;       // the reason of an exit, the message of a send or recv
    std::uint64_t delay_ms = 0;
};

enum class LineKind : std::uint8_t { Event, Blank, Odd };

// Reads lines, one after the other.
class LogLines {
public:
    // A line without its line break. The terms of the event lie in the arena and in the text.
    LineKind read(std::string_view line, Arena& arena, LogEvent& event);

private:
    std::vector<Term> parts_;
};

}  // namespace mopsus
