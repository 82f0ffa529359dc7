// What timed machines remember: queues that keep their room, and the times of witnesses.
#pragma once

#include <cstdint>
#include <vector>

#include "mopsus/engine/archive.hpp"
#include "mopsus/machine/timed.hpp"

namespace mopsus {

// A queue in a ring that grows as needed and never shrinks.
template <class T>
class Queue {
public:
    bool empty() const { return count_ == 0; }
    std::size_t size() const { return count_; }
    T& operator[](std::size_t k) { return ring_[(head_ + k) & (ring_.size() - 1)]; }
    const T& operator[](std::size_t k) const { return ring_[(head_ + k) & (ring_.size() - 1)]; }
    T& front() { return (*this)[0]; }
    T& back() { return (*this)[count_ - 1]; }
    void pop(std::size_t count = 1) {
        head_ += count;
        count_ -= count;
    }
    void push(const T& item) {
        if (count_ == ring_.size()) grow();
        (*this)[count_++] = item;
    }
    void clear() { count_ = 0; }
    std::size_t bytes() const { return ring_.capacity() * sizeof(T); }

private:
    void grow() {
        std::vector<T> larger(ring_.empty() ? 4 : ring_.size() * 2);
        for (std::size_t k = 0; k < count_; ++k) larger[k] = (*this)[k];
        ring_ = std::move(larger);
        head_ = 0;
    }
    std::vector<T> ring_;  // as many as a power of two
    std::size_t head_ = 0;
    std::size_t count_ = 0;
};

// Writes a queue, or reads into an empty one; `transfer` does one item.
template <class T, class Transfer>
void transfer_queue(Archive& archive, Queue<T>& queue, Transfer&& transfer) {
    const std::uint64_t count = archive.number(queue.size());
    for (std::uint64_t k = 0; k < count; ++k) {
        if (archive.reading()) queue.push(T{});  // a count that is too large runs out of snapshot
        transfer(queue[k]);
    }
}

// When the right operand of `since` held, as long as it matters. A witness at w makes the operator
// true from w + low to w + high. Witnesses not further apart than the interval is wide make it true
// without a gap, so of each such group only the first and the last are kept: however
// many events there are, that is at most one group more than low / (high - low), rounded up.
class Witnesses {
public:
    using Bounds = TimedMachine::Bounds;

    void clear() { groups_.clear(); }
    void add(std::uint64_t time, const Bounds& bounds) {
        if (!groups_.empty() && time - groups_.back().last <= bounds.width)
            groups_.back().last = time;
        else
            groups_.push({time, time});
    }
    // Is there one in the interval before `time`? Forgets those that are past it.
    bool within(std::uint64_t time, const Bounds& bounds) {
        while (!groups_.empty() && time - groups_.front().last > bounds.high) groups_.pop();
        return !groups_.empty() && time - groups_.front().first >= bounds.low;
    }
    template <class Visit>
    void each_time(Visit&& visit) {
        for (std::size_t k = 0; k < groups_.size(); ++k) {
            visit(groups_[k].first);
            visit(groups_[k].last);
        }
    }
    void transfer(Archive& archive) {
        transfer_queue(archive, groups_, [&](Group& group) {
            archive.field(group.first);
            archive.field(group.last);
        });
    }
    std::size_t size() const { return groups_.size(); }
    std::size_t bytes() const { return groups_.bytes(); }

private:
    struct Group {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
    };
    Queue<Group> groups_;
};

}  // namespace mopsus
