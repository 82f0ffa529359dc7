#include "slicing.hpp"

namespace mopsus {

namespace {

// The two ends of a doubly linked list lie in a leaf, the links in the members' records.
// `at(id)` gives the address of a member's pair of links: previous, next.
template <class At>
void push_back(std::uint32_t* ends, std::uint32_t id, At&& at) {
    std::uint32_t* links = at(id);
    links[0] = ends[1];
    links[1] = kNil;
    (ends[1] != kNil ? at(ends[1])[1] : ends[0]) = id;
    ends[1] = id;
}

template <class At>
void unlink(std::uint32_t* ends, std::uint32_t id, At&& at) {
    const std::uint32_t* links = at(id);
    (links[0] != kNil ? at(links[0])[1] : ends[0]) = links[1];
    (links[1] != kNil ? at(links[1])[0] : ends[1]) = links[0];
}

}  // namespace

SlicingEngine::SlicingEngine(const Program& program, Listener& listener)
    : Engine(program, listener),
      maximal_(program.binding == Binding::Maximal),
      history_(program.history, program.events.size()) {
    lay_out();
}

SlicingEngine::~SlicingEngine() {
    if (!program_.variables) return;
    for (InstanceKind& kind : instances_)
        for (Id id = 1; id <= kind.pool.last(); ++id)
            if ((kind.pool.at(id)[kind.flags] & kPresent) != 0)
                listener_.drop(Domain::load64(kind.pool.at(id) + kind.user));
}

// ---- leaves ----

std::uint32_t SlicingEngine::hash_of(const LeafKind& kind, const Values& values) const {
    std::uint64_t hash = 0x2545F4914F6CDD1DULL;
    for (const std::uint8_t p : kind.parameters) hash = mix(hash ^ values[p], 0x9E3779B97F4A7C15ULL);
    return static_cast<std::uint32_t>(hash);
}

SlicingEngine::Id SlicingEngine::find_leaf(const LeafKind& kind, const Values& values) const {
    if (kind.single()) return values[kind.parameters[0]];
    if (kind.mask == 0) return 1;
    const auto same = [&](Id id) {
        const std::uint32_t* key = kind.pool.at(id) + kind.key;
        for (std::size_t k = 0; k < kind.parameters.size(); ++k)
            if (key[k] != values[kind.parameters[k]]) return false;
        return true;
    };
    // Most values occur in few combinations: look through the shortest chain.
    std::size_t best = 0;
    std::uint32_t fewest = kShort + 1;
    Id first = kNil;
    for (std::size_t k = 0; k < kind.parameters.size(); ++k) {
        const std::uint8_t p = kind.parameters[k];
        const std::uint32_t* chain = domains_[p]->extra(values[p]) + kind.chained[k];
        if (chain[kChainCount] == 0) return kNil;
        if (chain[kChainCount] >= fewest) continue;
        fewest = chain[kChainCount];
        first = chain[kChainFirst];
        best = k;
    }
    if (fewest > kShort) return kind.index.find(hash_of(kind, values), same);
    for (Id id = first; id != kNil; id = kind.pool.at(id)[kind.links + 2 * best + 1])
        if (same(id)) return id;
    return kNil;
}

SlicingEngine::Id SlicingEngine::make_leaf(LeafKind& kind, const Values& values) {
    const Id known = find_leaf(kind, values);
    if (known != kNil) return known;
    const Id id = kind.pool.take();
    std::uint32_t* leaf = kind.pool.at(id);
    for (std::size_t k = 0; k < kind.parameters.size(); ++k) leaf[kind.key + k] = values[kind.parameters[k]];
    for (std::size_t k = 0; k < kind.parameters.size(); ++k) {
        std::uint32_t* chain = domains_[kind.parameters[k]]->extra(values[kind.parameters[k]]) + kind.chained[k];
        leaf[kind.links + 2 * k + 1] = chain[kChainFirst];
        if (chain[kChainFirst] != kNil) kind.pool.at(chain[kChainFirst])[kind.links + 2 * k] = id;
        chain[kChainFirst] = id;
        if (++chain[kChainCount] > kShort) index_chain(kind, k, id);
    }
    return id;
}

// A chain has become too long to be looked through: its leaves go to the index. Those behind the
// first `kShort` are there already, because the chain grows at the front.
void SlicingEngine::index_chain(LeafKind& kind, std::size_t k, Id first) {
    Id id = first;
    for (std::uint32_t n = 0; n <= kShort && id != kNil; ++n) {
        std::uint32_t* leaf = kind.pool.at(id);
        if (leaf[kind.indexed] == 0) {
            Values values{};
            for (std::size_t p = 0; p < kind.parameters.size(); ++p) values[kind.parameters[p]] = leaf[kind.key + p];
            kind.index.insert(hash_of(kind, values), id);
            leaf[kind.indexed] = 1;
        }
        id = leaf[kind.links + 2 * k + 1];
    }
}

void SlicingEngine::drop_leaf(LeafKind& kind, Id id) {
    std::uint32_t* leaf = kind.pool.at(id);
    Values values{};
    for (std::size_t k = 0; k < kind.parameters.size(); ++k) {
        const std::uint8_t p = kind.parameters[k];
        values[p] = leaf[kind.key + k];
        std::uint32_t* chain = domains_[p]->extra(values[p]) + kind.chained[k];
        const std::uint32_t links = kind.links + 2 * static_cast<std::uint32_t>(k);
        const Id before = leaf[links];
        const Id after = leaf[links + 1];
        (before != kNil ? kind.pool.at(before)[links + 1] : chain[kChainFirst]) = after;
        if (after != kNil) kind.pool.at(after)[links] = before;
        --chain[kChainCount];
    }
    if (leaf[kind.indexed] != 0) kind.index.erase(hash_of(kind, values), id);
    kind.pool.give_back(id);
}

// ---- instances ----

SlicingEngine::Values SlicingEngine::values_of(unsigned kind, Id id) {
    Values values{};
    const std::uint32_t* slots = record(kind, id);
    for (std::size_t k = 0; k < instances_[kind].parameters.size(); ++k)
        values[instances_[kind].parameters[k]] = slots[k];
    return values;
}

SlicingEngine::Id SlicingEngine::add_instance(unsigned k, const Values& values, std::uint64_t birth) {
    InstanceKind& kind = instances_[k];
    const Id id = kind.pool.take();
    std::uint32_t* at = kind.pool.at(id);
    for (std::size_t p = 0; p < kind.parameters.size(); ++p) {
        at[p] = values[kind.parameters[p]];
        const LeafKind& single = *leaves_[singles_[kind.parameters[p]]];
        ++domains_[kind.parameters[p]]->extra(at[p])[single.members];
    }
    at[kind.serial] = ++serials_;
    at[kind.flags] = kPresent;
    LeafKind& own = *leaves_[kind.leaf_kind];
    at[kind.leaf] = make_leaf(own, values);
    std::uint32_t* leaf = leaf_at(own, at[kind.leaf]);
    leaf[own.exact] = id;
    Domain::store64(leaf + own.exact + 1, birth);
    for (const Membership& place : kind.memberships) {
        LeafKind& below = *leaves_[place.leaf_kind];
        push_back(leaf_at(below, make_leaf(below, values)) + place.ends, id,
                  [&](Id other) { return kind.pool.at(other) + place.links; });
    }
    return id;
}

Deferred SlicingEngine::defer() {
    counts_.create();
    const std::uint64_t birth = clock_;
    clock_ += 2;  // what follows is later than when its values were first seen together, too
    return {birth, properties_[0].begin(), false, {}};
}

void SlicingEngine::adopt(EventId event, const Slot* slots, const Deferred& deferred) {
    const auto target = static_cast<unsigned>(plans_[event].creates);
    const std::vector<std::uint8_t>& parameters = program_.events[event].parameters;
    Values values{};
    for (std::size_t k = 0; k < parameters.size(); ++k) values[parameters[k]] = slots[k];
    const Id id = add_instance(target, values, deferred.birth);
    const InstanceKind& kind = instances_[target];
    std::uint32_t* at = record(target, id);
    at[kind.states] = deferred.state;
    if (history_.on() && deferred.changed) at[kind.past] = history_.add(0, deferred.past.event, deferred.past.stamp);
    LeafKind& own = *leaves_[kind.leaf_kind];
    if (own.stamped) Domain::store64(leaf_at(own, at[kind.leaf]) + own.stamp, deferred.birth + 1);
    if (history_.full()) compact_history();
}

void SlicingEngine::define_new(const Plan& plan, const Values& values, Turn& turn) {
    const auto target = static_cast<unsigned>(plan.creates);
    for (const unsigned k : instances_[target].below) {
        LeafKind& below = *leaves_[instances_[k].leaf_kind];
        const Id leaf = find_leaf(below, values);
        if (leaf != kNil && exact_of(below, leaf_at(below, leaf)) != kNone)
            return;  // to be derived from that one instead
    }
    const Id id = add_instance(target, values, clock_++);
    counts_.create();
    InstanceKind& kind = instances_[target];
    std::uint32_t* at = record(target, id);
    for (std::size_t k = 0; k < properties_.size(); ++k) at[kind.states + k] = properties_[k].begin();
    if (program_.variables) Domain::store64(at + kind.user, listener_.fork(0));
    if (maximal_) turn.fresh.emplace_back(target, id);
}

void SlicingEngine::define_to(const Join& join, Id source, const Values& given, Turn& turn) {
    InstanceKind& from = instances_[join.source];
    InstanceKind& to = instances_[join.target];
    Values values = given;
    const std::uint32_t* origin = from.pool.at(source);
    for (std::size_t k = 0; k < from.parameters.size(); ++k) values[from.parameters[k]] = origin[k];

    LeafKind& own = *leaves_[to.leaf_kind];
    const Id known = find_leaf(own, values);
    if (known != kNil && exact_of(own, leaf_at(own, known)) != kNone) return;
    const std::uint64_t birth = birth_of(from, origin);
    for (const unsigned k : join.witnesses) {
        LeafKind& kind = *leaves_[k];
        const Id id = find_leaf(kind, values);
        if (id == kNil) continue;
        const std::uint32_t* leaf = leaf_at(kind, id);
        if (kind.stamped && Domain::load64(leaf + kind.stamp) > birth) return;
        if (exact_of(kind, leaf) != kNone && Domain::load64(leaf + kind.exact + 1) < birth) return;
    }
    const Id id = add_instance(join.target, values, birth);
    counts_.create();
    std::uint32_t* at = to.pool.at(id);
    for (std::size_t k = 0; k < properties_.size(); ++k)
        at[to.states + k] = properties_[k].copy(origin[from.states + k]);
    at[to.flags] |= origin[from.flags] & kMourning;
    if (history_.on()) at[to.past] = origin[from.past];
    if (program_.variables) Domain::store64(at + to.user, listener_.fork(Domain::load64(origin + from.user)));
    if (maximal_) turn.fresh.emplace_back(join.target, id);
}

void SlicingEngine::extend(const Plan& plan, const Values& values, Turn& turn) {
    for (const Join& join : plan.joins) {
        LeafKind& kind = *leaves_[join.leaf_kind];
        const Id shared = find_leaf(kind, values);
        if (shared == kNil) continue;
        const std::uint32_t* leaf = leaf_at(kind, shared);
        if (join.exact) {
            const Id source = exact_of(kind, leaf);
            if (is_instance(source)) define_to(join, source, values, turn);
            continue;
        }
        for (Id source = leaf[join.sources.ends]; source != kNil;
             source = record(join.source, source)[join.sources.links + 1])
            define_to(join, source, values, turn);
    }
}

bool SlicingEngine::alive(unsigned kind, Id id, Mask dead) {
    const std::uint32_t* at = record(kind, id) + instances_[kind].states;
    for (std::size_t k = 0; k < properties_.size(); ++k)
        if (properties_[k].alive(at[k], dead)) return true;
    return false;
}

bool SlicingEngine::alive_now(unsigned kind, Id id) {
    Mask dead = 0;
    if ((record(kind, id)[instances_[kind].flags] & kMourning) != 0) {
        const Values values = values_of(kind, id);
        for (const std::uint8_t p : instances_[kind].parameters)
            if (domains_[p]->dead(values[p])) dead |= 1U << p;
    }
    return alive(kind, id, dead);
}

// The instance will never report again. Its leaf remembers that it existed and since when.
void SlicingEngine::remove(unsigned k, Id id) {
    InstanceKind& kind = instances_[k];
    std::uint32_t* at = kind.pool.at(id);
    const Values values = values_of(k, id);
    for (const Membership& place : kind.memberships) {
        LeafKind& below = *leaves_[place.leaf_kind];
        unlink(leaf_at(below, find_leaf(below, values)) + place.ends, id,
               [&](Id other) { return kind.pool.at(other) + place.links; });
    }
    LeafKind& own = *leaves_[kind.leaf_kind];
    leaf_at(own, at[kind.leaf])[own.exact] = kDone;
    const std::uint64_t user = program_.variables ? Domain::load64(at + kind.user) : 0;
    for (std::size_t n = 0; n < properties_.size(); ++n) properties_[n].end(at[kind.states + n]);
    at[kind.flags] = 0;
    kind.pool.give_back(id);
    ++counts_.collected;
    for (const std::uint8_t p : kind.parameters) {
        const Slot slot = values[p];
        std::uint32_t& members = domains_[p]->extra(slot)[leaves_[singles_[p]]->members];
        if (--members == 0 && domains_[p]->released(slot)) free_slot(p, slot);
    }
    if (user != 0) listener_.drop(user);
}

void SlicingEngine::free_slot(unsigned p, Slot slot) {
    const LeafKind& single = *leaves_[singles_[p]];
    for (const auto& [kind, chain] : single.chains)
        while (domains_[p]->extra(slot)[chain + kChainFirst] != kNil)
            drop_leaf(*leaves_[kind], domains_[p]->extra(slot)[chain + kChainFirst]);
    if (program_.connected && domains_[p]->extra(slot)[single.node] != kNil)
        classes_.leave(domains_[p]->extra(slot)[single.node]);
    domains_[p]->recycle(slot);
}

void SlicingEngine::forget(unsigned p, Slot slot) {
    const LeafKind& single = *leaves_[singles_[p]];
    std::uint32_t* leaf = domains_[p]->extra(slot);
    domains_[p]->release(slot);
    if (program_.connected && leaf[single.node] != kNil)
        classes_.bury(leaf[single.node], domains_[p]->kind(slot) == KeyKind::Object);
    ++leaf[single.members];  // keep the slot until we are done with it
    for (const List& list : single.lists) {
        InstanceKind& kind = instances_[list.instance_kind];
        for (Id id = leaf[list.ends]; id != kNil;) {
            const Id next = kind.pool.at(id)[list.links + 1];
            kind.pool.at(id)[kind.flags] |= kMourning;
            if (!alive_now(list.instance_kind, id)) remove(list.instance_kind, id);
            id = next;
        }
    }
    if (const Id id = exact_of(single, leaf); is_instance(id)) {
        const auto kind = static_cast<unsigned>(single.own);
        record(kind, id)[instances_[kind].flags] |= kMourning;
        if (!alive_now(kind, id)) remove(kind, id);
    }
    if (--leaf[single.members] == 0) free_slot(p, slot);
}

// ---- connected ----

void SlicingEngine::connect(const Plan& plan, const Values& values) {
    Classes::Node first = kNil;
    for (const std::uint8_t p : leaves_[plan.leaf_kind]->parameters) {
        std::uint32_t& node = domains_[p]->extra(values[p])[leaves_[singles_[p]]->node];
        if (node == kNil) node = classes_.enter(domains_[p]->key(values[p]));
        if (first != kNil) classes_.join(first, node);
        first = node;
    }
}

bool SlicingEngine::connected(unsigned kind, Id id) {
    const Values values = values_of(kind, id);
    Classes::Node first = kNil;
    for (const std::uint8_t p : instances_[kind].parameters) {
        const Classes::Node node = classes_.find(domains_[p]->extra(values[p])[leaves_[singles_[p]]->node]);
        if (first != kNil && node != first) return false;
        first = node;
    }
    return true;
}

// ---- events ----

void SlicingEngine::step(EventId event, const Slot* slots, Origin& origin) {
    const Plan& plan = plans_[event];
    const std::vector<std::uint8_t>& parameters = program_.events[event].parameters;
    Values values{};
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (slots[k] == kNil) return;
        values[parameters[k]] = slots[k];
    }
    LeafKind& kind = *leaves_[plan.leaf_kind];
    if (program_.connected) connect(plan, values);
    const Id id = plan.inserts ? make_leaf(kind, values) : find_leaf(kind, values);
    if (id == kNil) return;
    std::uint32_t* leaf = leaf_at(kind, id);
    Turn turn{origin, {}, {}, {}};
    if (exact_of(kind, leaf) == kNone) {
        extend(plan, values, turn);
        if (plan.creates >= 0 && exact_of(kind, leaf) == kNone) define_new(plan, values, turn);
        if (kind.stamped) Domain::store64(leaf + kind.stamp, clock_++);
    }
    if (program_.events[event].guarded) {
        take_guarded(plan, id, event, turn);
    } else {
        if (const Id exact = exact_of(kind, leaf); is_instance(exact))
            take(static_cast<unsigned>(kind.own), exact, event, turn);
        for (const List& list : plan.updates) {
            const Id last = leaf[list.ends + 1];
            for (Id at = leaf[list.ends]; at != kNil;) {
                take(list.instance_kind, at, event, turn);
                // Most lists have one member, whose links are then not needed.
                at = at == last ? kNil : record(list.instance_kind, at)[list.links + 1];
            }
        }
    }
    if (!turn.fresh.empty() || !turn.reports.empty() || !turn.doomed.empty()) finish(turn);
    if (history_.full()) compact_history();
}

