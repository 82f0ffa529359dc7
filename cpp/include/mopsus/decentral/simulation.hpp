// Rounds of a network of monitors in one process, with everything counted that experiments compare.
//
// In a round, every monitor for which there is something new takes a turn; those without do not, and rounds in which
// nothing happens are skipped. So a run costs what happens in it, not the number of components times that of
// timestamps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mopsus/decentral/feed.hpp"
#include "mopsus/decentral/measures.hpp"
#include "mopsus/decentral/monitor.hpp"
#include "mopsus/decentral/network.hpp"

namespace mopsus::decentral {

// A monitor and where it is.
struct Seat {
    std::shared_ptr<Monitor> monitor;
    Component place;
    // Of each proposition of the component, the input that it is to the monitor, or `kSomething`.
    std::vector<Input> inputs;
    // The input that says whether the component observes anything at all; `kNothing`: none does.
    Input moves;
    // The names of its inputs.
    std::vector<std::string> names;
    // The monitors that it addresses by 0, 1, ...
    std::vector<Number> peers;
};

// Is told what happens, as it happens.
class Listener {
public:
    virtual ~Listener() = default;
    virtual void began(Time /*round*/) {}
    virtual void stepped(Time /*round*/, Number /*monitor*/, const Step& /*step*/) {}
    virtual void sent(Time /*round*/, Number /*from*/, Number /*to*/, const Content& /*content*/,
                      std::uint64_t /*data*/, std::uint64_t /*bytes*/, std::span<const Time> /*arrivals*/) {}
    virtual void delivered(Time /*round*/, Number /*from*/, Number /*to*/, const Content& /*content*/) {}
};

struct Outcome {
    std::optional<Finding> finding;
    // Of the finding; 0: there is none.
    Time round = 0;
    Number finder = 0;
    // The last round in which something happened.
    Time rounds = 0;
    Measures measures;
    // By monitor, in the order in which they were found.
    std::vector<std::vector<Verdict>> answers;
    // Who should have received what, had the run gone on.
    std::vector<std::pair<Number, Content>> on_the_way;
};

class Simulation {
public:
    // `Error` if a monitor would talk to one that does not expect it.
    Simulation(std::vector<Seat> seats, const Feed& feed, Conditions conditions, Time limit, std::uint64_t seed);

    // Until a monitor says stop, nothing can happen any more, or the limit.
    Outcome run(Listener* listener = nullptr);

private:
    struct Delivery {
        Number from;
        Number to;
        Letter letter;
    };
    // What awaits a monitor in the next round.
    struct Desk {
        Memory seen;
        std::vector<Letter> inbox;
        bool due = false;
    };

    void connect();
    // 0: nothing can happen any more.
    Time next_round(Time round) const;
    void observe(Time round);
    void poll(Time round);
    // Is one of these an input of the monitor?
    bool reads(Number monitor, std::span<const Feed::Observed> observed) const;
    void see(Number monitor, Time time, std::span<const Feed::Observed> observed);
    void deliver(Time round);
    void restart(Time round);
    // Its turn is due, in this round or in one that its lag allows.
    void wake(Time round, Number monitor);
    void turn(Time round, Number monitor);
    void post(Time round, Number from, Message& message);
    void account(Time round, Number monitor, const Step& step);

    std::vector<Seat> seats_;
    const Feed& feed_;
    Feed::Reader reader_;
    Time limit_;
    Network network_;
    Listener* listener_ = nullptr;
    // By monitor and peer, the number under which the peer knows the monitor.
    std::vector<std::vector<Address>> known_as_;
    // The monitors on each component.
    std::vector<std::vector<Number>> residents_;
    std::vector<Desk> desks_;
    // Of the monitor whose turn it is.
    Desk desk_;
    std::vector<Number> due_;
    std::vector<Number> again_;
    // Turns that are put off to later rounds.
    std::map<Time, std::vector<Number>> later_;
    std::map<Time, std::vector<Delivery>> on_the_way_;
    // What arrives in this round; empty otherwise, and its memory is used again.
    std::vector<Delivery> arrived_;
    // What each component's propositions are, for monitors that must be told again.
    std::vector<std::vector<Feed::Observed>> values_;
    bool polled_ = false;
    bool stopped_ = false;
    LoadCounter simplifications_;
    LoadCounter evaluations_;
    Outcome outcome_;
};

}  // namespace mopsus::decentral
