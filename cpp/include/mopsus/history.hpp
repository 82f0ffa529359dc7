// The last events of each instance's slice, for witnesses. Events that change nothing are not
// remembered: they do not explain a verdict.
#pragma once

#include <vector>

#include "mopsus/engine.hpp"

namespace mopsus {

class History {
public:
    explicit History(std::uint32_t limit) : limit_(limit) {}

    bool on() const { return limit_ != 0; }

    // Handles are numbered from 1.
    std::uint32_t open() {
        if (free_.empty()) {
            rings_.emplace_back();
            return static_cast<std::uint32_t>(rings_.size());
        }
        const std::uint32_t handle = free_.back();
        free_.pop_back();
        return handle;
    }
    void close(std::uint32_t handle) {
        rings_[handle - 1] = {};
        free_.push_back(handle);
    }
    void clear(std::uint32_t handle) { rings_[handle - 1] = {}; }
    void copy(std::uint32_t from, std::uint32_t to) { rings_[to - 1] = rings_[from - 1]; }
    void add(std::uint32_t handle, const PastEvent& event) {
        Ring& ring = rings_[handle - 1];
        if (ring.events.size() < limit_) {
            ring.events.push_back(event);
        } else {
            ring.events[ring.oldest] = event;
            ring.oldest = (ring.oldest + 1) % limit_;
        }
    }
    std::vector<PastEvent> read(std::uint32_t handle) const {
        const Ring& ring = rings_[handle - 1];
        std::vector<PastEvent> events;
        events.reserve(ring.events.size());
        for (std::size_t k = 0; k < ring.events.size(); ++k)
            events.push_back(ring.events[(ring.oldest + k) % ring.events.size()]);
        return events;
    }
    std::size_t bytes() const {
        std::size_t bytes = rings_.capacity() * sizeof(Ring);
        for (const Ring& ring : rings_) bytes += ring.events.capacity() * sizeof(PastEvent);
        return bytes;
    }

private:
    struct Ring {
        std::vector<PastEvent> events;
        std::uint32_t oldest = 0;
    };
    std::uint32_t limit_;
    std::vector<Ring> rings_;
    std::vector<std::uint32_t> free_;
};

}  // namespace mopsus
