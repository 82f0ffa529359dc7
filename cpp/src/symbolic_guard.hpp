// Guards: expressions over the values in slots. An error makes the alternative in which it happens false.
#pragma once

#include <vector>

#include "mopsus/symbolic.hpp"

namespace mopsus {

class Guards {
public:
    using Number = SymbolicMachine::Number;

    Guards(const SymbolicMachine& machine, const std::vector<Term>& slots) : machine_(machine), slots_(slots) {}

    bool holds(const SymbolicMachine::Guard& guard, Arena& arena);

private:
    using Operator = SymbolicMachine::Operator;
    using Expression = SymbolicMachine::Expression;

    // False: an error.
    bool evaluate(Number expression, Term& result);
    bool evaluate_boolean(Number expression, bool& result);
    bool evaluate_test(const Expression& expression, Term& result);
    bool make(const Expression& expression, Term& result);
    bool connect(const Expression& expression, Term& result);
    bool compare(Operator op, Term a, Term b, Term& result);
    bool compute(Operator op, Term a, Term b, Term& result);
    bool compute_large(Operator op, Term a, Term b, Term& result);
    bool shift(Term a, Term by, bool left, Term& result);
    bool real(double value, Term& result);
    bool inspect(Operator op, Term a, Term& result);
    bool take_apart(Operator op, Term a, Term b, Term& result);
    Term number_of(Term term);

    const SymbolicMachine& machine_;
    const std::vector<Term>& slots_;
    Arena* arena_ = nullptr;
    std::vector<Term> values_;  // for a test
};

}  // namespace mopsus
