// Sets of timestamps. What happens at one timestamp mostly happens at the next one too, so they are kept as intervals.
#pragma once

#include <vector>

#include "mopsus/decentral/memory.hpp"

namespace mopsus::decentral {

// All timestamps from `first` to `last`.
struct Interval {
    Time first;
    Time last;

    bool operator==(const Interval&) const = default;
};

class Timestamps {
public:
    bool empty() const { return intervals_.empty(); }
    Time first() const { return intervals_.front().first; }
    // In order; between two there is a timestamp that is not in the set.
    const std::vector<Interval>& intervals() const { return intervals_; }

    void clear() { intervals_.clear(); }
    void add(Interval interval);
    // Add all of another set, which is empty then.
    void join(Timestamps& other);
    // Remove those within an interval; which were there.
    Timestamps take(Interval interval);

private:
    std::vector<Interval> intervals_;
};

}  // namespace mopsus::decentral
