#include "support/programs.hpp"

#include <set>

#include "mopsus/machine/caret.hpp"
#include "mopsus/machine/guarded.hpp"
#include "mopsus/machine/rewrite.hpp"
#include "mopsus/machine/stack.hpp"
#include "mopsus/machine/symbolic.hpp"
#include "mopsus/machine/table.hpp"
#include "mopsus/machine/timed.hpp"

namespace mopsus::fuzz {

namespace {

constexpr std::size_t kEvents = 4;
// Of each parameter set: a report can still come without it.
const std::vector<Mask> kAlive{0};

std::vector<Mask> any_alive(Bytes& bytes) {
    switch (bytes.byte() % 4) {
        case 0: return {};
        case 1: return {0b1};
        case 2: return {0b10, 0b1};
        default: return kAlive;
    }
}

std::shared_ptr<Machine> table(Bytes& bytes) {
    auto machine = std::make_shared<TableMachine>();
    machine->states = static_cast<std::uint32_t>(2 + bytes.below(4));
    for (std::uint32_t k = 0; k < machine->states * kEvents; ++k)
        machine->next.push_back(static_cast<std::uint32_t>(bytes.below(machine->states)));
    for (std::uint32_t k = 0; k < machine->states; ++k) {
        machine->categories.push_back(bytes.byte() % 3 == 0 ? std::vector<std::uint16_t>{0}
                                                            : std::vector<std::uint16_t>{});
        machine->final.emplace_back();
        machine->alive.push_back(any_alive(bytes));
    }
    machine->alive[0] = kAlive;
    return machine;
}

// Events a, b of S -> a S b | a b, or of S -> S S | a, which is ambiguous; the others fail.
std::shared_ptr<Machine> stack(Bytes& bytes) {
    constexpr std::int32_t kAccept = StackMachine::kAccept;
    auto machine = std::make_shared<StackMachine>();
    machine->match = 0;
    machine->fail = 1;
    machine->exhausted = 2;
    const bool ambiguous = bytes.flag();
    std::vector<std::vector<std::int32_t>> actions;
    std::size_t letters = 3;
    if (ambiguous) {
        letters = 2;
        machine->states = 4;
        machine->productions = {{0, 1}, {0, 2}, {0, 1}};
        actions = {{2}, {}, {2}, {kAccept}, {~2}, {~2}, {2, ~1}, {~1}};
        machine->gotos = {1, 3, -1, 3};
        machine->budget = 2000;
    } else {
        machine->states = 10;
        machine->productions = {{0, 1}, {0, 3}, {0, 2}};
        actions = {{2}, {}, {},   {}, {}, {kAccept}, {4}, {5},  {}, {}, {6}, {}, {4}, {7},  {},
                   {},  {}, {~2}, {}, {}, {~1},      {},  {~2}, {}, {}, {9}, {}, {},  {~1}, {}};
        machine->gotos = {1, -1, 3, -1, 8, -1, -1, -1, -1, -1};
        machine->lazy = bytes.byte() % 4 == 0;
        machine->guaranteed = bytes.flag();
    }
    machine->suffix = !machine->lazy && bytes.byte() % 3 == 0;
    for (std::size_t state = 0; state < machine->states; ++state)
        for (std::size_t letter = 0; letter <= kEvents; ++letter) {
            const bool end = letter == kEvents;
            machine->actions.push_back(end || letter + 1 < letters
                                           ? actions[state * letters + (end ? letters - 1 : letter)]
                                           : std::vector<std::int32_t>{});
        }
    machine->alive.assign(machine->states, kAlive);
    return machine;
}

// Rules over the events and one more symbol, with the automaton that finds their left sides: a state is the longest end
// of what was read that begins some left side.
std::shared_ptr<Machine> rewriting(Bytes& bytes) {
    using Text = std::vector<std::uint16_t>;
    constexpr std::uint16_t kStart = kEvents + 1;
    constexpr std::uint16_t kEnd = kEvents + 2;
    struct Written {
        Text left;
        Text right;
        std::uint8_t ending = RewriteMachine::kRunning;
    };
    const std::vector<Written> systems[] = {
        {{{0, 1}, {}}, {{2, 3}, {}}, {{0, 3}, {}, RewriteMachine::kFail}, {{2, 1}, {}, RewriteMachine::kFail}},
        {{{1, 0}, {0, 1}}, {{0, 1, 2}, {4}}, {{4, 0}, {0, 4}}, {{4, kEnd}, {}, RewriteMachine::kSucceed}},
        {{{0, 0}, {0}}, {{1, 2, 3}, {3, 2, 1}}, {{kStart, 3}, {}, RewriteMachine::kFail}},
        {{{0, 1}, {1, 0, 0}}, {{2, kEnd}, {0, 1}}},
    };
    const std::vector<Written>& rules = systems[bytes.below(4)];
    auto machine = std::make_shared<RewriteMachine>();
    machine->symbols = kEvents + 3;
    machine->budget = 50;
    machine->longest = 40;
    machine->categories = {0, 1, 2};
    machine->alive = kAlive;
    machine->restarts.fill(bytes.flag());
    machine->scanning = bytes.flag();
    std::vector<Text> states{{}};
    const auto number = [&](const Text& part) {
        std::size_t k = 0;
        while (k < states.size() && states[k] != part) ++k;
        return k;
    };
    for (const Written& rule : rules) {
        for (std::size_t length = 1; length <= rule.left.size(); ++length) {
            const Text part(rule.left.begin(), rule.left.begin() + static_cast<std::ptrdiff_t>(length));
            if (number(part) == states.size()) states.push_back(part);
        }
        const auto anchors =
            static_cast<std::uint32_t>((rule.left.front() == kStart ? 1 : 0) + (rule.left.back() == kEnd ? 1 : 0));
        machine->rules.push_back({static_cast<std::uint32_t>(rule.left.size()) - anchors, rule.right, rule.ending,
                                  rule.left.back() == kEnd});
    }
    for (const Text& state : states) {
        for (std::uint16_t symbol = 0; symbol < machine->symbols; ++symbol) {
            Text text = state;
            text.push_back(symbol);
            while (number(text) == states.size()) text.erase(text.begin());
            machine->moves.push_back(static_cast<std::uint32_t>(number(text)));
        }
        std::uint32_t match = 0;
        for (std::uint32_t k = 0; k < rules.size() && match == 0; ++k) {
            const Text& left = rules[k].left;
            if (left.size() <= state.size() && std::equal(left.rbegin(), left.rend(), state.rbegin())) match = k + 1;
        }
        machine->matches.push_back(match);
    }
    return machine;
}

std::shared_ptr<Machine> caret(Bytes& bytes) {
    using Op = CaretMachine::Op;
    using Memory = CaretMachine::Memory;
    using Role = CaretMachine::Role;
    auto machine = std::make_shared<CaretMachine>();
    machine->roles = {Role::Call, Role::Begin, Role::End, Role::Return};
    machine->steps = {{Op::Event, Memory::None, false, false, false, 1, 0},
                      {Op::Event, Memory::None, false, false, false, 2, 0}};
    for (std::size_t more = 1 + bytes.below(40); more > 0; --more) {
        CaretMachine::Step step;
        step.op = static_cast<Op>(2 + bytes.below(8));
        if (step.op >= Op::Previous)
            step.memory = static_cast<Memory>(1 + bytes.below(step.op == Op::Previous ? 2 : 3));
        if (step.op == Op::At) step.memory = Memory::Stack;
        const std::uint8_t flags = bytes.byte();
        step.initial = step.memory != Memory::None && (flags & 1U) != 0;
        step.calls = step.memory == Memory::Stack && (flags & 2U) != 0;
        step.begins = step.memory == Memory::Stack && (flags & 4U) != 0;
        step.left = static_cast<std::uint32_t>(bytes.below(machine->steps.size()));
        step.right = static_cast<std::uint32_t>(bytes.below(machine->steps.size()));
        machine->steps.push_back(step);
    }
    machine->deepest = 8;
    machine->validation = 1;
    machine->violation = 0;
    machine->exhausted = 2;
    machine->alive = kAlive;
    machine->restarts = bytes.flag();
    return machine;
}

std::shared_ptr<Machine> timed(Bytes& bytes) {
    using Kind = TimedMachine::Kind;
    constexpr std::uint64_t kSecond = 1'000'000'000;
    auto machine = std::make_shared<TimedMachine>();
    for (std::size_t k = 0; k < kEvents; ++k) {
        machine->letters.emplace_back(kEvents, false);
        machine->letters.back()[k] = true;
    }
    for (std::size_t more = 1 + bytes.below(5); more > 0; --more) {
        TimedMachine::Operator op;
        op.kind = static_cast<Kind>(bytes.below(8));
        const std::size_t values = machine->letters.size() + machine->operators.size();
        const bool unary = op.kind == Kind::Not || op.kind == Kind::Previous || op.kind == Kind::Next;
        const bool temporal = op.kind == Kind::Since || op.kind == Kind::Until;
        const std::size_t operands = unary ? 1 : temporal ? 1 + bytes.below(2) : 2 + bytes.below(2);
        for (std::size_t k = 0; k < operands; ++k)
            op.operands.push_back(
                static_cast<std::uint32_t>(values - 1 - bytes.below(std::min<std::size_t>(values, 4))));
        const std::uint64_t low = bytes.below(4);
        const std::uint64_t high = bytes.byte() % 4 == 0 ? TimedMachine::kForever : low + bytes.below(4);
        const bool open = high == TimedMachine::kForever;
        op.bounds = {
            TimedMachine::Bounds{low, high, open ? high : high - low},
            TimedMachine::Bounds{low * kSecond, open ? high : high * kSecond, open ? high : (high - low) * kSecond}};
        machine->operators.push_back(std::move(op));
    }
    machine->formula = static_cast<std::uint32_t>(machine->letters.size() + machine->operators.size() - 1);
    machine->categories = {0, 1, 2, 3};
    machine->alive = kAlive;
    return machine;
}

// max X.([e0 A] (([e1 B when B =/= A] ff, [e1 B when B =:= A] X) and [e2 {A, B}] <e3 _> X) and [e0 _] X), with `and` or
// `or`.
std::shared_ptr<Machine> symbolic(Bytes& bytes) {
    using Machine = SymbolicMachine;
    using Node = Machine::Node;
    using Pattern = Machine::Pattern;
    using Number = Machine::Number;
    auto machine = std::make_shared<Machine>();
    const bool conjunction = bytes.flag();
    machine->linear = bytes.flag();
    machine->first_match = !machine->linear && conjunction && bytes.byte() % 4 == 0;
    machine->fields.assign(kEvents, 1);
    machine->categories = {0, 1, 2, 3};
    machine->alive = kAlive;
    machine->restarts = bytes.flag();
    machine->limit = 60;
    machine->slots = 4;
    const auto node = [&](Node made) {
        machine->nodes.push_back(std::move(made));
        return static_cast<Number>(machine->nodes.size() - 1);
    };
    const auto pattern = [&](Pattern::Kind kind, Number slot = 0, std::vector<Number> parts = {}) {
        machine->patterns.push_back({kind, false, slot, {}, std::move(parts)});
        return static_cast<Number>(machine->patterns.size() - 1);
    };
    const auto expression = [&](Machine::Expression made) {
        machine->expressions.push_back(std::move(made));
        return static_cast<Number>(machine->expressions.size() - 1);
    };
    const auto modality = [&](bool necessity, std::int32_t letter, Number fits, Machine::Guard guard, Number then,
                              std::vector<Number> live) {
        return node({Node::Kind::Modality, necessity, false, letter, {fits}, std::move(guard), then, std::move(live)});
    };
    const auto compared = [&](Machine::Operator op, Number slot) {
        const Number one = expression({Machine::Operator::Slot, slot, {}, {}});
        const Number other = expression({Machine::Operator::Slot, 0, {}, {}});
        return expression({op, 0, {}, {one, other}});
    };
    const Number x = node({Node::Kind::Recursion, true, false, -1, {}, {}, 0, {}});
    const Number again = node({Node::Kind::Recursion, false, false, -1, {}, {}, x, {}});
    const Number ff = node({Node::Kind::Truth, false, false, -1, {}, {}, 0, {}});
    const Number wrong =
        modality(true, 1, pattern(Pattern::Kind::Bind, 1), {{compared(Machine::Operator::NotExactly, 1)}}, ff, {0});
    const Number right =
        modality(true, 1, pattern(Pattern::Kind::Bind, 2), {{compared(Machine::Operator::Exactly, 2)}}, again, {0});
    const Number waits = modality(false, 3, pattern(Pattern::Kind::Any), {}, again, {});
    const Number parts =
        pattern(Pattern::Kind::Tuple, 0, {pattern(Pattern::Kind::Same, 0), pattern(Pattern::Kind::Bind, 3)});
    const Number pair = modality(true, 2, parts, {}, waits, {0});
    const Number later = node({Node::Kind::Join, conjunction, false, -1, {wrong, right, pair}, {}, 0, {}});
    const Number ask = modality(true, 0, pattern(Pattern::Kind::Bind, 0), {}, later, {});
    const Number skip = modality(bytes.flag(), 0, pattern(Pattern::Kind::Any), {}, again, {});
    machine->nodes[x].then = node({Node::Kind::Join, true, false, -1, {ask, skip}, {}, 0, {}});
    machine->root = x;
    return machine;
}

std::shared_ptr<Machine> guarded(Bytes& bytes) {
    using Machine = GuardedMachine;
    auto machine = std::make_shared<Machine>();
    machine->variables = bytes.flag();
    machine->states.resize(2 + bytes.below(3));
    const auto code = [&] {
        return bytes.byte() % 3 == 0 ? static_cast<std::uint32_t>(bytes.below(4)) : Machine::kNoCode;
    };
    const auto end = [&]() -> std::optional<Machine::End> {
        const std::uint8_t kind = bytes.byte();
        if (kind % 4 == 0) return std::nullopt;
        return Machine::End{
            Machine::kNoCode, code(),
            kind % 4 == 1 ? Machine::kStay : static_cast<Machine::State>(bytes.below(machine->states.size()))};
    };
    for (Machine::Place& place : machine->states) {
        for (std::size_t more = bytes.below(6); more > 0; --more)
            place.transitions.push_back({static_cast<EventId>(bytes.below(kEvents)), code(), end(), end()});
        const std::uint8_t kind = bytes.byte();
        place.final = &place != machine->states.data() && kind % 5 == 0;
        place.category = kind % 3 == 0 ? 0 : -1;
    }
    return machine;
}

std::shared_ptr<Machine> machine_of(std::size_t kind, Bytes& bytes) {
    switch (kind) {
        case 0: return table(bytes);
        case 1: return stack(bytes);
        case 2: return rewriting(bytes);
        case 3: return caret(bytes);
        case 4: return timed(bytes);
        case 5: return symbolic(bytes);
        default: return guarded(bytes);
    }
}

}  // namespace

Program any_program(Bytes& bytes) {
    Program program;
    program.parameters = static_cast<unsigned>(bytes.below(4));
    const std::size_t kind = bytes.below(7);
    const bool slices = kind == 6;
    for (std::size_t k = 0; k < kEvents; ++k) {
        EventDecl event;
        event.name = std::string(1, static_cast<char>('a' + k));
        const std::uint8_t mask = bytes.byte();
        for (unsigned p = 0; p < program.parameters; ++p)
            if (((mask >> p) & 1U) != 0) event.parameters.push_back(static_cast<std::uint8_t>(p));
        event.creation = (mask & 0x10U) == 0;
        event.guarded = !slices && (mask & 0xE0U) == 0;
        if (kind == 5) event.fields = {"x"};
        program.events.push_back(std::move(event));
    }
    // Whatever is extended: all unions of what events bind.
    std::set<Mask> unions{0};
    for (const EventDecl& event : program.events) {
        std::set<Mask> more;
        for (const Mask mask : unions) more.insert(mask | event.mask());
        unions.insert(more.begin(), more.end());
    }
    for (EventDecl& event : program.events) event.enable.assign(unions.begin(), unions.end());
    const std::uint8_t modifiers = bytes.byte();
    program.binding = static_cast<Binding>(modifiers % 3);
    if (slices && program.binding == Binding::Maximal) program.binding = Binding::Any;
    program.connected = !slices && (modifiers & 0x10U) != 0;
    program.variables = !slices && (modifiers & 0x20U) != 0;
    program.history = (modifiers & 0x40U) != 0 ? 1 + (modifiers >> 7U) * 3U : 0;
    const bool both = !slices && bytes.byte() % 4 == 0;
    program.machines.push_back(machine_of(kind, bytes));
    if (both) program.machines.push_back(machine_of(0, bytes));
    return program;
}

}  // namespace mopsus::fuzz
