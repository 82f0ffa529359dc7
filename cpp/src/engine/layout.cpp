// What the slicing engine can know before the first event: which kinds of instances can exist,
// what must be indexed by what, and what each event has to look at.
//
// Everything follows from the masks of the events. For example, `create` binds {c, i}, `update` {c} and `next` {i}, and
// only `create` makes instances. Then there is one kind of instances, {c, i}, and leaves over {c, i}, {c} and {i}:
//
//     leaf {c}, a value's slot          instances {c, i} in the list of that leaf
//     +------------------------+        +-----------------------+        +-----------------------+
//     | list of {c, i}:  first |------->| slots of c and i      |   .--->| slots of c and i      |
//     |                  last  |---.    | states, flags, serial |   |    | states, flags, serial |
//     | members: 2             |   |    | links for {c}:   next |---'    | links for {c}:   next |
//     | chain of leaves {c, i} |   |    | links for {i}:   ...  |        | links for {i}:   ...  |
//     +------------------------+   |    +-----------------------+        +-----------------------+
//                                  `----------------------------------------^
//
// `update` finds its leaf by its one value, and steps the instances in the list of that leaf. A leaf or record has only
// the words that some event or the death of a value can need: a word that nobody asks for is memory that every value
// pays for.
//
// If there were an event that extends instances of {c} to {c, i}, both would have to know what happened before: whether
// the new instance was seen earlier (the words `exact` of its leaf), and whether an event that it would have taken
// part in has come and gone (`stamp`).
#include <algorithm>
#include <bit>
#include <set>

#include "slicing.hpp"

