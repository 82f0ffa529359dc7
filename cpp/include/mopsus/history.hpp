// The last events of each instance's slice, for witnesses. Events that change nothing are not
// remembered: they do not explain a verdict.
//
// All events go to one log, each with the number of the one before it in its slice; an instance
// holds the number of its last. So remembering is a sequential write, and an instance derived from
// another shares its past. When the log has doubled, what is still reachable is copied to a new one.
#pragma once

#include <vector>

#include "mopsus/engine.hpp"

namespace mopsus {

class History {
public:
    using Head = std::uint32_t;  // 0: nothing yet

    explicit History(std::uint32_t limit) : limit_(limit) {}

    bool on() const { return limit_ != 0; }

    Head add(Head before, EventId event, const Stamp& stamp) {
        log_.push_back({stamp, before, event});
        return static_cast<Head>(log_.size());
    }
    std::vector<PastEvent> read(Head head) const {
        std::vector<PastEvent> events;
        for (; head != 0 && events.size() < limit_; head = log_[head - 1].before)
            events.push_back({log_[head - 1].event, log_[head - 1].stamp});
        return {events.rbegin(), events.rend()};
    }
    // Is it time to forget what no instance can reach?
    bool full() const { return log_.size() >= capacity_; }
    // `each_head(visit)` calls `visit` with a reference to the head of every instance.
    template <class EachHead>
    void compact(EachHead&& each_head) {
        std::vector<Entry> old = std::move(log_);
        log_ = {};
        std::vector<const Entry*> kept;
        each_head([&](Head& head) {
            kept.clear();
            for (Head at = head; at != 0 && kept.size() < limit_; at = old[at - 1].before) kept.push_back(&old[at - 1]);
            head = 0;
            for (auto entry = kept.rbegin(); entry != kept.rend(); ++entry) head = add(head, (*entry)->event, (*entry)->stamp);
        });
        capacity_ = log_.size() * 2 > kSmallest ? log_.size() * 2 : kSmallest;
    }
    std::size_t bytes() const { return log_.capacity() * sizeof(Entry); }

private:
    struct Entry {
        Stamp stamp;
        Head before;
        EventId event;
    };
    static constexpr std::size_t kSmallest = 1U << 16;
    std::uint32_t limit_;
    std::size_t capacity_ = kSmallest;
    std::vector<Entry> log_;
};

}  // namespace mopsus
