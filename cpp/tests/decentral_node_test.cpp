#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "check.hpp"
#include "decentral_refusals.hpp"
#include "mopsus/decentral/all_at_once.hpp"
#include "mopsus/decentral/monitors.hpp"
#include "mopsus/decentral/node.hpp"
#include "mopsus/decentral/one_by_one.hpp"

using namespace mopsus::decentral;

namespace {

using Draw = std::mt19937;

std::size_t below(Draw& draw, std::size_t limit) { return draw() % limit; }

// A random automaton: each state asks for each input in turn, some of them in vain.
std::shared_ptr<const Automaton> random_automaton(Draw& draw, std::size_t inputs, std::size_t states) {
    std::vector<Truth> verdicts(states, Truth::Unknown);
    for (std::size_t state = 1; state < states; ++state)
        if (below(draw, 3) == 0) verdicts[state] = below(draw, 2) != 0 ? Truth::True : Truth::False;
    std::vector<Automaton::Node> nodes;
    const auto diagram = [&](auto& self, std::size_t input) -> Diagram {
        if (input == inputs || below(draw, 5) == 0) return ~static_cast<Diagram>(below(draw, states));
        const Diagram low = self(self, input + 1);
        const Diagram high = self(self, input + 1);
        nodes.push_back({static_cast<Input>(input), low, high});
        return static_cast<Diagram>(nodes.size() - 1);
    };
    std::vector<Diagram> roots;
    for (std::size_t state = 0; state < states; ++state)
        roots.push_back(verdicts[state] == Truth::Unknown ? diagram(diagram, 0) : ~static_cast<Diagram>(state));
    std::vector<std::string> names;
    for (std::size_t input = 0; input < inputs; ++input)
        names.push_back(std::string(1, static_cast<char>('a' + input)));
    return std::make_shared<Automaton>(names, verdicts, nodes, roots);
}

// What is known, atom by atom, and all that follows from it for one instance after the other.
struct Plain {
    std::shared_ptr<const Automaton> automaton;
    std::map<std::pair<Time, Input>, bool> known;
    std::set<Time> quiet;

    std::set<State> following(State state, Time time) const {
        std::set<State> result;
        const auto walk = [&](auto& self, Diagram at) -> void {
            if (at < 0) {
                result.insert(static_cast<State>(~at));
                return;
            }
            const Automaton::Node& node = automaton->node(at);
            const auto value = known.find({time, node.input});
            if (value == known.end() || !value->second) self(self, node.if_false);
            if (value == known.end() || value->second) self(self, node.if_true);
        };
        walk(walk, automaton->root(state));
        return result;
    }

    // The verdict of the instance that starts there, and when that is sure.
    std::pair<Truth, Time> verdict(Time start, Time end) const {
        std::set<State> reached{0};
        for (Time time = start - 1;; ++time) {
            if (time >= start && !quiet.contains(time)) {
                std::set<State> after;
                for (const State state : reached) after.merge(following(state, time));
                reached = after;
            }
            const Truth truth = automaton->verdict(*reached.begin());
            if (std::all_of(reached.begin(), reached.end(),
                            [&](State each) { return automaton->verdict(each) == truth; }) &&
                truth != Truth::Unknown)
                return {truth, time};
            if (time == end) return {Truth::Unknown, 0};
        }
    }
};

void learn(Instances& instances, Interval interval, Input input, bool value) {
    const Word known = Word{1} << input;
    const Word values = value ? known : 0;
    instances.learn(interval, {&known, &values});
}

std::vector<Verdict> concluded(Instances& instances) {
    Step step;
    instances.conclude(step);
    return step.answers;
}

// The values of the inputs at each time: chance alone, or mostly as they were before.
std::vector<std::vector<bool>> random_values(Draw& draw, std::size_t inputs, Time length) {
    const bool constant = below(draw, 2) != 0;
    std::vector<std::vector<bool>> values(inputs, std::vector<bool>(length + 1));
    for (auto& input : values)
        for (Time time = 1; time <= length; ++time)
            input[time] = constant && time > 1 && below(draw, 4) != 0 ? input[time - 1] : below(draw, 2) != 0;
    return values;
}

// Tells instances and their plain model the same, in any order and in intervals, and compares after each turn. Those
// that run one by one may be late; in the end, when everything is known, only those behind one that never answers.
class Comparison {
public:
    Comparison(Draw& draw, bool respawns, bool one_by_one)
        : draw_(draw),
          inputs_(1 + below(draw, 3)),
          automaton_(random_automaton(draw, inputs_, 1 + below(draw, 5))),
          length_(1 + below(draw, 12)),
          truth_(random_values(draw, inputs_, length_)),
          respawns_(respawns),
          one_by_one_(one_by_one),
          plain_{automaton_, {}, {}} {
        if (one_by_one)
            instances_ = std::make_unique<OneByOne>(automaton_, respawns);
        else
            instances_ = std::make_unique<AllAtOnce>(automaton_, respawns);
    }

