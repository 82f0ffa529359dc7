// What a debugger and the agent in a program tell each other: plain memory, written by the one while the program stands
// and read by the other while it runs. `mopsus/interactive/gdb/agent/layout.py` has the same layout in Python;
// `mopsus_agent_layout` lets it see whether.
#pragma once

#include <cstdint>

#include "arithmetic.hpp"

namespace mopsus::agent {

constexpr std::uint32_t kMostValues = 4;
constexpr std::uint32_t kMostKept = 8;
constexpr std::uint32_t kMostEvents =
    4;  // of a function, when it is entered or when it returns; no two of the same monitor
constexpr std::uint32_t kSites = 256;

// A cell of a table: the row that follows, and whether the debugger wants to hear of the step. If not at all, the row
// stays the same.
constexpr std::uint32_t kStop = 1U << 31;        // now, before the program does anything else
constexpr std::uint32_t kKeep = 1U << 30;        // some time: it is kept in the log
constexpr std::uint32_t kCode = 1U << 29;        // the rest is no row: code begins there that gives the cell
constexpr std::uint32_t kOnlyBegins = 1U << 28;  // an instance begins, and makes no step
constexpr std::uint32_t kRow = kOnlyBegins - 1;

// A machine whose instances are told apart by one value at the most. Row 0 is that of a value that was never seen.
struct Monitor {
    const std::uint32_t* cells;  // [row + letter]
    std::uint64_t* keys;
    std::uint32_t*
        rows;  // by place in `keys`; 0: the place is free, except for the only instance of a machine without values
    std::uint64_t mask;  // places, a power of two, minus 1
    std::uint64_t used;
    std::uint64_t noted;  // not 0: there are records of it in the log
    const Instruction* code;
    std::uint64_t words;  // of variables that an instance has, by place in `variables`
    std::uint64_t* variables;
    const std::uint64_t* beginning;  // those of an instance that begins
};

// Where a value is when a function is entered or returns.
struct Source {
    enum Base : std::uint8_t { Argument, Result, Fixed };
    std::uint8_t base;
    std::uint8_t index;      // of the register, for an argument
    std::uint8_t follow;     // the value is what that points to
    std::uint8_t width;      // in bytes: 1, 2, 4, 8
    std::uint8_t is_signed;  // else it is filled up with zeros
    std::uint8_t unused[3];
    std::uint64_t address;  // for a fixed one
};

struct Event {
    Monitor* monitor;
    std::uint32_t letter;
    std::uint32_t keyed;  // the first value says which instance it is about
    std::uint32_t values;
    std::uint32_t number;  // how the debugger calls it
    std::uint64_t passed;  // how often it came and was not kept
    Source sources[kMostValues];
};

// What the agent looks at. While the debugger handles a call itself, the hook is out, but calls that it made are still
// to return.
enum Looks : std::uint32_t { kEntries = 1, kReturns = 2 };

// A function with a hook. This is memory of the process alone: a copy of it must be able to take its own hooks out.
struct Site {
    std::uint64_t entry;
    std::uint64_t copy;        // its first instructions, elsewhere: behind them it goes on behind the hook
    std::uint8_t original[8];  // the first five bytes of the function, and those of the jump that has replaced them
    std::uint8_t jump[8];
    std::uint32_t events;  // when it is entered, and, behind those, when it returns
    std::uint32_t returns;
    std::uint32_t placed;  // 0: the hook is not in the code; else, for which time it is
    std::uint32_t looks;
    Event* first;
    std::uint64_t generation;  // another one whenever the events are others
    std::uint64_t calls;       // and returns that came here, since the debugger has written this
};

struct Record {
    std::uint64_t event;   // its number
    std::uint64_t caller;  // the return address
    std::uint64_t time;    // by the processor's own clock
    std::uint64_t values[kMostValues];
};

// Why the gate is called: the debugger must handle the call as if there were no hook; the log is full; a table is.
enum Reason : std::uint64_t { Handle, Full, Crowded };

// What the gate is called with. `frame` is where the stack pointer will be when the function has returned.
struct Stop {
    std::uint64_t reason;
    std::uint32_t site;
    std::uint32_t returning;
    std::uint64_t frame;
    std::uint64_t stuck;       // this thread or another seems to be in here already, for too long
    std::uint64_t unreadable;  // a bit for each of `values`: there was no memory
    std::uint64_t values[kMostEvents][kMostValues];
};

// What happened that the debugger has not been told yet. Behind the last record is the next one in the making.
struct Log {
    std::uint64_t used;
    std::uint64_t capacity;
    std::uint64_t
        changes;  // to this or to a table, by the debugger or a handler of a signal: whoever has looked must look again
    std::uint64_t committing;  // a change is half made: `Journal` has the whole of it
    std::uint64_t width;       // of a record, in words: no event has more values
    std::uint64_t words[1];    // records, as many as there is room for
};

// An instance that goes to another row.
struct Change {
    Monitor* monitor;
    std::uint64_t at;
    std::uint64_t key;
    std::uint64_t used;  // instances of the monitor, afterwards
    std::uint32_t row;
    std::uint32_t keyed;
    std::uint64_t variables[kMostWords];
};

// Everything that one call changes, of the thread that has the turn. The debugger can stop the program in the midst of
// that; then it does the rest.
struct Journal {
    std::uint64_t seen;  // `Log::changes` when all this was found out
    std::uint64_t used;  // `Log::used` before
    std::uint64_t count;
    Change changes[kMostEvents];
};

struct Agent {
    const std::uint64_t* alive;  // points to 1; in a copy of the process, made by `fork`, to 0
    Log* log;
    std::uint64_t process;
    std::uint64_t owner;  // the thread that is in here
    std::uint64_t stack;  // and where on its stack
    std::uint64_t turns;
    Journal journal;
    Site sites[kSites];
};

// The registers of a function that is entered.
struct Registers {
    std::uint64_t arguments[6];
    std::uint64_t scratch[2];
    std::uint64_t frame_pointer;
    std::uint64_t site;
    std::uint64_t caller;
};

// The frame of a hook that waits for the return.
struct Call {
    std::uint64_t arguments[6];
    std::uint64_t results[2];
    std::uint64_t generation;       // of the site, when the function was entered; 0: nobody looked
    std::uint64_t unreadable;       // by value, a bit: there was no memory
    std::uint64_t kept[kMostKept];  // what arguments pointed to, and variables held
    std::uint64_t frame_pointer;
    std::uint64_t site;
    std::uint64_t caller;
};

}  // namespace mopsus::agent

// What the debugger looks for by name.
extern "C" {
#pragma GCC visibility push(default)
extern mopsus::agent::Agent mopsus_agent;
extern const std::uint32_t mopsus_agent_layout[];
void mopsus_agent_gate(const mopsus::agent::Stop* stop, std::uint64_t turn);
bool mopsus_agent_commit();
std::uint64_t mopsus_agent_share(const char* file, std::uint64_t length);
std::uint64_t mopsus_agent_code(std::uint64_t address, std::uint64_t length);
std::uint64_t mopsus_agent_begin();
#pragma GCC visibility pop
// What hooks call.
std::uint64_t mopsus_agent_entered(mopsus::agent::Registers* registers);
std::uint64_t mopsus_agent_called(mopsus::agent::Call* call);
void mopsus_agent_returned(mopsus::agent::Call* call);
}
