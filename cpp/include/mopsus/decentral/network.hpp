// How messages travel between components in a simulation, and what goes wrong meanwhile.
//
// Everything is drawn from one seed, so a run can be repeated. Messages between monitors on one component never meet
// the network: they are there in the next round.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "mopsus/decentral/feed.hpp"
#include "mopsus/decentral/messages.hpp"

namespace mopsus::decentral {

// A monitor of a simulation.
using Number = std::uint32_t;

// From one round to before another.
struct Span {
    Time from;
    Time to;

    bool contains(Time round) const { return from <= round && round < to; }
};

struct Conditions {
    // Rounds that a message takes.
    Time least_delay = 1;
    Time most_delay = 1;
    // May a message overtake another one between the same two?
    bool reorder = false;
    // How likely a message comes twice, or is lost.
    double duplication = 0;
    double loss = 0;
    // After how many rounds the network sends again what was lost; 0: never.
    Time resend = 0;

    // Messages reach only components that are on the same side.
    struct Partition {
        Span span;
        std::vector<std::uint32_t> sides;
    };
    // A monitor that is down neither sees nor hears anything; what it knew is there when it is up again.
    struct Crash {
        Span span;
        Number monitor;
    };
    std::vector<Partition> partitions;
    std::vector<Crash> crashes;
};

class Network {
public:
    struct Counters {
        std::uint64_t lost = 0;
        std::uint64_t resent = 0;
        std::uint64_t doubled = 0;
    };

    // `places` are the components of monitors; what would come after `limit` does not matter.
    // `Error` if the conditions make no sense.
    Network(Conditions conditions, std::vector<Component> places, Time limit, std::uint64_t seed);

    // The rounds in which a message arrives that is sent in this one: none, one or two.
    struct Arrivals {
        std::array<Time, 2> rounds{};
        std::size_t count = 0;

        std::span<const Time> all() const { return {rounds.data(), count}; }
    };
    Arrivals arrivals(Time round, Number from, Number to);
    // Put messages that arrive together in the order in which they are read.
    void arrange(std::vector<Letter>& inbox);
    // Is a monitor down?
    bool down(Time round, Number monitor) const;
    const std::vector<Conditions::Crash>& crashes() const { return conditions_.crashes; }
    const Counters& counters() const { return counters_; }

private:
    bool chance(double probability);
    std::uint64_t below(std::uint64_t limit);
    // 0: never.
    Time arrival(Time round, Number from, Number to);
    Time local_arrival(Time round, Number to);
    bool separated(Time round, Component one, Component other) const;

    Conditions conditions_;
    std::vector<Component> places_;
    Time limit_;
    std::mt19937_64 random_;
    // Can a message be faster than one that was sent before?
    bool overtaking_;
    std::unordered_map<std::uint64_t, Time> last_arrivals_;
    Counters counters_;
};

}  // namespace mopsus::decentral
