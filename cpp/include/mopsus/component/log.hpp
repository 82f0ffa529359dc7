// Logs of components in text: an event on each line, such as `send(<0.20.0>,<0.30.0>,{done,7})`.
//
// Only what is plain is read: a line with a fault in it, a map, an escaped character or a number beyond measure is
// *odd*, and whoever called looks at it by the definition of the format. What is read means what the definition says.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mopsus/engine/engine.hpp"
#include "mopsus/machine/term.hpp"

namespace mopsus {

enum class Happening : std::uint8_t { Fork, Init, Exit, Send, Recv };

struct LogEvent {
    Happening kind = Happening::Recv;
    Term subject;
    Term other;   // the child of a fork, the parent of an init, the receiver of a send
    Term module;  // of a fork or init, with the next two
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

// Delivers what can be delivered without asking: what components send and receive, and that they begin, if it is known
// whose monitors hear of them. Everything else in a log is for the dispatcher, which says who is known.
class DirectLog {
public:
    enum Kind : std::uint8_t { kSend, kRecv, kInit, kKinds };
    using Counts = std::array<std::uint64_t, kKinds>;
    // A spec that hears of components: its engine, and the numbers of its events. The fields of a send are subject,
    // receiver and message, those of a receipt subject and message, those of an init parent, subject, module, function
    // and arguments.
    struct Target {
        Engine* engine = nullptr;
        std::array<EventId, kKinds> events{};
        std::uint32_t source = 0;  // the number of the current log among the locations of its monitor
        Counts seen{};             // since it was last asked
    };
    // Why reading stopped: the text is over, the line is for the dispatcher, or the line was delivered and something
    // may have to be reported.
    enum class Stop : std::uint8_t { End, Line, Delivered };

    explicit DirectLog(std::vector<Target> targets) : targets_(std::move(targets)) {}

    std::vector<Target>& targets() { return targets_; }
    // From now on the events of a component go to these slots, one for each target; 0 is nobody. If it is not `named`,
    // its init says what it runs, and is for the dispatcher.
    void settle(std::string_view component, std::vector<Slot> slots, bool named);
    // What was delivered of it since then.
    Counts unsettle(std::string_view component);
    // Delivers lines from `at` on; `line` is the number of the line there. `reported` says whether something waits to
    // be reported.
    template <class Reported>
    Stop run(std::string_view text, std::size_t& at, std::int64_t& line, Reported&& reported) {
        while (at < text.size()) {
            switch (deliver(text, at, line)) {
                case Stop::End: break;
                case Stop::Line: return Stop::Line;
                case Stop::Delivered:
                    if (reported()) return Stop::Delivered;
            }
        }
        return Stop::End;
    }

    std::uint64_t delivered = 0;  // lines with an event
    std::uint64_t heard = 0;      // those of which a target has heard
    std::uint64_t blank = 0;      // lines without one

private:
    struct Settled {
        std::vector<Slot> slots;
        Counts counts{};
        bool monitored = false;
        bool named = false;
    };
    class LineOrigin;
    Stop deliver(std::string_view text, std::size_t& at, std::int64_t& line);
    Settled* find(Term component);

    std::vector<Target> targets_;
    LogLines lines_;
    Arena arena_;
    std::unordered_map<std::uint64_t, Settled> packed_;  // by the word of an identifier
    std::unordered_map<std::string, Settled> others_;    // by the text of one that does not fit into a word
    struct Recent {
        std::uint64_t component = 0;
        Settled* settled = nullptr;
    };
    std::array<Recent, 256> recent_{};
};

// The components of a log that a fork or init speaks of: all others are there from the beginning.
class Introduced {
public:
    // Whole lines of a log. False if a line speaks of a component in a way that is not plain.
    bool add(std::string_view text);
    bool has(std::string_view component) const { return found_.contains(std::string(component)); }

private:
    std::unordered_set<std::string> found_;
};

}  // namespace mopsus
