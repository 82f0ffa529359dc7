// What a logic made of a formula, and how the core runs it.
//
// Whatever the kind of a machine, the state that an instance holds for it is one word. For a table
// the word is the state itself; every other kind has a runner, which owns the states of all
// instances of one engine and gives out words that stand for them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mopsus/machine/explanation.hpp"
#include "mopsus/engine/origin.hpp"

namespace mopsus {

class Archive;
class Table;

using Mask = std::uint32_t;  // a set of parameters
using EventId = std::uint16_t;
using Word = std::uint32_t;

// What a step reports. Categories are small numbers that only the caller interprets.
struct Outcome {
    std::vector<std::uint16_t> categories;
    std::vector<bool> final;  // of each: it stays for ever
};

// Can a report still come, when these parameter sets lead to one and the parameters in `dead` never occur again?
inline bool any_free_of(const std::vector<Mask>& needs, Mask dead) {
    for (const Mask need : needs)
        if ((need & dead) == 0) return true;
    return false;
}

// The word after a step carries two flags.
constexpr Word kNotable = 1U << 31;  // the step reports, or nothing can be reported afterwards
constexpr Word kMoved = 1U << 30;    // the state has changed, though its word may be the same
constexpr Word plain(Word word) { return word & ~(kNotable | kMoved); }

class Runner {
public:
    Runner() = default;
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;
    virtual ~Runner() = default;

    // The state of a new instance; every state that is given out comes back by `end`, or never.
    virtual Word begin() = 0;
    virtual Word copy(Word state) = 0;
    virtual void end(Word state) = 0;
    // Takes the state that a handler of what it reports has reset: what was reported is over. Where several matches go
    // on at a time, the others still do.
    virtual Word after_report(Word state) {
        end(state);
        return begin();
    }
    virtual bool keeps_others() const { return false; }
    // One event: takes `state` and gives the one after it, with its flags.
    virtual Word step(Word state, EventId event, Origin& origin) = 0;
    // What the last step reports.
    virtual const Outcome& outcome() const = 0;
    // Can the state still lead to a report when the parameters in `dead` never occur again?
    virtual bool alive(Word state, Mask dead) const = 0;
    // Does the formula hold, or the pattern match, at the last event of the state? Nothing if the machine cannot say.
    virtual std::optional<bool> holds(Word /*state*/) { return {}; }
    // Writes the state, or reads it into one that is new.
    virtual void transfer(Archive& archive, Word state) = 0;
    virtual std::size_t bytes() const = 0;
    // Remember from now on how states came to be, and say it of the last step if it reports. Most kinds cannot.
    virtual void explain() {}
    virtual Explanation explanation();
    // The largest number of things that had to be kept in mind for one instance, for kinds that have such a measure.
    virtual std::size_t largest() const { return 0; }
};

class Machine {
public:
    Machine() = default;
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    virtual ~Machine() = default;

    // Throws std::invalid_argument if anything refers outside of its range.
    virtual void check(std::size_t events) const = 0;
    // The unit of its times, in nanoseconds; 0: it does not ask when an event happened.
    virtual std::int64_t unit() const { return 0; }
    // Does it look at the data of events? Does it call into another language for that?
    virtual bool reads_data() const { return false; }
    virtual bool calls_out() const { return false; }
    // One of the two is there.
    virtual std::unique_ptr<const Table> table(std::size_t /*events*/) const;
    virtual std::unique_ptr<Runner> runner(std::size_t /*events*/) const { return nullptr; }
};

}  // namespace mopsus
