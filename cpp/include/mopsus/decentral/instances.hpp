// An automaton that is started anew at each timestamp.
//
// Whoever refers to a monitor at a timestamp asks what the monitor finds if it is started there. So there is an
// instance for each timestamp, all of the same automaton and with the same inputs.
#pragma once

#include <optional>
#include <vector>

#include "mopsus/decentral/monitor.hpp"
#include "mopsus/decentral/timestamps.hpp"

namespace mopsus::decentral {

class Instances {
public:
    virtual ~Instances() = default;

    // There are timestamps up to this one.
    virtual void extend(Time time) = 0;
    // Inputs that are known have these values. What is of no use any more is ignored. `Error` if the opposite is known.
    virtual void learn(Interval interval, Known news) = 0;
    // Nothing at all happened: no instance moves.
    virtual void learn_quiet(Time time) = 0;
    // Adds to a turn what is found for the first time, by time, what became known, and what that cost.
    virtual void conclude(Step& step) = 0;

    // The last timestamp at which the state of each instance is known.
    virtual Time known() const = 0;
    virtual Time end() const = 0;
    // The timestamp at which the verdict of the first instance was sure, once there is one.
    virtual std::optional<Time> first_found() const = 0;
    // The states that instances without verdict are in at `known`.
    virtual std::vector<State> states() const = 0;
    // The atoms that keep `known` from being later.
    virtual std::vector<Atom> missing() const = 0;
};

}  // namespace mopsus::decentral
