// Runs symbolic machines with `or`: the state of an instance is a combination of obligations by `and` and `or`.
//
// Combinations of all instances share their parts: equal ones are one item. They are flat (no `and` directly in an
// `and`), have no part twice, and no part that another one makes superfluous (`a and (a or b)` is `a`).
#pragma once

#include "mopsus/engine/storage.hpp"
#include "runner.hpp"

namespace mopsus {

class TreeRunner final : public SymbolicRunner {
public:
    explicit TreeRunner(const SymbolicMachine& machine);
    ~TreeRunner() override;

    Word begin() override;
    Word copy(Word state) override;
    void end(Word state) override;
    Word step(Word state, EventId event, Origin& origin) override;
    std::optional<bool> holds(Word state) override;
    void transfer(Archive& archive, Word state) override;
    std::size_t bytes() const override;

    // How many obligations a state has.
    std::size_t obligations(Word state);

private:
    using Id = std::uint32_t;
    static constexpr Id kFalse = 0;
    static constexpr Id kTrue = 1;
    using Kind = Form::Kind;

    struct Item {
        Kind kind = Kind::False;
        bool fitted = false;  // in this step
        std::uint32_t owners = 0;
        std::uint32_t hash = 0;
        std::uint32_t depth = 0;
        Number node = 0;  // of a Leaf, with the next two
        Chains::Id chain = 0;
        std::vector<Term> values;  // of the variables that it needs
        std::vector<Id> parts;     // of And and Or, sorted
        std::uint32_t turn = 0;    // when it was last looked at, and what came out
        Id result = 0;
    };
    enum class Phase : std::uint8_t { Free, First, Running, Decided };
    struct State {
        Phase phase = Phase::Free;
        Id root = kTrue;
    };
    struct Exhausted {};

    // Each of these gives an item that its receiver owns.
    Id take(Kind kind);
    Id leaf(Number node, std::vector<Term>& values, Chains::Id chain);
    Id join(Kind kind, std::vector<Id>& parts, std::size_t from);
    Id intern_join(Kind kind, const Id* parts, std::size_t count);
    Id instantiate(const Form& form, Chains::Id before, Number modality);
    Id advance(Id id, EventId event);
    Id advance_leaf(Id id, EventId event);

    void share(Id id) {
        if (id > kTrue) ++items_[id].owners;
    }
    void release(Id id);
    void free_item(Id id);
    bool is_superfluous(Id part, const std::vector<Id>& among) const;
    Word decide(Word state, std::uint8_t verdict);
    Word settle(Word state, Id root);
    void explain_result(Id root, Id result);
    void collect_decisive(Id id, Id result, std::vector<Id>& found) const;
    template <class Visit>
    void each_item(Id root, Visit&& visit);
    Id read_item(Archive& archive, const std::vector<Id>& known);
    Word step_first(Word state, EventId event, Origin& origin);
    Word new_state();

    std::vector<Item> items_;
    std::vector<Id> free_items_;
    Index index_;
    std::vector<State> states_;
    std::vector<Word> free_states_;
    std::uint32_t turn_ = 0;
    std::size_t leaves_ = 0;   // looked at in this step
    std::size_t looked_ = 0;   // leaves and joins
    std::vector<Id> results_;  // of this step, owned until its end
    std::vector<Id> parts_;    // a stack
    std::vector<Id> flat_;     // of the join that is being made
    std::vector<Id> gone_;     // are being freed
    std::vector<Term> values_;
    std::size_t kept_ = 0;
};

}  // namespace mopsus
