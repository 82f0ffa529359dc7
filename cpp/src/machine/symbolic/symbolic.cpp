#include "mopsus/machine/symbolic.hpp"

#include <iterator>
#include <set>
#include <stdexcept>

#include "runner.hpp"
#include "sets.hpp"
#include "tree.hpp"

namespace mopsus {

namespace {

void require(bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(what);
}

// How many operands an operator takes.
std::pair<std::size_t, std::size_t> operands_of(SymbolicMachine::Operator op) {
    using Operator = SymbolicMachine::Operator;
    switch (op) {
        case Operator::Slot:
        case Operator::Constant:
        case Operator::Test: return {0, 0};
        case Operator::Tuple:
        case Operator::List: return {0, 0xFFFF};
        case Operator::Cons: return {1, 0xFFFF};
        case Operator::BitNot:
        case Operator::Plus:
        case Operator::Minus:
        case Operator::Abs:
        case Operator::Not:
        case Operator::Length:
        case Operator::TupleSize:
        case Operator::Head:
        case Operator::Tail: return {1, 1};
        default:
            return op >= Operator::IsInteger && op <= Operator::IsMap ? std::pair<std::size_t, std::size_t>{1, 1}
                                                                      : std::pair<std::size_t, std::size_t>{2, 2};
    }
}

class Checking {
public:
    Checking(const SymbolicMachine& machine, std::size_t events) : machine_(machine), events_(events) {}

    void run() {
        require(machine_.root < machine_.nodes.size(), "root outside of the nodes");
        require(machine_.fields.size() == events_, "the number of fields of an event is missing");
        require(machine_.limit > 0, "a limit is positive");
        require(machine_.shapes.empty() || machine_.shapes.size() == events_, "the shape of an event is missing");
        check_patterns();
        check_expressions();
        for (std::size_t k = 0; k < machine_.nodes.size(); ++k) check_node(k);
        const Forms forms(machine_);  // finds recursion without a modality
        require(!machine_.first_match || !forms.has_or(), "the first match is for formulas without or");
        check_slots(forms);
    }

private:
    using Node = SymbolicMachine::Node;
    using Pattern = SymbolicMachine::Pattern;

    // Parts come before the whole, so that nothing contains itself.
    void check_patterns() {
        for (std::size_t k = 0; k < machine_.patterns.size(); ++k) {
            const Pattern& pattern = machine_.patterns[k];
            for (const auto part : pattern.parts) require(part < k, "a part of a pattern comes after it");
            const bool slotted = pattern.kind == Pattern::Kind::Bind || pattern.kind == Pattern::Kind::Same;
            require(!slotted || pattern.slot < machine_.slots, "a pattern outside of the slots");
            require(!pattern.rest || (pattern.kind == Pattern::Kind::List && !pattern.parts.empty()),
                    "only a list has a rest");
            if (pattern.kind != Pattern::Kind::Map) continue;
            require(pattern.parts.size() % 2 == 0, "a key without a pattern");
            for (std::size_t n = 0; n < pattern.parts.size(); n += 2)
                require(machine_.patterns[pattern.parts[n]].kind == Pattern::Kind::Literal, "a key is a literal");
        }
    }
    void check_expressions() {
        using Operator = SymbolicMachine::Operator;
        for (std::size_t k = 0; k < machine_.expressions.size(); ++k) {
            const SymbolicMachine::Expression& expression = machine_.expressions[k];
            require(expression.op < Operator::kCount, "no such operator");
            const auto [least, most] = operands_of(expression.op);
            require(expression.operands.size() >= least && expression.operands.size() <= most,
                    "wrong number of operands");
            for (const auto operand : expression.operands) require(operand < k, "operand after its operator");
            if (expression.op == Operator::Slot)
                require(expression.number < machine_.slots, "an expression outside of the slots");
            if (expression.op == Operator::Test)
                require(expression.number < machine_.tests.size(), "an expression outside of the tests");
        }
        for (const SymbolicMachine::TestCall& call : machine_.tests)
            for (const auto slot : call.slots) require(slot < machine_.slots, "a test outside of the slots");
    }
    void check_node(std::size_t number) {
        const Node& node = machine_.nodes[number];
        const bool selection = node.kind == Node::Kind::Selection;
        require(!selection || number == machine_.root, "a selection is only for the root");
        if (node.kind == Node::Kind::Join)
            for (const auto part : node.parts) require(part < machine_.nodes.size(), "a part outside of the nodes");
        if (node.kind == Node::Kind::Truth || node.kind == Node::Kind::Join) return;
        require(node.then < machine_.nodes.size(), "a target outside of the nodes");
        if (node.kind == Node::Kind::Recursion) return;
        require(node.letter >= (selection ? 0 : SymbolicMachine::kAnyLetter) &&
                    node.letter < static_cast<std::int64_t>(events_),
                "a letter outside of the events");
        if (node.whole)
            require(!machine_.shapes.empty() && node.parts.size() == 1,
                    "an event as a tuple has a shape and one pattern");
        else if (node.letter == SymbolicMachine::kAnyLetter)
            require(node.parts.empty(), "any event has no patterns");
        else
            require(node.parts.size() == machine_.fields[static_cast<std::size_t>(node.letter)],
                    "one pattern for each field");
        for (const auto pattern : node.parts)
            require(pattern < machine_.patterns.size(), "a node outside of the patterns");
        for (const auto slot : node.live) require(slot < machine_.slots, "a node outside of the slots");
        for (const auto& alternative : node.guard)
            for (const auto part : alternative)
                require(part < machine_.expressions.size(), "a guard outside of the expressions");
    }

