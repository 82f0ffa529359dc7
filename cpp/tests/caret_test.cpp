#include "mopsus/machine/caret.hpp"

#include <functional>
#include <random>

#include "check.hpp"
#include "mopsus/engine/archive.hpp"
#include "programs.hpp"

namespace mopsus::test {

namespace {

using Role = CaretMachine::Role;
using Op = CaretMachine::Op;
using Memory = CaretMachine::Memory;
using Step = CaretMachine::Step;

// Events: call, begin, end, return, and one more.
constexpr std::size_t kEvents = 5;

std::shared_ptr<CaretMachine> machine_of(std::vector<Step> steps) {
    auto machine = std::make_shared<CaretMachine>();
    machine->roles = {Role::Call, Role::Begin, Role::End, Role::Return, Role::None};
    machine->steps = std::move(steps);
    machine->deepest = 1000;
    machine->validation = 1;
    machine->violation = 0;
    machine->exhausted = 2;
    machine->alive = {0};
    machine->check(kEvents);
    return machine;
}

std::vector<Step> random_steps(std::mt19937& random) {
    std::vector<Step> steps{{Op::Event, Memory::None, false, false, false, 4, 0},
                            {Op::Event, Memory::None, false, false, false, 1, 0}};
    for (int more = 2 + static_cast<int>(random() % 70); more > 0; --more) {
        Step step;
        step.op = static_cast<Op>(2 + random() % 8);
        if (step.op >= Op::Previous)
            step.memory = static_cast<Memory>(1 + random() % (step.op == Op::Previous ? 2 : 3));
        if (step.op == Op::At) step.memory = Memory::Stack;
        step.initial = step.memory != Memory::None && random() % 2 == 0;
        step.calls = step.memory == Memory::Stack && random() % 2 == 0;
        step.begins = step.memory == Memory::Stack && random() % 2 == 0;
        step.left = static_cast<std::uint32_t>(random() % steps.size());
        step.right = static_cast<std::uint32_t>(random() % steps.size());
        steps.push_back(step);
    }
    return steps;
}

using Bits = std::vector<bool>;  // by step

// The value of every step at every event, from the whole word: each bit is looked up where it was last changed.
class Definition {
public:
    Definition(const CaretMachine& machine, const std::vector<EventId>& word)
        : machine_(machine), start_(machine.steps.size()) {
        for (std::size_t k = 0; k < start_.size(); ++k) start_[k] = machine.steps[k].initial;
        for (std::size_t at = 0; at < word.size(); ++at) take(at, word[at]);
    }
    const std::vector<Bits>& values() const { return values_; }

private:
    struct Open {
        Role role;
        std::size_t at;
    };
    // The bits that steps read, by their memory.
    struct Seen {
        Bits plain;
        Bits abstract;
        Bits frame;
    };
    static constexpr std::size_t kNowhere = ~std::size_t{0};

    Bits before(const std::vector<Bits>& of, std::size_t at) const { return at == 0 ? start_ : of[at - 1]; }

    // Where the call begins that the event ends.
    std::size_t matching(Role role) {
        if (role != Role::End && role != Role::Return) return kNowhere;
        const Role wanted = role == Role::End ? Role::Begin : Role::Call;
        std::size_t k = open_.size();
        while (k > 0 && open_[k - 1].role != wanted) --k;
        if (k == 0) return kNowhere;
        const std::size_t at = open_[k - 1].at;
        open_.resize(k - 1);
        return at;
    }

    // A step of the stack keeps its value inside of a call, unless this is the one that it begins with.
    static bool is_held(const Step& step, Role role) {
        return step.memory == Memory::Stack && !(step.calls && role == Role::Call) &&
               !(step.begins && role == Role::Begin);
    }

    bool value_of(const Step& step, EventId event, const Bits& value, bool bit) const {
        const Role role = machine_.roles[event];
        const bool left = step.op > Op::True && value[step.left];
        const bool right = step.op > Op::True && value[step.right];
        const bool held = is_held(step, role);
        switch (step.op) {
            case Op::Event: return event == step.left;
            case Op::True: return true;
            case Op::Not: return !left;
            case Op::And: return left && right;
            case Op::Or: return left || right;
            case Op::Xor: return left != right;
            case Op::Previous: return bit;
            case Op::Since: return held ? bit : right || (left && bit);
            case Op::Trigger: return held ? bit : right && (left || bit);
            case Op::At: return held ? bit : left;
        }
        return false;
    }

    static bool bit_of(const Seen& seen, Memory memory, std::size_t k) {
        if (memory == Memory::Plain) return seen.plain[k];
        return memory == Memory::Abstract ? seen.abstract[k] : seen.frame[k];
    }

