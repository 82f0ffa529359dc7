// Guards: expressions over the values in slots. An error makes the alternative in which it happens false.
#pragma once

#include <vector>

#include "mopsus/machine/symbolic.hpp"

namespace mopsus {

class Guards {
public:
    using Number = SymbolicMachine::Number;

    Guards(const SymbolicMachine& machine, const std::vector<Term>& slots);

    // Does the guard of a node hold, at this event?
    bool holds(Number node, Arena& arena, EventId event, Origin& origin);

private:
    using Operator = SymbolicMachine::Operator;
    using Expression = SymbolicMachine::Expression;

    // Most guards compare slots with slots or constants.
    struct Operand {
        std::int32_t slot = -1;
        Term constant;
    };
    struct Part {
        bool is_comparison = false;
        bool last = false;  // of its alternative
        Operator op = Operator::Constant;
        Number expression = 0;
        std::array<Operand, 2> operands;
    };
    Part make_part(Number expression, bool last) const;
    bool is_true(const Part& part);
    Term value(const Operand& operand) const {
        return operand.slot >= 0 ? slots_[static_cast<std::size_t>(operand.slot)] : operand.constant;
    }

    // False: an error.
    bool evaluate(Number expression, Term& result);
    bool evaluate_boolean(Number expression, bool& result);
    bool evaluate_test(const Expression& expression, Term& result);
    bool make(const Expression& expression, Term& result);
    bool connect(const Expression& expression, Term& result);
    bool compare(Operator op, Term a, Term b, Term& result);
    bool compute(Operator op, Term a, Term b, Term& result);
    bool compute_small(Operator op, std::int64_t x, std::int64_t y, Term& result);
    bool compute_real(Operator op, Term a, Term b, Term& result);
    bool compute_large(Operator op, Term a, Term b, Term& result);
    bool shift(Term a, Term by, bool left, Term& result);
    bool real(double value, Term& result);
    bool inspect(Operator op, Term a, Term& result);
    bool take_apart(Operator op, Term a, Term b, Term& result);
    Term number_of(Term term);

    const SymbolicMachine& machine_;
    const std::vector<Term>& slots_;
    std::vector<std::vector<Part>> parts_;  // by node
    Arena* arena_ = nullptr;
    EventId event_ = 0;
    Origin* origin_ = nullptr;
    std::vector<Term> values_;  // for a test
};

}  // namespace mopsus
