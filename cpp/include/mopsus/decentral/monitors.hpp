// Monitors that agree on the verdict of one automaton, each seeing the inputs of its component only.
//
// Orchestration: all others tell one what they see. Migration: what is known travels, as an encoding, to a component that can
// add to it. A monitor is given the observations and messages of a round, and returns the messages that it sends; it knows
// nothing of how they travel. They may be late, out of order and doubled.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "mopsus/decentral/ehe.hpp"
#include "mopsus/decentral/memory.hpp"

namespace mopsus::decentral {

using Component = std::uint32_t;
using Content = std::variant<Memory, Ehe>;

struct Message {
    Component to;
    Content content;
};

// A verdict, and the timestamp from which on it holds.
struct Finding {
    Time time;
    bool verdict;
};

struct Step {
    std::vector<Message> outbox;
    std::optional<Finding> finding;
};

class Monitor {
public:
    virtual ~Monitor() = default;
    // A round. `time` is the last timestamp that there are observations of; `seen` are those that were made at this component since the
    // last round. After a finding there is nothing more to do.
    virtual Step step(Time time, const Memory& seen, std::span<const Content> inbox) = 0;
};

// Concludes from what it sees and is told.
class Orchestrator final : public Monitor {
public:
    explicit Orchestrator(std::shared_ptr<const Automaton> automaton) : ehe_(std::move(automaton)) {}
    Step step(Time time, const Memory& seen, std::span<const Content> inbox) override;
    const Ehe& ehe() const { return ehe_; }

private:
    Ehe ehe_;
};

// Tells another one what it sees.
class Forwarder final : public Monitor {
public:
    explicit Forwarder(Component to) : to_(to) {}
    Step step(Time time, const Memory& seen, std::span<const Content> inbox) override;

private:
    Component to_;
};

// Works on the encoding while that is here, then sends it on. All it keeps is the last known state and what it has seen since then.
class Migrant final : public Monitor {
public:
    enum class Way {
        Earliest,   // to the component that has the earliest input still needed; the first of several
        RoundRobin  // to the next one
    };

    // `owners` says which component has which input.
    Migrant(std::shared_ptr<const Automaton> automaton, std::vector<Component> owners, Component components, Component here, Way way, bool active);
    Step step(Time time, const Memory& seen, std::span<const Content> inbox) override;
    const Ehe& ehe() const { return ehe_; }
    bool active() const { return active_; }

    // Where an encoding of which nothing is known yet should begin: where the first timestamp can be worked on.
    static Component first(const std::shared_ptr<const Automaton>& automaton, const std::vector<Component>& owners);

private:
    Component choose() const;

    std::vector<Component> owners_;
    Component components_;
    Component here_;
    Way way_;
    Ehe ehe_;
    bool active_;
    Memory seen_;
};

}  // namespace mopsus::decentral
