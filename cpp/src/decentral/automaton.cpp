#include <bit>
#include <unordered_set>

#include "bytes.hpp"
#include "mopsus/decentral/automaton.hpp"

namespace mopsus::decentral {

namespace {

// Recursion over a diagram is as deep as there are inputs.
constexpr std::size_t kMostInputs = 4096;
constexpr std::size_t kMost = 1U << 30;

std::string numbered(const char* what, std::size_t number) { return std::string(what) + " " + std::to_string(number); }

}  // namespace

Automaton::Automaton(std::vector<std::string> inputs, std::vector<Truth> verdicts, std::vector<Node> nodes,
                     std::vector<Diagram> roots)
    : inputs_(std::move(inputs)), verdicts_(std::move(verdicts)), nodes_(std::move(nodes)), roots_(std::move(roots)) {
    check();
    Digest digest;
    digest.add(inputs_.size());
    for (const std::string& input : inputs_) digest.add(input);
    digest.add(verdicts_.size());
    for (std::size_t state = 0; state < verdicts_.size(); ++state) {
        digest.add(static_cast<std::uint64_t>(verdicts_[state]));
        digest.add(static_cast<std::uint64_t>(roots_[state]));
    }
    for (const Node& node : nodes_) {
        digest.add(node.input);
        digest.add(static_cast<std::uint64_t>(node.if_false));
        digest.add(static_cast<std::uint64_t>(node.if_true));
    }
    fingerprint_ = digest.sum();
}

void Automaton::check() const {
    if (verdicts_.empty()) throw Error("an automaton has at least one state");
    if (roots_.size() != verdicts_.size())
        throw Error("an automaton has a verdict and a root for every state, not " +
                    numbered("verdicts:", verdicts_.size()) + ", " + numbered("roots:", roots_.size()));
    if (inputs_.size() > kMostInputs) throw Error("more than " + std::to_string(kMostInputs) + " inputs");
    if (nodes_.size() > kMost || verdicts_.size() > kMost) throw Error("the automaton is too large");
    std::unordered_set<std::string> names;
    for (const std::string& name : inputs_)
        if (!names.insert(name).second) throw Error("the input '" + name + "' is there twice");
    for (std::size_t number = 0; number < nodes_.size(); ++number) check_node(number);
    for (std::size_t state = 0; state < roots_.size(); ++state)
        check_target(roots_[state], numbered("the root of state", state));
    for (std::size_t state = 0; state < roots_.size(); ++state) check_final(static_cast<State>(state));
}

void Automaton::check_target(Diagram diagram, const std::string& where) const {
    if (diagram >= 0 ? static_cast<std::size_t>(diagram) >= nodes_.size()
                     : static_cast<std::size_t>(~diagram) >= verdicts_.size())
        throw Error(where + " is " +
                    (diagram >= 0 ? numbered("node", static_cast<std::size_t>(diagram))
                                  : numbered("state", static_cast<std::size_t>(~diagram))) +
                    ", which is not there");
}

void Automaton::check_node(std::size_t number) const {
    const Node& node = nodes_[number];
    const std::string where = numbered("node", number);
    if (node.input >= inputs_.size())
        throw Error(where + " asks for " + numbered("input", node.input) + ", which is not there");
    for (const Diagram child : {node.if_false, node.if_true}) {
        check_target(child, "a child of " + where);
        if (child >= 0 && this->node(child).input <= node.input)
            throw Error("a child of " + where + " asks for " + numbered("input", this->node(child).input) + " after " +
                        numbered("input", node.input) + ": inputs are asked for in the order of their numbers");
    }
}

void Automaton::check_final(State state) const {
    if (verdict(state) == Truth::Unknown) return;
    const std::vector<Word> nothing(words_for(inputs_.size()));
    std::vector<Word> from(words_for(states()));
    std::vector<Word> to(words_for(states()));
    set_bit(from.data(), state);
    step(from.data(), {nothing.data(), nothing.data()}, to.data());
    for (State target = 0; target < states(); ++target)
        if (bit(to.data(), target) && verdict(target) != verdict(state))
            throw Error(numbered("state", state) + " has a verdict, and can be left for " + numbered("state", target) +
                        ", which has not the same");
}

void Automaton::step(const Word* from, Known known, Word* to) const {
    std::vector<bool> seen;
    std::vector<Diagram> open;
    for (std::size_t word = 0; word < words_for(states()); ++word) {
        for (Word left = from[word]; left != 0; left &= left - 1) {
            Diagram at = roots_[word * 64 + static_cast<std::size_t>(std::countr_zero(left))];
            for (;;) {
                while (at >= 0 && known.has(node(at).input)) at = node(at).next(known.get(node(at).input));
                if (at < 0) {
                    set_bit(to, static_cast<std::size_t>(~at));
                } else {
                    if (seen.empty()) seen.resize(nodes_.size());
                    if (!seen[static_cast<std::size_t>(at)]) {
                        seen[static_cast<std::size_t>(at)] = true;
                        open.push_back(node(at).if_true);
                        at = node(at).if_false;
                        continue;
                    }
                }
                if (open.empty()) break;
                at = open.back();
                open.pop_back();
            }
        }
    }
}

}  // namespace mopsus::decentral