    void run() {
        for (int turn = 0; turn < kTurns; ++turn) {
            const Time before = end_;
            end_ = std::min(length_, end_ + below(draw_, 3));
            instances_->extend(end_);
            tell_some();
            // Whether something happened is known at once, or never.
            if (!one_by_one_ && end_ > before && below(draw_, 6) == 0) {
                instances_->learn_quiet(end_);
                plain_.quiet.insert(end_);
            }
            const bool last = turn == kTurns - 1;
            if (last) tell_all();
            take_answers();
            for (Time start = 1; start <= (respawns_ ? end_ : std::min<Time>(end_, 1)); ++start)
                compare(start, turn == 0, last);
            if (!one_by_one_) REQUIRE(instances_->missing().empty() == (instances_->known() == instances_->end()));
        }
    }

private:
    static constexpr int kTurns = 30;

    void tell(Input input, Time first, Time last) {
        learn(*instances_, {first, last}, input, truth_[input][first]);
        for (Time time = first; time <= last; ++time) plain_.known[{time, input}] = truth_[input][first];
    }
    void tell_some() {
        for (std::size_t told = below(draw_, 4); told > 0 && end_ > 0; --told) {
            const Input input = static_cast<Input>(below(draw_, inputs_));
            const Time first = 1 + below(draw_, end_);
            Time last = first;
            while (last < end_ && truth_[input][last + 1] == truth_[input][first] && below(draw_, 3) != 0) ++last;
            tell(input, first, last);
        }
    }
    void tell_all() {
        for (Input input = 0; input < inputs_; ++input)
            for (Time time = 1; time <= end_; ++time) tell(input, time, time);
    }
    void take_answers() {
        for (const auto& [first, last, verdict] : concluded(*instances_))
            for (Time start = first; start <= last; ++start) {
                REQUIRE(!answered_.contains(start));
                answered_[start] = verdict ? Truth::True : Truth::False;
            }
    }
    void compare(Time start, bool first_turn, bool last_turn) {
        const auto [expected, when] = plain_.verdict(start, end_);
        const auto found = answered_.find(start);
        const bool late =
            one_by_one_ && found == answered_.end() && (!last_turn || (start > 1 && !answered_.contains(start - 1)));
        if (!late) REQUIRE((found == answered_.end() ? Truth::Unknown : found->second) == expected);
        if (start != 1) return;
        if (first_turn && !one_by_one_ && expected != Truth::Unknown) REQUIRE(instances_->first_found() == when);
        if (!late) REQUIRE(instances_->first_found().has_value() == (expected != Truth::Unknown));
    }

    Draw& draw_;
    std::size_t inputs_;
    std::shared_ptr<const Automaton> automaton_;
    Time length_;
    std::vector<std::vector<bool>> truth_;
    bool respawns_;
    bool one_by_one_;
    Plain plain_;
    std::unique_ptr<Instances> instances_;
    std::map<Time, Truth> answered_;
    Time end_ = 0;
};

}  // namespace

TEST(decentral_instances_find_what_each_would_alone) {
    Draw draw(7);
    for (int number = 0; number < 3000; ++number) Comparison(draw, number % 4 != 0, number % 3 == 0).run();
}

TEST(decentral_instances_over_long_stretches) {
    // F<=2 a: after three steps without it there is none.
    const auto automaton = std::make_shared<Automaton>(
        std::vector<std::string>{"a"},
        std::vector<Truth>{Truth::Unknown, Truth::Unknown, Truth::Unknown, Truth::True, Truth::False},
        std::vector<Automaton::Node>{{0, ~1, ~3}, {0, ~2, ~3}, {0, ~4, ~3}}, std::vector<Diagram>{0, 1, 2, ~3, ~4});
    AllAtOnce instances(automaton, true);
    const Time million = 1'000'000;
    learn(instances, {1, million}, 0, false);
    REQUIRE((concluded(instances) == std::vector<Verdict>{{1, million - 2, false}}));
    learn(instances, {million + 1, million + 1}, 0, true);
    REQUIRE((concluded(instances) == std::vector<Verdict>{{million - 1, million + 1, true}}));
    // The second half is told first.
    learn(instances, {3 * million, 5 * million}, 0, false);
    REQUIRE((concluded(instances) == std::vector<Verdict>{{3 * million, 5 * million - 2, false}}));
    REQUIRE((instances.missing() == std::vector<Atom>{{million + 2, 0}}));
    learn(instances, {million + 2, 3 * million - 1}, 0, true);
    REQUIRE((concluded(instances) == std::vector<Verdict>{{million + 2, 3 * million - 1, true}}));
    REQUIRE(instances.known() == 5 * million && instances.states().size() == 2);
}

