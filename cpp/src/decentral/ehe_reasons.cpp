// Why a verdict is known: the fewest observations from which it follows.
//
// A choice of observations is followed layer by layer. All that matters of the choice for the later layers is which
// states it leaves possible, so of all choices that leave the same ones only the smallest is kept.
#include <algorithm>
#include <map>

#include "mopsus/decentral/ehe.hpp"

namespace mopsus::decentral {

namespace {

// Beyond these, not all choices are compared.
constexpr std::size_t kMostInputs = 10;
constexpr std::size_t kMostChoices = 64;

struct Choice {
    std::vector<Word> reach;
    std::size_t size;
    std::size_t parent;
    std::vector<Input> used;
};

bool within(const std::vector<Word>& one, const std::vector<Word>& other) {
    for (std::size_t word = 0; word < one.size(); ++word)
        if ((one[word] & ~other[word]) != 0) return false;
    return true;
}

// One layer of the search.
class Layer {
public:
    Layer(const Automaton& automaton, Known known) : automaton_(automaton), known_(known) {}

    // All ways to go on from a choice.
    void follow(const Choice& choice, std::size_t number) {
        std::vector<Input> useful = asked(choice.reach);
        if (useful.size() > kMostInputs) {
            thin(choice, useful);
            add(choice, number, useful);
            useful.clear();
        }
        for (std::size_t subset = 0; subset < std::size_t{1} << useful.size(); ++subset) {
            std::vector<Input> used;
            for (std::size_t at = 0; at < useful.size(); ++at)
                if ((subset >> at & 1U) != 0) used.push_back(useful[at]);
            add(choice, number, used);
        }
    }

    // The best, the smallest first; and always one that leaves as little possible as all observations together.
    std::vector<Choice> best() const {
        std::vector<Choice> all;
        for (const auto& [reach, choice] : found_) all.push_back(choice);
        std::stable_sort(all.begin(), all.end(),
                         [](const Choice& one, const Choice& other) { return one.size < other.size; });
        std::vector<Choice> kept;
        for (const Choice& each : all) {
            const auto better = [&](const Choice& other) { return within(other.reach, each.reach); };
            if (std::any_of(kept.begin(), kept.end(), better)) continue;
            const bool sharpest = std::all_of(all.begin(), all.end(),
                                              [&](const Choice& other) { return within(each.reach, other.reach); });
            if (kept.size() < kMostChoices || sharpest) kept.push_back(each);
        }
        return kept;
    }

private:
    // The known inputs that the diagrams of these states ask for.
    std::vector<Input> asked(const std::vector<Word>& reach) const {
        std::vector<bool> seen(automaton_.nodes().size());
        std::vector<bool> inputs(automaton_.inputs().size());
        std::vector<Diagram> open;
        for (State state = 0; state < automaton_.states(); ++state)
            if (bit(reach.data(), state)) open.push_back(automaton_.root(state));
        while (!open.empty()) {
            const Diagram each = open.back();
            open.pop_back();
            if (each < 0 || seen[static_cast<std::size_t>(each)]) continue;
            seen[static_cast<std::size_t>(each)] = true;
            const Automaton::Node& node = automaton_.node(each);
            inputs[node.input] = inputs[node.input] || known_.has(node.input);
            open.push_back(node.if_false);
            open.push_back(node.if_true);
        }
        std::vector<Input> result;
        for (Input input = 0; input < inputs.size(); ++input)
            if (inputs[input]) result.push_back(input);
        return result;
    }

    // Leave out inputs that are not needed to get where all of them lead.
    void thin(const Choice& choice, std::vector<Input>& used) const {
        const std::vector<Word> all = after(choice.reach, used);
        for (std::size_t at = used.size(); at-- > 0;) {
            std::vector<Input> fewer = used;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
            if (after(choice.reach, fewer) == all) used = std::move(fewer);
        }
    }

    std::vector<Word> after(const std::vector<Word>& reach, const std::vector<Input>& used) const {
        std::vector<Word> mask(words_for(automaton_.inputs().size()));
        for (const Input input : used) set_bit(mask.data(), input);
        std::vector<Word> next(reach.size());
        automaton_.step(reach.data(), {mask.data(), known_.value}, next.data());
        return next;
    }

    void add(const Choice& choice, std::size_t number, const std::vector<Input>& used) {
        std::vector<Word> next = after(choice.reach, used);
        const std::size_t size = choice.size + used.size();
        const auto [place, is_new] = found_.try_emplace(next);
        if (is_new || size < place->second.size) place->second = {std::move(next), size, number, used};
    }

    const Automaton& automaton_;
    Known known_;
    std::map<std::vector<Word>, Choice> found_;
};

}  // namespace

std::vector<Observation> Ehe::reasons(Time time) const {
    const std::size_t last = layer_of(time);
    const Truth truth = verdict(time);
    const std::optional<State> there = state(time);
    if (truth == Truth::Unknown && !there)
        throw Error("neither the verdict nor the state at " + std::to_string(time) + " is known");
    std::vector<Word> goal(states_);
    for (State each = 0; each < automaton_->states(); ++each)
        if (truth == Truth::Unknown ? each == *there : automaton_->verdict(each) == truth) set_bit(goal.data(), each);

    std::vector<std::vector<Choice>> layers{{{{reach(0), reach(0) + states_}, 0, 0, {}}}};
    for (std::size_t layer = 1; layer <= last; ++layer) {
        Layer search(*automaton_, at(layer));
        for (std::size_t number = 0; number < layers.back().size(); ++number)
            search.follow(layers.back()[number], number);
        layers.push_back(search.best());
    }
    // The first that reaches the goal is the smallest.
    const auto& ends = layers.back();
    auto number = static_cast<std::size_t>(
        std::find_if(ends.begin(), ends.end(), [&](const Choice& each) { return within(each.reach, goal); }) -
        ends.begin());
    std::vector<Observation> result;
    for (std::size_t layer = last; layer > 0; --layer) {
        const Choice& choice = layers[layer][number];
        for (auto input = choice.used.rbegin(); input != choice.used.rend(); ++input)
            result.push_back({{start_ + layer, *input}, at(layer).get(*input)});
        number = choice.parent;
    }
    std::reverse(result.begin(), result.end());
    return result;
}

}  // namespace mopsus::decentral