void SlicingEngine::prefetch_instances(unsigned p, Slot slot) {
    const std::uint32_t* leaf = domains_[p]->extra(slot);
    for (const List& list : leaves_[singles_[p]]->lists)
        if (leaf[list.ends] != kNil) __builtin_prefetch(record(list.instance_kind, leaf[list.ends]));
}

// Conditions and actions run code of the user's, which may send events: fix first who takes part.
void SlicingEngine::take_guarded(const Plan& plan, Id id, EventId event, Turn& turn) {
    const LeafKind& kind = *leaves_[plan.leaf_kind];
    const std::uint32_t* leaf = leaf_at(kind, id);
    std::vector<InstanceRef> everyone;
    if (const Id exact = exact_of(kind, leaf); is_instance(exact))
        everyone.push_back(ref(static_cast<unsigned>(kind.own), exact));
    for (const List& list : plan.updates)
        for (Id at = leaf[list.ends]; at != kNil; at = record(list.instance_kind, at)[list.links + 1])
            everyone.push_back(ref(list.instance_kind, at));
    for (const InstanceRef& one : everyone) {
        if (!present(one)) continue;
        const std::uint64_t user =
            program_.variables ? Domain::load64(record(one.kind, one.id) + instances_[one.kind].user) : 0;
        if (listener_.admit(event, one, user, report_values(one.kind, one.id), turn.origin) && present(one))
            take(one.kind, one.id, event, turn);
    }
}

