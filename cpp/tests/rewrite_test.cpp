#include "mopsus/machine/rewrite.hpp"

#include <optional>
#include <random>

#include "check.hpp"
#include "mopsus/engine/archive.hpp"
#include "programs.hpp"

namespace mopsus::test {

namespace {

// Rules over events 0, 1, … with the automaton that finds their left sides, built by definition:
// a state is the longest end of what was read that begins some left side.
struct Written {
    std::vector<std::uint16_t> left;
    std::vector<std::uint16_t> right;
    std::uint8_t ending = RewriteMachine::kRunning;
};

std::shared_ptr<RewriteMachine> machine_of(std::uint16_t symbols, const std::vector<Written>& rules) {
    auto machine = std::make_shared<RewriteMachine>();
    machine->symbols = symbols + 2U;
    machine->budget = 1000;
    machine->longest = 1000;
    machine->categories = {0, 1, 2};
    machine->alive = {0};
    std::vector<std::vector<std::uint16_t>> states{{}};
    const auto number = [&](const std::vector<std::uint16_t>& part) {
        for (std::size_t k = 0; k < states.size(); ++k)
            if (states[k] == part) return k;
        return states.size();
    };
    for (const Written& rule : rules) {
        for (std::size_t length = 1; length <= rule.left.size(); ++length) {
            const std::vector<std::uint16_t> part(rule.left.begin(),
                                                  rule.left.begin() + static_cast<std::ptrdiff_t>(length));
            if (number(part) == states.size()) states.push_back(part);
        }
        const auto anchors =
            static_cast<std::uint32_t>((rule.left.front() == symbols) + (rule.left.back() == symbols + 1));
        const auto taken = static_cast<std::uint32_t>(rule.left.size()) - anchors;
        machine->rules.push_back({taken, rule.right, rule.ending, rule.left.back() == symbols + 1});
    }
    for (const auto& state : states) {
        for (std::uint16_t symbol = 0; symbol < machine->symbols; ++symbol) {
            std::vector<std::uint16_t> text = state;
            text.push_back(symbol);
            while (number(text) == states.size()) text.erase(text.begin());
            machine->moves.push_back(static_cast<std::uint32_t>(number(text)));
        }
        std::uint32_t found = 0;
        for (std::vector<std::uint16_t> text = state; found == 0 && !text.empty(); text.erase(text.begin()))
            for (std::size_t k = rules.size(); k > 0; --k)
                if (rules[k - 1].left == text) found = static_cast<std::uint32_t>(k);
        machine->matches.push_back(found);
    }
    return machine;
}

// begin end -> . acquire release -> . begin release -> #fail . acquire end -> #fail .
enum : std::uint16_t { kBegin, kEnd, kAcquire, kRelease };
std::shared_ptr<RewriteMachine> safe_lock() {
    return machine_of(4, {{{kBegin, kEnd}, {}},
                          {{kAcquire, kRelease}, {}},
                          {{kBegin, kRelease}, {}, RewriteMachine::kFail},
                          {{kAcquire, kEnd}, {}, RewriteMachine::kFail}});
}

// What rewriting by definition gives: the string, or nothing if it ended, and how.
struct Result {
    std::vector<std::uint16_t> text;
    std::uint8_t ending = RewriteMachine::kRunning;
};

Result rewritten(std::uint16_t symbols, const std::vector<Written>& rules, std::vector<std::uint16_t> text,
                 bool scanning) {
    text.insert(text.begin(), symbols);
    text.push_back(static_cast<std::uint16_t>(symbols + 1));
    const auto apply = [&](std::size_t since) -> std::optional<std::size_t> {
        for (std::size_t end = since + 1; end <= text.size(); ++end)
            for (std::size_t begin = since; begin < end; ++begin)
                for (const Written& rule : rules) {
                    if (rule.left.size() != end - begin ||
                        !std::equal(rule.left.begin(), rule.left.end(),
                                    text.begin() + static_cast<std::ptrdiff_t>(begin)))
                        continue;
                    if (rule.ending != RewriteMachine::kRunning) throw rule.ending;
                    const std::size_t from = begin + (rule.left.front() == symbols ? 1 : 0);
                    const std::size_t to = end - (rule.left.back() == symbols + 1 ? 1 : 0);
                    text.erase(text.begin() + static_cast<std::ptrdiff_t>(from),
                               text.begin() + static_cast<std::ptrdiff_t>(to));
                    text.insert(text.begin() + static_cast<std::ptrdiff_t>(from), rule.right.begin(), rule.right.end());
                    return from;
                }
        return std::nullopt;
    };
    try {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::optional<std::size_t> at = apply(0); at; at = apply(scanning ? *at : 0)) changed = true;
        }
    } catch (const std::uint8_t ending) {
        return {{}, ending};
    }
    return {{text.begin() + 1, text.end() - 1}, RewriteMachine::kRunning};
}

