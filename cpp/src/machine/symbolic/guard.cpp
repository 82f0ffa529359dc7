#include "guard.hpp"

#include <cmath>

#include "machine/bigint.hpp"

namespace mopsus {

namespace {

const Term kTrue = Term::boolean(true);
const Term kFalse = Term::boolean(false);
constexpr std::size_t kMostBits = std::size_t{1} << 16;  // of an integer that a guard makes

bool is_integer(Term term) { return term.type() == TermType::Integer; }
bool is_number(Term term) { return is_integer(term) || term.type() == TermType::Float; }
double as_double(Term number) {
    if (number.is_small()) return static_cast<double>(number.small());
    return number.type() == TermType::Float ? number.real() : BigInt(number).to_double();
}

std::size_t count_characters(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80 ? 1 : 0;
    return count;
}

}  // namespace

Guards::Guards(const SymbolicMachine& machine, const std::vector<Term>& slots) : machine_(machine), slots_(slots) {
    for (const SymbolicMachine::Node& node : machine.nodes) {
        std::vector<Part>& parts = parts_.emplace_back();
        for (const std::vector<Number>& alternative : node.guard)
            for (std::size_t k = 0; k < alternative.size(); ++k)
                parts.push_back(make_part(alternative[k], k + 1 == alternative.size()));
    }
}

Guards::Part Guards::make_part(Number number, bool last) const {
    const Expression& expression = machine_.expressions[number];
    Part part;
    part.last = last;
    part.op = expression.op;
    part.expression = number;
    part.is_comparison = expression.op >= Operator::Equal && expression.op <= Operator::AtLeast;
    for (std::size_t k = 0; part.is_comparison && k < 2; ++k) {
        const Expression& operand = machine_.expressions[expression.operands[k]];
        if (operand.op == Operator::Slot)
            part.operands[k].slot = static_cast<std::int32_t>(operand.number);
        else if (operand.op == Operator::Constant)
            part.operands[k].constant = operand.value;
        else
            part.is_comparison = false;
    }
    return part;
}

bool Guards::holds(Number node, Arena& arena, EventId event, Origin& origin) {
    arena_ = &arena;
    event_ = event;
    origin_ = &origin;
    bool all = true;
    for (const Part& part : parts_[node]) {
        all = all && is_true(part);
        if (!part.last) continue;
        if (all) return true;
        all = true;
    }
    return false;
}

bool Guards::is_true(const Part& part) {
    Term result;
    if (!part.is_comparison) return evaluate(part.expression, result) && result == kTrue;
    const Term a = value(part.operands[0]);
    const Term b = value(part.operands[1]);
    if (a.is_nothing() || b.is_nothing()) return false;
    if (!a.is_small() || !b.is_small()) return compare(part.op, a, b, result) && result == kTrue;
    const std::int64_t x = a.small();
    const std::int64_t y = b.small();
    switch (part.op) {
        case Operator::Less: return x < y;
        case Operator::AtMost: return x <= y;
        case Operator::Greater: return x > y;
        case Operator::AtLeast: return x >= y;
        case Operator::NotEqual:
        case Operator::NotExactly: return x != y;
        default: return x == y;
    }
}

bool Guards::evaluate(Number number, Term& result) {
    const Expression& expression = machine_.expressions[number];
    switch (expression.op) {
        case Operator::Slot: result = slots_[expression.number]; return !result.is_nothing();
        case Operator::Constant: result = expression.value; return true;
        case Operator::Test: return evaluate_test(expression, result);
        case Operator::Tuple:
        case Operator::List:
        case Operator::Cons: return make(expression, result);
        case Operator::And:
        case Operator::Or:
        case Operator::Xor:
        case Operator::Not:
        case Operator::AndAlso:
        case Operator::OrElse: return connect(expression, result);
        default: break;
    }
    Term a;
    Term b;
    if (!evaluate(expression.operands[0], a)) return false;
    if (expression.operands.size() > 1 && !evaluate(expression.operands[1], b)) return false;
    if (expression.op >= Operator::Equal && expression.op <= Operator::AtLeast)
        return compare(expression.op, a, b, result);
    if (expression.op >= Operator::IsInteger && expression.op <= Operator::IsMap)
        return inspect(expression.op, opened(a, *arena_), result);
    if (expression.op >= Operator::Length) return take_apart(expression.op, opened(a, *arena_), b, result);
    return compute(expression.op, number_of(a), expression.operands.size() > 1 ? number_of(b) : Term::small(0), result);
}

bool Guards::evaluate_test(const Expression& expression, Term& result) {
    const SymbolicMachine::TestCall& call = machine_.tests[expression.number];
    values_.clear();
    for (const Number slot : call.slots) values_.push_back(slots_[slot]);
    const std::optional<bool> held = call.test->holds(values_.data(), values_.size(), event_, *origin_);
    result = held.value_or(false) ? kTrue : kFalse;
    return held.has_value();
}

bool Guards::make(const Expression& expression, Term& result) {
    const std::size_t count = expression.operands.size();
    Term* items = arena_->terms(count);
    for (std::size_t k = 0; k < count; ++k)
        if (!evaluate(expression.operands[k], items[k])) return false;
    if (expression.op == Operator::Tuple) {
        result = arena_->tuple(items, count);
    } else if (expression.op == Operator::List) {
        result = arena_->list(items, count);
    } else {
        const Term rest = opened(items[count - 1], *arena_);
        if (rest.type() != TermType::List) return false;
        Term* all = arena_->terms(count - 1 + rest.size());
        std::copy(items, items + count - 1, all);
        std::copy(rest.items(), rest.items() + rest.size(), all + count - 1);
        result = arena_->list(all, count - 1 + rest.size());
    }
    return true;
}

bool Guards::evaluate_boolean(Number expression, bool& result) {
    Term term;
    if (!evaluate(expression, term)) return false;
    result = term == kTrue;
    return term == kTrue || term == kFalse;
}

bool Guards::connect(const Expression& expression, Term& result) {
    bool a = false;
    bool b = false;
    if (!evaluate_boolean(expression.operands[0], a)) return false;
    switch (expression.op) {
        case Operator::Not: result = Term::boolean(!a); return true;
        case Operator::AndAlso: result = kFalse; return !a || evaluate(expression.operands[1], result);
        case Operator::OrElse: result = kTrue; return a || evaluate(expression.operands[1], result);
        default: break;
    }
    if (!evaluate_boolean(expression.operands[1], b)) return false;
    result = Term::boolean(expression.op == Operator::And ? a && b : expression.op == Operator::Or ? a || b : a != b);
    return true;
}

bool Guards::compare(Operator op, Term a, Term b, Term& result) {
    bool holds = false;
    switch (op) {
        case Operator::Exactly: holds = exactly_equal(a, b, *arena_); break;
        case Operator::NotExactly: holds = !exactly_equal(a, b, *arena_); break;
        case Operator::Equal: holds = loosely_equal(a, b, *arena_); break;
        case Operator::NotEqual: holds = !loosely_equal(a, b, *arena_); break;
        default: {
            const std::optional<int> order = mopsus::compare(a, b, *arena_, !machine_.erlang_order);
            if (!order) return false;
            holds = op == Operator::Less      ? *order < 0
                    : op == Operator::AtMost  ? *order <= 0
                    : op == Operator::Greater ? *order > 0
                                              : *order >= 0;
        }
    }
    result = holds ? kTrue : kFalse;
    return true;
}

Term Guards::number_of(Term term) {
    const Term open = opened(term, *arena_);
    return open.type() == TermType::Enum ? opened(open.items()[1], *arena_) : open;
}

bool Guards::real(double value, Term& result) {
    if (!std::isfinite(value)) return false;
    result = arena_->real(value);
    return true;
}

// One operand counts as the first of two.
bool Guards::compute(Operator op, Term a, Term b, Term& result) {
    if (!is_number(a) || !is_number(b)) return false;
    if (a.is_small() && b.is_small() && compute_small(op, a.small(), b.small(), result)) return true;
    if (op == Operator::Divide) return as_double(b) != 0 && real(as_double(a) / as_double(b), result);
    return is_integer(a) && is_integer(b) ? compute_large(op, a, b, result) : compute_real(op, a, b, result);
}

// The quick way, for what nearly all guards compute. False: this is not for here. A small integer has a few bits less
// than a word, so only a product can leave that.
bool Guards::compute_small(Operator op, std::int64_t x, std::int64_t y, Term& result) {
    std::int64_t found = 0;
    switch (op) {
        case Operator::Add: result = arena_->integer(x + y); return true;
        case Operator::Subtract: result = arena_->integer(x - y); return true;
        case Operator::Multiply:
            if (__builtin_mul_overflow(x, y, &found)) return false;
            result = arena_->integer(found);
            return true;
        case Operator::Quotient:
            if (y == 0) return false;
            result = arena_->integer(x / y);
            return true;
        case Operator::Remainder:
            if (y == 0) return false;
            result = Term::small(x % y);
            return true;
        case Operator::BitAnd: result = Term::small(x & y); return true;
        case Operator::BitOr: result = Term::small(x | y); return true;
        case Operator::BitXor: result = Term::small(x ^ y); return true;
        case Operator::BitNot: result = Term::small(~x); return true;
        case Operator::Plus: result = Term::small(x); return true;
        case Operator::Minus: result = arena_->integer(-x); return true;
        case Operator::Abs: result = arena_->integer(x < 0 ? -x : x); return true;
        default: return false;
    }
}

// One of the two, at least, is a float.
bool Guards::compute_real(Operator op, Term a, Term b, Term& result) {
    switch (op) {
        case Operator::Add: return real(as_double(a) + as_double(b), result);
        case Operator::Subtract: return real(as_double(a) - as_double(b), result);
        case Operator::Multiply: return real(as_double(a) * as_double(b), result);
        case Operator::Plus: result = a; return true;
        case Operator::Minus: return real(-as_double(a), result);
        case Operator::Abs: return real(std::fabs(as_double(a)), result);
        default: return false;  // the others are for integers
    }
}

bool Guards::compute_large(Operator op, Term a, Term b, Term& result) {
    if (op == Operator::ShiftLeft || op == Operator::ShiftRight) return shift(a, b, op == Operator::ShiftLeft, result);
    const BigInt x(a);
    const BigInt y(b);
    BigInt found;
    BigInt rest;
    switch (op) {
        case Operator::Add: found = x + y; break;
        case Operator::Subtract: found = x - y; break;
        case Operator::Multiply: found = x * y; break;
        case Operator::Quotient:
        case Operator::Remainder:
            if (y.is_zero()) return false;
            BigInt::divide(x, y, found, rest);
            if (op == Operator::Remainder) found = rest;
            break;
        case Operator::BitAnd: found = BigInt::bitwise(BigInt::Bitwise::And, x, y); break;
        case Operator::BitOr: found = BigInt::bitwise(BigInt::Bitwise::Or, x, y); break;
        case Operator::BitXor: found = BigInt::bitwise(BigInt::Bitwise::Xor, x, y); break;
        case Operator::BitNot: found = -x - BigInt(1); break;
        case Operator::Plus: found = x; break;
        case Operator::Minus: found = -x; break;
        case Operator::Abs: found = x.negative() ? -x : x; break;
        default: return false;
    }
    result = found.to_term(*arena_);
    return true;
}

bool Guards::shift(Term a, Term by, bool left, Term& result) {
    if (!by.is_small()) return false;
    const std::int64_t places = left ? by.small() : -by.small();
    const BigInt x(a);
    if (places > 0 && x.bits() + static_cast<std::size_t>(places) > kMostBits) return false;
    result = (places >= 0 ? x.shifted_left(static_cast<std::size_t>(places))
                          : x.shifted_right(static_cast<std::size_t>(-places)))
                 .to_term(*arena_);
    return true;
}

bool Guards::inspect(Operator op, Term a, Term& result) {
    const TermType type = a.type();
    bool is = false;
    switch (op) {
        case Operator::IsInteger: is = type == TermType::Integer; break;
        case Operator::IsFloat: is = type == TermType::Float; break;
        case Operator::IsNumber: is = is_number(a); break;
        case Operator::IsAtom:
            is = type == TermType::Atom || type == TermType::Text || type == TermType::None || type == TermType::Enum;
            break;
        case Operator::IsBoolean: is = a == kTrue || a == kFalse; break;
        case Operator::IsList: is = type == TermType::List || type == TermType::String; break;
        case Operator::IsTuple: is = type == TermType::Tuple; break;
        case Operator::IsBinary: is = type == TermType::Binary; break;
        case Operator::IsPid: is = type == TermType::Pid; break;
        case Operator::IsReference: is = type == TermType::Reference; break;
        default: is = type == TermType::Map; break;
    }
    result = is ? kTrue : kFalse;
    return true;
}

bool Guards::take_apart(Operator op, Term a, Term b, Term& result) {
    const TermType type = a.type();
    switch (op) {
        case Operator::Length:
            if (type == TermType::String || type == TermType::Text)
                result = Term::small(static_cast<std::int64_t>(count_characters(a.bytes())));
            else
                result = Term::small(static_cast<std::int64_t>(a.size()));
            return type == TermType::List || type == TermType::String || type == TermType::Text;
        case Operator::TupleSize:
            if (type != TermType::Tuple) return false;
            result = Term::small(static_cast<std::int64_t>(a.size()));
            return true;
        case Operator::Head:
            if (type != TermType::List || a.size() == 0) return false;
            result = a.items()[0];
            return true;
        case Operator::Tail:
            if (type != TermType::List || a.size() == 0) return false;
            result = arena_->list(a.items() + 1, a.size() - 1);
            return true;
        default: break;
    }
    // element(N, Tuple)
    const Term tuple = opened(b, *arena_);
    if (!a.is_small() || tuple.type() != TermType::Tuple || a.small() < 1 ||
        static_cast<std::uint64_t>(a.small()) > tuple.size())
        return false;
    result = tuple.items()[a.small() - 1];
    return true;
}

}  // namespace mopsus