void SlicingEngine::take(unsigned k, Id id, EventId event, Turn& turn) {
    InstanceKind& kind = instances_[k];
    std::uint32_t* at = kind.pool.at(id);
    std::uint32_t* states = at + kind.states;
    if (properties_.size() == 1) {
        const Word before = states[0];
        const Word after = properties_[0].step(before, event, turn.origin);
        states[0] = plain(after);
        const bool changed = after != before;  // or it is notable
        if ((after & kNotable) != 0 || (at[kind.flags] & kMourning) != 0 || (history_.on() && changed))
            conclude(k, id, event, &before, changed, turn);
        return;
    }
    const std::vector<Word> before(states, states + properties_.size());
    bool notable = false;
    bool changed = false;
    for (std::size_t p = 0; p < properties_.size(); ++p) {
        const Word after = properties_[p].step(before[p], event, turn.origin);
        states[p] = plain(after);
        notable = notable || (after & kNotable) != 0;
        changed = changed || after != before[p];
    }
    if (notable || (at[kind.flags] & kMourning) != 0 || (history_.on() && changed))
        conclude(k, id, event, before.data(), changed, turn);
}

void SlicingEngine::conclude(unsigned k, Id id, EventId event, const Word* before, bool changed, Turn& turn) {
    InstanceKind& kind = instances_[k];
    std::uint32_t* at = kind.pool.at(id);
    const Stamp stamp = turn.origin.stamp();
    if (history_.on() && changed) at[kind.past] = history_.add(at[kind.past], event, stamp);
    const bool heard = (program_.binding != Binding::Full || kind.mask == program_.all());
    for (std::size_t p = 0; heard && p < properties_.size(); ++p) {
        const Outcome& outcome = properties_[p].outcome(before[p], event);
        if (outcome.categories.empty() || (program_.connected && !connected(k, id))) continue;
        for (std::size_t c = 0; c < outcome.categories.size(); ++c) {
            Report report;
            report.property = static_cast<std::uint16_t>(p);
            report.category = outcome.categories[c];
            report.final = outcome.final[c];
            report.event = event;
            report.stamp = stamp;
            report.instance = ref(k, id);
            report.user = program_.variables ? Domain::load64(at + kind.user) : 0;
            report.values = report_values(k, id);
            if (history_.on()) report.witness = history_.read(at[kind.past]);
            report.explanation = properties_[p].explanation();
            turn.reports.push_back({std::move(report), kind.leaf_kind, at[kind.leaf]});
        }
    }
    if (alive_now(k, id)) return;
    count_fall(before, at + kind.states, event);
    turn.doomed.emplace_back(k, id);
}