std::vector<std::uint16_t> drawn(std::mt19937& random, std::uint16_t symbols, std::size_t length) {
    std::vector<std::uint16_t> text;
    for (std::size_t k = 0; k < length; ++k) text.push_back(static_cast<std::uint16_t>(random() % symbols));
    return text;
}

std::uint8_t ending_of(const Runner& runner) {
    const Outcome& outcome = runner.outcome();
    return outcome.categories.empty() ? RewriteMachine::kRunning : static_cast<std::uint8_t>(outcome.categories[0]);
}

}  // namespace

TEST(rewriting_agrees_with_the_definition_in_both_strategies) {
    std::mt19937 random(7);
    for (int round = 0; round < 400; ++round) {
        const std::uint16_t symbols = 4;  // two events, two others
        std::vector<Written> rules;
        for (auto left = 1 + random() % 5; left > 0; --left) {
            Written rule;
            rule.left = drawn(random, symbols, 1 + random() % 4);
            if (random() % 4 == 0)
                rule.ending = random() % 2 == 0 ? RewriteMachine::kFail : RewriteMachine::kSucceed;
            else
                rule.right = drawn(random, symbols, random() % rule.left.size());  // shorter: it ends
            if (random() % 4 == 0) rule.left.insert(rule.left.begin(), symbols);
            if (random() % 4 == 0) rule.left.push_back(symbols + 1);
            rules.push_back(rule);
        }
        for (const bool scanning : {false, true}) {
            const auto machine = machine_of(symbols, rules);
            machine->scanning = scanning;
            machine->check(2);
            const auto runner = machine->runner(2);
            Nowhere origin;
            for (int word = 0; word < 4; ++word) {
                Word state = runner->begin();
                Result expected;
                for (int k = 0; k < 12 && expected.ending == RewriteMachine::kRunning; ++k) {
                    const auto event = static_cast<EventId>(random() % 2);
                    expected.text.push_back(event);
                    expected = rewritten(symbols, rules, expected.text, scanning);
                    state = plain(runner->step(state, event, origin));
                    REQUIRE(ending_of(*runner) == expected.ending);
                    if (random() % 3 == 0) {  // a copy goes on like the original
                        const Word twin = runner->copy(state);
                        runner->end(state);
                        state = twin;
                    }
                }
                runner->end(state);
            }
        }
    }
}

TEST(a_monitor_of_locks_goes_through_the_golden_strings) {
    const auto machine = safe_lock();
    machine->check(4);
    const auto runner = machine->runner(4);
    Nowhere origin;
    Word state = runner->begin();
    for (const EventId event : {kBegin, kEnd, kBegin, kAcquire, kRelease, kAcquire}) {
        state = runner->step(state, event, origin);
        REQUIRE((state & kNotable) == 0);
        REQUIRE((state & kMoved) != 0);
        state = plain(state);
    }
    state = runner->step(state, kEnd, origin);
    REQUIRE((state & kNotable) != 0);
    REQUIRE(ending_of(*runner) == RewriteMachine::kFail);
    REQUIRE(runner->outcome().final[0]);
    REQUIRE(!runner->alive(plain(state), 0));
    REQUIRE(runner->step(plain(state), kEnd, origin) == plain(state));
    REQUIRE(runner->outcome().categories.empty());
}

TEST(an_event_that_leaves_the_string_as_it_is_moves_nothing) {
    const auto machine = machine_of(2, {{{0, 0}, {0}}, {{0, 1}, {1}}});
    for (const bool scanning : {false, true}) {
        machine->scanning = scanning;
        const auto runner = machine->runner(2);
        Nowhere origin;
        const Word state = plain(runner->step(runner->begin(), 0, origin));
        REQUIRE(runner->step(state, 0, origin) == state);
        REQUIRE((runner->step(state, 1, origin) & kMoved) != 0);
    }
}

