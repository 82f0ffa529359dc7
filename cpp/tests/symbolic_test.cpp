#include "check.hpp"
#include "mopsus/engine/archive.hpp"
#include "machine/symbolic/sets.hpp"
#include "machine/symbolic/tree.hpp"

namespace mopsus::test {

namespace {

using Machine = SymbolicMachine;
using Node = Machine::Node;
using Number = Machine::Number;
using Operator = Machine::Operator;
using Pattern = Machine::Pattern;

// Two events, `recv` (0) and `send` (1), each with one field.
enum : EventId { kRecv, kSend };

class Builder {
public:
    explicit Builder(bool linear) {
        machine->linear = linear;
        machine->fields = {1, 1};
        machine->categories = {0, 1, 2, 3};
        machine->alive = {0};
    }
    Number truth(bool value) { return node({Node::Kind::Truth, value, false, -1, {}, {}, 0, {}}); }
    Number join(bool conjunction, std::vector<Number> parts) {
        return node({Node::Kind::Join, conjunction, false, -1, std::move(parts), {}, 0, {}});
    }
    Number modality(bool necessity, EventId letter, Number pattern, Machine::Guard guard, Number then,
                    std::vector<Number> live = {}) {
        return node(
            {Node::Kind::Modality, necessity, false, letter, {pattern}, std::move(guard), then, std::move(live)});
    }
    Number recursion(bool begins, Number target = 0) {
        return node({Node::Kind::Recursion, begins, false, -1, {}, {}, target, {}});
    }
    Number pattern(Pattern::Kind kind, Number slot = 0, Term value = {}, std::vector<Number> parts = {}) {
        machine->patterns.push_back({kind, false, slot, value, std::move(parts)});
        if (kind == Pattern::Kind::Bind) machine->slots = std::max(machine->slots, slot + 1);
        return static_cast<Number>(machine->patterns.size() - 1);
    }
    Number any() { return pattern(Pattern::Kind::Any); }
    Number bind(Number slot) { return pattern(Pattern::Kind::Bind, slot); }
    Number slot(Number number) { return expression({Operator::Slot, number, {}, {}}); }
    Number constant(Term value) { return expression({Operator::Constant, 0, value, {}}); }
    Number operation(Operator op, std::vector<Number> operands) { return expression({op, 0, {}, std::move(operands)}); }
    Machine& done(Number root) {
        machine->root = root;
        machine->check(2);
        return *machine;
    }

