// Monitors that agree on the verdict of one automaton, each seeing the inputs of its component only.
//
// Orchestration: all others tell one what they see. Migration: what is known travels, as an encoding, to a component
// that can add to it.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "mopsus/decentral/monitor.hpp"

namespace mopsus::decentral {

// A monitor that works on one encoding.
class Encoder : public Monitor {
public:
    explicit Encoder(std::shared_ptr<const Automaton> automaton) : ehe_(std::move(automaton)) {}

    const Ehe& ehe() const { return ehe_; }
    Time length() const override { return ehe_.end() - ehe_.start(); }
    Extent extent() const override;
    std::vector<Observation> reasons() const override;
    std::vector<Atom> missing() const override { return ehe_.missing(ehe_.end()); }

protected:
    void learn(const Memory& memory);
    // Find the first verdict that follows from what is known; else forget what is not needed for it.
    void conclude(Step& step);

    Ehe ehe_;
};

// Concludes from what it sees and is told.
class Orchestrator final : public Encoder {
public:
    using Encoder::Encoder;
    Step step(Time time, const Memory& seen, std::span<const Letter> inbox) override;
};

// Tells another one what it sees.
class Forwarder final : public Monitor {
public:
    explicit Forwarder(Address to) : to_(to) {}
    Step step(Time time, const Memory& seen, std::span<const Letter> inbox) override;

private:
    Address to_;
};

// Works on the encoding while that is here, then sends it on. All it keeps is the last known state and what it has seen
// since then.
class Migrant final : public Encoder {
public:
    enum class Way {
        Earliest,   // to the monitor that sees the earliest input still needed; the first of several
        RoundRobin  // to the next one
    };

    // All migrants of a network number them alike. `owners` says who sees which input; `patience` after how many turns
    // without an acknowledgement an encoding is sent again, 0 if none is ever lost.
    struct Route {
        std::vector<Address> owners;
        Address count;
        Address here;
        Way way;
        std::uint64_t patience = 0;
    };

    Migrant(std::shared_ptr<const Automaton> automaton, Route route, bool active);
    Step step(Time time, const Memory& seen, std::span<const Letter> inbox) override;
    bool active() const { return active_; }

    // Where an encoding of which nothing is known yet should begin: where the first timestamp can be worked on.
    static Address first(const std::shared_ptr<const Automaton>& automaton, const std::vector<Address>& owners);

private:
    // An encoding that was sent and not acknowledged yet.
    struct Sent {
        Message message;
        std::uint64_t turns = 0;
    };

    void receive(const Letter& letter, Step& step);
    void move_on(Time time, Step& step);
    void send_again(Step& step);
    Address choose(Time time) const;

    Route route_;
    bool active_;
    Memory seen_;
    std::uint64_t sent_count_ = 0;
    std::vector<Sent> unacknowledged_;
    // Of each sender, the numbers of encodings that came.
    std::vector<std::set<std::uint64_t>> received_;
};

}  // namespace mopsus::decentral
