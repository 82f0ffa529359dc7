#include <algorithm>

#include "mopsus/decentral/timestamps.hpp"

namespace mopsus::decentral {

namespace {

// Put an interval behind others, or make one with the last of them.
void append(std::vector<Interval>& intervals, Interval interval) {
    if (!intervals.empty() && interval.first <= intervals.back().last + 1)
        intervals.back().last = std::max(intervals.back().last, interval.last);
    else
        intervals.push_back(interval);
}

}  // namespace

void Timestamps::add(Interval interval) {
    if (intervals_.empty() || intervals_.back().first <= interval.first) return append(intervals_, interval);
    auto from = std::lower_bound(intervals_.begin(), intervals_.end(), interval.first,
                                 [](const Interval& each, Time time) { return each.last + 1 < time; });
    auto to = from;
    for (; to != intervals_.end() && to->first <= interval.last + 1; ++to) {
        interval.first = std::min(interval.first, to->first);
        interval.last = std::max(interval.last, to->last);
    }
    if (from == to) {
        intervals_.insert(from, interval);
    } else {
        *from = interval;
        intervals_.erase(from + 1, to);
    }
}

void Timestamps::join(Timestamps& other) {
    if (intervals_.size() < other.intervals_.size()) intervals_.swap(other.intervals_);
    if (other.intervals_.size() * 8 < intervals_.size() ||
        (!other.empty() && intervals_.back().first <= other.first())) {
        for (const Interval& each : other.intervals_) add(each);
    } else if (!other.empty()) {
        std::vector<Interval> both;
        both.reserve(intervals_.size() + other.intervals_.size());
        std::merge(intervals_.begin(), intervals_.end(), other.intervals_.begin(), other.intervals_.end(),
                   std::back_inserter(both),
                   [](const Interval& one, const Interval& two) { return one.first < two.first; });
        intervals_.clear();
        for (const Interval& each : both) append(intervals_, each);
    }
    other.intervals_.clear();
}

Timestamps Timestamps::take(Interval interval) {
    Timestamps taken;
    auto from = std::lower_bound(intervals_.begin(), intervals_.end(), interval.first,
                                 [](const Interval& each, Time time) { return each.last < time; });
    if (from == intervals_.end() || from->first > interval.last) return taken;
    auto to = from;
    for (; to != intervals_.end() && to->first <= interval.last; ++to)
        taken.intervals_.push_back({std::max(to->first, interval.first), std::min(to->last, interval.last)});
    const Interval before{from->first, interval.first - 1};
    const Interval after{interval.last + 1, (to - 1)->last};
    const bool keep_before = from->first < interval.first;
    const bool keep_after = (to - 1)->last > interval.last;
    if (keep_before) *from++ = before;
    if (keep_after && from == to)
        intervals_.insert(from, after);
    else {
        if (keep_after) *--to = after;
        intervals_.erase(from, to);
    }
    return taken;
}

}  // namespace mopsus::decentral
