// Boolean functions of atoms as decision diagrams, and as sums of products.
//
// Variables are numbered by time, so the layers of an EHE are such a diagram already, of linear size. A sum of products
// can be exponentially larger; it is itself kept as a shared diagram (a cover), so that its size is known before it is
// written out.
#pragma once

#include <cstdint>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace mopsus::decentral {

class Formulas {
public:
    using Formula = std::uint32_t;
    using Cover = std::uint32_t;
    using Variable = std::uint64_t;
    struct Literal {
        Variable variable;
        bool value;
    };

    static constexpr Formula kFalse = 0;
    static constexpr Formula kTrue = 1;

    // The function that is `low` where the variable is false; both ask only for later variables.
    Formula make(Variable variable, Formula low, Formula high);
    // The variables that a function depends on, in their order.
    std::vector<Variable> support(Formula formula) const;

    // An irredundant sum of products (Minato and Morreale). `Error` if the function is too deep for it.
    Cover cover(Formula formula);
    // How many products; as large as the type allows if there are more.
    std::uint64_t products(Cover cover) const;
    // The sum over all literals of all products; as large as the type allows if it is larger.
    std::uint64_t weigh(Cover cover, const std::function<std::uint64_t(Literal)>& weight) const;
    std::vector<std::vector<Literal>> write(Cover cover) const;

private:
    enum class Operation : std::uint8_t { And, Or, AndNot };
    struct Node {
        Variable variable;
        std::uint32_t low;
        std::uint32_t high;
    };
    // The products with the variable negated, with it, and without it.
    struct CoverNode {
        Variable variable;
        Cover low;
        Cover high;
        Cover rest;
    };
    struct Covered {
        Cover cover;
        Formula formula;
    };
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    struct Hash {
        std::size_t operator()(const Key& key) const {
            const auto& [one, two, three] = key;
            return ((one * 0x9e3779b97f4a7c15U ^ two) * 0xbf58476d1ce4e5b9U ^ three) * 0x94d049bb133111ebU >> 7;
        }
    };

    Variable top(Formula formula) const { return nodes_[formula].variable; }
    Formula apply(Operation operation, Formula one, Formula other);
    Covered between(Formula least, Formula most);
    void write(Cover cover, std::vector<Literal>& path, std::vector<std::vector<Literal>>& products) const;

    static constexpr Variable kNone = ~Variable{0};
    std::vector<Node> nodes_{{kNone, 0, 0}, {kNone, 1, 1}};
    std::unordered_map<Key, Formula, Hash> unique_;
    std::unordered_map<Key, Formula, Hash> applied_;
    // 0: no product, 1: the empty product, which is true. A node comes after those that it refers to.
    std::vector<CoverNode> covers_{{kNone, 0, 0, 0}, {kNone, 0, 0, 0}};
    std::unordered_map<Key, Covered, Hash> covered_;
};

}  // namespace mopsus::decentral