    std::unique_ptr<Machine> machine = std::make_unique<Machine>();

private:
    Number node(Node made) {
        machine->nodes.push_back(std::move(made));
        return static_cast<Number>(machine->nodes.size() - 1);
    }
    Number expression(Machine::Expression made) {
        machine->expressions.push_back(std::move(made));
        return static_cast<Number>(machine->expressions.size() - 1);
    }
};

class Event final : public Origin {
public:
    explicit Event(Term value, std::int64_t row = 0) : value_(value) { stamp_.row = row; }
    Stamp stamp() override { return stamp_; }
    EventData data() override { return {&value_, 1, &arena_}; }

private:
    Term value_;
    Stamp stamp_;
    Arena arena_;
};

// Steps, and gives the verdict, or -1.
int take(Runner& runner, Word& state, EventId letter, Term value) {
    Event event(value);
    state = plain(runner.step(state, letter, event));
    const Outcome& outcome = runner.outcome();
    return outcome.categories.empty() ? -1 : outcome.categories[0];
}

// max X.([recv A] ([send B when B =/= A]ff and [send B when B =:= A]X) and [recv _]X): answers are what was asked last,
// or before.
Machine& echo(Builder& build) {
    const Number x = build.recursion(true);
    const Number again = build.recursion(false, x);
    const Number ff = build.truth(false);
    const Number other = build.operation(Operator::NotExactly, {build.slot(1), build.slot(0)});
    const Number same = build.operation(Operator::Exactly, {build.slot(2), build.slot(0)});
    const Number wrong = build.modality(true, kSend, build.bind(1), {{other}}, ff, {0});
    const Number right = build.modality(true, kSend, build.bind(2), {{same}}, again, {0});
    const Number answer = build.join(true, {wrong, right});
    const Number ask = build.modality(true, kRecv, build.bind(0), {}, answer);
    const Number skip = build.modality(true, kRecv, build.any(), {}, again);
    build.machine->nodes[x].then = build.join(true, {ask, skip});
    build.machine->slots = 3;
    return build.done(x);
}

}  // namespace

TEST(symbolic_sets_hold_obligations_with_their_values_once) {
    Builder build(false);
    SetRunner runner(echo(build));
    Word state = runner.begin();
    REQUIRE(runner.obligations(state) == 2);
    for (int k = 0; k < 5000; ++k) {
        REQUIRE(take(runner, state, kRecv, Term::small(7)) == -1);
        REQUIRE(take(runner, state, kSend, Term::small(7)) == -1);
        REQUIRE(runner.obligations(state) <= 4);
    }
    REQUIRE(take(runner, state, kRecv, Term::small(7)) == -1);
    REQUIRE(take(runner, state, kSend, Term::small(8)) == Machine::kRejection);
    REQUIRE(state == 0 && !runner.alive(state, 0));
    REQUIRE(take(runner, state, kSend, Term::small(8)) == -1);  // said once
    runner.end(state);
}

TEST(symbolic_states_are_copied_and_saved) {
    Builder build(false);
    const Machine& machine = echo(build);
    SetRunner runner(machine);
    runner.explain();
    Arena arena;
    const Term text = arena.string("a text that is no word");
    Word state = runner.begin();
    take(runner, state, kRecv, text);
    Word twin = runner.copy(state);
    Archive archive;
    runner.transfer(archive, state);
    const std::vector<Item> items = archive.items();
    REQUIRE(take(runner, twin, kSend, Term::small(1)) == Machine::kRejection);
    const Explanation explanation = runner.explanation();
    REQUIRE(explanation.size() == 2 && explanation[0].bindings.size() == 1);
    REQUIRE(to_text(explanation[0].bindings[0].second) == "\"a text that is no word\"");
    REQUIRE(take(runner, state, kSend, text) == -1);
    runner.end(state);

    SetRunner other(machine);
    other.explain();
    Archive whole(items);
    Word restored = other.begin();
    other.transfer(whole, restored);
    REQUIRE(whole.at_end() && other.obligations(restored) == 4);
    REQUIRE(take(other, restored, kSend, Term::small(1)) == Machine::kRejection);
    for (std::size_t k = 0; k < items.size(); ++k) {
        for (const bool cut : {true, false}) {
            std::vector<Item> damaged(items.begin(),
                                      items.begin() + static_cast<std::ptrdiff_t>(cut ? k : items.size()));
            if (!cut) damaged[k] = std::int64_t{1} << 40;
            SetRunner victim(machine);
            victim.explain();
            const Word word = victim.begin();
            Archive broken(std::move(damaged));
            try {
                victim.transfer(broken, word);
                REQUIRE(!cut);  // some numbers may be anything: rows, times
            } catch (const BadSnapshot&) {}
        }
    }
}

TEST(symbolic_sets_run_out_of_their_limit) {
    // max X.([recv A][recv _][send B when B =:= A]ff and [recv _]X): every value is remembered.
    Builder build(true);
    const Number x = build.recursion(true);
    const Number again = build.recursion(false, x);
    const Number same = build.operation(Operator::Exactly, {build.slot(1), build.slot(0)});
    const Number y = build.recursion(true);
    const Number y_again = build.recursion(false, y);
    const Number wrong = build.modality(true, kSend, build.bind(1), {{same}}, build.truth(false), {0});
    const Number wait = build.modality(true, kRecv, build.any(), {}, y_again, {0});
    build.machine->nodes[y].then = build.join(true, {wrong, wait});
    const Number ask = build.modality(true, kRecv, build.bind(0), {}, y);
    const Number skip = build.modality(true, kRecv, build.any(), {}, again);
    build.machine->nodes[x].then = build.join(true, {ask, skip});
    build.machine->limit = 50;
    SetRunner runner(build.done(x));
    Word state = runner.begin();
    int verdict = -1;
    int steps = 0;
    while (verdict < 0) verdict = take(runner, state, kRecv, Term::small(++steps));
    REQUIRE(verdict == Machine::kExhausted && steps > 15 && steps < 30);
    REQUIRE(runner.largest() > 40);
    state = runner.begin();
    for (int k = 0; k < 20; ++k) take(runner, state, kRecv, Term::small(k));
    REQUIRE(take(runner, state, kSend, Term::small(3)) == Machine::kRejection);
}

TEST(symbolic_trees_stay_flat) {
    // max X.([recv A] (<send B when B =:= A>X or <send B when B =:= A + A>X)) and `or` of equal parts.
    Builder build(true);
    const Number x = build.recursion(true);
    const Number again = build.recursion(false, x);
    const Number same = build.operation(Operator::Exactly, {build.slot(1), build.slot(0)});
    const Number sum = build.operation(Operator::Exactly,
                                       {build.slot(2), build.operation(Operator::Add, {build.slot(0), build.slot(0)})});
    const Number one = build.modality(false, kSend, build.bind(1), {{same}}, again, {0});
    const Number two = build.modality(false, kSend, build.bind(2), {{sum}}, again, {0});
    const Number ask = build.modality(true, kRecv, build.bind(0), {}, build.join(false, {one, two}));
    build.machine->nodes[x].then = ask;
    build.machine->slots = 3;
    const Machine& machine = build.done(x);
    TreeRunner runner(machine);
    runner.explain();
    Word state = runner.begin();
    for (int k = 0; k < 2000; ++k) {
        REQUIRE(take(runner, state, kRecv, Term::small(0)) == -1);
        REQUIRE(runner.obligations(state) == 2);
        REQUIRE(runner.holds(state) == false);
        REQUIRE(take(runner, state, kSend, Term::small(0)) == -1);
        REQUIRE(runner.obligations(state) == 1);
        REQUIRE(runner.holds(state) == true);
    }
    take(runner, state, kRecv, Term::small(4));
    Archive archive;
    runner.transfer(archive, state);
    TreeRunner other(machine);
    other.explain();
    Archive whole(archive.items());
    Word restored = other.begin();
    other.transfer(whole, restored);
    REQUIRE(whole.at_end());
    REQUIRE(take(other, restored, kSend, Term::small(8)) == -1);
    REQUIRE(take(runner, state, kSend, Term::small(5)) == Machine::kRejection);
    const Explanation explanation = runner.explanation();
    REQUIRE(!explanation.empty() && !explanation.back().fitted);
    REQUIRE(take(other, restored, kSend, Term::small(8)) == Machine::kAcceptance);
}

TEST(symbolic_machines_are_checked) {
    const auto refused = [](auto&& spoil) {
        Builder build(false);
        echo(build);
        spoil(*build.machine);
        try {
            build.machine->check(2);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    REQUIRE(!refused([](Machine&) {}));
    REQUIRE(refused([](Machine& machine) { machine.root = 99; }));
    REQUIRE(refused([](Machine& machine) { machine.nodes[0].then = 0; }));   // recursion without a modality
    REQUIRE(refused([](Machine& machine) { machine.nodes[3].live = {}; }));  // reads a slot that is not there
    REQUIRE(refused([](Machine& machine) { machine.nodes[3].letter = 2; }));
    REQUIRE(refused([](Machine& machine) { machine.patterns[0].slot = 7; }));
    REQUIRE(refused([](Machine& machine) { machine.expressions.back().operands.push_back(0); }));
    REQUIRE(refused([](Machine& machine) { machine.fields = {1}; }));
    REQUIRE(refused([](Machine& machine) { machine.limit = 0; }));
}

}  // namespace mopsus::test
