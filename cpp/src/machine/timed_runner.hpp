// Runs timed machines. An instance's state is a record: the time of its last event, a bit for each
// value that the next event needs, and what each `since` remembers.
#pragma once

#include <cstring>
#include <memory>

#include "mopsus/engine/storage.hpp"
#include "mopsus/machine/timed.hpp"
#include "timed_delay.hpp"
#include "timed_store.hpp"

namespace mopsus {

class TimedRunner final : public Runner {
public:
    TimedRunner(const TimedMachine& machine, std::size_t events);

    Word begin() override;
    Word copy(Word state) override;
    void end(Word state) override;
    Word step(Word state, EventId event, Origin& origin) override;
    const Outcome& outcome() const override { return outcomes_[said_]; }
    bool alive(Word, Mask dead) const override { return any_free_of(alive_, dead); }
    std::optional<bool> holds(Word state) override;
    void transfer(Archive& archive, Word state) override;
    std::size_t bytes() const override;

    // How many groups of witnesses a state keeps in all.
    std::size_t kept(Word state) const;

private:
    using Kind = TimedMachine::Kind;
    using Bounds = TimedMachine::Bounds;
    // What a `since` remembers, from the least: whether there was a witness, when the last or the first was, all that
    // matters.
    enum class Memory : std::uint8_t { Flag, Last, First, Groups };
    struct Step {
        Kind kind;
        Memory memory = Memory::Flag;
        std::uint32_t left;  // values; the last of all is always true
        std::uint32_t right;
        std::uint32_t value;      // its own
        std::uint32_t bit = 0;    // of the record
        std::uint32_t place = 0;  // of its time, or of the number of its groups
        std::array<Bounds, 2> bounds;
    };
    // The record: these, then the bits, then times, then numbers of groups.
    static constexpr std::uint32_t kTime = 0;   // two words
    static constexpr std::uint32_t kFlags = 2;  // kStarted, kHeld, and the scale
    static constexpr std::uint32_t kDelay = 3;
    static constexpr std::uint32_t kBits = 4;
    static constexpr std::uint32_t kStarted = 2;
    static constexpr std::uint32_t kHeld = 4;  // at the last event; nothing is delayed

    static std::uint64_t load(const std::uint32_t* at) {
        std::uint64_t value = 0;
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    static void store(std::uint32_t* at, std::uint64_t value) { std::memcpy(at, &value, sizeof value); }
    static bool bit(const std::uint32_t* at, std::uint32_t k) { return ((at[kBits + (k >> 5)] >> (k & 31)) & 1U) != 0; }
    static void set_bit(std::uint32_t* at, std::uint32_t k, bool value) {
        std::uint32_t& word = at[kBits + (k >> 5)];
        word = (word & ~(1U << (k & 31))) | (static_cast<std::uint32_t>(value) << (k & 31));
    }
    static TimedMachine::Scale scale(const std::uint32_t* at) {
        return static_cast<TimedMachine::Scale>(at[kFlags] & 1U);
    }

    void lay_out(const TimedMachine& machine);
    void attach(std::uint32_t* at);
    bool read_time(const Stamp& stamp, std::uint32_t* at, std::int64_t& time);
    bool to_nanoseconds(std::uint32_t* at);
    template <class Visit>
    void each_time(std::uint32_t* at, Visit&& visit);
    bool evaluate(const Step& step, std::uint32_t* at, std::uint64_t time, bool left, bool right);
    Word say(Word state, unsigned verdicts, Word flags);

    std::vector<std::uint8_t> letters_;  // by event, a row of the values that it decides
    std::size_t letter_count_;
    std::vector<Step> steps_;  // what is evaluated at once
    Delays delays_;
    std::uint32_t formula_;
    std::int64_t unit_;
    std::vector<Mask> alive_;
    std::array<Outcome, 16> outcomes_;  // by the set of verdicts
    std::array<Word, 16> notable_{};    // kNotable for those that say something
    unsigned said_ = 0;
    std::vector<std::uint8_t> values_;  // at the point that is being evaluated

    Pool pool_;
    std::uint32_t bits_end_ = kBits;
    std::uint32_t words_ = kBits;  // of a record
    std::vector<Witnesses> groups_;
    std::vector<std::uint32_t> free_groups_;
};

}  // namespace mopsus
