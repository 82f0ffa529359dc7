#include <cmath>
#include <stdexcept>

#include "mopsus/machine/timed.hpp"
#include "timed_runner.hpp"

namespace mopsus {

void TimedMachine::check(std::size_t events) const {
    const auto require = [](bool ok, const char* what) {
        if (!ok) throw std::invalid_argument(what);
    };
    constexpr std::size_t kMost = 1U << 28;
    require(letters.size() < kMost && operators.size() < kMost && letters.size() * events < kMost, "machine too large");
    require(formula < letters.size() + operators.size(), "formula outside of its values");
    require(nanoseconds > 0, "a unit of time is positive");
    for (const auto& letter : letters) require(letter.size() == events, "a letter has the wrong size");
    for (std::size_t k = 0; k < operators.size(); ++k) {
        const Operator& op = operators[k];
        const std::size_t before = letters.size() + k;
        for (const std::uint32_t operand : op.operands) require(operand < before, "operand after its operator");
        const std::size_t count = op.operands.size();
        switch (op.kind) {
            case Kind::And:
            case Kind::Or:
            case Kind::Xor: require(count >= 2, "a connective has two operands or more"); break;
            case Kind::Since:
            case Kind::Until: require(count == 1 || count == 2, "a temporal operator has one or two operands"); break;
            default: require(count == 1, "a unary operator has one operand"); break;
        }
    }
}

std::unique_ptr<Runner> TimedMachine::runner(std::size_t events) const {
    return std::make_unique<TimedRunner>(*this, events);
}

TimedRunner::TimedRunner(const TimedMachine& machine, std::size_t events)
    : letters_(machine.letters.size() * events),
      letter_count_(machine.letters.size()),
      delays_(machine),
      formula_(machine.formula),
      unit_(machine.nanoseconds),
      alive_(machine.alive),
      values_(machine.letters.size() + machine.operators.size() + 1, 1) {
    for (std::size_t event = 0; event < events; ++event)
        for (std::size_t k = 0; k < letter_count_; ++k)
            letters_[event * letter_count_ + k] = machine.letters[k][event] ? 1 : 0;
    for (unsigned verdicts = 0; verdicts < outcomes_.size(); ++verdicts) {
        for (unsigned k = 0; k < machine.categories.size(); ++k) {
            if (((verdicts >> k) & 1U) == 0 || machine.categories[k] < 0) continue;
            outcomes_[verdicts].categories.push_back(static_cast<std::uint16_t>(machine.categories[k]));
            outcomes_[verdicts].final.push_back(false);
            notable_[verdicts] = kNotable;
        }
    }
    lay_out(machine);
}

// Gives every operator its place in the record.
void TimedRunner::lay_out(const TimedMachine& machine) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < machine.operators.size(); ++k) {
        const TimedMachine::Operator& op = machine.operators[k];
        const auto value = static_cast<std::uint32_t>(letter_count_ + k);
        if (delays_.is_delayed(value)) continue;
        const auto always = static_cast<std::uint32_t>(values_.size() - 1);
        Step step{op.kind, Memory::Flag, op.operands.size() > 1 ? op.operands[0] : always, op.operands.back(), value, 0,
                  0,       op.bounds};
        const Bounds& bounds = op.bounds[TimedMachine::kUnits];
        if (op.kind == Kind::Since && !(bounds.low == 0 && bounds.high == TimedMachine::kForever)) {
            step.memory = bounds.low == 0                         ? Memory::Last
                          : bounds.high == TimedMachine::kForever ? Memory::First
                                                                  : Memory::Groups;
        }
        if (op.kind == Kind::Previous || (op.kind == Kind::Since && step.memory != Memory::Groups)) step.bit = bits++;
        // A connective of many operands takes them in one after the other.
        for (std::size_t n = 1; n + 1 < op.operands.size(); ++n) {
            step.right = op.operands[n];
            steps_.push_back(step);
            step.left = value;
        }
        step.right = op.operands.back();
        steps_.push_back(step);
    }
    bits_end_ = kBits + 2 * ((bits + 63) / 64);  // times begin at even words
    words_ = bits_end_;
    for (Step& step : steps_) {
        if (step.memory != Memory::Last && step.memory != Memory::First) continue;
        step.place = words_;
        words_ += 2;
    }
    for (Step& step : steps_)
        if (step.memory == Memory::Groups) step.place = words_++;
    words_ += words_ & 1U;
    pool_ = Pool(words_);
}

