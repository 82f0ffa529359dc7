// A monitor of a decentralized specification: it reads what its component observes and what other monitors find, and
// tells those that refer to it what it finds.
//
// Whoever refers to it at a timestamp wants to know what it finds if it is started there. It tells that by itself, as
// soon as it is sure, until nobody needs it any more. A verdict that got lost leaves those unknown that depend on it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "mopsus/decentral/instances.hpp"

namespace mopsus::decentral {

class Node final : public Monitor {
public:
    struct Settings {
        // Inputs that are verdicts, and whose; all others are observed at its component.
        std::vector<std::pair<Input, Address>> references;
        // Whom it tells its verdicts.
        std::vector<Address> receivers;
        // It is asked at all timestamps, not only at the first.
        bool respawns = true;
        // Its instances wait for each other.
        bool one_by_one = false;
        // Its verdict at the first timestamp is that of the specification; if it is asked at no other one, that ends
        // the run.
        bool root = false;
        // Its verdicts are wanted as they are found, even if nobody refers to it.
        bool report = false;
        // What it observes is false at first, and stays as it is until it observes something else.
        bool hold = false;
        // It has a turn every so many timestamps; 0: at all that bring something new.
        Time lag = 0;
        // It does not move where its component observes nothing. Otherwise what is not observed is unknown.
        bool stutters = true;
    };

    // `Error` if there is no such input, or two are verdicts of the same monitor.
    Node(std::shared_ptr<const Automaton> automaton, Settings settings);

    Step step(Time time, const Memory& seen, std::span<const Letter> inbox) override;
    Time lag() const override { return settings_.lag; }
    bool holds() const override { return settings_.hold; }
    Time length() const override { return instances_->end() - instances_->known(); }
    Extent extent() const override;
    std::vector<Atom> missing() const override { return instances_->missing(); }

private:
    void observe(const Memory& seen);
    void hold(Time time, const Memory& seen);
    void hold_until(Time time);
    void refuse_if_far(Time time) const;
    void learn(Interval interval, Input input, bool value);
    void receive(const Letter& letter);
    void answer(Step& step);
    void release(Step& step);

    Settings settings_;
    std::size_t inputs_;
    // By monitor, the input that is its verdict.
    std::vector<Input> told_by_;
    // All other inputs, what they were observed to be last, and up to when instances know that.
    std::vector<Word> observed_;
    std::vector<Word> values_;
    Time held_until_ = 0;
    // What is just being told: an input, and its value.
    std::vector<Word> news_;
    std::unique_ptr<Instances> instances_;
    bool found_ = false;
    bool released_ = false;
};

}  // namespace mopsus::decentral
