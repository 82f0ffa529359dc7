// The general engine: parametric slicing by Algorithm D (enable sets and timestamps).
//
// An *instance* binds a set of parameters, its mask; instances with the same mask are of one
// kind and have records of one shape. A *leaf* is what is known about a combination of values:
// the exact instance, when it was last seen without one (`disable`), and, for each kind of more
// informative instance, the list of those that extend it. Leaves over one parameter lie in the
// slot of the value itself; leaves over several are found by a hash index. All links are
// numbers inside of the records, so that removing an instance costs the number of its lists.
#pragma once

#include <set>

#include "classes.hpp"
#include "mopsus/engine/engine.hpp"
#include "mopsus/engine/history.hpp"

namespace mopsus {

class SlicingEngine final : public Engine {
public:
    SlicingEngine(const Program& program, Listener& listener);
    ~SlicingEngine() override;

    void step(EventId event, const Slot* slots, Origin& origin) override;
    bool inserts(EventId event) const override { return plans_[event].inserts; }
    void forget(unsigned p, Slot slot) override;
    bool reset(InstanceRef instance, bool reported) override;
    std::size_t bytes() const override;
    void each_instance(const Visit& visit) override;
    void transfer(Archive& archive) override;
    void prefetch(unsigned p, Slot slot) const override {
        __builtin_prefetch(const_cast<Domain&>(*domains_[p]).extra(slot));
    }
    void prefetch_instances(unsigned p, Slot slot) override;
    bool defers(EventId event) const override { return plans_[event].defers; }
    Deferred defer() override;
    void adopt(EventId event, const Slot* slots, const Deferred& deferred) override;

    // Are there tables only, so that `step_quietly` can be of use?
    bool tabular() const { return tabular_; }
    // An event of one value that changes the state of no instance, which most are: true if it was one. Else nothing is
    // done.
    bool step_quietly(EventId event, Slot slot) {
        const Plan& plan = plans_[event];
        if (!plan.quiet) return false;
        const LeafKind& kind = *leaves_[plan.leaf_kind];
        std::uint32_t* leaf = domains_[kind.parameters[0]]->extra(slot);
        const Id exact = exact_of(kind, leaf);
        if (exact == kNone && plan.begins) return false;
        if (is_instance(exact) && !stays(static_cast<unsigned>(kind.own), exact, event)) return false;
        for (const List& list : plan.updates)
            for (Id id = leaf[list.ends]; id != kNil; id = record(list.instance_kind, id)[list.links + 1])
                if (!stays(list.instance_kind, id, event)) return false;
        if (exact == kNone && kind.stamped) Domain::store64(leaf + kind.stamp, clock_++);
        return true;
    }

private:
    using Id = std::uint32_t;
    using Values = std::array<Slot, kMaxParameters>;  // by parameter; 0 where unbound

    // A value's leaves of one kind are chained: first, and how many. Up to so many are looked through;
    // only leaves in longer chains need the index.
    enum ChainWord : std::uint32_t { kChainFirst, kChainCount, kChainWords };
    static constexpr std::uint32_t kShort = 8;

    // The exact instance of a leaf, if it is not the number of one:
    static constexpr Id kNone = 0;           // there never was one
    static constexpr Id kDone = 0xFFFFFFFF;  // there was one, which can no longer report

    struct List {  // one of a leaf's lists: where its ends lie in the leaf, and the links in the members
        unsigned instance_kind;
        std::uint32_t ends;
        std::uint32_t links;
    };
    struct LeafKind {
        Mask mask = 0;
        std::vector<std::uint8_t> parameters;
        std::vector<List> lists;
        std::uint32_t words = 0;
        // Parts that a leaf has only if they can be of use; -1 or 0 stand for none.
        int own = -1;                 // the kind of its exact instance
        std::uint32_t exact = 0;      // that instance, and behind it when its oldest ancestor was created
        std::uint32_t surpassed = 0;  // for maximal binding: has a more informative instance mattered?
        std::uint32_t stamp = 0;      // when the combination was last seen without an instance (`disable`)
        bool stamped = false;
        // Over one parameter: words after the lists.
        std::uint32_t members = 0;                               // instances that bind the value
        std::uint32_t node = 0;                                  // in `classes_`, for connected programs
        std::vector<std::pair<unsigned, std::uint32_t>> chains;  // leaf kinds over several that contain it
        // Over several, or none: a pool of their own.
        std::uint32_t key = 0;               // the slots
        std::uint32_t links = 0;             // a pair of links per parameter
        std::uint32_t indexed = 0;           // is the leaf in the index?
        std::vector<std::uint32_t> chained;  // by parameter: where the value's slot has the chain of its leaves
        Pool pool;
        Index index;
        bool single() const { return parameters.size() == 1; }
    };
    struct Membership {  // an instance's place in the lists of a less informative leaf
        unsigned leaf_kind;
        std::uint32_t ends;
        std::uint32_t links;
    };
    struct InstanceKind {
        Mask mask = 0;
        unsigned leaf_kind = 0;
        std::vector<std::uint8_t> parameters;  // the record begins with their slots
        std::uint32_t states = 0, serial = 0, flags = 0, leaf = 0, past = 0, user = 0;
        std::vector<Membership> memberships;
        std::vector<unsigned> below;  // kinds of less informative instances
        Pool pool;
    };
    struct Join {                         // an event may extend the instances of one kind
        unsigned source, target;          // instance kinds
        unsigned leaf_kind;               // over the parameters that the event and the source share
        bool exact;                       // the source is that leaf's exact instance …
        List sources;                     // … or else one of a list of it
        std::vector<unsigned> witnesses;  // leaf kinds to be asked whether the source missed something
    };
    struct Plan {
        Mask mask = 0;
        unsigned leaf_kind = 0;
        bool inserts = false;
        int creates = -1;     // instance kind
        bool begins = false;  // may it make instances?
        bool quiet = false;   // is it one for `step_quietly`?
        bool defers = false;
        std::vector<Join> joins;
        std::vector<List> updates;
    };

