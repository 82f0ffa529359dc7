// Instances of an automaton that run one after the other, each with an encoding of its own, as it is done in the
// literature.
//
// One that waits for its inputs keeps all later ones waiting. It is here so that what was published can be compared.
#pragma once

#include <memory>

#include "mopsus/decentral/instances.hpp"

namespace mopsus::decentral {

class OneByOne final : public Instances {
public:
    // With `respawns`, one instance for each timestamp; else one only, at timestamp 1.
    OneByOne(std::shared_ptr<const Automaton> automaton, bool respawns)
        : ehe_(std::move(automaton)), respawns_(respawns) {}

    void extend(Time time) override;
    void learn(Interval interval, Known news) override;
    // An encoding knows no such timestamps. It knows nothing of this one then, and is never wrong.
    void learn_quiet(Time) override {}
    void conclude(Step& step) override;

    Time known() const override { return ehe_.start(); }
    Time end() const override { return end_; }
    std::optional<Time> first_found() const override { return first_found_; }
    std::vector<State> states() const override { return ehe_.states(ehe_.end()); }
    std::vector<Atom> missing() const override { return ehe_.missing(ehe_.end()); }

private:
    Truth resolve(Step& step);

    Ehe ehe_;
    bool respawns_;
    Time start_ = 1;
    Time end_ = 0;
    // All that is known since `start_`.
    Memory memory_;
    std::optional<Time> first_found_;
};

}  // namespace mopsus::decentral
