#include "mopsus/caret.hpp"

#include <functional>
#include <random>

#include "check.hpp"
#include "mopsus/archive.hpp"
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
    std::vector<Step> steps{{Op::Event, Memory::None, false, false, false, 4, 0}, {Op::Event, Memory::None, false, false, false, 1, 0}};
    for (int more = 2 + static_cast<int>(random() % 70); more > 0; --more) {
        Step step;
        step.op = static_cast<Op>(2 + random() % 8);
        if (step.op >= Op::Previous) step.memory = static_cast<Memory>(1 + random() % (step.op == Op::Previous ? 2 : 3));
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

// The value of every step at every event, from the whole word: each bit is looked up where it was last changed.
std::vector<std::vector<bool>> by_definition(const CaretMachine& machine, const std::vector<EventId>& word) {
    struct Open {
        Role role;
        std::size_t at;
    };
    std::vector<Open> open;
    std::vector<std::vector<bool>> values;
    std::vector<std::vector<bool>> bits;   // after each event
    std::vector<std::vector<bool>> stack;  // after each event, when its call is over
    const std::size_t count = machine.steps.size();
    std::vector<bool> start(count);
    for (std::size_t k = 0; k < count; ++k) start[k] = machine.steps[k].initial;
    const auto before = [&](const std::vector<std::vector<bool>>& of, std::size_t at) { return at == 0 ? start : of[at - 1]; };
    for (std::size_t at = 0; at < word.size(); ++at) {
        const Role role = machine.roles[word[at]];
        std::size_t match = word.size();
        std::vector<bool> plain = before(bits, at);
        std::vector<bool> abstract = plain;
        std::vector<bool> frame = before(stack, at);
        if (role == Role::End || role == Role::Return) {
            const Role wanted = role == Role::End ? Role::Begin : Role::Call;
            std::size_t k = open.size();
            while (k > 0 && open[k - 1].role != wanted) --k;
            if (k > 0) {
                open.resize(k);
                match = open.back().at;
                abstract = bits[match];
                frame = stack[match];
                open.pop_back();
            }
        }
        if (role == Role::Call || role == Role::Begin) open.push_back({role, at});
        std::vector<bool> value(count);
        std::vector<bool> after(count);
        std::vector<bool> framed(count);
        for (std::size_t k = 0; k < count; ++k) {
            const Step& step = machine.steps[k];
            const bool bit = step.memory == Memory::Plain ? plain[k] : step.memory == Memory::Abstract ? abstract[k] : frame[k];
            const bool left = step.op > Op::True && value[step.left];
            const bool right = step.op > Op::True && value[step.right];
            const bool held = step.memory == Memory::Stack && !(step.calls && role == Role::Call) && !(step.begins && role == Role::Begin);
            switch (step.op) {
                case Op::Event: value[k] = word[at] == step.left; break;
                case Op::True: value[k] = true; break;
                case Op::Not: value[k] = !left; break;
                case Op::And: value[k] = left && right; break;
                case Op::Or: value[k] = left || right; break;
                case Op::Xor: value[k] = left != right; break;
                case Op::Previous: value[k] = bit; break;
                case Op::Since: value[k] = held ? bit : right || (left && bit); break;
                case Op::Trigger: value[k] = held ? bit : right && (left || bit); break;
                case Op::At: value[k] = held ? bit : left; break;
            }
            after[k] = step.op == Op::Previous ? left : value[k];
            framed[k] = value[k];
        }
        if (match != word.size()) {  // as before the call
            const std::vector<bool> outer = before(stack, match);
            for (std::size_t k = 0; k < count; ++k)
                if (machine.steps[k].memory == Memory::Stack) framed[k] = outer[k];
        }
        values.push_back(value);
        bits.push_back(after);
        stack.push_back(framed);
    }
    return values;
}

}  // namespace

TEST(bits_and_saved_bits_agree_with_looking_back) {
    std::mt19937 random(11);
    for (int round = 0; round < 150; ++round) {
        const auto machine = machine_of(random_steps(random));
        const auto runner = machine->runner(kEvents);
        Nowhere origin;
        std::vector<EventId> word;
        for (int k = 0; k < 40; ++k) word.push_back(static_cast<EventId>(random() % kEvents));
        const auto expected = by_definition(*machine, word);
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
    const auto machine = machine_of({{Op::Event, Memory::None, false, false, false, 4, 0}, {Op::Previous, Memory::Abstract, false, false, false, 0, 0}});
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
        const auto machine = machine_of({{Op::True, Memory::None, false, false, false, 0, 0}, {Op::Not, Memory::None, false, false, false, 0, 0}});
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
