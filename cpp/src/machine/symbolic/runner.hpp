// What the two ways of running a symbolic machine have in common: when an instance begins, and how it is decided.
#pragma once

#include <optional>

#include "mopsus/engine/archive.hpp"
#include "chain.hpp"
#include "form.hpp"
#include "match.hpp"

namespace mopsus {

class SymbolicRunner : public Runner {
public:
    explicit SymbolicRunner(const SymbolicMachine& machine);

    const Outcome& outcome() const override { return outcomes_[said_]; }
    bool alive(Word state, Mask dead) const override { return state != kDecided && any_free_of(machine_.alive, dead); }
    void explain() override { chains_.turn_on(); }
    Explanation explanation() override { return std::move(explanation_); }
    std::size_t largest() const override { return largest_; }

protected:
    using Number = SymbolicMachine::Number;
    using Node = SymbolicMachine::Node;

    // Of every instance that has been decided and that nobody starts over. It costs nothing.
    static constexpr Word kDecided = 0;
    static constexpr std::uint8_t kSilent = SymbolicMachine::kVerdicts;  // nothing is said

    bool selects() const { return machine_.nodes[machine_.root].kind == Node::Kind::Selection; }
    // Does the first event fit the root, which is a selection?
    bool is_selected(EventId event, Origin& origin);
    // The verdict of a state of which nothing is left to be met.
    std::uint8_t satisfied() const {
        return machine_.linear ? SymbolicMachine::kAcceptance : SymbolicMachine::kInconclusive;
    }
    void say(std::uint8_t verdict) { said_ = verdict; }
    // The chain that led to what is said, with one step more.
    void explain(Chains::Id chain, Number modality, bool fitted, std::uint32_t unfolded = 0);
    // One more step that took part in it.
    void explain_also(Number modality, bool fitted);
    bool meets(Number node, EventId event) const {
        return letters_[node] == SymbolicMachine::kAnyLetter || letters_[node] == static_cast<std::int32_t>(event);
    }

    const SymbolicMachine& machine_;
    Forms forms_;
    Matcher matcher_;
    Chains chains_;
    std::size_t largest_ = 0;
    std::uint8_t said_ = kSilent;

private:
    std::vector<std::int32_t> letters_;  // by node
    std::array<Outcome, SymbolicMachine::kVerdicts + 1> outcomes_;
    Explanation explanation_;
};

}  // namespace mopsus