TEST(decentral_instances_that_go_round) {
    // Two states in turn while a; b ends it.
    const auto automaton =
        std::make_shared<Automaton>(std::vector<std::string>{"a", "b"},
                                    std::vector<Truth>{Truth::Unknown, Truth::Unknown, Truth::True, Truth::False},
                                    std::vector<Automaton::Node>{{1, ~0, ~2}, {0, 0, ~1}, {1, ~1, ~3}, {0, 2, ~0}},
                                    std::vector<Diagram>{1, 3, ~2, ~3});
    AllAtOnce instances(automaton, true);
    learn(instances, {1, 1001}, 0, true);
    REQUIRE(concluded(instances).empty() && instances.known() == 1001);
    learn(instances, {1002, 1002}, 0, false);
    learn(instances, {1002, 1002}, 1, true);
    const std::vector<Verdict> found = concluded(instances);
    REQUIRE(found.size() == 1002 && (found[0] == Verdict{1, 1, false}) && (found[1001] == Verdict{1002, 1002, true}));
}

namespace {

std::shared_ptr<const Automaton> conjunction() {
    return std::make_shared<Automaton>(
        std::vector<std::string>{"a", "m"}, std::vector<Truth>{Truth::Unknown, Truth::True, Truth::False},
        std::vector<Automaton::Node>{{1, ~2, ~1}, {0, ~2, 0}}, std::vector<Diagram>{1, ~1, ~2});
}

Memory seen(Time time, Input input, bool value) {
    Memory memory;
    memory.add({{time, input}, value});
    return memory;
}

}  // namespace

TEST(decentral_nodes_tell_what_they_find) {
    Node node(conjunction(), {.references = {{1, 0}}, .receivers = {2, 3}});
    // Without a, the other one does not matter.
    Step step = node.step(1, seen(1, 0, false), {});
    REQUIRE(step.outbox.size() == 2 && step.outbox[0].to == 2 && step.outbox[1].to == 3 && step.answers.empty());
    REQUIRE((std::get<Verdict>(step.outbox[0].content) == Verdict{1, 1, false}));
    REQUIRE(node.step(2, seen(2, 0, true), {}).outbox.empty() && node.length() == 1);
    REQUIRE((node.missing() == std::vector<Atom>{{2, 1}}));
    const std::vector<Letter> late{{0, Verdict{1, 2, true}}, {0, Verdict{2, 2, true}}};
    step = node.step(2, Memory(), late);
    REQUIRE(step.outbox.size() == 2 && (std::get<Verdict>(step.outbox[0].content) == Verdict{2, 2, true}));
    REQUIRE(step.resolutions.size() == 1 && step.resolutions[0].before == 1 && step.resolutions[0].known == 2);
    REQUIRE(node.step(2, Memory(), late).outbox.empty());
}

TEST(decentral_nodes_end_when_nobody_needs_them) {
    Node node(conjunction(), {.references = {{1, 0}}, .receivers = {2, 3}});
    const std::vector<Letter> one{{2, Kill{}}};
    const std::vector<Letter> other{{3, Kill{}}, {2, Kill{}}};
    REQUIRE(node.step(1, seen(1, 0, false), one).outbox.size() == 1);
    const Step last = node.step(2, seen(2, 0, false), other);
    REQUIRE(last.outbox.size() == 1 && last.outbox[0].to == 0 && std::holds_alternative<Kill>(last.outbox[0].content));
    REQUIRE(node.step(3, seen(3, 0, false), {}).outbox.empty());
    // Asked once, it ends by itself.
    Node once(conjunction(), {.references = {{1, 0}}, .receivers = {2}, .respawns = false});
    const Step only = once.step(1, seen(1, 0, false), {});
    REQUIRE(only.outbox.size() == 2 && only.outbox[0].to == 2 && only.outbox[1].to == 0);
}