namespace mopsus {

namespace {

std::vector<std::uint8_t> members_of(Mask mask) {
    std::vector<std::uint8_t> members;
    for (std::uint8_t p = 0; p < kMaxParameters; ++p)
        if (((mask >> p) & 1U) != 0) members.push_back(p);
    return members;
}

bool within(Mask inner, Mask outer) { return (inner & ~outer) == 0; }
bool strictly_within(Mask inner, Mask outer) { return inner != outer && within(inner, outer); }

}  // namespace

unsigned SlicingEngine::leaf_kind(Mask mask) {
    for (unsigned k = 0; k < leaves_.size(); ++k)
        if (leaves_[k]->mask == mask) return k;
    auto kind = std::make_unique<LeafKind>();
    kind->mask = mask;
    kind->parameters = members_of(mask);
    leaves_.push_back(std::move(kind));
    return static_cast<unsigned>(leaves_.size() - 1);
}

unsigned SlicingEngine::instance_kind(Mask mask) const {
    const auto found =
        std::find_if(instances_.begin(), instances_.end(), [&](const auto& k) { return k.mask == mask; });
    return static_cast<unsigned>(found - instances_.begin());
}

// Whether the event may extend instances that bind the parameters `from` by values that it has besides theirs.
bool SlicingEngine::extends(const EventDecl& event, Mask from) const {
    return instance_kind(from) < instances_.size() && !within(event.mask(), from);
}

SlicingEngine::List SlicingEngine::list_of(unsigned leaf, unsigned instance) const {
    for (const List& list : leaves_[leaf]->lists)
        if (list.instance_kind == instance) return list;
    return {instance, 0, 0};
}

// The order matters: kinds are numbered before anything refers to them, leaves have their lists before records have the
// links of their members, and both are complete before the first event is planned.
void SlicingEngine::lay_out() {
    find_instance_kinds();
    const NeededLists lists = find_leaf_kinds();
    place_leaves(lists);
    place_instances(lists);
    for (const EventDecl& event : program_.events) plans_.push_back(plan_of(event));
    find_quick_ways();
}

// Instances bind what a creation event binds, or what an event adds to an instance that it is enabled for.
void SlicingEngine::find_instance_kinds() {
    const std::vector<EventDecl>& events = program_.events;
    std::set<Mask> masks;
    for (const EventDecl& event : events)
        if (event.creation) masks.insert(event.mask());
    for (bool grown = true; grown;) {
        grown = false;
        for (const EventDecl& event : events)
            for (const Mask from : event.enable)
                if (masks.count(from) != 0 && !within(event.mask(), from))
                    grown = masks.insert(from | event.mask()).second || grown;
    }
    for (const Mask mask : masks) {
        InstanceKind kind;
        kind.mask = mask;
        kind.parameters = members_of(mask);
        instances_.push_back(std::move(kind));
    }
    for (InstanceKind& kind : instances_)
        for (unsigned k = 0; k < instances_.size(); ++k)
            if (strictly_within(instances_[k].mask, kind.mask)) kind.below.push_back(k);
}

// There are leaves of every single parameter, every event, every instance and every join. An instance is in the list of
// each leaf below it that is looked up: by an event, by the death of a value, or by a join.
SlicingEngine::NeededLists SlicingEngine::find_leaf_kinds() {
    const std::vector<EventDecl>& events = program_.events;
    for (unsigned p = 0; p < program_.parameters; ++p) singles_.push_back(leaf_kind(1U << p));
    for (const EventDecl& event : events) leaf_kind(event.mask());
    for (InstanceKind& kind : instances_) kind.leaf_kind = leaf_kind(kind.mask);
    NeededLists lists;
    const auto need = [&](Mask leaf, unsigned instance) {
        if (strictly_within(leaf, instances_[instance].mask)) lists.emplace(leaf_kind(leaf), instance);
    };
    for (unsigned k = 0; k < instances_.size(); ++k) {
        for (const EventDecl& event : events) need(event.mask(), k);
        for (const std::uint8_t p : instances_[k].parameters) need(1U << p, k);
    }
    for (const EventDecl& event : events)
        for (const Mask from : event.enable)
            if (extends(event, from)) {
                leaf_kind(event.mask() & from);
                need(event.mask() & from, instance_kind(from));
            }
    for (const EventDecl& event : events) leaves_[leaf_kind(event.mask())]->stamped = may_be_missed(event.mask());
    for (unsigned k = 0; k < instances_.size(); ++k) leaves_[instances_[k].leaf_kind]->own = static_cast<int>(k);
    return lists;
}

// Whether an instance may be extended after an event over these parameters which the extended instance would have had
// to take part in. Only then does somebody ask when such an event was last seen.
bool SlicingEngine::may_be_missed(Mask mask) const {
    for (const EventDecl& event : program_.events)
        for (const Mask from : event.enable)
            if (extends(event, from) && within(mask, from | event.mask()) && !within(mask, from)) return true;
    return false;
}

// Where each part of a leaf lies. The leaves of a single parameter lie in the slots of its domain, which is made here.
void SlicingEngine::place_leaves(const NeededLists& lists) {
    for (unsigned k = 0; k < leaves_.size(); ++k) {
        LeafKind& kind = *leaves_[k];
        const auto reserve = [&](std::uint32_t count) { return std::exchange(kind.words, kind.words + count); };
        if (kind.own >= 0) {
            kind.exact = reserve(3);
            if (maximal_) kind.surpassed = reserve(1);
        }
        if (kind.stamped) kind.stamp = reserve(2);
        for (const auto& [leaf, instance] : lists)
            if (leaf == k) kind.lists.push_back({instance, reserve(2), 0});
        if (kind.single()) {
            kind.members = reserve(1);
            if (program_.connected) kind.node = reserve(1);
            for (unsigned other = 0; other < leaves_.size(); ++other)
                if (strictly_within(kind.mask, leaves_[other]->mask))
                    kind.chains.emplace_back(other, reserve(kChainWords));
        } else {
            kind.key = reserve(static_cast<std::uint32_t>(kind.parameters.size()));
            kind.links = reserve(2 * static_cast<std::uint32_t>(kind.parameters.size()));
            kind.indexed = reserve(1);
            kind.pool = Pool(kind.words);
            if (kind.mask == 0) kind.pool.take();  // the leaf of no values is always there
        }
    }
    for (unsigned k = 0; k < leaves_.size(); ++k)
        for (const std::uint8_t p : leaves_[k]->parameters)
            for (const auto& [other, chain] : leaves_[singles_[p]]->chains)
                if (other == k) leaves_[k]->chained.push_back(chain);
    for (const unsigned single : singles_)
        domains_.push_back(std::make_unique<Domain>(leaves_[single]->words, values_));
}

// Where each part of an instance's record lies, behind the slots of its values: first what every step touches.
void SlicingEngine::place_instances(const NeededLists& lists) {
    for (unsigned k = 0; k < instances_.size(); ++k) {
        InstanceKind& kind = instances_[k];
        std::uint32_t words = static_cast<std::uint32_t>(kind.parameters.size());
        const auto reserve = [&](std::uint32_t count) { return std::exchange(words, words + count); };
        kind.states = reserve(static_cast<std::uint32_t>(properties_.size()));
        kind.flags = reserve(1);
        kind.serial = reserve(1);
        kind.leaf = reserve(1);
        if (history_.on()) kind.past = reserve(1);
        if (program_.variables) kind.user = reserve(2);
        for (const auto& [leaf, instance] : lists) {
            if (instance != k) continue;
            for (List& list : leaves_[leaf]->lists)
                if (list.instance_kind == k) {
                    list.links = reserve(2);
                    kind.memberships.push_back({leaf, list.ends, list.links});
                }
        }
        kind.pool = Pool(words);
    }
}

// What an event has to look at: the instances that it makes, those that it extends, and those that it steps.
SlicingEngine::Plan SlicingEngine::plan_of(const EventDecl& event) {
    Plan plan;
    plan.mask = event.mask();
    plan.leaf_kind = leaf_kind(plan.mask);
    plan.updates = leaves_[plan.leaf_kind]->lists;
    if (event.creation) plan.creates = static_cast<int>(instance_kind(plan.mask));
    // The more an instance binds, the more it knows: an extended instance comes from the one that binds most.
    std::vector<Mask> enabled = event.enable;
    std::stable_sort(enabled.begin(), enabled.end(),
                     [](Mask a, Mask b) { return std::popcount(a) > std::popcount(b); });
    for (const Mask from : enabled)
        if (extends(event, from)) plan.joins.push_back(join_of(plan.mask, from));
    return plan;
}

// How an event over `mask` extends the instances over `from`. They are found by the values that both have.
//
// An extended instance takes over the state of its source, so it is right only if all that happened to its own values
// happened to the source, too. The witnesses are the leaves that know better: over a part of the extended instance that
// is no part of the source. If one was seen in an event after the source was created, or had an instance before, the
// source has missed something, and there is no extended instance.
SlicingEngine::Join SlicingEngine::join_of(Mask mask, Mask from) {
    Join join;
    join.source = instance_kind(from);
    join.target = instance_kind(from | mask);
    join.leaf_kind = leaf_kind(from & mask);
    join.exact = within(from, mask);
    join.sources = list_of(join.leaf_kind, join.source);
    const std::vector<EventDecl>& events = program_.events;
    for (unsigned k = 0; k < leaves_.size(); ++k) {
        const Mask part = leaves_[k]->mask;
        const bool told =
            std::any_of(events.begin(), events.end(), [&](const EventDecl& event) { return event.mask() == part; });
        if ((told || leaves_[k]->own >= 0) && within(part, from | mask) && !within(part, from))
            join.witnesses.push_back(k);
    }
    return join;
}

// Which events may go a quicker way than a step: `step_quietly`, or `defer` and `adopt`.
void SlicingEngine::find_quick_ways() {
    const std::vector<EventDecl>& events = program_.events;
    tabular_ = std::all_of(properties_.begin(), properties_.end(),
                           [](const Property& property) { return property.table() != nullptr; });
    const bool asks_nobody = !program_.variables && std::none_of(events.begin(), events.end(),
                                                                 [](const EventDecl& event) { return event.guarded; });
    for (std::size_t k = 0; k < plans_.size(); ++k) {
        Plan& plan = plans_[k];
        plan.begins = plan.creates >= 0 || !plan.joins.empty();
        plan.inserts = plan.begins || leaves_[plan.leaf_kind]->stamped || program_.connected;
        plan.quiet = tabular_ && leaves_[plan.leaf_kind]->single() && !events[k].guarded && !program_.connected;
        // Made of values one of which is new: there is nothing to derive it from, and nothing that it would be derived
        // to.
        plan.defers = tabular_ && properties_.size() == 1 && asks_nobody && !program_.connected && plan.creates >= 0 &&
                      plan.joins.empty() && instances_[static_cast<unsigned>(plan.creates)].below.empty() &&
                      std::all_of(events.begin(), events.end(),
                                  [&](const EventDecl& event) { return (event.mask() & plan.mask) != 0; });
    }
}

}  // namespace mopsus
