// The engine of guarded machines: an instance (a *slice*) for more parameters than another begins as a copy of it.
//
// An event is taken by every slice that binds its values, and maybe more. If there is none, one is made for exactly
// these values: a copy of the slice that binds most of them, in the end of the root, which binds nothing. The slices of
// each property form a forest of their own. A *leaf* is what is known about a combination of values: its exact slice,
// and the list of the more specific ones in the order in which they were made. Leaves over one parameter lie in the
// slot of the value.
#pragma once

#include "mopsus/engine/engine.hpp"
#include "mopsus/machine/guarded.hpp"
#include "mopsus/engine/history.hpp"

namespace mopsus {

class InheritEngine final : public Engine {
public:
    static bool fits(const Program& program);
    InheritEngine(const Program& program, Listener& listener);
    ~InheritEngine() override;

    void begin() override;
    void step(EventId event, const Slot* slots, Origin& origin) override;
    bool inserts(EventId event) const override { return plans_[event].creates || disturbed_; }
    void forget(unsigned p, Slot slot) override;
    bool reset(InstanceRef instance, bool reported) override;
    std::size_t bytes() const override;
    void each_instance(const Visit& visit) override;
    void each_slice(const std::function<void(const Slice&)>& visit) override;
    bool put(InstanceRef instance, std::uint32_t state) override;
    std::vector<std::vector<bool>> occupied() override;
    void transfer(Archive& archive) override;

    // For the commonest case, a program of one parameter and one property without history: the slice of exactly this
    // value takes the event, if that has no consequences beyond its state. Else nothing is done.
    bool is_small() const { return program_.parameters == 1 && forests_.size() == 1 && !history_.on(); }
    bool step_quietly(EventId event, Slot slot) {
        Forest& forest = forests_[0];
        const Id id = domains_[0]->extra(slot)[kExact];
        if (id == kNil) return false;
        Machine::State& state = at(forest, id)[kState];
        const Machine::State after = forest.cells[state * plans_.size() + event].quiet;
        if (after == Machine::kStay) return false;
        if (after == state) return true;
        --forest.population[state];
        ++forest.population[after];
        state = after;
        return true;
    }

    // ---- for whoever knows what becomes of slices: programs of one property whose events bind all parameters, one at
    // the most ----
    using Id = std::uint32_t;
    using State = GuardedMachine::State;
    bool is_exact() const;
    std::size_t states() const { return forests_[0].machine->states.size(); }
    // The slice of exactly this value, of the root's without one; kNil: there is none.
    Id exact(Slot slot) const { return slot == kNil ? forests_[0].root : domains_[0]->extra(slot)[kExact]; }
    State state_of(Id slice) const { return at(forests_[0], slice)[kState]; }
    std::uint64_t variables_of(Id slice) const { return user_of(forests_[0], slice); }
    // Makes it, as a copy of the root.
    Id make_copy(Slot slot);
    // It takes a transition to a state that nobody hears of, and all else that this does is done already. What it has
    // to remember of that is up to the caller.
    void follow(Id slice, State after);
    const History& history() const { return history_; }
    void remember(Id slice, EventId event, const Stamp& stamp);

private:
    using Machine = GuardedMachine;
    using Values = std::array<Slot, kMaxParameters>;  // by parameter; 0 where unbound