    // ---- no slot is read before it is filled ----

    using Slots = std::set<SymbolicMachine::Number>;

    void check_slots(const Forms& forms) {
        const Node& root = machine_.nodes[machine_.root];
        Slots filled;
        if (root.kind == Node::Kind::Selection) check_fit(root, filled);
        check_leaves(forms.at(root.kind == Node::Kind::Selection ? root.then : machine_.root), filled, 0);
        for (const Node& node : machine_.nodes) {
            if (node.kind != Node::Kind::Modality) continue;
            Slots slots(node.live.begin(), node.live.end());
            check_fit(node, slots);
            check_leaves(forms.at(node.then), slots, 0);
        }
    }
    void check_fit(const Node& node, Slots& filled) {
        for (const auto pattern : node.parts) fill(machine_.patterns[pattern], filled);
        for (const auto& alternative : node.guard)
            for (const auto part : alternative) check_reads(machine_.expressions[part], filled);
    }
    void fill(const Pattern& pattern, Slots& filled) {
        if (pattern.kind == Pattern::Kind::Bind) filled.insert(pattern.slot);
        if (pattern.kind == Pattern::Kind::Same) require(filled.contains(pattern.slot), kUnfilled);
        for (const auto part : pattern.parts) fill(machine_.patterns[part], filled);
    }
    void check_reads(const SymbolicMachine::Expression& expression, const Slots& filled) {
        using Operator = SymbolicMachine::Operator;
        if (expression.op == Operator::Slot) require(filled.contains(expression.number), kUnfilled);
        if (expression.op == Operator::Test)
            for (const auto slot : machine_.tests[expression.number].slots) require(filled.contains(slot), kUnfilled);
        for (const auto operand : expression.operands) check_reads(machine_.expressions[operand], filled);
    }
    void check_leaves(const Form& form, const Slots& filled, int depth) {
        require(depth < kDeepestForm, "a formula is too deep");
        if (form.kind == Form::Kind::Leaf)
            for (const auto slot : machine_.nodes[form.node].live) require(filled.contains(slot), kUnfilled);
        for (const Form& part : form.parts) check_leaves(part, filled, depth + 1);
    }
    static constexpr const char* kUnfilled = "a slot is read that may not be filled";
    static constexpr int kDeepestForm = 256;

    const SymbolicMachine& machine_;
    std::size_t events_;
};

}  // namespace

void SymbolicMachine::check(std::size_t events) const { Checking(*this, events).run(); }

std::unique_ptr<Runner> SymbolicMachine::runner(std::size_t /*events*/) const {
    if (Forms(*this).has_or()) return std::make_unique<TreeRunner>(*this);
    return std::make_unique<SetRunner>(*this);
}

SymbolicRunner::SymbolicRunner(const SymbolicMachine& machine)
    : machine_(machine), forms_(machine), matcher_(machine), chains_(machine, forms_) {
    for (const Node& node : machine.nodes) letters_.push_back(node.letter);
    for (std::size_t k = 0; k < machine.categories.size(); ++k) {
        if (machine.categories[k] < 0) continue;
        outcomes_[k].categories.push_back(static_cast<std::uint16_t>(machine.categories[k]));
        outcomes_[k].final.push_back(true);
    }
}

bool SymbolicRunner::is_selected(EventId event, Origin& origin) {
    if (!meets(machine_.root, event)) return false;
    matcher_.begin(event, origin);
    return matcher_.fits(machine_.root);
}

void SymbolicRunner::explain(Chains::Id chain, Number modality, bool fitted, std::uint32_t unfolded) {
    if (!chains_.on()) return;
    const Chains::Id last = chains_.extend(chain, modality, fitted, unfolded, false);
    explanation_ = chains_.read(last, matcher_);
    chains_.release(last);
}

void SymbolicRunner::explain_also(Number modality, bool fitted) {
    const Chains::Id step = chains_.extend(0, modality, fitted, 0, false);
    Explanation more = chains_.read(step, matcher_);
    std::move(more.begin(), more.end(), std::back_inserter(explanation_));
    chains_.release(step);
}

}  // namespace mopsus