TEST(decentral_nodes_that_are_roots) {
    Node root(conjunction(), {.references = {{1, 0}}, .receivers = {}, .respawns = false, .root = true});
    REQUIRE(!root.step(1, seen(1, 0, true), {}).finding);
    const std::vector<Letter> told{{0, Verdict{1, 1, true}}};
    const Step step = root.step(2, Memory(), told);
    REQUIRE(step.stop && step.finding && step.finding->time == 1 && step.finding->verdict && step.outbox.empty());
    Node stream(conjunction(), {.references = {{1, 0}}, .receivers = {}, .root = true, .report = true, .hold = true});
    const std::vector<Letter> both{{0, Verdict{1, 3, true}}};
    const Step found = stream.step(3, seen(1, 0, true), both);
    REQUIRE(!found.stop && found.finding && (found.answers == std::vector<Verdict>{{1, 3, true}}));
    REQUIRE((stream.step(9, seen(8, 0, false), {}).answers == std::vector<Verdict>{{8, 9, false}}));
    // It was false before it was observed at all.
    Node quiet(conjunction(), {.references = {{1, 0}}, .receivers = {}, .report = true, .hold = true});
    REQUIRE((quiet.step(9, seen(8, 0, true), {}).answers == std::vector<Verdict>{{1, 7, false}}));
    REQUIRE(stream.step(9, seen(8, kNothing, false), {}).answers.empty());
}

TEST(decentral_nodes_do_not_move_when_nothing_happens) {
    Node node(conjunction(), {.references = {{1, 0}}, .receivers = {2}});
    REQUIRE(node.step(1, seen(1, kNothing, false), {}).outbox.empty());
    const Step step = node.step(2, seen(2, 0, false), {});
    REQUIRE((std::get<Verdict>(step.outbox[0].content) == Verdict{1, 2, false}));
}

TEST(decentral_nodes_are_told_what_they_understand) {
    REQUIRE(refused([] { Node(conjunction(), {.references = {{7, 0}}, .receivers = {}}); }) ==
            "the automaton has no input 7");
    REQUIRE(refused([] { Node(conjunction(), {.references = {{0, 4}, {1, 4}}, .receivers = {}}); }) ==
            "two inputs are verdicts of monitor 4");
    Node node(conjunction(), {.references = {{1, 0}}, .receivers = {2}});
    const auto told = [&](Address from, Content content) {
        return refused([&] {
            const std::vector<Letter> inbox{{from, std::move(content)}};
            node.step(1, Memory(), inbox);
        });
    };
    REQUIRE(told(1, Verdict{1, 1, true}) == "a monitor is told a verdict that it does not refer to");
    REQUIRE(told(0, Verdict{3, 2, true}) == "a monitor is told a verdict that it does not refer to");
    REQUIRE(told(0, Memory()) == "a monitor that others refer to is told verdicts, nothing else");
    REQUIRE(told(0, Verdict{1, 1, true}).empty());
    REQUIRE(told(0, Verdict{1, 2, false}) == "an input was told both true and false between 1 and 2");
}

TEST(decentral_nodes_that_run_one_by_one_are_not_kept_busy_by_a_verdict_for_ever) {
    Node node(conjunction(), {.references = {{1, 0}}, .receivers = {2}, .one_by_one = true});
    const std::vector<Letter> inbox{{0, Verdict{1, Time{1} << 60, true}}};
    REQUIRE(refused([&] { node.step(1, Memory(), inbox); }).starts_with("an input is told"));
}

TEST(decentral_nodes_whose_instances_go_round_are_not_kept_busy_by_a_verdict_for_ever) {
    // Two states in turn, whatever the inputs are, until m does not hold.
    const auto automaton = std::make_shared<Automaton>(
        std::vector<std::string>{"m"}, std::vector<Truth>{Truth::Unknown, Truth::Unknown, Truth::False},
        std::vector<Automaton::Node>{{0, ~2, ~1}, {0, ~2, ~0}}, std::vector<Diagram>{0, 1, ~2});
    Node node(automaton, {.references = {{0, 0}}, .receivers = {1}});
    const std::vector<Letter> inbox{{0, Verdict{1, Time{1} << 40, true}}};
    REQUIRE(refused([&] { node.step(1, Memory(), inbox); }).starts_with("an input is told"));
}

TEST(decentral_orchestrators_are_not_kept_busy_by_an_observation_for_ever) {
    Orchestrator orchestrator(conjunction());
    Memory memory;
    memory.add({{Time{1} << 60, 0}, true});
    const std::vector<Letter> inbox{{0, memory}};
    REQUIRE(refused([&] { orchestrator.step(1, Memory(), inbox); }).starts_with("an observation is told"));
}

TEST(decentral_messages_are_of_times_that_can_be_counted_on_from) {
    for (const Content& content : {Content(Verdict{1, ~Time{0}, true}), Content(Verdict{~Time{0}, ~Time{0}, true})}) {
        const std::string bytes = save(content);
        REQUIRE(refused([&] { load(nullptr, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}); }) ==
                "damaged: a number is out of range");
    }
}
