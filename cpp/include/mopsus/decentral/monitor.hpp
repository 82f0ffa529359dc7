// What a monitor of a network is: given what it sees and is told in a turn, it says what it sends and has found.
//
// It knows nothing of how messages travel: they may be late, out of order and doubled. It is a function of its turns
// and nothing else, so whoever has kept them can make it again.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mopsus/decentral/messages.hpp"

namespace mopsus::decentral {

// A verdict of the specification, and the timestamp from which on it holds.
struct Finding {
    Time time;
    bool verdict;
};

// A state became known, and which one was before.
struct Resolution {
    Time before;
    Time known;
};

struct Step {
    std::vector<Message> outbox;
    std::optional<Finding> finding;
    // Nobody has anything more to do.
    bool stop = false;
    // A turn is due in the next round, even if there is nothing new then.
    bool again = false;
    // Verdicts of this monitor for timestamps, if those are asked for.
    std::vector<Verdict> answers;
    std::vector<Resolution> resolutions;
    // Timestamps that are not needed any more, since they are resolved.
    Time dropped = 0;
    // What this turn cost.
    Ehe::Counters work;
};

// What a monitor holds, for people.
struct Extent {
    Time start = 0;
    Time end = 0;
    std::size_t entries = 0;
    std::size_t nodes = 0;
    // Those that it may be in at the end.
    std::vector<State> states;
};

class Monitor {
public:
    virtual ~Monitor() = default;

    // A turn. `time` is the last timestamp that there are observations of; `seen` are those that were made at this
    // component since the last turn. Inputs that this monitor does not know must be ignored.
    virtual Step step(Time time, const Memory& seen, std::span<const Letter> inbox) = 0;

    // It has a turn at the timestamps that this divides, and when nothing more is observed; 0: whenever there is
    // something new.
    virtual Time lag() const { return 0; }
    // Does it take an input to be as before, up to the time of its turn, while it is told nothing else?
    virtual bool holds() const { return false; }
    // How many timestamps it holds whose states are not all known.
    virtual Time length() const { return 0; }
    virtual Extent extent() const { return {}; }
    // Observations from which what was found follows, with those of the last known state before left out.
    virtual std::vector<Observation> reasons() const { return {}; }
    // What has to be known for a verdict that was not found.
    virtual std::vector<Atom> missing() const { return {}; }
};

}  // namespace mopsus::decentral
