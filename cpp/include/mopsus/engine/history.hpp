// The last events of each instance's slice, for witnesses. Events that change nothing are not
// remembered: they do not explain a verdict.
//
// All events go to one log, each with the number of the one before it in its slice; an instance
// holds the number of its last. So remembering is a sequential write, and an instance derived from
// another shares its past. When the log has doubled, what is still reachable is copied to a new one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "mopsus/engine/engine.hpp"

namespace mopsus {

// Events with their stamps, numbered from 1. New memory is expensive, so an entry is two words for as long as
// all stamps are rows of one trace without times, and memory is used again. Of thousands of monitors most note
// little, so the first chunk begins small and doubles until it is as large as the others.
class EventLog {
public:
    using Number = std::uint32_t;  // 0: none

    explicit EventLog(std::size_t events) : event_bits_(static_cast<unsigned>(std::bit_width(events))) {}

    std::size_t size() const { return size_; }
    Number add(Number before, EventId event, const Stamp& stamp) {
        if (!wide_ && !is_narrow(stamp)) widen();
        if (size_ == room_) extend();
        Word* at = entry(size_);
        at[kBefore] = before;
        if (wide_)
            write(at, event, stamp);
        else
            at[kPacked] = static_cast<Word>(stamp.row) << event_bits_ | event;
        return ++size_;
    }
    Number before(Number number) const { return entry(number - 1)[kBefore]; }
    void prefetch(Number number) const { __builtin_prefetch(entry(number - 1)); }
    PastEvent event(Number number) const {
        const Word* at = entry(number - 1);
        return wide_ ? read(at)
                     : PastEvent{static_cast<EventId>(at[kPacked] & ((1U << event_bits_) - 1)),
                                 {at[kPacked] >> event_bits_, 0, location_, Stamp::Time::None}};
    }
    // Gives all events to `old`, which is to be given back by `reuse`, and starts anew.
    void restart(EventLog& old) {
        old.wide_ = wide_;
        old.location_ = location_;
        old.size_ = std::exchange(size_, 0);
        old.room_ = std::exchange(room_, 0);
        old.chunks_.swap(chunks_);
    }
    void reuse(EventLog& old) {
        if (old.wide_ == wide_) std::move(old.chunks_.begin(), old.chunks_.end(), std::back_inserter(spare_));
        old.chunks_.clear();
        old.room_ = 0;
    }
    std::size_t bytes() const {
        std::size_t words = 0;
        for (const auto* chunks : {&chunks_, &spare_})
            for (const Chunk& chunk : *chunks) words += chunk.get_deleter().words;
        return words * sizeof(Word);
    }

private:
    static constexpr unsigned kChunkBits = 18;
    static constexpr std::size_t kWholeChunk = std::size_t{1} << kChunkBits;
    static constexpr std::size_t kFirstRoom = 16;
    enum : std::size_t { kBefore, kPacked, kNarrow, kEvent = 1, kRow, kLocation = 4, kTime, kWide = 7 };
    struct Free {
        std::size_t words = 0;
        void operator()(Word* chunk) const { LargePages<Word>().deallocate(chunk, words); }
    };
    using Chunk = std::unique_ptr<Word, Free>;