    enum LeafWord : std::uint32_t { kExact, kFirst, kLast, kLeafWords };
    struct LeafKind {
        Mask mask = 0;
        std::vector<std::uint8_t> parameters;
        std::uint32_t links = 0;  // where a more specific slice has its place in the list; 0: there is no list
        bool single() const { return parameters.size() == 1; }
    };
    struct Plan {  // of an event
        Mask mask = 0;
        unsigned leaf = 0;  // a leaf kind
        std::vector<unsigned>
            ancestors;         // leaf kinds of slices that it may extend, best first; the root is not among them
        bool creates = false;  // may it make a slice?
    };
    struct Cell {                 // of a state and an event
        std::uint32_t first = 0;  // in `Forest::transitions`
        std::uint32_t count = 0;
        // Where it leads, if the event has values, and nobody is asked, nothing runs and nothing is reported.
        Machine::State quiet = Machine::kStay;
    };
    struct Known {  // a transition, and which of its state's it is
        const Machine::Transition* transition;
        std::uint32_t number;
    };
    struct Forest {
        const Machine* machine = nullptr;
        std::uint16_t property = 0;
        Id root = kNil;
        std::vector<Known> transitions;         // by state and event, in order
        std::vector<Cell> cells;                // [state * events + event]
        std::vector<bool> hears;                // by state: can an event without parameters still be taken?
        std::vector<std::uint32_t> population;  // by state
        Pool slices;
        std::array<std::uint32_t, kLeafWords> everything{};  // the leaf over no parameters
        std::vector<Pool> leaves;                            // by leaf kind; for those over several parameters
        std::vector<Index> indexes;
    };
    struct Choice {
        const Known* known = nullptr;  // the transition to take, if any
        bool success = true;
        bool relevant = false;  // did any guard not say that the event is to be ignored?
    };
    struct Turn {
        const Occasion& occasion;
        bool taken = false;
        std::vector<Change> changes;
        std::vector<Report> reports;
    };

    void lay_out();
    void lay_out(Forest& forest);
    static Machine::State quiet_target(const Machine& machine, Machine::State from, const Known& first);

    std::uint32_t* leaf_at(Forest& forest, unsigned kind, const Values& values);
    std::uint32_t* make_leaf(Forest& forest, unsigned kind, const Values& values);
    void drop_if_empty(Forest& forest, unsigned kind, const Values& values);
    std::uint32_t hash_of(const LeafKind& kind, const Values& values) const;
    Values values_of(const Forest& forest, Id id) const;
    Mask mask_of(const Forest& forest, Id id) const;

    std::uint32_t* at(const Forest& forest, Id id) const { return forest.slices.at(id); }
    std::uint64_t user_of(const Forest& forest, Id id) const {
        return variables_ ? Domain::load64(at(forest, id) + kUser) : 0;
    }
    Id add(Forest& forest, const Values& values, Machine::State state, Id parent);
    void remove(Forest& forest, Id id);
    void move(Forest& forest, Id id, Machine::State state);
    bool alive(const Forest& forest, Id id) const;
    bool unused(unsigned p, Slot slot);

    void take(Forest& forest, Turn& turn);
    Id copy(Forest& forest, const Values& values, Id parent);
    Id nearest(Forest& forest, const Plan& plan, const Values& values);
    Choice choose(const Forest& forest, Id id, const Occasion& occasion);
    void advance(Forest& forest, Id id, const Choice& choice, Turn& turn);
    void compact_history();
    std::vector<Value> report_values(const Forest& forest, Id id) const;
    InstanceRef ref(const Forest& forest, Id id) { return {this, forest.property, id, at(forest, id)[kSerial]}; }
    Forest* present(InstanceRef instance);
    using Places = std::vector<Slot>;  // see transfer.hpp
    std::uint64_t transfer_forest(Archive& archive, const std::vector<Places>& places, Forest& forest);
    Values transfer_values(Archive& archive, const std::vector<Places>& places, Values values);
    void check_new(Forest& forest, const Values& values);

    // The words of a slice; its values follow, and then a pair of links for each list that it may be in. The pool's
    // word of a free record is the serial number, so whoever looks must ask `kPresent`.
    enum SliceWord : std::uint32_t {
        kSerial,
        kPresent,
        kState,
        kPast,
        kUser,
        kParent = 6,
        kParentSerial,
        kSliceValues
    };

    std::vector<LeafKind> leaf_kinds_;  // the first is the one over no parameters
    std::vector<Plan> plans_;
    std::vector<Forest> forests_;
    std::vector<unsigned> singles_;  // the leaf kind of each parameter
    std::uint32_t slice_words_ = kSliceValues;
    std::uint32_t serials_ = 0;
    bool variables_ = false;
    bool begun_ = false;      // roots are made when they are first needed
    bool disturbed_ = false;  // was a slice put anywhere by hand? Then any event may make one
    History history_;
};

}  // namespace mopsus
