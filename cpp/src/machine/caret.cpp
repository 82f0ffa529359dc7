#include "mopsus/machine/caret.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "mopsus/engine/archive.hpp"

namespace mopsus {

namespace {

using Role = CaretMachine::Role;
using Op = CaretMachine::Op;
using Memory = CaretMachine::Memory;
using Bits = std::uint32_t;

constexpr std::uint32_t kWidth = 32;
constexpr std::uint32_t kEnded = 0xFFFFFFFF;

std::uint32_t words_for(std::uint32_t bits) { return (bits + kWidth - 1) / kWidth; }

// An instance has one record of bits: plain ones, abstract ones, those of the stack. An open call has a
// record on the stack: what opened it, the abstract bits after that, the bits of the stack before it.
class CaretRunner final : public Runner {
public:
    explicit CaretRunner(const CaretMachine& machine)
        : roles_(machine.roles),
          deepest_(machine.deepest),
          alive_(machine.alive),
          restarts_(machine.restarts),
          values_(machine.steps.size()) {
        std::uint32_t counts[4] = {};
        for (const CaretMachine::Step& step : machine.steps) ++counts[static_cast<std::size_t>(step.memory)];
        abstract_ = words_for(counts[1]);
        stack_ = abstract_ + words_for(counts[2]);
        width_ = stack_ + words_for(counts[3]);
        entry_ = 1 + width_ - abstract_;
        initial_.assign(width_, 0);
        std::uint32_t next[4] = {0, 0, abstract_ * kWidth, stack_ * kWidth};
        for (const CaretMachine::Step& step : machine.steps) {
            Step made{step, 0};
            if (step.memory != Memory::None) {
                made.bit = next[static_cast<std::size_t>(step.memory)]++;
                if (step.initial) set(initial_.data(), made.bit, true);
            }
            steps_.push_back(made);
        }
        name(yes_, machine.validation, false);
        name(no_, machine.violation, false);
        name(spent_, machine.exhausted, true);
        old_.resize(width_);
    }

    Word begin() override {
        const Word word = take();
        std::copy(initial_.begin(), initial_.end(), bits(word));
        return word;
    }
    Word copy(Word state) override {
        const Word word = take();
        std::copy_n(bits(state), width_, bits(word));
        calls_[word].depth = calls_[state].depth;
        calls_[word].held = calls_[state].held;
        if (calls_[state].depth != kEnded) {
            const auto used = static_cast<std::ptrdiff_t>(std::size_t{calls_[state].depth} * entry_);
            resize(calls_[word], std::size_t{calls_[state].depth} * entry_);
            std::copy_n(calls_[state].saved.begin(), used, calls_[word].saved.begin());
        }
        return word;
    }
    void end(Word state) override {
        drop(calls_[state]);
        calls_[state].held.reset();
        free_.push_back(state);
    }

    Word step(Word word, EventId event, Origin& /*origin*/) override {
        Calls& calls = calls_[word];
        last_ = &nothing_;
        if (calls.depth == kEnded) return word;
        Bits* now = bits(word);
        std::copy_n(now, width_, old_.data());
        const Role role = roles_[event];
        const bool opens = role == Role::Call || role == Role::Begin;
        const bool closes = (role == Role::End || role == Role::Return) &&
                            unwind(calls, role == Role::End ? Role::Begin : Role::Call, now);
        if (opens && calls.depth == deepest_) {
            drop(calls);
            calls.depth = kEnded;
            last_ = &spent_;
            return word | kNotable | kMoved;
        }
        if (opens) open(calls, role, now);
        const bool value = evaluate(now, event, role);
        if (opens) std::copy_n(now + abstract_, stack_ - abstract_, top(calls) + 1);
        if (closes) {
            std::copy_n(top(calls) + 1 + stack_ - abstract_, width_ - stack_, now + stack_);
            --calls.depth;
        }
        last_ = value ? &yes_ : &no_;
        calls.held = value;
        const bool moved = opens || closes || !std::equal(now, now + width_, old_.begin());
        return word | (last_->categories.empty() ? 0 : kNotable) | (moved ? kMoved : 0);
    }
    const Outcome& outcome() const override { return *last_; }
    bool alive(Word state, Mask dead) const override {
        return (calls_[state].depth != kEnded || restarts_) && any_free_of(alive_, dead);
    }

