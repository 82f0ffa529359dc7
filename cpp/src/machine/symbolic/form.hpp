// What has to be waited for next, once a node is reached: connectives and fixed points are resolved beforehand, so that
// only modalities are left. Each with the fixed points that lie on the way to it.
#pragma once

#include <cstdint>
#include <vector>

#include "mopsus/machine/symbolic.hpp"

namespace mopsus {

struct Form {
    enum class Kind : std::uint8_t { True, False, Leaf, And, Or };
    Kind kind = Kind::True;
    bool again = false;                // some of `unfolded` was entered again
    SymbolicMachine::Number node = 0;  // of a Leaf
    std::uint32_t unfolded = 0;        // which fixed points, by number; of leaves and truths
    std::vector<Form> parts;  // of And and Or, which have at least two, none of them a truth or of the same kind
};

class Forms {
public:
    using Number = SymbolicMachine::Number;

    explicit Forms(const SymbolicMachine& machine);

    const Form& at(Number node) const { return forms_[node]; }
    bool has_or() const { return has_or_; }  // in any that can be reached
    // Lists of nodes of fixed points, numbered; the first is empty.
    const std::vector<std::vector<Number>>& unfoldings() const { return unfoldings_; }

private:
    void visit(const SymbolicMachine& machine, Number node);
    std::vector<Form> forms_;
    std::vector<bool> known_;
    std::vector<std::vector<Number>> unfoldings_{{}};
    bool has_or_ = false;
};

}  // namespace mopsus
