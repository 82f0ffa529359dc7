#include "formulas.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "mopsus/decentral/automaton.hpp"

namespace mopsus::decentral {

namespace {

// Covers are made by a recursion that is as deep as there are variables.
constexpr std::size_t kMostVariables = 10'000;
constexpr std::uint64_t kMany = std::numeric_limits<std::uint64_t>::max();

std::uint64_t plus(std::uint64_t one, std::uint64_t other) { return one > kMany - other ? kMany : one + other; }
std::uint64_t times(std::uint64_t one, std::uint64_t other) {
    return other != 0 && one > kMany / other ? kMany : one * other;
}

}  // namespace

Formulas::Formula Formulas::make(Variable variable, Formula low, Formula high) {
    if (low == high) return low;
    const auto [place, is_new] = unique_.try_emplace({variable, low, high}, static_cast<Formula>(nodes_.size()));
    if (is_new) nodes_.push_back({variable, low, high});
    return place->second;
}

std::vector<Formulas::Variable> Formulas::support(Formula formula) const {
    std::set<Variable> variables;
    std::vector<bool> seen(nodes_.size());
    std::vector<Formula> open{formula};
    while (!open.empty()) {
        const Formula each = open.back();
        open.pop_back();
        if (each <= kTrue || seen[each]) continue;
        seen[each] = true;
        variables.insert(top(each));
        open.push_back(nodes_[each].low);
        open.push_back(nodes_[each].high);
    }
    return {variables.begin(), variables.end()};
}

Formulas::Formula Formulas::apply(Operation operation, Formula one, Formula other) {
    switch (operation) {
        case Operation::And:
            if (one == kFalse || other == kFalse) return kFalse;
            if (one == kTrue || one == other) return other;
            if (other == kTrue) return one;
            break;
        case Operation::Or:
            if (one == kTrue || other == kTrue) return kTrue;
            if (one == kFalse || one == other) return other;
            if (other == kFalse) return one;
            break;
        case Operation::AndNot:
            if (one == kFalse || other == kTrue || one == other) return kFalse;
            if (other == kFalse) return one;
            break;
    }
    const Key key{static_cast<std::uint64_t>(operation), one, other};
    if (const auto found = applied_.find(key); found != applied_.end()) return found->second;
    const Variable variable = std::min(top(one), top(other));
    const Node mine = top(one) == variable ? nodes_[one] : Node{variable, one, one};
    const Node its = top(other) == variable ? nodes_[other] : Node{variable, other, other};
    const Formula low = apply(operation, mine.low, its.low);
    const Formula made = make(variable, low, apply(operation, mine.high, its.high));
    applied_.emplace(key, made);
    return made;
}

Formulas::Cover Formulas::cover(Formula formula) {
    if (support(formula).size() > kMostVariables)
        throw Error("the expression has more than " + std::to_string(kMostVariables) + " atoms");
    return between(formula, formula).cover;
}

// A cover of at least the one function and at most the other, and the function that it is.
Formulas::Covered Formulas::between(Formula least, Formula most) {
    if (least == kFalse) return {0, kFalse};
    if (most == kTrue) return {1, kTrue};
    const Key key{least, most, 0};
    if (const auto found = covered_.find(key); found != covered_.end()) return found->second;
    const Variable variable = std::min(top(least), top(most));
    const Node lower = top(least) == variable ? nodes_[least] : Node{variable, least, least};
    const Node upper = top(most) == variable ? nodes_[most] : Node{variable, most, most};
    // What only products with the variable can cover; then, by products without it, what they leave.
    const Covered low = between(apply(Operation::AndNot, lower.low, upper.high), upper.low);
    const Covered high = between(apply(Operation::AndNot, lower.high, upper.low), upper.high);
    const Formula left = apply(Operation::Or, apply(Operation::AndNot, lower.low, low.formula),
                               apply(Operation::AndNot, lower.high, high.formula));
    const Covered rest = between(left, apply(Operation::And, upper.low, upper.high));
    const Formula formula = make(variable, apply(Operation::Or, low.formula, rest.formula),
                                 apply(Operation::Or, high.formula, rest.formula));
    Cover made = rest.cover;
    if (low.cover != 0 || high.cover != 0) {
        made = static_cast<Cover>(covers_.size());
        covers_.push_back({variable, low.cover, high.cover, rest.cover});
    }
    const Covered result{made, formula};
    covered_.emplace(key, result);
    return result;
}

std::uint64_t Formulas::products(Cover cover) const {
    std::vector<std::uint64_t> number(cover + std::size_t{2}, 0);
    number[1] = 1;
    for (std::size_t each = 2; each <= cover; ++each)
        number[each] = plus(plus(number[covers_[each].low], number[covers_[each].high]), number[covers_[each].rest]);
    return number[cover];
}

std::uint64_t Formulas::weigh(Cover cover, const std::function<std::uint64_t(Literal)>& weight) const {
    std::vector<std::uint64_t> number(cover + std::size_t{2}, 0);
    std::vector<std::uint64_t> weights(cover + std::size_t{2}, 0);
    number[1] = 1;
    for (std::size_t each = 2; each <= cover; ++each) {
        const CoverNode& node = covers_[each];
        number[each] = plus(plus(number[node.low], number[node.high]), number[node.rest]);
        const std::uint64_t own = plus(times(number[node.low], weight({node.variable, false})),
                                       times(number[node.high], weight({node.variable, true})));
        weights[each] = plus(plus(own, weights[node.low]), plus(weights[node.high], weights[node.rest]));
    }
    return weights[cover];
}

std::vector<std::vector<Formulas::Literal>> Formulas::write(Cover cover) const {
    std::vector<std::vector<Literal>> products;
    std::vector<Literal> path;
    write(cover, path, products);
    return products;
}

void Formulas::write(Cover cover, std::vector<Literal>& path, std::vector<std::vector<Literal>>& products) const {
    if (cover == 1) products.push_back(path);
    if (cover <= 1) return;
    const CoverNode& node = covers_[cover];
    for (const bool value : {false, true}) {
        path.push_back({node.variable, value});
        write(value ? node.high : node.low, path, products);
        path.pop_back();
    }
    write(node.rest, path, products);
}

}  // namespace mopsus::decentral
