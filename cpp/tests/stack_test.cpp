#include "mopsus/machine/stack.hpp"

#include "check.hpp"
#include "mopsus/engine/archive.hpp"
#include "programs.hpp"

namespace mopsus::test {

namespace {

constexpr std::int32_t kAccept = StackMachine::kAccept;

using Made = std::unique_ptr<StackMachine>;
using Change = std::function<void(StackMachine&)>;

// S -> a S b | a b, over events a, b; letter 2 is the end. Canonical LR(1); production 0 adds a start.
Made nested(const Change& change = {}) {
    auto machine = std::make_unique<StackMachine>();
    machine->states = 10;
    machine->nonterminals = 1;
    machine->productions = {{0, 1}, {0, 3}, {0, 2}};
    machine->actions = {
        {2}, {},   {},         // 0: start
        {},  {},   {kAccept},  // 1: S
        {4}, {5},  {},         // 2: a, the first
        {},  {6},  {},         // 3: a S
        {4}, {7},  {},         // 4: a, a further
        {},  {},   {~2},       // 5: a b
        {},  {},   {~1},       // 6: a S b
        {},  {~2}, {},         // 7: a b, within
        {},  {9},  {},         // 8: a S, within
        {},  {~1}, {},         // 9: a S b, within
    };
    machine->gotos = {1, -1, 3, -1, 8, -1, -1, -1, -1, -1};
    machine->match = 0;
    machine->fail = 1;
    machine->alive.assign(machine->states, {0});
    if (change) change(*machine);
    return machine;
}

// S -> S S | a over the event a: ambiguous. LR(1) tables with a conflict in state 3.
Made ambiguous(const Change& change = {}) {
    auto machine = std::make_unique<StackMachine>();
    machine->states = 4;
    machine->nonterminals = 1;
    machine->productions = {{0, 1}, {0, 2}, {0, 1}};
    machine->actions = {
        {2},     {},         // 0: start
        {2},     {kAccept},  // 1: S
        {~2},    {~2},       // 2: a
        {2, ~1}, {~1},       // 3: S S
    };
    machine->gotos = {1, 3, -1, 3};
    machine->match = 0;
    machine->fail = 1;
    machine->alive.assign(machine->states, {0});
    if (change) change(*machine);
    return machine;
}

void lazy(StackMachine& machine) { machine.lazy = true; }
void suffix(StackMachine& machine) { machine.suffix = true; }
void merged(StackMachine& machine) { machine.guaranteed = false; }

Word step(Runner& runner, Word state, EventId event) {
    Nowhere origin;
    return runner.step(state, event, origin);
}

// The categories that a word gives, event by event: '+' match, '-' fail, '.' nothing.
std::string said(Runner& runner, Word& state, const std::string& word) {
    std::string found;
    for (const char letter : word) {
        const Word after = step(runner, state, static_cast<EventId>(letter - 'a'));
        state = plain(after);
        const auto& categories = runner.outcome().categories;
        REQUIRE(categories.empty() || (after & kNotable) != 0);
        found += categories.empty() ? '.' : categories[0] == 0 ? '+' : '-';
    }
    return found;
}

std::string said(const Made& machine, const std::string& word, std::size_t events = 2) {
    machine->check(events);
    const auto runner = machine->runner(events);
    Word state = runner->begin();
    const std::string found = said(*runner, state, word);
    runner->end(state);
    return found;
}

bool refused(const Made& machine, std::size_t events = 2) {
    try {
        machine->check(events);
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

// A snapshot of one state.
std::vector<Item> stored(Runner& runner, Word state) {
    Archive archive;
    runner.transfer(archive, state);
    return archive.items();
}

Word restored(Runner& runner, std::vector<Item> items) {
    Archive archive(std::move(items));
    const Word state = runner.begin();
    runner.transfer(archive, state);
    REQUIRE(archive.at_end());
    return state;
}

}  // namespace

TEST(a_stack_says_match_and_fail_at_every_prefix) {
    REQUIRE(said(nested(), "ab") == ".+");
    REQUIRE(said(nested(), "aaabbb") == ".....+");
    REQUIRE(said(nested(), "aabba") == "...+-");
    REQUIRE(said(nested(), "baab") == "-...");  // said once, for good
}

TEST(a_lazy_stack_forgets_what_fails) {
    REQUIRE(said(nested(lazy), "baabab") == "-...-+");
    REQUIRE(said(nested(lazy), "abbb") == ".+--");
}

TEST(a_suffix_may_begin_anywhere) {
    REQUIRE(said(nested(suffix), "bababb") == "..+.+.");
    REQUIRE(said(nested(suffix), "aabb") == "..++");
}

TEST(ambiguous_grammars_keep_several_stacks) { REQUIRE(said(ambiguous(), "aaaaaaaaaa", 1) == "++++++++++"); }

TEST(merged_tables_try_the_end) {
    REQUIRE(said(nested(merged), "aaabbb") == ".....+");
    const auto both = [](StackMachine& machine) {
        merged(machine);
        suffix(machine);
    };
    REQUIRE(said(nested(both), "aabb") == "..++");
}

TEST(copies_go_their_own_ways) {
    for (const bool many : {false, true}) {
        const auto runner = nested(many ? suffix : Change())->runner(2);
        Word one = runner->begin();
        said(*runner, one, "aaa");
        Word other = runner->copy(one);
        REQUIRE(said(*runner, one, "bbb") == (many ? "+++" : "..+"));
        REQUIRE(said(*runner, other, "abbbb") == (many ? ".++++" : "....+"));
        runner->end(one);
        runner->end(other);
    }
}

TEST(the_memory_of_ended_stacks_is_used_again) {
    for (const bool many : {false, true}) {
        const auto runner = nested(many ? suffix : Change())->runner(2);
        std::size_t after_first = 0;
        for (int round = 0; round < 100; ++round) {
            Word state = runner->begin();
            said(*runner, state, std::string(200, 'a') + std::string(100, 'b'));
            Word copy = runner->copy(state);
            runner->end(state);
            said(*runner, copy, "bb");
            runner->end(copy);
            if (round == 0) after_first = runner->bytes();
        }
        REQUIRE(runner->bytes() == after_first);
    }
}

TEST(a_deep_stack_is_let_go_without_recursion) {
    const auto runner = nested()->runner(2);
    Word state = runner->begin();
    said(*runner, state, std::string(1'000'000, 'a'));
    runner->end(state);
}

TEST(stacks_survive_a_snapshot) {
    for (const bool many : {false, true}) {
        for (const std::string word : {"", "a", "aaab", "ab", "b", "bb", "aabbaa"}) {
            const auto runner = nested(many ? suffix : Change())->runner(2);
            Word state = runner->begin();
            said(*runner, state, word);
            Word again = restored(*runner, stored(*runner, state));
            REQUIRE(runner->alive(state, 0) == runner->alive(again, 0));
            REQUIRE(said(*runner, state, "bbabab") == said(*runner, again, "bbabab"));
            runner->end(state);
            runner->end(again);
        }
    }
    const auto runner = ambiguous()->runner(1);
    Word state = runner->begin();
    said(*runner, state, "aaaa");
    Word again = restored(*runner, stored(*runner, state));
    REQUIRE(said(*runner, again, "aa") == "++");
}

TEST(damaged_snapshots_of_stacks_are_refused_or_harmless) {
    std::mt19937 random(7);
    for (const bool many : {false, true}) {
        const auto runner = many ? ambiguous()->runner(1) : nested()->runner(2);
        Word state = runner->begin();
        said(*runner, state, "aaaa");
        const std::vector<Item> good = stored(*runner, state);
        unsigned refusals = 0;
        for (int round = 0; round < 2000; ++round) {
            std::vector<Item> bad = good;
            bad[random() % bad.size()] = static_cast<std::int64_t>(random() % 12) - 1;
            if (random() % 4 == 0) bad.resize(random() % bad.size());
            Archive archive(std::move(bad));
            Word read = runner->begin();
            try {
                runner->transfer(archive, read);
                said(*runner, read, many ? "aaaa" : "abbbba");
            } catch (const BadSnapshot&) {
                ++refusals;
            }
            runner->end(read);
        }
        REQUIRE(refusals > 500);
    }
}

TEST(machines_with_a_stack_are_checked) {
    REQUIRE(!refused(nested()));
    REQUIRE(!refused(nested(lazy)));
    REQUIRE(refused(nested(), 3));
    REQUIRE(refused(nested([](StackMachine& machine) { machine.actions[0] = {10}; })));
    REQUIRE(refused(nested([](StackMachine& machine) { machine.actions[0] = {0}; })));
    REQUIRE(refused(nested([](StackMachine& machine) { machine.actions[0] = {kAccept}; })));
    REQUIRE(refused(nested([](StackMachine& machine) { machine.actions[2] = {~3}; })));
    REQUIRE(refused(nested([](StackMachine& machine) { machine.productions[1].length = 0; })));
    REQUIRE(refused(nested([](StackMachine& machine) { machine.gotos[0] = 10; })));
    REQUIRE(refused(nested([](StackMachine& machine) { machine.alive.pop_back(); })));
    REQUIRE(refused(ambiguous(lazy), 1));
}

TEST(who_can_report_no_more_is_notable_and_not_alive) {
    const auto runner = nested([](StackMachine& machine) {
                            machine.fail = StackMachine::kNone;
                            machine.alive = {{3}, {}, {2}, {2}, {2}, {}, {}, {2}, {2}, {2}};
                        })->runner(2);
    Word state = runner->begin();
    REQUIRE(runner->alive(state, 0) && !runner->alive(state, 1));
    said(*runner, state, "a");
    REQUIRE(runner->alive(state, 1) && !runner->alive(state, 2));
    said(*runner, state, "b");
    REQUIRE(!runner->alive(state, 0));
    const Word after = step(*runner, state, 0);  // fails, which nobody hears
    REQUIRE((after & kNotable) != 0 && runner->outcome().categories.empty());
    REQUIRE(!runner->alive(plain(after), 0));
}

}  // namespace mopsus::test
