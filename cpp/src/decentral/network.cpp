#include "mopsus/decentral/network.hpp"

#include <algorithm>
#include <utility>

namespace mopsus::decentral {

namespace {

bool is_probability(double value) { return value >= 0 && value <= 1; }

}  // namespace

Network::Network(Conditions conditions, std::vector<Component> places, Time limit, std::uint64_t seed)
    : conditions_(std::move(conditions)), places_(std::move(places)), limit_(limit), random_(seed) {
    overtaking_ = conditions_.least_delay < conditions_.most_delay || conditions_.resend != 0;
    if (conditions_.least_delay == 0 || conditions_.least_delay > conditions_.most_delay)
        throw Error("a message takes at least one round");
    if (!is_probability(conditions_.duplication) || !is_probability(conditions_.loss))
        throw Error("a probability is from 0 to 1");
    for (const Conditions::Crash& each : conditions_.crashes)
        if (each.monitor >= places_.size()) throw Error("a monitor that is not there cannot crash");
    for (const Conditions::Partition& each : conditions_.partitions)
        for (const Component place : places_)
            if (place >= each.sides.size()) throw Error("a partition puts every component on a side");
}

bool Network::chance(double probability) {
    // Whatever never happens must not use up random numbers: more faults of one kind leave the others as they were.
    if (probability <= 0) return false;
    return static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
}

std::uint64_t Network::below(std::uint64_t limit) { return limit < 2 ? 0 : random_() % limit; }

bool Network::separated(Time round, Component one, Component other) const {
    return std::any_of(conditions_.partitions.begin(), conditions_.partitions.end(),
                       [&](const Conditions::Partition& each) {
                           return each.span.contains(round) && each.sides[one] != each.sides[other];
                       });
}

bool Network::down(Time round, Number monitor) const {
    return std::any_of(conditions_.crashes.begin(), conditions_.crashes.end(), [&](const Conditions::Crash& each) {
        return each.monitor == monitor && each.span.contains(round);
    });
}

Time Network::arrival(Time round, Number from, Number to) {
    for (Time sent = round; sent <= limit_; sent += conditions_.resend, ++counters_.resent) {
        const Time when = sent + conditions_.least_delay + below(conditions_.most_delay - conditions_.least_delay + 1);
        if (!chance(conditions_.loss) && !separated(sent, places_[from], places_[to]) && !down(when, to)) return when;
        if (conditions_.resend == 0) break;
    }
    ++counters_.lost;
    return 0;
}

Time Network::local_arrival(Time round, Number to) {
    for (Time when = round + 1; when <= limit_ + 1; ++when) {
        if (!down(when, to)) return when;
        if (conditions_.resend == 0) break;
    }
    ++counters_.lost;
    return 0;
}

Network::Arrivals Network::arrivals(Time round, Number from, Number to) {
    Arrivals result;
    const bool here = places_[from] == places_[to];
    const int copies = !here && chance(conditions_.duplication) ? 2 : 1;
    counters_.doubled += copies == 2;
    for (int copy = 0; copy < copies; ++copy) {
        Time when = here ? local_arrival(round, to) : arrival(round, from, to);
        if (when == 0) continue;
        if (overtaking_ && !conditions_.reorder) {
            Time& last = last_arrivals_[std::uint64_t{from} << 32 | to];
            when = last = std::max(last, when);
        }
        result.rounds[result.count++] = when;
    }
    return result;
}

void Network::arrange(std::vector<Letter>& inbox) {
    if (!conditions_.reorder) return;
    for (std::size_t left = inbox.size(); left > 1; --left) std::swap(inbox[left - 1], inbox[below(left)]);
}

}  // namespace mopsus::decentral