    void take(std::size_t at, EventId event) {
        const Role role = machine_.roles[event];
        const std::size_t match = matching(role);
        const Bits plain = before(bits_, at);
        const Seen seen =
            match == kNowhere ? Seen{plain, plain, before(stack_, at)} : Seen{plain, bits_[match], stack_[match]};
        if (role == Role::Call || role == Role::Begin) open_.push_back({role, at});
        const std::size_t count = machine_.steps.size();
        Bits value(count);
        Bits after(count);
        for (std::size_t k = 0; k < count; ++k) {
            const Step& step = machine_.steps[k];
            value[k] = value_of(step, event, value, bit_of(seen, step.memory, k));
            after[k] = step.op == Op::Previous ? value[step.left] : value[k];
        }
        Bits framed = value;
        if (match != kNowhere) {  // as before the call
            const Bits outer = before(stack_, match);
            for (std::size_t k = 0; k < count; ++k)
                if (machine_.steps[k].memory == Memory::Stack) framed[k] = outer[k];
        }
        values_.push_back(value);
        bits_.push_back(after);
        stack_.push_back(framed);
    }

    const CaretMachine& machine_;
    Bits start_;
    std::vector<Open> open_;
    std::vector<Bits> values_;
    std::vector<Bits> bits_;   // after each event
    std::vector<Bits> stack_;  // after each event, when its call is over
};

}  // namespace

TEST(bits_and_saved_bits_agree_with_looking_back) {
    std::mt19937 random(11);
    for (int round = 0; round < 150; ++round) {
        const auto machine = machine_of(random_steps(random));
        const auto runner = machine->runner(kEvents);
        Nowhere origin;
        std::vector<EventId> word;
        for (int k = 0; k < 40; ++k) word.push_back(static_cast<EventId>(random() % kEvents));
        const auto expected = Definition(*machine, word).values();
        Word state = runner->begin();
        for (std::size_t at = 0; at < word.size(); ++at) {
            const Word after = runner->step(state, word[at], origin);
            REQUIRE((after & kNotable) != 0);
            REQUIRE(runner->outcome().categories[0] == (expected[at].back() ? 1 : 0));
            state = plain(after);
            if (random() % 4 == 0) {
                const Word twin = runner->copy(state);
                runner->end(state);
                state = twin;
            }
            if (random() % 8 == 0) {
                Archive written;
                runner->transfer(written, state);
                Archive read(written.items());
                const Word again = runner->begin();
                runner->transfer(read, again);
                REQUIRE(read.at_end());
                runner->end(state);
                state = again;
            }
        }
        runner->end(state);
    }
}

TEST(open_calls_are_bounded_and_their_storage_comes_back) {
    const auto machine = machine_of({{Op::Event, Memory::None, false, false, false, 4, 0},
                                     {Op::Previous, Memory::Abstract, false, false, false, 0, 0}});
    const auto runner = machine->runner(kEvents);
    Nowhere origin;
    std::size_t before = 0;
    for (int round = 0; round < 20; ++round) {
        Word state = runner->begin();
        for (std::uint32_t k = 0; k < machine->deepest; ++k) state = plain(runner->step(state, 0, origin));
        REQUIRE(runner->alive(state, 0));
        state = plain(runner->step(state, 0, origin));
        REQUIRE(runner->outcome().categories[0] == 2);
        REQUIRE(!runner->alive(state, 0));
        REQUIRE(runner->step(state, 0, origin) == state);
        REQUIRE(runner->outcome().categories.empty());
        runner->end(state);
        if (round == 0) before = runner->bytes();
    }
    REQUIRE(runner->bytes() == before);
}

TEST(programs_that_would_lead_astray_are_refused) {
    const auto refused = [](const std::function<void(CaretMachine&)>& damage) {
        const auto machine = machine_of(
            {{Op::True, Memory::None, false, false, false, 0, 0}, {Op::Not, Memory::None, false, false, false, 0, 0}});
        damage(*machine);
        try {
            machine->check(kEvents);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    REQUIRE(refused([](CaretMachine& machine) { machine.roles.pop_back(); }));
    REQUIRE(refused([](CaretMachine& machine) { machine.roles[0] = static_cast<Role>(9); }));
    REQUIRE(refused([](CaretMachine& machine) { machine.steps.clear(); }));
    REQUIRE(refused([](CaretMachine& machine) { machine.steps[1].left = 1; }));
    REQUIRE(refused([](CaretMachine& machine) { machine.steps[1].op = Op::Since; }));
    REQUIRE(refused([](CaretMachine& machine) { machine.steps[1].memory = Memory::Plain; }));
    REQUIRE(refused([](CaretMachine& machine) { machine.deepest = 0; }));
}

}  // namespace mopsus::test