TEST(endless_rewriting_and_endless_strings_are_ended) {
    const auto forth_and_back = machine_of(2, {{{0, 1}, {1, 0}}, {{1, 0}, {0, 1}}});
    const auto growing = machine_of(2, {{{0}, {0, 1, 0}}});
    const auto piling = machine_of(2, {{{0, 1}, {}}});
    piling->longest = 5;
    for (const auto& machine : {forth_and_back, growing, piling}) {
        for (const bool scanning : {false, true}) {
            machine->scanning = scanning;
            const auto runner = machine->runner(2);
            Nowhere origin;
            Word state = runner->begin();
            int steps = 0;
            for (; (state & kNotable) == 0; ++steps)
                state =
                    runner->step(plain(state), static_cast<EventId>(machine == forth_and_back ? steps % 2 : 0), origin);
            REQUIRE(ending_of(*runner) == RewriteMachine::kExhausted);
            REQUIRE(steps == (machine == piling ? 6 : machine == growing ? 1 : 2));
            runner->end(plain(state));
            REQUIRE(runner->step(runner->begin(), 1, origin) != state);
        }
    }
}

TEST(strings_go_through_archives_and_damage_is_noticed) {
    for (const bool scanning : {false, true}) {
        const auto machine = safe_lock();
        machine->scanning = scanning;
        const auto runner = machine->runner(4);
        Nowhere origin;
        Word state = runner->begin();
        for (int k = 0; k < 40; ++k) state = plain(runner->step(state, k % 2 == 0 ? kBegin : kAcquire, origin));
        Archive written;
        runner->transfer(written, state);
        const std::vector<Item> items = written.items();
        Archive read(items);
        const Word again = runner->begin();
        runner->transfer(read, again);
        REQUIRE(read.at_end());
        REQUIRE((runner->step(again, kRelease, origin) & kNotable) == 0);
        REQUIRE((runner->step(again, kRelease, origin) & kNotable) != 0);

        int refused = 0;
        for (std::size_t k = 0; k < items.size(); ++k) {
            for (const std::int64_t value :
                 {std::int64_t{-1}, std::int64_t{2}, std::int64_t{9}, std::int64_t{1} << 40}) {
                std::vector<Item> damaged = items;
                damaged[k] = value;
                Archive archive(std::move(damaged));
                Word fresh = runner->begin();
                try {
                    runner->transfer(archive, fresh);
                } catch (const BadSnapshot&) {
                    ++refused;
                }
                for (const EventId event : {kEnd, kRelease, kEnd, kBegin})
                    fresh = plain(runner->step(fresh, event, origin));
                runner->end(fresh);
            }
        }
        REQUIRE(refused > 80);
    }
}

TEST(storage_of_ended_strings_is_reused) {
    const auto machine = safe_lock();
    const auto runner = machine->runner(4);
    Nowhere origin;
    std::size_t before = 0;
    for (int round = 0; round < 100; ++round) {
        Word state = runner->begin();
        for (int k = 0; k < 100; ++k) state = plain(runner->step(state, kBegin, origin));
        runner->end(state);
        if (round == 0) before = runner->bytes();
    }
    REQUIRE(runner->bytes() == before);
}

TEST(tables_that_would_lead_astray_are_refused) {
    const auto refused = [](auto&& damage) {
        const auto machine = safe_lock();
        machine->check(4);
        damage(*machine);
        try {
            machine->check(4);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    REQUIRE(refused([](RewriteMachine& machine) { machine.moves[3] = 99; }));
    REQUIRE(refused([](RewriteMachine& machine) { machine.matches[1] = 99; }));
    REQUIRE(refused([](RewriteMachine& machine) { machine.rules[0].taken = 3; }));
    REQUIRE(refused([](RewriteMachine& machine) { machine.rules[0].taken = 0; }));
    REQUIRE(refused([](RewriteMachine& machine) { machine.rules[0].at_end = true; }));
    REQUIRE(refused([](RewriteMachine& machine) { machine.rules[0].right = {machine.start()}; }));
    REQUIRE(refused([](RewriteMachine& machine) { machine.moves.pop_back(); }));
    REQUIRE(refused([](RewriteMachine& machine) { machine.symbols = 5; }));
    REQUIRE(refused([](RewriteMachine& machine) { machine.longest = 0; }));
}

}  // namespace mopsus::test
