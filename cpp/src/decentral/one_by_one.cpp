#include "mopsus/decentral/one_by_one.hpp"

#include <algorithm>
#include <string>

namespace mopsus::decentral {

void OneByOne::extend(Time time) { end_ = std::max(end_, time); }

// Each instance takes all timestamps one by one: what is told of times that are far from the end would keep them busy
// for ever.
void OneByOne::learn(Interval interval, Known news) {
    constexpr Time kFarthest = Time{1} << 13;
    if (interval.last > end_ && interval.last - end_ > kFarthest)
        throw Error("an input is told " + std::to_string(interval.last - end_) + " timestamps too early");
    extend(interval.last);
    for (Time time = std::max(interval.first, start_); time <= interval.last; ++time)
        for (Input input = 0; input < ehe_.automaton()->inputs().size(); ++input)
            if (news.has(input)) memory_.add({{time, input}, news.get(input)});
}

void OneByOne::conclude(Step& step) {
    const Ehe::Counters before = ehe_.counters();
    while (start_ <= end_ && (respawns_ || !first_found_)) {
        const Truth truth = resolve(step);
        if (truth == Truth::Unknown) {
            step.dropped += ehe_.drop_resolved();
            break;
        }
        step.answers.push_back({start_, start_, truth == Truth::True});
        if (!first_found_) first_found_ = ehe_.resolved();
        ehe_.reset(start_);
        memory_.drop(start_++);
    }
    step.work = {ehe_.counters().evaluations - before.evaluations,
                 ehe_.counters().simplifications - before.simplifications};
}

// What the present instance finds.
Truth OneByOne::resolve(Step& step) {
    while (ehe_.end() < end_) ehe_.tick();
    for (const Observation& observation : memory_.after(ehe_.start())) ehe_.learn(observation);
    for (;;) {
        const Time known = ehe_.resolved();
        if (const Truth truth = ehe_.verdict(known); truth != Truth::Unknown || !ehe_.resolve()) return truth;
        step.resolutions.push_back({known, ehe_.resolved()});
    }
}

}  // namespace mopsus::decentral