void SlicingEngine::compact_history() {
    std::size_t places = 0;
    for (const InstanceKind& kind : instances_) places += kind.pool.last();
    if (history_.put_off(counts_.alive(), places)) return;
    history_.compact([&](auto&& visit) {
        for (InstanceKind& kind : instances_)
            for (Id id = 1; id <= kind.pool.last(); ++id)
                if ((kind.pool.at(id)[kind.flags] & kPresent) != 0) visit(kind.pool.at(id)[kind.past]);
    });
}

// An instance that matters makes every less informative one non-maximal, now and for ever.
void SlicingEngine::surpass(unsigned k, Id id) {
    const Values values = values_of(k, id);
    for (const unsigned below : instances_[k].below) {
        LeafKind& kind = *leaves_[instances_[below].leaf_kind];
        leaf_at(kind, make_leaf(kind, values))[kind.surpassed] = 1;
    }
}

void SlicingEngine::finish(Turn& turn) {
    if (maximal_) {
        for (const auto& [kind, id] : turn.fresh) {
            bool useful = alive_now(kind, id);
            for (const Pending& one : turn.reports)
                useful = useful || (one.leaf_kind == instances_[kind].leaf_kind &&
                                    one.leaf == record(kind, id)[instances_[kind].leaf]);
            if (useful) surpass(kind, id);
        }
        std::erase_if(turn.reports, [&](const Pending& one) {
            const LeafKind& kind = *leaves_[one.leaf_kind];
            return leaf_at(kind, one.leaf)[kind.surpassed] != 0;
        });
    }
    for (const auto& [kind, id] : turn.doomed) remove(kind, id);
    for (Pending& one : turn.reports) listener_.report(std::move(one.report));
}