    std::optional<bool> holds(Word state) override { return calls_[state].held; }

    void transfer(Archive& archive, Word state) override {
        for (std::uint32_t k = 0; k < width_; ++k) archive.field(bits(state)[k], 0, ~Bits{0});
        Calls& calls = calls_[state];
        const bool ended = archive.number(calls.depth == kEnded, 0, 1) != 0;
        const auto depth = static_cast<std::uint32_t>(archive.number(ended ? 0 : calls.depth, 0, deepest_));
        for (std::size_t k = 0; k < std::size_t{depth} * entry_; ++k) {
            // Grows as what is read is seen to be there: a damaged depth costs nothing.
            if (archive.reading()) resize(calls, k + 1);
            const bool kind = k % entry_ == 0;
            archive.field(calls.saved[k], kind ? static_cast<Bits>(Role::Call) : 0,
                          kind ? static_cast<Bits>(Role::Begin) : ~Bits{0});
        }
        calls.depth = ended ? kEnded : depth;
        constexpr unsigned kUnknown = 2;
        const std::uint64_t held = archive.number(calls.held ? *calls.held : kUnknown, 0, kUnknown);
        calls.held = held == kUnknown ? std::nullopt : std::optional<bool>(held != 0);
    }
    std::size_t bytes() const override {
        return bits_.capacity() * sizeof(Bits) + calls_.capacity() * sizeof(Calls) + free_.capacity() * sizeof(Word) +
               grown_;
    }

private:
    struct Step {
        CaretMachine::Step what;
        std::uint32_t bit;
    };
    struct Calls {
        std::uint32_t depth = 0;
        std::optional<bool> held;  // the formula, at the last event
        std::vector<Bits> saved;
    };

    static bool get(const Bits* bits, std::uint32_t at) { return ((bits[at / kWidth] >> (at % kWidth)) & 1U) != 0; }
    static void set(Bits* bits, std::uint32_t at, bool value) {
        const Bits one = Bits{1} << (at % kWidth);
        bits[at / kWidth] = value ? bits[at / kWidth] | one : bits[at / kWidth] & ~one;
    }
    static void name(Outcome& outcome, std::uint16_t category, bool final) {
        if (category == CaretMachine::kUnheard) return;
        outcome.categories = {category};
        outcome.final = {final};
    }

    Word take() {
        if (!free_.empty()) {
            const Word word = free_.back();
            free_.pop_back();
            return word;
        }
        if (calls_.size() >= kMoved) throw std::bad_alloc();
        calls_.emplace_back();
        bits_.resize(calls_.size() * width_);
        return static_cast<Word>(calls_.size() - 1);
    }
    void drop(Calls& calls) {
        calls.depth = 0;
        if (calls.saved.capacity() <= kKept) return;
        grown_ -= calls.saved.capacity() * sizeof(Bits);
        std::vector<Bits>().swap(calls.saved);
    }
    void resize(Calls& calls, std::size_t words) {
        if (calls.saved.size() >= words) return;
        const std::size_t before = calls.saved.capacity();
        calls.saved.resize(words);
        grown_ += (calls.saved.capacity() - before) * sizeof(Bits);
    }
    Bits* bits(Word word) { return bits_.data() + std::size_t{word} * width_; }
    Bits* top(Calls& calls) { return calls.saved.data() + std::size_t{calls.depth - 1} * entry_; }