// Gives a record groups of its own, with the same in them as in those that it refers to.
void TimedRunner::attach(std::uint32_t* at) {
    for (const Step& step : steps_) {
        if (step.memory != Memory::Groups) continue;
        if (free_groups_.empty()) {
            groups_.emplace_back();
            free_groups_.push_back(static_cast<std::uint32_t>(groups_.size()));
        }
        const std::uint32_t id = free_groups_.back();
        free_groups_.pop_back();
        if (at[step.place] != 0) groups_[id - 1] = groups_[at[step.place] - 1];
        at[step.place] = id;
    }
    if (!delays_.empty()) at[kDelay] = at[kDelay] != 0 ? delays_.copy(at[kDelay]) : delays_.begin();
}

Word TimedRunner::begin() {
    const Word state = pool_.take();
    if (state >= kMoved) throw std::bad_alloc();
    attach(pool_.at(state));
    return state;
}

Word TimedRunner::copy(Word state) {
    const Word twin = pool_.take();
    if (twin >= kMoved) throw std::bad_alloc();
    std::memcpy(pool_.at(twin), pool_.at(state), words_ * sizeof(std::uint32_t));
    attach(pool_.at(twin));
    return twin;
}

void TimedRunner::end(Word state) {
    constexpr std::size_t kSmall = 1024;  // bytes that the next user may have
    const std::uint32_t* at = pool_.at(state);
    for (const Step& step : steps_) {
        if (step.memory != Memory::Groups) continue;
        Witnesses& groups = groups_[at[step.place] - 1];
        if (groups.bytes() > kSmall) groups = Witnesses();
        groups.clear();
        free_groups_.push_back(at[step.place]);
    }
    if (!delays_.empty()) delays_.end(at[kDelay]);
    pool_.give_back(state);
}

// ---- time ----

template <class Visit>
void TimedRunner::each_time(std::uint32_t* at, Visit&& visit) {
    const auto visit_at = [&](std::uint32_t* place) {
        std::uint64_t time = load(place);
        visit(time);
        store(place, time);
    };
    visit_at(at + kTime);
    for (const Step& step : steps_) {
        if (step.memory == Memory::Last || step.memory == Memory::First) visit_at(at + step.place);
        if (step.memory == Memory::Groups) groups_[at[step.place] - 1].each_time(visit);
    }
    if (!delays_.empty()) delays_.each_time(at[kDelay], visit);
}

// The times of a record so far were integers; from now on it counts nanoseconds. False: they do not fit.
bool TimedRunner::to_nanoseconds(std::uint32_t* at) {
    if (scale(at) == TimedMachine::kNanoseconds) return true;
    bool fit = true;
    std::int64_t scaled = 0;
    if ((at[kFlags] & kStarted) != 0) {
        each_time(at, [&](std::uint64_t& time) {
            fit = fit && !__builtin_mul_overflow(static_cast<std::int64_t>(time), unit_, &scaled);
        });
        if (!fit) return false;
        each_time(at, [&](std::uint64_t& time) {
            time = static_cast<std::uint64_t>(static_cast<std::int64_t>(time) * unit_);
        });
    }
    at[kFlags] |= TimedMachine::kNanoseconds;
    return true;
}

namespace {

// A time with a fraction, to the nanosecond; far from zero, where a double does not tell nanoseconds
// apart, to the microsecond. So decimal fractions, as they are written in traces, come out exactly.
bool round_time(double units, std::int64_t unit, std::int64_t& time) {
    constexpr double kFar = 2e15;
    constexpr double kFarthest = 9.2e18;
    const auto rounded = [](double value) { return static_cast<std::int64_t>(value + (value < 0 ? -0.5 : 0.5)); };
    const double exact = units * static_cast<double>(unit);
    if (!(std::fabs(exact) < kFarthest)) return false;  // no number, too
    if (std::fabs(exact) < kFar)
        time = rounded(exact);
    else if (unit < 1000)
        time = static_cast<std::int64_t>(exact);
    else
        time = rounded(units * static_cast<double>(unit / 1000)) * 1000;
    return true;
}

}  // namespace

// The time of an event on the record's scale, which may change for it. False: it has none.
bool TimedRunner::read_time(const Stamp& stamp, std::uint32_t* at, std::int64_t& time) {
    switch (stamp.time_kind) {
        case Stamp::Time::Int:
            time = static_cast<std::int64_t>(stamp.time);
            return scale(at) == TimedMachine::kUnits || !__builtin_mul_overflow(time, unit_, &time);
        case Stamp::Time::Float: {
            double units = 0;
            std::memcpy(&units, &stamp.time, sizeof units);
            return round_time(units, unit_, time) && to_nanoseconds(at);
        }
        case Stamp::Time::Instant: time = static_cast<std::int64_t>(stamp.time); return to_nanoseconds(at);
        default: return false;
    }
}

// ---- steps ----

