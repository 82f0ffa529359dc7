// What the slicing engine can know before the first event: which kinds of instances can exist,
// what must be indexed by what, and what each event has to look at.
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

unsigned SlicingEngine::instance_kind(Mask mask) {
    const auto found = std::find_if(instances_.begin(), instances_.end(), [&](const auto& k) { return k.mask == mask; });
    return static_cast<unsigned>(found - instances_.begin());
}

SlicingEngine::List SlicingEngine::list_of(unsigned leaf, unsigned instance) const {
    for (const List& list : leaves_[leaf]->lists)
        if (list.instance_kind == instance) return list;
    return {instance, 0, 0};
}

void SlicingEngine::lay_out() {
    const std::vector<EventDecl>& events = program_.events;

    // Which masks can instances have? Those of creation events, extended by enabled events.
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

    // Leaves: of every event, every instance, every single parameter, and every join.
    for (unsigned p = 0; p < program_.parameters; ++p) singles_.push_back(leaf_kind(1U << p));
    for (const EventDecl& event : events) leaf_kind(event.mask());
    for (InstanceKind& kind : instances_) kind.leaf_kind = leaf_kind(kind.mask);
    std::set<std::pair<unsigned, unsigned>> wanted;  // (leaf kind, instance kind) that need a list
    const auto want = [&](Mask leaf, unsigned instance) {
        if (strictly_within(leaf, instances_[instance].mask)) wanted.emplace(leaf_kind(leaf), instance);
    };
    for (unsigned k = 0; k < instances_.size(); ++k) {
        for (const EventDecl& event : events) want(event.mask(), k);
        for (const std::uint8_t p : instances_[k].parameters) want(1U << p, k);  // for the death of values
    }
    for (const EventDecl& event : events)
        for (const Mask from : event.enable)
            if (masks.count(from) != 0 && !within(event.mask(), from)) {
                leaf_kind(event.mask() & from);
                want(event.mask() & from, instance_kind(from));
            }

    // Whose last occurrence is ever asked for? That of events which an extended instance may have missed.
    const auto missed = [&](Mask mask) {
        for (const EventDecl& event : events)
            for (const Mask from : event.enable)
                if (masks.count(from) != 0 && !within(event.mask(), from) && within(mask, from | event.mask()) && !within(mask, from))
                    return true;
        return false;
    };
    for (const EventDecl& event : events) leaves_[leaf_kind(event.mask())]->stamped = missed(event.mask());
    for (unsigned k = 0; k < instances_.size(); ++k) leaves_[instances_[k].leaf_kind]->own = static_cast<int>(k);

    for (unsigned k = 0; k < leaves_.size(); ++k) {
        LeafKind& kind = *leaves_[k];
        const auto reserve = [&](std::uint32_t count) { return std::exchange(kind.words, kind.words + count); };
        if (kind.own >= 0) {
            kind.exact = reserve(3);
            if (maximal_) kind.surpassed = reserve(1);
        }
        if (kind.stamped) kind.stamp = reserve(2);
        for (const auto& [leaf, instance] : wanted)
            if (leaf == k) {
                kind.lists.push_back({instance, reserve(2), 0});
            }
        if (kind.single()) {
            kind.members = reserve(1);
            if (program_.connected) kind.node = reserve(1);
            for (unsigned other = 0; other < leaves_.size(); ++other)
                if (strictly_within(kind.mask, leaves_[other]->mask)) kind.chains.emplace_back(other, reserve(kChainWords));
            domains_.push_back(nullptr);
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
    for (unsigned p = 0; p < program_.parameters; ++p)
        domains_[p] = std::make_unique<Domain>(leaves_[singles_[p]]->words, values_);

    for (unsigned k = 0; k < instances_.size(); ++k) {
        InstanceKind& kind = instances_[k];
        std::uint32_t words = static_cast<std::uint32_t>(kind.parameters.size());
        const auto reserve = [&](std::uint32_t count) { return std::exchange(words, words + count); };
        // What every step touches comes first.
        kind.states = reserve(static_cast<std::uint32_t>(properties_.size()));
        kind.flags = reserve(1);
        kind.serial = reserve(1);
        kind.leaf = reserve(1);
        if (history_.on()) kind.past = reserve(1);
        if (program_.variables) kind.user = reserve(2);
        for (const auto& [leaf, instance] : wanted) {
            if (instance != k) continue;
            for (List& list : leaves_[leaf]->lists)
                if (list.instance_kind == k) {
                    list.links = reserve(2);
                    kind.memberships.push_back({leaf, list.ends, list.links});
                }
        }
        kind.pool = Pool(words);
    }

    for (const EventDecl& event : events) {
        Plan plan;
        plan.mask = event.mask();
        plan.leaf_kind = leaf_kind(plan.mask);
        plan.updates = leaves_[plan.leaf_kind]->lists;
        if (event.creation) plan.creates = static_cast<int>(instance_kind(plan.mask));
        std::vector<Mask> enabled = event.enable;
        std::stable_sort(enabled.begin(), enabled.end(), [](Mask a, Mask b) { return std::popcount(a) > std::popcount(b); });
        for (const Mask from : enabled) {
            if (masks.count(from) == 0 || within(plan.mask, from)) continue;
            Join join;
            join.source = instance_kind(from);
            join.target = instance_kind(from | plan.mask);
            join.leaf_kind = leaf_kind(from & plan.mask);
            join.exact = within(from, plan.mask);
            join.sources = list_of(join.leaf_kind, join.source);
            for (unsigned k = 0; k < leaves_.size(); ++k) {
                const Mask mask = leaves_[k]->mask;
                const bool known = masks.count(mask) != 0 || std::any_of(events.begin(), events.end(), [&](const EventDecl& e) {
                                       return e.mask() == mask;
                                   });
                if (known && within(mask, from | plan.mask) && !within(mask, from)) join.witnesses.push_back(k);
            }
            plan.joins.push_back(std::move(join));
        }
        plans_.push_back(std::move(plan));
    }
    tabular_ = std::all_of(properties_.begin(), properties_.end(), [](const Property& property) { return property.table() != nullptr; });
    const bool asks_nobody = !program_.variables && std::none_of(events.begin(), events.end(), [](const EventDecl& event) { return event.guarded; });
    for (std::size_t k = 0; k < plans_.size(); ++k) {
        Plan& plan = plans_[k];
        plan.begins = plan.creates >= 0 || !plan.joins.empty();
        plan.inserts = plan.begins || leaves_[plan.leaf_kind]->stamped || program_.connected;
        plan.quiet = tabular_ && leaves_[plan.leaf_kind]->single() && !events[k].guarded && !program_.connected;
        // Made of values one of which is new: there is nothing to derive it from, and nothing that it would be derived to.
        plan.defers = tabular_ && properties_.size() == 1 && asks_nobody && !program_.connected && plan.creates >= 0 && plan.joins.empty() &&
                      instances_[static_cast<unsigned>(plan.creates)].below.empty() &&
                      std::all_of(events.begin(), events.end(), [&](const EventDecl& event) { return (event.mask() & plan.mask) != 0; });
    }
}

}  // namespace mopsus
