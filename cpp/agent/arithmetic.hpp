// What guards and blocks of a property compute, as far as it is about integers: a small machine with a stack of words.
//
// `mopsus/interactive/arithmetic.py` makes the code. Jumps go forward only, so it always ends, and it never needs more
// of the stack than there is. Python's integers have no largest one: where a word is too small, or a variable has no
// value that fits into one, the code is given up, and Python decides.
#pragma once

#include <cstdint>

namespace mopsus::agent {

constexpr std::uint32_t kMostVariables = 8;
constexpr std::uint32_t kMostWords =
    kMostVariables + 1;  // of an instance: bits that say which variables have a value here, and the values
constexpr std::uint32_t kDeepest = 16;

enum class Operation : std::int64_t {
    GiveUp,
    End,  // with what comes out
    Number,
    Value,
    Variable,
    Assign,
    Jump,
    JumpIfFalse,
    JumpIfFalseOrDrop,  // the word stays if it jumps
    JumpIfTrueOrDrop,
    Not,
    Add,
    Subtract,
    Multiply,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Different,
    Truth,  // a number that is a truth value
};

struct Instruction {
    Operation operation;
    std::int64_t operand;
};

// What the code can see. A bit of `unfit` is for a value that is too large to be a number with a sign.
struct Sight {
    const std::uint64_t* values;
    std::uint64_t unfit;
    std::uint64_t* variables;
};

// Two numbers into one; false if that does not fit into a word.
inline bool combine(Operation operation, std::int64_t left, std::int64_t right, std::int64_t& result) {
    switch (operation) {
        case Operation::Add: return !__builtin_add_overflow(left, right, &result);
        case Operation::Subtract: return !__builtin_sub_overflow(left, right, &result);
        case Operation::Multiply: return !__builtin_mul_overflow(left, right, &result);
        case Operation::Less: result = left < right; return true;
        case Operation::AtMost: result = left <= right; return true;
        case Operation::Greater: result = left > right; return true;
        case Operation::AtLeast: result = left >= right; return true;
        case Operation::Equal: result = left == right; return true;
        case Operation::Different: result = left != right; return true;
        default: return false;
    }
}

constexpr bool is_comparison(Operation operation) {
    return operation >= Operation::Less && operation <= Operation::Different;
}

// Nobody asks which words are truth values, and which variables are about to be assigned. Words are told by their place
// in the stack.
struct Untagged {
    void push(std::int64_t /*place*/, bool /*truth*/) {}
    void push_value(std::int64_t /*place*/, std::int64_t /*value*/) {}
    void push_variable(std::int64_t /*place*/, std::int64_t /*variable*/) {}
    void assign(std::int64_t /*place*/, std::int64_t /*variable*/) {}
};

// What comes out, or `otherwise` if the code is given up: then the variables are of no use.
template <class Tags = Untagged>
std::uint32_t compute(const Instruction* at, const Sight& sight, std::uint32_t otherwise, Tags&& tags = {}) {
    std::int64_t stack[kDeepest];
    std::int64_t* top = stack;  // behind the last word
    for (;;) {
        const auto [operation, operand] = *at++;
        switch (operation) {
            case Operation::GiveUp: return otherwise;
            case Operation::End: return static_cast<std::uint32_t>(operand);
            case Operation::Number:
            case Operation::Truth:
                tags.push(top - stack, operation == Operation::Truth);
                *top++ = operand;
                break;
            case Operation::Value:
                if ((sight.unfit >> operand & 1) != 0) return otherwise;
                tags.push_value(top - stack, operand);
                *top++ = static_cast<std::int64_t>(sight.values[operand]);
                break;
            case Operation::Variable:
                if ((sight.variables[0] >> operand & 1) == 0) return otherwise;
                tags.push_variable(top - stack, operand);
                *top++ = static_cast<std::int64_t>(sight.variables[operand + 1]);
                break;
            case Operation::Assign:
                --top;
                tags.assign(top - stack, operand);
                sight.variables[0] |= std::uint64_t{1} << operand;
                sight.variables[operand + 1] = static_cast<std::uint64_t>(*top);
                break;
            case Operation::Jump: at += operand; break;
            case Operation::JumpIfFalse:
                if (*--top == 0) at += operand;
                break;
            case Operation::JumpIfFalseOrDrop:
            case Operation::JumpIfTrueOrDrop:
                if ((top[-1] != 0) == (operation == Operation::JumpIfTrueOrDrop))
                    at += operand;
                else
                    --top;
                break;
            case Operation::Not:
                top[-1] = top[-1] == 0;
                tags.push(top - 1 - stack, true);
                break;
            default:
                if (!combine(operation, top[-2], top[-1], top[-2])) return otherwise;
                --top;
                tags.push(top - 1 - stack, is_comparison(operation));
        }
    }
}

}  // namespace mopsus::agent
