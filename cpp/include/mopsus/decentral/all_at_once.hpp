// Instances of an automaton that run all at once: none waits for another one.
//
// Those that are in the same state at a timestamp are alike from then on. So up to the last timestamp at which the
// state of each is known they are groups, one for each state. After it inputs are missing. There it is kept, for the
// beginning of each stretch of timestamps, which states are sure to lead to which verdict whatever the missing inputs
// are; this follows from the end backwards. Such sets only grow, so all work together is proportional to what is told.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mopsus/decentral/instances.hpp"
#include "mopsus/decentral/stretches.hpp"

namespace mopsus::decentral {

class AllAtOnce final : public Instances {
public:
    // With `respawns`, one instance for each timestamp; else one only, at timestamp 1.
    AllAtOnce(std::shared_ptr<const Automaton> automaton, bool respawns);

    void extend(Time time) override;
    void learn(Interval interval, Known news) override;
    void learn_quiet(Time time) override;
    void conclude(Step& step) override;

    Time known() const override { return stretches_.start(); }
    Time end() const override { return stretches_.end(); }
    std::optional<Time> first_found() const override { return first_found_; }
    std::vector<State> states() const override;
    std::vector<Atom> missing() const override;

private:
    // Instances without verdict that are in one state at `known()`.
    struct Group {
        State state;
        Timestamps starts;
    };
    struct Scratch;

    std::optional<State> next(State state) const;
    State after(State state, Time steps) const;
    Time passable() const;
    Time passable_from(State state, Time most) const;
    void pass(Time steps);
    void pass_new(Time to);
    void put(Timestamps& starts, State state, State from);
    void look_back();
    bool look_back(std::size_t stretch);
    void step_back(std::size_t stretch, Scratch& scratch);
    std::uint8_t fate(Diagram diagram, Known known, Scratch& scratch) const;
    void found(const Timestamps& starts, bool verdict, State from);
    Time when_sure(State from) const;

    std::shared_ptr<const Automaton> automaton_;
    bool respawns_;
    std::size_t states_;  // words of a set of states
    Stretches stretches_;
    std::vector<Group> groups_;
    // Instances without verdict that begin later.
    Timestamps new_;
    std::optional<Time> first_found_;
    std::vector<Verdict> found_;
    // States of timestamps that were looked at, and those of them that were sure of nothing then.
    Ehe::Counters work_;
    // States that have the verdict true, then those that have false.
    std::vector<Word> verdicts_;
};

}  // namespace mopsus::decentral
