// Formulas of modalities over events and the data that they carry.
//
// A modality waits for one event: if its patterns fit and its guard holds, what follows it must hold of the rest. What
// it waits for, with the values of the variables that it still needs, is an obligation. The state of an instance is a
// set of obligations, or a combination of them by `and` and `or`; every obligation is there once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mopsus/machine/machine.hpp"
#include "mopsus/engine/origin.hpp"
#include "mopsus/machine/term.hpp"

namespace mopsus {

struct SymbolicMachine final : Machine {
    using Number = std::uint32_t;

    struct Pattern {
        // Any fits everything; Bind fills a slot; Same is exactly equal to what a slot holds; Literal to a value.
        enum class Kind : std::uint8_t { Any, Bind, Same, Literal, Tuple, List, Map };
        Kind kind = Kind::Any;
        bool rest = false;  // of a List: the last part is for the rest
        Number slot = 0;
        Term value;                 // of a Literal; of a Tuple its class as a Text, or nothing
        std::vector<Number> parts;  // patterns; of a Map keys, which are Literals, and values in turn
    };

    enum class Operator : std::uint8_t {
        Slot,
        Constant,
        Test,  // leaves
        Tuple,
        List,
        Cons,  // of the operands; the last one of Cons is the rest
        Add,
        Subtract,
        Multiply,
        Divide,
        Quotient,
        Remainder,  // numbers
        BitAnd,
        BitOr,
        BitXor,
        BitNot,
        ShiftLeft,
        ShiftRight,  // integers
        Plus,
        Minus,
        Abs,  // one number
        And,
        Or,
        Xor,
        Not,
        AndAlso,
        OrElse,  // booleans
        Equal,
        NotEqual,
        Exactly,
        NotExactly,
        Less,
        AtMost,
        Greater,
        AtLeast,
        IsInteger,
        IsFloat,
        IsNumber,
        IsAtom,
        IsBoolean,
        IsList,
        IsTuple,
        IsBinary,
        IsPid,
        IsReference,
        IsMap,
        Length,
        TupleSize,
        Element,
        Head,
        Tail,
        kCount,
    };
    struct Expression {
        Operator op = Operator::Constant;
        Number number = 0;  // a slot or a test
        Term value;         // of a Constant
        std::vector<Number> operands;
    };
    // A predicate in another language, asked at an event. Nothing: an error in it, which it has told.
    class Test {
    public:
        virtual ~Test() = default;
        virtual std::optional<bool> holds(const Term* values, std::size_t count, EventId event, Origin& origin) = 0;
    };
    struct TestCall {
        std::shared_ptr<Test> test;
        std::vector<Number> slots;
    };
    // Alternatives, of which one must hold; it holds if every part is true. None: no guard.
    using Guard = std::vector<std::vector<Number>>;

    static constexpr std::int32_t kAnyLetter = -1;
    struct Node {
        enum class Kind : std::uint8_t { Truth, Join, Modality, Recursion, Selection };
        Kind kind = Kind::Truth;
        bool flag = false;   // true; and; a necessity; a fixed point begins here
        bool whole = false;  // one pattern for the event as a tuple
        std::int32_t letter = kAnyLetter;
        std::vector<Number> parts;  // nodes of a Join; patterns, one for each field
        Guard guard;
        Number then = 0;
        std::vector<Number> live;  // slots that a Modality, or what follows it, reads and that are filled before
    };
    // An event as a tuple, or a part of it: a field, a value, or (if it is nothing) a tuple of parts.
    struct Shape {
        std::int32_t field = -1;
        Term value;
        std::vector<Shape> parts;
    };
    enum Verdict : std::uint8_t { kRejection, kAcceptance, kInconclusive, kExhausted, kVerdicts };

    std::vector<Node> nodes;
    Number root = 0;
    Number slots = 0;
    std::vector<Pattern> patterns;
    std::vector<Expression> expressions;
    std::vector<TestCall> tests;
    std::vector<Number> fields;  // by letter, how many
    std::vector<Shape> shapes;   // by letter; empty if no modality is `whole`
    bool linear = false;
    bool first_match = false;
    bool erlang_order = true;
    Number limit = 100'000;                                          // obligations of one instance
    std::array<std::int32_t, kVerdicts> categories{-1, -1, -1, -1};  // -1: not reported
    bool restarts = false;        // somebody may start an instance over that is decided
    std::vector<Mask> alive;      // parameter sets that lead to a report
    std::vector<Term> constants;  // kept: the values above that are no words

    ~SymbolicMachine() override {
        for (const Term term : constants) drop(term);
    }
    void check(std::size_t events) const override;
    bool reads_data() const override { return true; }
    bool calls_out() const override { return !tests.empty(); }
    std::unique_ptr<Runner> runner(std::size_t events) const override;
};

}  // namespace mopsus
