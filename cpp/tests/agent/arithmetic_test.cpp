// What the agent computes is what integers without a largest one give, or nothing at all.
#include "agent/arithmetic.hpp"

#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "../check.hpp"

using namespace mopsus::agent;

namespace {

__extension__ using Wide = __int128;
using Answer = std::optional<Wide>;  // nothing: it cannot be told

constexpr std::uint32_t kGivenUp = 77;
constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();

// Code of random expressions, and what comes out of each.
class Maker {
public:
    explicit Maker(unsigned seed) : random_(seed) {
        for (std::uint64_t& value : values) value = static_cast<std::uint64_t>(number());
        for (std::uint64_t& variable : variables) variable = static_cast<std::uint64_t>(number());
        unfit = random_() % 8 == 0 ? 1U << random_() % values.size() : 0;
        variables[0] = random_() % 8 == 0 ? random_() % 8 : 7;
    }

    std::vector<Instruction> code;
    std::array<std::uint64_t, 3> values{};
    std::array<std::uint64_t, 4> variables{};
    std::uint64_t unfit;

    Answer expression(int depth) {
        if (depth == 0) return leaf();
        switch (random_() % 5) {
            case 0: return leaf();
            case 1: return choice(depth);
            case 2: return either(depth);
            case 3: {
                const Answer inner = expression(depth - 1);
                emit(Operation::Not);
                return inner ? Answer(*inner == 0) : inner;
            }
            default: return pair(depth);
        }
    }

private:
    std::int64_t number() {
        static constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
        static constexpr std::int64_t kNumbers[] = {
            0, 0, 1, 1, 2, -1, 3, kEnd, -kEnd - 1, kEnd / 2, std::int64_t{1} << 32};
        return kNumbers[random_() % std::size(kNumbers)];
    }

    std::size_t emit(Operation operation, std::int64_t operand = 0) {
        code.push_back({operation, operand});
        return code.size() - 1;
    }
    void land(std::size_t jump) { code[jump].operand = static_cast<std::int64_t>(code.size() - jump - 1); }

    Answer leaf() {
        const auto place = static_cast<std::int64_t>(random_() % 3);
        const auto at = static_cast<std::size_t>(place);
        switch (random_() % 3) {
            case 0: {
                const std::int64_t given = number();
                emit(Operation::Number, given);
                return given;
            }
            case 1:
                emit(Operation::Value, place);
                return (unfit >> at & 1) != 0 ? Answer() : Answer(static_cast<std::int64_t>(values[at]));
            default:
                emit(Operation::Variable, place);
                return (variables[0] >> at & 1) == 0 ? Answer() : Answer(static_cast<std::int64_t>(variables[at + 1]));
        }
    }

    Answer pair(int depth) {
        const Answer left = expression(depth - 1);
        const Answer right = expression(depth - 1);
        const auto operation = static_cast<Operation>(static_cast<std::int64_t>(Operation::Add) +
                                                      static_cast<std::int64_t>(random_() % 9));
        emit(operation);
        if (!left || !right) return {};
        const Wide result = [&]() -> Wide {
            switch (operation) {
                case Operation::Add: return *left + *right;
                case Operation::Subtract: return *left - *right;
                case Operation::Multiply: return *left * *right;
                case Operation::Less: return *left < *right;
                case Operation::AtMost: return *left <= *right;
                case Operation::Greater: return *left > *right;
                case Operation::AtLeast: return *left >= *right;
                case Operation::Equal: return *left == *right;
                default: return *left != *right;
            }
        }();
        return result > kMost || result < -kMost - 1 ? Answer() : Answer(result);
    }

    // `and` and `or`.
    Answer either(int depth) {
        const bool both = random_() % 2 == 0;
        const Answer first = expression(depth - 1);
        const std::size_t jump = emit(both ? Operation::JumpIfFalseOrDrop : Operation::JumpIfTrueOrDrop);
        const Answer second = expression(depth - 1);
        land(jump);
        return !first || (*first != 0) != both ? first : second;
    }

    Answer choice(int depth) {
        const Answer test = expression(depth - 1);
        const std::size_t otherwise = emit(Operation::JumpIfFalse);
        const Answer one = expression(depth - 1);
        const std::size_t end = emit(Operation::Jump);
        land(otherwise);
        const Answer other = expression(depth - 1);
        land(end);
        if (!test) return {};
        return *test != 0 ? one : other;
    }

    std::mt19937 random_;
};

TEST(agent_computes_as_integers_without_end_do) {
    int told = 0;
    for (unsigned seed = 0; seed < 20'000; ++seed) {
        Maker maker(seed);
        const Answer expected = maker.expression(4);
        maker.code.push_back({Operation::Assign, 2});
        maker.code.push_back({Operation::End, 5});
        auto variables = maker.variables;
        const std::uint32_t result =
            compute(maker.code.data(), {maker.values.data(), maker.unfit, variables.data()}, kGivenUp);
        REQUIRE(result == (expected ? 5 : kGivenUp));
        if (!expected) continue;
        ++told;
        REQUIRE(variables[0] == (maker.variables[0] | 4) &&
                variables[3] == static_cast<std::uint64_t>(static_cast<std::int64_t>(*expected)));
        REQUIRE(variables[1] == maker.variables[1] && variables[2] == maker.variables[2]);
    }
    REQUIRE(told > 10'000);
}

}  // namespace
