#include <random>

#include "check.hpp"
#include "decentral_refusals.hpp"
#include "mopsus/decentral/ehe.hpp"
#include "mopsus/decentral/monitors.hpp"
#include "mopsus/decentral/simulation.hpp"

using namespace mopsus::decentral;

namespace {

constexpr Input kSwitch = 0;
constexpr Input kLight = 1;

// G(s -> X(l U !s))
std::shared_ptr<const Automaton> light() {
    return std::make_shared<Automaton>(
        std::vector<std::string>{"s", "l"}, std::vector<Truth>{Truth::Unknown, Truth::Unknown, Truth::False},
        std::vector<Automaton::Node>{{kSwitch, ~0, ~1}, {kSwitch, ~0, 2}, {kLight, ~2, ~1}},
        std::vector<Diagram>{0, 1, ~2});
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string refused_automaton(std::vector<std::string> inputs, std::vector<Truth> verdicts,
                              std::vector<Automaton::Node> nodes, std::vector<Diagram> roots) {
    return refused([&] { const Automaton made(inputs, verdicts, nodes, roots); });
}

}  // namespace

TEST(decentral_automaton_is_checked) {
    const Truth open = Truth::Unknown;
    REQUIRE(contains(refused_automaton({}, {}, {}, {}), "at least one state"));
    REQUIRE(contains(refused_automaton({}, {open}, {}, {}), "a root for every state"));
    REQUIRE(contains(refused_automaton({"a", "a"}, {open}, {}, {~0}), "'a' is there twice"));
    REQUIRE(contains(refused_automaton({"a"}, {open}, {{1, ~0, ~0}}, {0}), "node 0 asks for input 1"));
    REQUIRE(contains(refused_automaton({"a"}, {open}, {{0, 7, ~0}}, {0}), "a child of node 0 is node 7"));
    REQUIRE(contains(refused_automaton({"a"}, {open}, {{0, ~0, ~3}}, {0}), "a child of node 0 is state 3"));
    REQUIRE(contains(refused_automaton({"a"}, {open}, {}, {5}), "the root of state 0 is node 5"));
    REQUIRE(contains(refused_automaton({"a"}, {open}, {{0, 0, ~0}}, {0}), "in the order of their numbers"));
    REQUIRE(contains(refused_automaton({"a"}, {Truth::True, open}, {{0, ~0, ~1}}, {0, ~1}), "can be left"));
    REQUIRE(contains(refused_automaton(std::vector<std::string>(5000), {open}, {}, {~0}), "more than 4096 inputs"));
    REQUIRE(light()->fingerprint() == light()->fingerprint());
}

TEST(decentral_memory_keeps_order_and_joins) {
    Memory memory;
    memory.add({{3, 1}, true});
    memory.add({{1, 0}, false});
    memory.add({{3, 0}, true});
    REQUIRE(memory.observations().size() == 3 && memory.observations()[0].atom.time == 1 &&
            memory.observations()[1].atom.input == 0);
    REQUIRE(memory.get({3, 1}) == std::optional(true) && !memory.get({2, 0}));
    Memory other;
    other.add({{1, 0}, true});
    other.add({{2, 0}, false});
    other.merge(memory);
    memory.merge(memory);
    REQUIRE(memory.observations().size() == 3 && other.observations().size() == 4 &&
            other.get({1, 0}) == std::optional(true));
    REQUIRE(other.drop(2) == 2 && other.observations().size() == 2 && other.after(3).empty());
    Memory empty;
    empty.merge(other);
    REQUIRE(empty == other);
}

TEST(decentral_ehe_finds_the_violation) {
    Ehe ehe(light());
    ehe.tick();
    ehe.tick();
    REQUIRE((ehe.states(2) == std::vector<State>{0, 1, 2}));
    ehe.learn({{2, kSwitch}, true});
    ehe.learn({{2, kLight}, false});
    REQUIRE(!ehe.resolve());
    REQUIRE(ehe.earliest()->time == 1 && ehe.missing(2) == (std::vector<Atom>{{1, kSwitch}}));
    ehe.learn({{1, kSwitch}, true});
    REQUIRE(ehe.resolve() && ehe.resolved() == 1 && ehe.resolve() && ehe.resolved() == 2 && !ehe.resolve());
    REQUIRE(ehe.verdict(2) == Truth::False && ehe.reasons(2).size() == 3);
    REQUIRE(ehe.drop_resolved() == 2 && ehe.start() == 2 && ehe.state(2) == std::optional<State>(2));
}

TEST(decentral_ehe_refuses_contradictions) {
    Ehe one(light());
    one.tick();
    Ehe other = one;
    one.learn({{1, kSwitch}, true});
    other.learn({{1, kSwitch}, false});
    REQUIRE(contains(refused([&] { one.learn({{1, kSwitch}, false}); }), "both true and false at 1"));
    REQUIRE(contains(refused([&] { one.merge(other); }), "contradicts what is known of timestamp 1"));
    REQUIRE(other.resolve() && other.drop_resolved() == 1);
    REQUIRE(contains(refused([&] { one.merge(other); }), "contradicts"));
    REQUIRE(contains(refused([&] { one.learn({{2, kSwitch}, true}); }), "timestamp 2 is not between 0 and 1"));
    REQUIRE(contains(refused([&] { one.learn({{1, 2}, true}); }), "no input 2"));
    REQUIRE(contains(refused([&] { one.merge(Ehe(light(), 1)); }), "began at timestamp 1"));
    REQUIRE(one.state(1) == std::optional<State>(1));
}

TEST(decentral_ehe_grows_linearly_where_one_input_is_missing) {
    std::size_t nodes[2];
    for (const Time length : {30U, 60U}) {
        Ehe ehe(light());
        for (Time time = 1; time <= length; ++time) {
            ehe.tick();
            ehe.learn({{time, kLight}, time % 2 == 0});
        }
        nodes[length / 60] = ehe.nodes();
        REQUIRE(ehe.data() > 0);  // its sums of products are never written out
    }
    REQUIRE(nodes[1] <= 2 * nodes[0] + 2);
}

TEST(decentral_ehe_survives_damaged_bytes) {
    Ehe ehe(light(), 5);
    for (int step = 0; step < 6; ++step) ehe.tick();
    ehe.learn({{6, kSwitch}, false});
    ehe.learn({{8, kSwitch}, true});
    ehe.learn({{9, kLight}, true});
    REQUIRE(ehe.resolve());
    ehe.drop_resolved();
    const std::string saved = ehe.save();
    REQUIRE(Ehe::load(light(), bytes_of(saved)) == ehe);
    std::mt19937 random(7);
    for (int round = 0; round < 3000; ++round) {
        std::string damaged = saved;
        for (auto left = 1 + random() % 3; left > 0; --left) {
            const std::size_t at = random() % damaged.size();
            if (random() % 4 == 0)
                damaged.resize(at + 1);
            else
                damaged[at] = static_cast<char>(random());
        }
        if (damaged == saved) continue;
        REQUIRE(refused([&] { Ehe::load(light(), bytes_of(damaged)); }) != "");
    }
}

namespace {

// Switch and light on two components, and who monitors them: 0 orchestration, 1 and 2 migration.
Outcome watch_light(int algorithm, const Conditions& conditions, Time limit, std::uint64_t patience = 0) {
    const bool truth[2][5] = {{false, true, true, true, false}, {false, false, true, false, true}};
    Feed feed({1, 1}, 5, false);
    std::vector<Seat> seats;
    for (Component here = 0; here < 2; ++here) {
        for (Time time = 1; time <= 5; ++time) feed.add(here, {time, 0, truth[here][time - 1]});
        std::shared_ptr<Monitor> monitor;
        const auto way = algorithm == 1 ? Migrant::Way::Earliest : Migrant::Way::RoundRobin;
        if (algorithm > 0)
            monitor = std::make_shared<Migrant>(light(), Migrant::Route{{0, 1}, 2, here, way, patience}, here == 0);
        else if (here == 0)
            monitor = std::make_shared<Orchestrator>(light());
        else
            monitor = std::make_shared<Forwarder>(0);
        seats.push_back({monitor, here, {here}, kNothing, {"s", "l"}, {0, 1}});
    }
    return Simulation(std::move(seats), feed, conditions, limit, 7).run();
}

}  // namespace

TEST(decentral_monitors_find_the_violation) {
    const std::uint64_t messages[] = {5, 2, 4};
    for (const int algorithm : {0, 1, 2}) {
        const Outcome outcome = watch_light(algorithm, {}, 20);
        REQUIRE(outcome.finding && outcome.finding->time == 4 && !outcome.finding->verdict);
        REQUIRE(outcome.round == 5 && outcome.rounds == 5 && outcome.measures.messages == messages[algorithm]);
    }
}

TEST(decentral_faults_delay_the_violation_or_hide_it) {
    Conditions conditions;
    conditions.most_delay = 4;
    conditions.reorder = true;
    conditions.duplication = 0.5;
    conditions.loss = 0.5;
    for (const int algorithm : {0, 1, 2}) {
        conditions.resend = 2;
        const Outcome late = watch_light(algorithm, conditions, 200);
        REQUIRE(late.finding && late.finding->time == 4 && !late.finding->verdict);
        conditions.resend = 0;
        const Outcome lossy = watch_light(algorithm, conditions, 200, 3);
        REQUIRE(!lossy.finding || (lossy.finding->time == 4 && !lossy.finding->verdict));
        // Encodings are sent until they arrive.
        REQUIRE(algorithm == 0 || lossy.finding);
    }
    conditions = {};
    conditions.partitions.push_back({{1, 100}, {0, 1}});
    REQUIRE(!watch_light(0, conditions, 50).finding);
    conditions = {};
    conditions.crashes.push_back({{1, 100}, 0});
    REQUIRE(!watch_light(0, conditions, 50).finding);
}

TEST(decentral_messages_travel_as_bytes) {
    Memory memory;
    memory.add({{3, 1}, true});
    memory.add({{9, kNothing}, false});
    Ehe ehe(light());
    ehe.tick();
    const std::vector<Content> all = {memory, Encoding{ehe, 5},   Verdict{2, 7, true},
                                      Kill{}, Acknowledgement{8}, Payload{"hello"}};
    const std::vector<std::string> inputs = {"s", "lamp"};
    const std::uint64_t sizes[] = {4 + 4 + 4 + 1, ehe.data() + 4, 6 * 9, 4, 4, 5};
    std::mt19937 random(7);
    for (const Content& each : all) {
        REQUIRE(data(each, inputs) == sizes[each.index()]);
        const std::string saved = save(each);
        REQUIRE(save(load(light(), bytes_of(saved))) == saved);
        for (int round = 0; round < 1000; ++round) {
            std::string damaged = saved;
            damaged[random() % damaged.size()] = static_cast<char>(random());
            if (damaged != saved) REQUIRE(refused([&] { load(light(), bytes_of(damaged)); }) != "");
        }
    }
    REQUIRE(contains(refused([&] { load(nullptr, bytes_of(save(all[1]))); }), "nobody has its automaton"));
}