    struct Pending {
        Report report;
        unsigned leaf_kind;
        Id leaf;
    };
    // What one event leaves to be done when all of its steps are taken. It is not a member, because
    // the listener may send events from within one.
    struct Turn {
        Origin& origin;
        std::vector<Pending> reports;
        std::vector<std::pair<unsigned, Id>> fresh;   // instances that the event created
        std::vector<std::pair<unsigned, Id>> doomed;  // instances that will not report again
    };

    using Places = std::vector<Slot>;  // see transfer.hpp
    // Which kinds of leaves need a list of which kinds of instances.
    using NeededLists = std::set<std::pair<unsigned, unsigned>>;

    void lay_out();
    void find_instance_kinds();
    NeededLists find_leaf_kinds();
    void place_leaves(const NeededLists& lists);
    void place_instances(const NeededLists& lists);
    Plan plan_of(const EventDecl& event);
    Join join_of(Mask mask, Mask from);
    void find_quick_ways();
    bool extends(const EventDecl& event, Mask from) const;
    bool may_be_missed(Mask mask) const;
    unsigned leaf_kind(Mask mask);
    unsigned instance_kind(Mask mask) const;
    List list_of(unsigned leaf, unsigned instance) const;

    std::uint32_t* leaf_at(const LeafKind& kind, Id id) {
        return kind.single() ? domains_[kind.parameters[0]]->extra(id) : kind.pool.at(id);
    }
    static Id exact_of(const LeafKind& kind, const std::uint32_t* leaf) {
        return kind.own < 0 ? kNone : leaf[kind.exact];
    }
    static bool is_instance(Id exact) { return exact != kNone && exact != kDone; }
    std::uint32_t hash_of(const LeafKind& kind, const Values& values) const;
    Id find_leaf(const LeafKind& kind, const Values& values) const;
    Id make_leaf(LeafKind& kind, const Values& values);
    void index_chain(LeafKind& kind, std::size_t k, Id first);
    void drop_leaf(LeafKind& kind, Id id);

    std::uint32_t* record(unsigned kind, Id id) { return instances_[kind].pool.at(id); }
    Values values_of(unsigned kind, Id id);
    std::uint64_t birth_of(const InstanceKind& kind, const std::uint32_t* record) {
        const LeafKind& own = *leaves_[kind.leaf_kind];
        return Domain::load64(leaf_at(own, record[kind.leaf]) + own.exact + 1);
    }
    Id add_instance(unsigned kind, const Values& values, std::uint64_t birth);
    void define_new(const Plan& plan, const Values& values, Turn& turn);
    void define_to(const Join& join, Id source, const Values& values, Turn& turn);
    void extend(const Plan& plan, const Values& values, Turn& turn);
    void take(unsigned kind, Id id, EventId event, Turn& turn);
    // Would the event leave the instance as it is, with nothing to be reported or remembered? Whether it can still
    // report was looked at when its state last changed, and when one of its values died.
    bool stays(unsigned k, Id id, EventId event) {
        const InstanceKind& kind = instances_[k];
        const std::uint32_t* at = kind.pool.at(id);
        for (std::size_t p = 0; p < properties_.size(); ++p)
            if (properties_[p].table()->step(at[kind.states + p], event) != at[kind.states + p]) return false;
        return true;
    }
    void take_guarded(const Plan& plan, Id leaf, EventId event, Turn& turn);
    void conclude(unsigned kind, Id id, EventId event, const Word* before, bool changed, Turn& turn);
    void finish(Turn& turn);
    void compact_history();
    bool alive(unsigned kind, Id id, Mask dead);
    bool alive_now(unsigned kind, Id id);
    bool connected(unsigned kind, Id id);
    void connect(const Plan& plan, const Values& values);
    void surpass(unsigned kind, Id id);
    void remove(unsigned kind, Id id);
    void free_slot(unsigned p, Slot slot);
    std::vector<Value> report_values(unsigned kind, Id id);
    InstanceRef ref(unsigned kind, Id id) { return {this, kind, id, record(kind, id)[instances_[kind].serial]}; }
    bool present(InstanceRef ref);
    Values transfer_values(Archive& archive, const std::vector<Places>& places,
                           const std::vector<std::uint8_t>& parameters, Values values);
    std::uint64_t transfer_instances(Archive& archive, const std::vector<Places>& places);
    void transfer_instance(Archive& archive, const std::vector<Places>& places, unsigned k, Id id);
    std::vector<Id> leaves_in_use(const LeafKind& kind) const;
    void transfer_leaves(Archive& archive, const std::vector<Places>& places, LeafKind& kind);
    Values values_of_leaf(const LeafKind& kind, Id id) const;
    void transfer_classes(Archive& archive);
    void mourn(unsigned p, Slot slot);

    enum Flag : std::uint32_t { kPresent = 1, kMourning = 2 };  // kMourning: some value is dead

    std::vector<std::unique_ptr<LeafKind>> leaves_;
    std::vector<InstanceKind> instances_;
    std::vector<Plan> plans_;
    std::vector<unsigned> singles_;  // the leaf kind of each parameter
    bool maximal_ = false;
    bool tabular_ = false;
    std::uint64_t clock_ = 1;
    std::uint32_t serials_ = 0;
    History history_;
    Classes classes_;
};

}  // namespace mopsus