std::vector<Value> SlicingEngine::report_values(unsigned k, Id id) {
    std::vector<Value> values(program_.parameters);
    const std::uint32_t* slots = record(k, id);
    const InstanceKind& kind = instances_[k];
    for (std::size_t p = 0; p < kind.parameters.size(); ++p)
        values[kind.parameters[p]] = domains_[kind.parameters[p]]->value(slots[p]);
    return values;
}

bool SlicingEngine::present(InstanceRef ref) {
    if (ref.kind >= instances_.size() || ref.id == kNil || ref.id > instances_[ref.kind].pool.last()) return false;
    const InstanceKind& kind = instances_[ref.kind];
    const std::uint32_t* at = kind.pool.at(ref.id);
    return (at[kind.flags] & kPresent) != 0 && at[kind.serial] == ref.serial;
}

bool SlicingEngine::reset(InstanceRef ref, bool reported) {
    if (!present(ref)) return false;
    std::uint32_t* at = record(ref.kind, ref.id);
    const InstanceKind& kind = instances_[ref.kind];
    if (reset_states(at + kind.states, reported) && history_.on()) at[kind.past] = 0;
    return true;
}

void SlicingEngine::each_instance(const Visit& visit) {
    for (unsigned k = 0; k < instances_.size(); ++k) {
        const InstanceKind& kind = instances_[k];
        for (Id id = 1; id <= kind.pool.last(); ++id) {
            const std::uint32_t* at = kind.pool.at(id);
            if ((at[kind.flags] & kPresent) == 0) continue;
            visit(report_values(k, id), standings(at + kind.states),
                  [&] { return history_.read(history_.on() ? at[kind.past] : 0); });
        }
    }
}

std::size_t SlicingEngine::bytes() const {
    std::size_t bytes = history_.bytes() + classes_.bytes();
    for (const Property& property : properties_) bytes += property.bytes();
    for (const auto& domain : domains_) bytes += domain->bytes();
    for (const auto& kind : leaves_) bytes += kind->pool.bytes() + kind->index.bytes();
    for (const auto& kind : instances_) bytes += kind.pool.bytes();
    return bytes;
}

}  // namespace mopsus
