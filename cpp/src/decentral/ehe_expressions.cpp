// What an EHE still depends on, and its expressions.
#include <limits>
#include <map>
#include <set>

#include "formulas.hpp"
#include "mopsus/decentral/ehe.hpp"

namespace mopsus::decentral {

namespace {

// The diagrams of one layer with what is known put in: no node asks for an input that makes no difference.
class Reduced {
public:
    Reduced(const Automaton& automaton, Known known) : automaton_(automaton), known_(known) {}

    void add(State state) { reduce(automaton_.root(state)); }
    std::size_t nodes() const { return unique_.size(); }
    std::vector<Input> inputs() const {
        std::set<Input> all;
        for (const auto& [node, number] : unique_) all.insert(std::get<0>(node));
        return {all.begin(), all.end()};
    }

private:
    Diagram reduce(Diagram diagram) {
        if (diagram < 0) return diagram;
        const Automaton::Node& node = automaton_.node(diagram);
        if (known_.has(node.input)) return reduce(node.next(known_.get(node.input)));
        if (const auto found = done_.find(diagram); found != done_.end()) return found->second;
        const Diagram low = reduce(node.if_false);
        const Diagram high = reduce(node.if_true);
        const Diagram made =
            low == high
                ? low
                : unique_.try_emplace({node.input, low, high}, static_cast<Diagram>(unique_.size())).first->second;
        done_.emplace(diagram, made);
        return made;
    }

    const Automaton& automaton_;
    Known known_;
    std::map<Diagram, Diagram> done_;
    std::map<std::tuple<Input, Diagram, Diagram>, Diagram> unique_;
};

}  // namespace

std::optional<Ehe::Pending> Ehe::earliest() const {
    for (std::size_t layer = last_known() + 1; layer < layers(); ++layer) {
        Reduced reduced(*automaton_, at(layer));
        for (const State state : states(start_ + layer - 1)) reduced.add(state);
        if (reduced.nodes() != 0) return Pending{start_ + layer, reduced.inputs()};
    }
    return std::nullopt;
}

std::size_t Ehe::nodes() const {
    std::size_t total = 0;
    for (std::size_t layer = 1; layer < layers(); ++layer) {
        Reduced reduced(*automaton_, at(layer));
        for (const State state : states(start_ + layer - 1)) reduced.add(state);
        total += reduced.nodes();
    }
    return total;
}

std::size_t Ehe::entries() const {
    settle();
    std::size_t total = 0;
    for (std::size_t layer = 0; layer < layers(); ++layer) total += count(layer);
    return total;
}

// "In that state in that layer", built from there backwards: of each state of a layer, whether the run goes there from
// it.
std::uint32_t Ehe::formula(Formulas& formulas, std::size_t layer, State state) const {
    settle(layer);
    std::vector<Formulas::Formula> goes(automaton_->states(), Formulas::kFalse);
    goes[state] = Formulas::kTrue;
    for (; layer > 0; --layer) {
        std::map<Diagram, Formulas::Formula> done;
        const auto build = [&](const auto& self, Diagram diagram) -> Formulas::Formula {
            if (diagram < 0) return goes[static_cast<std::size_t>(~diagram)];
            const Automaton::Node& node = automaton_->node(diagram);
            if (at(layer).has(node.input)) return self(self, node.next(at(layer).get(node.input)));
            if (const auto found = done.find(diagram); found != done.end()) return found->second;
            const Formulas::Formula low = self(self, node.if_false);
            const Formulas::Formula high = self(self, node.if_true);
            return done[diagram] = formulas.make(layer * automaton_->inputs().size() + node.input, low, high);
        };
        std::vector<Formulas::Formula> before(automaton_->states(), Formulas::kFalse);
        for (State from = 0; from < automaton_->states(); ++from)
            if (bit(reach(layer - 1), from)) before[from] = build(build, automaton_->root(from));
        goes = std::move(before);
    }
    return goes[only(0)];
}

std::vector<Atom> Ehe::missing(Time time) const {
    std::set<Formulas::Variable> variables;
    Formulas formulas;
    for (const State state : states(time))
        for (const Formulas::Variable variable : formulas.support(formula(formulas, layer_of(time), state)))
            variables.insert(variable);
    const std::size_t inputs = automaton_->inputs().size();
    std::vector<Atom> atoms;
    for (const Formulas::Variable variable : variables)
        atoms.push_back({start_ + variable / inputs, static_cast<Input>(variable % inputs)});
    return atoms;
}

std::vector<Ehe::Product> Ehe::expression(Time time, State state, std::size_t most) const {
    if (state >= automaton_->states()) throw Error("the automaton has no state " + std::to_string(state));
    Formulas formulas;
    const Formulas::Cover cover = formulas.cover(formula(formulas, layer_of(time), state));
    if (formulas.products(cover) > most)
        throw Error("the expression has more than " + std::to_string(most) + " products");
    const std::size_t inputs = automaton_->inputs().size();
    std::vector<Product> products;
    for (const auto& literals : formulas.write(cover)) {
        Product& product = products.emplace_back();
        for (const auto& [variable, value] : literals)
            product.push_back({{start_ + variable / inputs, static_cast<Input>(variable % inputs)}, value});
    }
    return products;
}

std::uint64_t Ehe::data() const {
    const std::size_t inputs = automaton_->inputs().size();
    // With its atom, a literal brings one operator: what joins it to the others. Only the first one of all has none.
    const auto weight = [&](Formulas::Literal literal) {
        return 5 + automaton_->inputs()[literal.variable % inputs].size() + (literal.value ? 0 : 1);
    };
    std::uint64_t total = 0;
    for (Time time = start_; time <= end(); ++time) {
        Formulas formulas;
        const std::vector<State> all = states(time);
        for (const State state : all) {
            const std::uint64_t expression =
                all.size() == 1 ? 1
                                : formulas.weigh(formulas.cover(formula(formulas, layer_of(time), state)), weight) - 1;
            const std::uint64_t more =
                expression > std::numeric_limits<std::uint64_t>::max() - 8 ? expression : expression + 8;
            total = total > std::numeric_limits<std::uint64_t>::max() - more ? std::numeric_limits<std::uint64_t>::max()
                                                                             : total + more;
        }
    }
    return total;
}

}  // namespace mopsus::decentral