    std::size_t words() const { return wide_ ? kWide : kNarrow; }
    Word* entry(std::size_t k) const {
        return chunks_[k >> kChunkBits].get() + (k & ((1U << kChunkBits) - 1)) * words();
    }
    bool is_narrow(const Stamp& stamp) {
        if (size_ == 0) location_ = stamp.location;
        return stamp.time_kind == Stamp::Time::None && stamp.location == location_ &&
               static_cast<std::uint64_t>(stamp.row) >> (32 - event_bits_) == 0;
    }
    void extend() {
        if (room_ != 0 && room_ < kWholeChunk) {
            Chunk larger = make_chunk(2 * room_);
            std::copy_n(chunks_.front().get(), size_ * words(), larger.get());
            chunks_.front() = std::move(larger);
            room_ *= 2;
            return;
        }
        // A chunk that is not whole can only be the first one.
        if (room_ != 0) std::erase_if(spare_, [this](const Chunk& chunk) { return room_of(chunk) < kWholeChunk; });
        if (spare_.empty()) {
            chunks_.push_back(make_chunk(room_ == 0 ? kFirstRoom : kWholeChunk));
        } else {
            chunks_.push_back(std::move(spare_.back()));
            spare_.pop_back();
        }
        room_ += room_of(chunks_.back());
    }
    Chunk make_chunk(std::size_t entries) const {
        const std::size_t count = entries * words();
        return {LargePages<Word>().allocate(count), Free{count}};
    }
    std::size_t room_of(const Chunk& chunk) const { return chunk.get_deleter().words / words(); }
    void widen() {
        EventLog old(0);
        old.event_bits_ = event_bits_;
        restart(old);
        spare_.clear();
        wide_ = true;
        for (Number number = 1; number <= old.size_; ++number) {
            const PastEvent past = old.event(number);
            add(old.before(number), past.event, past.stamp);
        }
    }
    static void write(Word* at, EventId event, const Stamp& stamp) {
        at[kEvent] = static_cast<Word>(event) | static_cast<Word>(stamp.time_kind) << 16;
        Domain::store64(at + kRow, static_cast<std::uint64_t>(stamp.row));
        at[kLocation] = stamp.location;
        Domain::store64(at + kTime, stamp.time);
    }
    static PastEvent read(const Word* at) {
        PastEvent past;
        past.event = static_cast<EventId>(at[kEvent] & 0xFFFF);
        past.stamp.time_kind = static_cast<Stamp::Time>(at[kEvent] >> 16);
        past.stamp.row = static_cast<std::int64_t>(Domain::load64(at + kRow));
        past.stamp.location = at[kLocation];
        past.stamp.time = Domain::load64(at + kTime);
        return past;
    }

    unsigned event_bits_;
    bool wide_ = false;
    std::uint32_t location_ = 0;
    Number size_ = 0;
    std::size_t room_ = 0;  // how many entries the chunks have room for
    std::vector<Chunk> chunks_;
    std::vector<Chunk> spare_;
};

class History {
public:
    using Head = EventLog::Number;

    History(std::uint32_t limit, std::size_t events) : limit_(limit), log_(events), old_(events) {}

    bool on() const { return limit_ != 0; }
    std::uint32_t limit() const { return limit_; }

    Head add(Head before, EventId event, const Stamp& stamp) { return log_.add(before, event, stamp); }
    std::vector<PastEvent> read(Head head) const {
        std::vector<PastEvent> events;
        for (; head != 0 && events.size() < limit_; head = log_.before(head)) events.push_back(log_.event(head));
        return {events.rbegin(), events.rend()};
    }
    // Is it time to forget what no instance can reach?
    bool full() const { return log_.size() >= capacity_; }
    // A log that so many instances may need most of is not worth copying while it is small; nor is one that is short
    // beside the places in which heads are looked for.
    bool put_off(std::size_t instances, std::size_t places) {
        const std::size_t enough = std::max(std::min(2 * instances * limit_, kSmall), places / 4);
        if (log_.size() >= enough) return false;
        capacity_ = enough;
        return true;
    }
    // `each_head(visit)` calls `visit` with a reference to the head of every instance.
    template <class EachHead>
    void compact(EachHead&& each_head) {
        const std::size_t before = log_.size();
        log_.restart(old_);
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
                    const Head next = old_.before(at);
                    steps[k * limit_ + n] = next;
                    if (next != 0) old_.prefetch(next);
                }
            for (std::size_t k = 0; k < count; ++k) {
                *heads[k] = 0;
                for (std::size_t n = limit_; n-- > 0;)
                    if (const Head at = steps[k * limit_ + n]; at != 0) {
                        const PastEvent past = old_.event(at);
                        *heads[k] = add(*heads[k], past.event, past.stamp);
                    }
            }
            count = 0;
        };
        each_head([&](Head& head) {
            if (head == 0) return;
            old_.prefetch(head);
            heads[count++] = &head;
            if (count == kTogether) flush();
        });
        flush();
        log_.reuse(old_);
        // Copying a log that is mostly still needed gains little: then wait longer.
        capacity_ = std::max(log_.size() * (log_.size() > before / 2 ? 4 : 2), kSmallest);
    }
    std::size_t bytes() const { return log_.bytes(); }

private:
    static constexpr std::size_t kSmallest = std::size_t{1} << 10;
    static constexpr std::size_t kSmall = std::size_t{1} << 22;
    static constexpr std::size_t kTogether = 16;
    std::uint32_t limit_;
    std::size_t capacity_ = kSmallest;
    EventLog log_;
    EventLog old_;  // while the log is being compacted
};

}  // namespace mopsus
