#include "mopsus/decentral/feed.hpp"

#include <algorithm>
#include <string>

namespace mopsus::decentral {

Feed::Feed(std::vector<Input> propositions, Time length, bool held)
    : propositions_(std::move(propositions)), length_(length), held_(held), observed_(propositions_.size()) {}

void Feed::add(Component component, Observed observed) {
    if (component >= components()) throw Error("there is no component " + std::to_string(component));
    if (observed.proposition >= propositions_[component] && observed.proposition != kNothing)
        throw Error("component " + std::to_string(component) + " has no proposition " +
                    std::to_string(observed.proposition));
    if (observed.time == 0 || observed.time > length_)
        throw Error("there is no timestamp " + std::to_string(observed.time));
    std::vector<Observed>& all = observed_[component];
    if (!all.empty() && observed.time < all.back().time)
        throw Error("observations of a component must come in the order of their times");
    all.push_back(observed);
}

Feed::Reader::Reader(const Feed& feed) : feed_(feed), cursors_(feed.components()) {
    for (Component component = 0; component < feed.components(); ++component) {
        Time before = 0;
        for (const Observed& each : feed.observed_[component]) {
            if (each.time != before) order_.push_back({each.time, component});
            before = each.time;
        }
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [](const Entry& one, const Entry& other) { return one.time < other.time; });
}

std::vector<Feed::Reader::Event> Feed::Reader::take() {
    std::vector<Event> events;
    const Time now = next();
    for (; next() == now && now != 0; ++at_) {
        const Component component = order_[at_].component;
        const std::vector<Observed>& all = feed_.observed_[component];
        const std::size_t first = cursors_[component];
        std::size_t last = first;
        while (last < all.size() && all[last].time == now) ++last;
        cursors_[component] = last;
        events.push_back({component, std::span(all).subspan(first, last - first)});
    }
    return events;
}

}  // namespace mopsus::decentral