    void open(Calls& calls, Role role, const Bits* now) {
        ++calls.depth;
        resize(calls, std::size_t{calls.depth} * entry_);
        top(calls)[0] = static_cast<Bits>(role);
        std::copy_n(now + stack_, width_ - stack_, top(calls) + 1 + stack_ - abstract_);
    }
    // Goes back to the innermost open `role`, as it was after it was opened; what was opened since then is over, too.
    bool unwind(Calls& calls, Role role, Bits* now) {
        std::uint32_t depth = calls.depth;
        while (depth > 0 && calls.saved[std::size_t{depth - 1} * entry_] != static_cast<Bits>(role)) --depth;
        if (depth == 0) return false;
        if (depth < calls.depth) {
            const Bits* above = calls.saved.data() + std::size_t{depth} * entry_;
            std::copy_n(above + 1 + stack_ - abstract_, width_ - stack_, now + stack_);
            calls.depth = depth;
        }
        std::copy_n(top(calls) + 1, stack_ - abstract_, now + abstract_);
        return true;
    }

    bool evaluate(Bits* now, EventId event, Role role) {
        std::uint8_t* values = values_.data();
        for (std::size_t k = 0; k < steps_.size(); ++k) {
            const CaretMachine::Step& step = steps_[k].what;
            const std::uint32_t bit = steps_[k].bit;
            bool value = true;
            switch (step.op) {
                case Op::Event: value = event == step.left; break;
                case Op::True: break;
                case Op::Not: value = values[step.left] == 0; break;
                case Op::And: value = (values[step.left] & values[step.right]) != 0; break;
                case Op::Or: value = (values[step.left] | values[step.right]) != 0; break;
                case Op::Xor: value = values[step.left] != values[step.right]; break;
                case Op::Previous:
                    value = get(now, bit);
                    set(now, bit, values[step.left] != 0);
                    break;
                case Op::Since:
                case Op::Trigger:
                case Op::At:
                    value = get(now, bit);
                    if (step.memory == Memory::Stack && !(step.calls && role == Role::Call) &&
                        !(step.begins && role == Role::Begin))
                        break;
                    if (step.op == Op::Since)
                        value = values[step.right] != 0 || (values[step.left] != 0 && value);
                    else if (step.op == Op::Trigger)
                        value = values[step.right] != 0 && (values[step.left] != 0 || value);
                    else
                        value = values[step.left] != 0;
                    set(now, bit, value);
                    break;
            }
            values[k] = value ? 1 : 0;
        }
        return values_.back() != 0;
    }

    static constexpr std::size_t kKept = 64;  // words of a stack that are kept for whoever comes next

    std::vector<Role> roles_;
    std::uint32_t deepest_;
    std::vector<Mask> alive_;
    bool restarts_;
    std::vector<Step> steps_;
    std::vector<std::uint8_t> values_;  // of each step, while an event is handled
    std::uint32_t abstract_ = 0;        // where the words of the abstract bits begin
    std::uint32_t stack_ = 0;           // where those of the stack begin
    std::uint32_t width_ = 0;           // words of an instance
    std::uint32_t entry_ = 1;           // words of an open call
    std::vector<Bits> initial_;
    std::vector<Bits> old_;
    std::vector<Bits> bits_;
    std::vector<Calls> calls_;
    std::vector<Word> free_;
    std::size_t grown_ = 0;
    Outcome nothing_, yes_, no_, spent_;
    const Outcome* last_ = &nothing_;
};

}  // namespace

void CaretMachine::check(std::size_t events) const {
    const auto require = [](bool ok, const char* what) {
        if (!ok) throw std::invalid_argument(what);
    };
    require(roles.size() == events, "an event without a role");
    require(!steps.empty() && steps.size() < kMoved, "a formula without steps");
    require(deepest >= 1 && deepest < kMoved, "calls may not be that deep");
    for (const Role role : roles) require(role <= Role::Return, "unknown role");
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const Step& step = steps[k];
        require(step.op <= Op::At && step.memory <= Memory::Stack, "unknown step");
        require((step.op >= Op::Previous) == (step.memory != Memory::None), "a step without its bit");
        require(step.op != Op::Previous || step.memory != Memory::Stack, "nothing is previous on the stack");
        if (step.op == Op::True || step.op == Op::Event) continue;
        require(step.left < k && step.right < std::max<std::size_t>(k, 1), "a step before its operands");
    }
}

std::unique_ptr<Runner> CaretMachine::runner(std::size_t /*events*/) const {
    return std::make_unique<CaretRunner>(*this);
}

}  // namespace mopsus