inline bool TimedRunner::evaluate(const Step& step, std::uint32_t* at, std::uint64_t time, bool left, bool right) {
    const Bounds& bounds = step.bounds[scale(at)];
    switch (step.memory) {
        case Memory::Flag: {
            const bool value = right || (left && bit(at, step.bit));
            set_bit(at, step.bit, value);
            return value;
        }
        case Memory::Last: {
            const bool seen = right || (left && bit(at, step.bit));
            set_bit(at, step.bit, seen);
            if (right) store(at + step.place, time);
            return seen && time - load(at + step.place) <= bounds.high;
        }
        case Memory::First: {
            const bool seen = left && bit(at, step.bit);
            set_bit(at, step.bit, seen || right);
            if (!seen && right) store(at + step.place, time);
            return (seen || right) && time - load(at + step.place) >= bounds.low;
        }
        default: {
            Witnesses& groups = groups_[at[step.place] - 1];
            if (!left) groups.clear();
            if (right) groups.add(time, bounds);
            return groups.within(time, bounds);
        }
    }
}

std::optional<bool> TimedRunner::holds(Word state) {
    const std::uint32_t flags = pool_.at(state)[kFlags];
    if (!delays_.empty() || (flags & kStarted) == 0) return {};
    return (flags & kHeld) != 0;
}

Word TimedRunner::say(Word state, unsigned verdicts, Word flags) {
    said_ = verdicts;
    return state | flags | notable_[verdicts];
}

Word TimedRunner::step(Word state, EventId event, Origin& origin) {
    std::uint32_t* at = pool_.at(state);
    std::int64_t time = 0;
    if (!read_time(origin.when(), at, time)) return say(state, 1U << TimedMachine::kUntimed, 0);
    const bool started = (at[kFlags] & kStarted) != 0;
    const auto last = static_cast<std::int64_t>(load(at + kTime));
    if (started && time < last) return say(state, 1U << TimedMachine::kDisordered, 0);
    at[kFlags] |= kStarted;
    const auto now = static_cast<std::uint64_t>(time);
    store(at + kTime, now);

    std::uint8_t* values = values_.data();
    if (letter_count_ != 0) std::memcpy(values, letters_.data() + event * letter_count_, letter_count_);
    for (const Step& step : steps_) {
        const bool right = values[step.right] != 0;
        const bool left = values[step.left] != 0;
        bool value = false;
        switch (step.kind) {
            case Kind::Not: value = !right; break;
            case Kind::And: value = left && right; break;
            case Kind::Or: value = left || right; break;
            case Kind::Xor: value = left != right; break;
            case Kind::Previous:
                value =
                    started && bit(at, step.bit) && step.bounds[scale(at)].has(now - static_cast<std::uint64_t>(last));
                set_bit(at, step.bit, right);
                break;
            default: value = evaluate(step, at, now, left, right); break;
        }
        values[step.value] = value ? 1 : 0;
    }
    if (delays_.empty()) {
        const bool held = values[formula_] != 0;
        at[kFlags] = (at[kFlags] & ~kHeld) | (held ? kHeld : 0);
        return say(state, held ? 1U << TimedMachine::kHolds : 1U << TimedMachine::kFails, kMoved);
    }
    return say(state, delays_.advance(at[kDelay], values, now, scale(at)), kMoved);
}

// ---- snapshots ----

void TimedRunner::transfer(Archive& archive, Word state) {
    std::uint32_t* at = pool_.at(state);
    archive.field(at[kFlags], 0, kStarted | kHeld | TimedMachine::kNanoseconds);
    store(at + kTime, archive.number(load(at + kTime)));
    for (std::uint32_t k = kBits; k < bits_end_; ++k) archive.field(at[k], 0, 0xFFFFFFFF);
    for (const Step& step : steps_) {
        if (step.memory == Memory::Last || step.memory == Memory::First)
            store(at + step.place, archive.number(load(at + step.place)));
        if (step.memory == Memory::Groups) groups_[at[step.place] - 1].transfer(archive);
    }
    if (!delays_.empty()) delays_.transfer(archive, at[kDelay]);
}

std::size_t TimedRunner::kept(Word state) const {
    std::size_t count = 0;
    const std::uint32_t* at = pool_.at(state);
    for (const Step& step : steps_)
        if (step.memory == Memory::Groups) count += groups_[at[step.place] - 1].size();
    return count + (delays_.empty() ? 0 : delays_.kept(at[kDelay]));
}

std::size_t TimedRunner::bytes() const {
    std::size_t bytes =
        pool_.bytes() + groups_.capacity() * sizeof(Witnesses) + free_groups_.capacity() * sizeof(std::uint32_t);
    for (const Witnesses& groups : groups_) bytes += groups.bytes();
    return bytes + delays_.bytes();
}

}  // namespace mopsus
