// The last events of each instance's slice, for witnesses. Events that change nothing are not
// remembered: they do not explain a verdict.
//
// All events go to one log, each with the number of the one before it in its slice; an instance
// holds the number of its last. So remembering is a sequential write, and an instance derived from
// another shares its past. When the log has doubled, what is still reachable is copied to a new one.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "mopsus/engine.hpp"

namespace mopsus {

class History {
public:
    using Head = std::uint32_t;  // 0: nothing yet

    explicit History(std::uint32_t limit) : limit_(limit) {}

    bool on() const { return limit_ != 0; }

    Head add(Head before, EventId event, const Stamp& stamp) {
        log_.push_back({static_cast<std::uint64_t>(stamp.row) << 16 | event, before, stamp.location});
        if (stamp.time_kind != Stamp::Time::None || !times_.empty()) {
            times_.resize(log_.size() - 1);
            times_.push_back({stamp.time, stamp.time_kind});
        }
        return static_cast<Head>(log_.size());
    }
    std::vector<PastEvent> read(Head head) const {
        std::vector<PastEvent> events;
        for (; head != 0 && events.size() < limit_; head = log_[head - 1].before) events.push_back(event(head));
        return {events.rbegin(), events.rend()};
    }
    // Is it time to forget what no instance can reach?
    bool full() const { return log_.size() >= capacity_; }
    // `each_head(visit)` calls `visit` with a reference to the head of every instance.
    template <class EachHead>
    void compact(EachHead&& each_head) {
        if (spare_ == nullptr) spare_ = std::make_unique<History>(limit_);
        // The memory of the last log but one is used again: new memory is dear.
        spare_->log_.swap(log_);
        spare_->times_.swap(times_);
        log_.clear();
        times_.clear();
        History& old = *spare_;
        // The entries of one slice lie far apart. Walk through several slices at a time, so that
        // waiting for memory is shared.
        std::array<Head*, kTogether> heads{};
        std::size_t count = 0;
        std::vector<Head> steps;
        const auto flush = [&] {
            steps.assign(count * limit_, 0);
            for (std::size_t k = 0; k < count; ++k) steps[k * limit_] = *heads[k];
            for (std::size_t n = 1; n < limit_; ++n)
                for (std::size_t k = 0; k < count; ++k) {
                    const Head at = steps[k * limit_ + n - 1];
                    if (at == 0) continue;
                    const Head before = old.log_[at - 1].before;
                    steps[k * limit_ + n] = before;
                    if (before != 0) __builtin_prefetch(&old.log_[before - 1]);
                }
            for (std::size_t k = 0; k < count; ++k) {
                *heads[k] = 0;
                for (std::size_t n = limit_; n-- > 0;)
                    if (const Head at = steps[k * limit_ + n]; at != 0) {
                        const PastEvent past = old.event(at);
                        *heads[k] = add(*heads[k], past.event, past.stamp);
                    }
            }
            count = 0;
        };
        each_head([&](Head& head) {
            if (head == 0) return;
            __builtin_prefetch(&old.log_[head - 1]);
            heads[count++] = &head;
            if (count == kTogether) flush();
        });
        flush();
        capacity_ = log_.size() * 2 > kSmallest ? log_.size() * 2 : kSmallest;
    }
    std::size_t bytes() const {
        return log_.capacity() * sizeof(Entry) + times_.capacity() * sizeof(Timed) + (spare_ != nullptr ? spare_->bytes() : 0);
    }

private:
    struct Entry {
        std::uint64_t row_and_event;
        Head before;
        std::uint32_t location;
    };
    struct Timed {  // beside the log, and only if events have times
        std::uint64_t time = 0;
        Stamp::Time kind = Stamp::Time::None;
    };
    PastEvent event(Head head) const {
        const Entry& entry = log_[head - 1];
        PastEvent past;
        past.event = static_cast<EventId>(entry.row_and_event & 0xFFFF);
        past.stamp.row = static_cast<std::int64_t>(entry.row_and_event >> 16);
        past.stamp.location = entry.location;
        if (!times_.empty()) {
            past.stamp.time = times_[head - 1].time;
            past.stamp.time_kind = times_[head - 1].kind;
        }
        return past;
    }

    static constexpr std::size_t kSmallest = 1U << 21;
    static constexpr std::size_t kTogether = 16;
    std::uint32_t limit_;
    std::size_t capacity_ = kSmallest;
    LargeVector<Entry> log_;
    std::vector<Timed> times_;
    std::unique_ptr<History> spare_;
};

}  // namespace mopsus
