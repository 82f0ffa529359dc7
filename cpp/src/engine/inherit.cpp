#include "inherit.hpp"

#include <bit>
#include <set>

namespace mopsus {

namespace {

// Lists are doubly linked; `links_at(id)` gives the address of a member's pair of links: previous, next.
template <class LinksAt>
void push_back(std::uint32_t* ends, std::uint32_t id, LinksAt&& links_at) {
    std::uint32_t* links = links_at(id);
    links[0] = ends[1];
    links[1] = kNil;
    (ends[1] != kNil ? links_at(ends[1])[1] : ends[0]) = id;
    ends[1] = id;
}

template <class LinksAt>
void unlink(std::uint32_t* ends, std::uint32_t id, LinksAt&& links_at) {
    const std::uint32_t* links = links_at(id);
    (links[0] != kNil ? links_at(links[0])[1] : ends[0]) = links[1];
    (links[1] != kNil ? links_at(links[1])[0] : ends[1]) = links[0];
}

bool within(Mask inner, Mask outer) { return (inner & ~outer) == 0; }

std::vector<std::uint8_t> parameters_of(Mask mask) {
    std::vector<std::uint8_t> parameters;
    for (unsigned p = 0; p < kMaxParameters; ++p)
        if (((mask >> p) & 1U) != 0) parameters.push_back(static_cast<std::uint8_t>(p));
    return parameters;
}

}  // namespace

bool InheritEngine::fits(const Program& program) {
    for (const auto& machine : program.machines)
        if (dynamic_cast<const GuardedMachine*>(machine.get()) == nullptr) return false;
    return !program.machines.empty();
}

InheritEngine::InheritEngine(const Program& program, Listener& listener)
    : Engine(program, listener), history_(program.history, program.events.size()) {
    for (const auto& machine : program.machines) {
        Forest& forest = forests_.emplace_back();
        forest.machine = static_cast<const Machine*>(machine.get());
        forest.property = static_cast<std::uint16_t>(forests_.size() - 1);
        variables_ = variables_ || forest.machine->variables;
    }
    lay_out();
    for (Forest& forest : forests_) lay_out(forest);
    const auto extra = static_cast<std::uint32_t>(kLeafWords * forests_.size());
    for (unsigned p = 0; p < std::max(program.parameters, 1U); ++p)
        domains_.push_back(std::make_unique<Domain>(extra, values_));
}

InheritEngine::~InheritEngine() {
    if (!variables_) return;
    for (const Forest& forest : forests_)
        for (Id id = 1; id <= forest.slices.last(); ++id)
            if (at(forest, id)[kPresent] != 0) listener_.drop(user_of(forest, id));
}

// ---- what is found how ----

void InheritEngine::lay_out() {
    std::set<Mask> masks{0};
    for (unsigned p = 0; p < program_.parameters; ++p)
        masks.insert(1U << p);  // to find the slices of a value that ends
    bool broadcast = false;
    for (const EventDecl& event : program_.events) {
        masks.insert(event.mask());
        broadcast = broadcast || event.mask() == 0;
    }
    slice_words_ = kSliceValues + program_.parameters;
    for (const Mask mask : masks) {
        LeafKind& kind = leaf_kinds_.emplace_back();
        kind.mask = mask;
        kind.parameters = parameters_of(mask);
        if (kind.single()) singles_.resize(program_.parameters);
        if (kind.single()) singles_[kind.parameters[0]] = static_cast<unsigned>(leaf_kinds_.size() - 1);
        bool surpassed = mask == 0 ? broadcast : false;
        for (const EventDecl& event : program_.events)
            surpassed = surpassed || (mask != 0 && event.mask() != mask && within(mask, event.mask()));
        if (!surpassed) continue;
        kind.links = slice_words_;
        slice_words_ += 2;
    }
    const auto kind_of = [&](Mask mask) {
        unsigned k = 0;
        while (leaf_kinds_[k].mask != mask) ++k;
        return k;
    };
    for (const EventDecl& event : program_.events) {
        Plan& plan = plans_.emplace_back();
        plan.mask = event.mask();
        plan.leaf = kind_of(plan.mask);
        std::set<Mask> below;
        for (const EventDecl& other : program_.events)
            if (other.mask() != 0 && other.mask() != plan.mask && within(other.mask(), plan.mask))
                below.insert(other.mask());
        for (const Mask mask : below) plan.ancestors.push_back(kind_of(mask));
        // The most specific one; of several, the one that binds what is declared first.
        std::sort(plan.ancestors.begin(), plan.ancestors.end(), [&](unsigned a, unsigned b) {
            const LeafKind &one = leaf_kinds_[a], &other = leaf_kinds_[b];
            if (one.parameters.size() != other.parameters.size())
                return one.parameters.size() > other.parameters.size();
            return one.parameters < other.parameters;
        });
    }
}

void InheritEngine::lay_out(Forest& forest) {
    const Machine& machine = *forest.machine;
    const auto events = static_cast<EventId>(program_.events.size());  // a program has fewer than 2^16
    forest.population.assign(machine.states.size(), 0);
    forest.slices = Pool(slice_words_);
    for (const LeafKind& kind : leaf_kinds_)
        forest.leaves.emplace_back(kLeafWords + static_cast<std::uint32_t>(kind.parameters.size()));
    forest.indexes.resize(leaf_kinds_.size());
    for (Machine::State state = 0; state < machine.states.size(); ++state) {
        const std::vector<Machine::Transition>& transitions = machine.states[state].transitions;
        for (EventId event = 0; event < events; ++event) {
            Cell& cell = forest.cells.emplace_back();
            cell.first = static_cast<std::uint32_t>(forest.transitions.size());
            for (std::uint32_t k = 0; k < transitions.size(); ++k)
                if (transitions[k].event == event) forest.transitions.push_back({&transitions[k], k});
            cell.count = static_cast<std::uint32_t>(forest.transitions.size()) - cell.first;
            if (cell.count != 0 && plans_[event].mask != 0)
                cell.quiet = quiet_target(machine, state, forest.transitions[cell.first]);
        }
    }
    const auto reacts = [&](Machine::State state, auto&& wanted) {
        for (const Machine::Transition& transition : machine.states[state].transitions)
            if (wanted(transition.event)) return true;
        return false;
    };
    for (Machine::State state = 0; state < machine.states.size(); ++state) {
        const std::vector<bool> reached = machine.reachable(state, [](EventId) { return true; });
        bool hears = false;
        for (Machine::State later = 0; later < machine.states.size(); ++later)
            hears = hears || (reached[later] && reacts(later, [&](EventId event) { return plans_[event].mask == 0; }));
        forest.hears.push_back(hears);
    }
    // An event can make a slice if a less specific one can get to a state that takes it.
    for (const LeafKind& kind : leaf_kinds_) {
        const std::vector<bool> reached =
            machine.reachable(machine.initial, [&](EventId event) { return within(plans_[event].mask, kind.mask); });
        for (EventId event = 0; event < events; ++event) {
            if (plans_[event].mask == kind.mask || !within(kind.mask, plans_[event].mask)) continue;
            for (Machine::State state = 0; state < machine.states.size(); ++state)
                plans_[event].creates =
                    plans_[event].creates ||
                    (reached[state] && reacts(state, [&](EventId other) { return other == event; }));
        }
    }
}

GuardedMachine::State InheritEngine::quiet_target(const Machine& machine, Machine::State from, const Known& first) {
    const Machine::Transition& transition = *first.transition;
    if (transition.guard != Machine::kNoCode || !transition.success) return Machine::kStay;
    const Machine::End& end = *transition.success;
    const Machine::State to = end.target != Machine::kStay ? end.target : from;
    const Machine::Place& place = machine.states[to];
    const bool runs =
        end.block != Machine::kNoCode || end.action != Machine::kNoCode || place.action != Machine::kNoCode;
    return runs || place.final || place.category >= 0 ? Machine::kStay : to;
}

std::uint32_t InheritEngine::hash_of(const LeafKind& kind, const Values& values) const {
    std::uint64_t hash = 0x2545F4914F6CDD1DULL;
    for (const std::uint8_t p : kind.parameters) hash = mix(hash ^ values[p], 0x9E3779B97F4A7C15ULL);
    return static_cast<std::uint32_t>(hash);
}

std::uint32_t* InheritEngine::leaf_at(Forest& forest, unsigned k, const Values& values) {
    const LeafKind& kind = leaf_kinds_[k];
    if (kind.single())
        return domains_[kind.parameters[0]]->extra(values[kind.parameters[0]]) +
               static_cast<std::size_t>(kLeafWords) * forest.property;
    if (kind.mask == 0) return forest.everything.data();
    const Id id = forest.indexes[k].find(hash_of(kind, values), [&](Id candidate) {
        const std::uint32_t* key = forest.leaves[k].at(candidate) + kLeafWords;
        for (std::size_t n = 0; n < kind.parameters.size(); ++n)
            if (key[n] != values[kind.parameters[n]]) return false;
        return true;
    });
    return id != kNil ? forest.leaves[k].at(id) : nullptr;
}

std::uint32_t* InheritEngine::make_leaf(Forest& forest, unsigned k, const Values& values) {
    if (std::uint32_t* known = leaf_at(forest, k, values)) return known;
    const LeafKind& kind = leaf_kinds_[k];
    const Id id = forest.leaves[k].take();
    std::uint32_t* leaf = forest.leaves[k].at(id);
    for (std::size_t n = 0; n < kind.parameters.size(); ++n) leaf[kLeafWords + n] = values[kind.parameters[n]];
    forest.indexes[k].insert(hash_of(kind, values), id);
    return leaf;
}

void InheritEngine::drop_if_empty(Forest& forest, unsigned k, const Values& values) {
    const LeafKind& kind = leaf_kinds_[k];
    if (kind.parameters.size() < 2) return;
    const std::uint32_t* leaf = leaf_at(forest, k, values);
    if (leaf[kExact] != kNil || leaf[kFirst] != kNil) return;
    const std::uint32_t hash = hash_of(kind, values);
    const Id id = forest.indexes[k].find(hash, [&](Id candidate) { return forest.leaves[k].at(candidate) == leaf; });
    forest.indexes[k].erase(hash, id);
    forest.leaves[k].give_back(id);
}

// ---- slices ----

InheritEngine::Values InheritEngine::values_of(const Forest& forest, Id id) const {
    Values values{};
    std::copy_n(at(forest, id) + kSliceValues, program_.parameters, values.begin());
    return values;
}

Mask InheritEngine::mask_of(const Forest& forest, Id id) const {
    Mask mask = 0;
    for (unsigned p = 0; p < program_.parameters; ++p)
        if (at(forest, id)[kSliceValues + p] != kNil) mask |= 1U << p;
    return mask;
}

void InheritEngine::begin() {
    if (std::exchange(begun_, true)) return;
    for (Forest& forest : forests_) {
        forest.root = add(forest, {}, forest.machine->initial, kNil);
        if (!forest.machine->variables) continue;
        Domain::store64(at(forest, forest.root) + kUser, listener_.fork(0));
        const Machine::CodeId initialization = forest.machine->initialization;
        if (initialization != Machine::kNoCode) listener_.call(initialization, user_of(forest, forest.root), nullptr);
    }
}

InheritEngine::Id InheritEngine::add(Forest& forest, const Values& values, Machine::State state, Id parent) {
    const Id id = forest.slices.take();
    std::uint32_t* slice = at(forest, id);
    slice[kSerial] = ++serials_;
    slice[kPresent] = 1;
    slice[kState] = state;
    std::copy_n(values.begin(), program_.parameters, slice + kSliceValues);
    if (parent != kNil) {
        slice[kParent] = parent;
        slice[kParentSerial] = at(forest, parent)[kSerial];
        slice[kPast] = at(forest, parent)[kPast];
    }
    const Mask mask = mask_of(forest, id);
    for (unsigned k = 0; k < leaf_kinds_.size(); ++k) {
        const LeafKind& kind = leaf_kinds_[k];
        if (kind.mask == mask)
            make_leaf(forest, k, values)[kExact] = id;
        else if (kind.links != 0 && within(kind.mask, mask))
            push_back(make_leaf(forest, k, values) + kFirst, id,
                      [&](Id other) { return at(forest, other) + kind.links; });
    }
    ++forest.population[state];
    counts_.create();
    return id;
}

void InheritEngine::remove(Forest& forest, Id id) {
    const Values values = values_of(forest, id);
    const Mask mask = mask_of(forest, id);
    std::uint32_t* slice = at(forest, id);
    for (unsigned k = 0; k < leaf_kinds_.size(); ++k) {
        const LeafKind& kind = leaf_kinds_[k];
        if (kind.mask == mask)
            leaf_at(forest, k, values)[kExact] = kNil;
        else if (kind.links != 0 && within(kind.mask, mask))
            unlink(leaf_at(forest, k, values) + kFirst, id, [&](Id other) { return at(forest, other) + kind.links; });
        else
            continue;
        drop_if_empty(forest, k, values);
    }
    --forest.population[slice[kState]];
    if (id == forest.root) forest.root = kNil;
    const std::uint64_t user = user_of(forest, id);
    slice[kPresent] = 0;
    forest.slices.give_back(id);
    ++counts_.collected;
    for (unsigned p = 0; p < program_.parameters; ++p)
        if (values[p] != kNil && domains_[p]->released(values[p]) && unused(p, values[p]))
            domains_[p]->recycle(values[p]);
    if (user != 0) listener_.drop(user);
}

void InheritEngine::move(Forest& forest, Id id, Machine::State state) {
    std::uint32_t* slice = at(forest, id);
    --forest.population[slice[kState]];
    ++forest.population[state];
    slice[kState] = state;
}

bool InheritEngine::unused(unsigned p, Slot slot) {
    Values values{};
    values[p] = slot;
    for (Forest& forest : forests_) {
        const std::uint32_t* leaf = leaf_at(forest, singles_[p], values);
        if (leaf[kExact] != kNil || leaf[kFirst] != kNil) return false;
    }
    return true;
}

// Can an event still be about a slice, some of whose values are dead? It may take one, or only be the reason why an
// event about fewer values makes no slice of its own.
bool InheritEngine::alive(const Forest& forest, Id id) const {
    const std::uint32_t* slice = at(forest, id);
    Mask living = 0;
    for (unsigned p = 0; p < program_.parameters; ++p)
        if (slice[kSliceValues + p] != kNil && !domains_[p]->dead(slice[kSliceValues + p])) living |= 1U << p;
    if (forest.hears[slice[kState]]) return true;
    for (const Plan& plan : plans_)
        if (plan.mask != 0 && within(plan.mask, living)) return true;
    return false;
}

void InheritEngine::forget(unsigned p, Slot slot) {
    Values values{};
    values[p] = slot;
    std::vector<std::pair<Forest*, Id>> doomed;
    for (Forest& forest : forests_) {
        const LeafKind& kind = leaf_kinds_[singles_[p]];
        const std::uint32_t* leaf = leaf_at(forest, singles_[p], values);
        if (leaf[kExact] != kNil && !alive(forest, leaf[kExact])) doomed.emplace_back(&forest, leaf[kExact]);
        for (Id id = leaf[kFirst]; id != kNil; id = at(forest, id)[kind.links + 1])
            if (!alive(forest, id)) doomed.emplace_back(&forest, id);
    }
    for (const auto& [forest, id] : doomed) remove(*forest, id);
    domains_[p]->release(slot);
    if (unused(p, slot)) domains_[p]->recycle(slot);
}

InheritEngine::Forest* InheritEngine::present(InstanceRef instance) {
    if (instance.kind >= forests_.size()) return nullptr;
    Forest& forest = forests_[instance.kind];
    if (instance.id == kNil || instance.id > forest.slices.last()) return nullptr;
    const std::uint32_t* slice = at(forest, instance.id);
    return slice[kPresent] != 0 && slice[kSerial] == instance.serial ? &forest : nullptr;
}

bool InheritEngine::reset(InstanceRef instance, bool /*reported*/) {
    Forest* forest = present(instance);
    if (forest == nullptr) return false;
    move(*forest, instance.id, forest->machine->initial);
    at(*forest, instance.id)[kPast] = 0;
    return true;
}

bool InheritEngine::put(InstanceRef instance, std::uint32_t state) {
    Forest* forest = present(instance);
    if (forest == nullptr || state >= forest->machine->states.size()) return false;
    disturbed_ = true;
    move(*forest, instance.id, state);
    if (forest->machine->states[state].final) remove(*forest, instance.id);
    return true;
}

std::vector<Value> InheritEngine::report_values(const Forest& forest, Id id) const {
    std::vector<Value> values(program_.parameters);
    for (unsigned p = 0; p < program_.parameters; ++p)
        if (const Slot slot = at(forest, id)[kSliceValues + p]; slot != kNil) values[p] = domains_[p]->value(slot);
    return values;
}

// ---- events ----

void InheritEngine::step(EventId event, const Slot* slots, Origin& origin) {
    if (!begun_) begin();
    const Occasion occasion{*this, event, slots, origin};
    Turn turn{occasion, false, {}, {}};
    for (Forest& forest : forests_) take(forest, turn);
    if (!turn.taken) listener_.unmatched(occasion);
    for (Change& change : turn.changes) listener_.changed(std::move(change));
    for (Report& report : turn.reports) listener_.report(std::move(report));
    if (history_.full()) compact_history();
}

void InheritEngine::take(Forest& forest, Turn& turn) {
    const Plan& plan = plans_[turn.occasion.event];
    const std::vector<std::uint8_t>& parameters = program_.events[turn.occasion.event].parameters;
    Values values;
    std::fill_n(values.begin(), program_.parameters, kNil);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (turn.occasion.slots[k] == kNil) return;  // a value that nobody knows, in an event that makes no slices
        values[parameters[k]] = turn.occasion.slots[k];
    }
    const std::uint32_t* leaf = leaf_at(forest, plan.leaf, values);
    const Id exact = leaf != nullptr ? leaf[kExact] : kNil;
    Id next = leaf != nullptr ? leaf[kFirst] : kNil;
    if (exact == kNil && next == kNil) {
        const Id parent = nearest(forest, plan, values);
        if (parent == kNil) return;
        // Guards change nothing, so they can be asked of the parent.
        const Choice choice = choose(forest, parent, turn.occasion);
        if (!choice.relevant) return;
        advance(forest, copy(forest, values, parent), choice, turn);
        return;
    }
    if (exact != kNil) advance(forest, exact, choose(forest, exact, turn.occasion), turn);
    const std::uint32_t links = leaf_kinds_[plan.leaf].links;
    while (next != kNil) {
        const Id id = next;
        next = at(forest, id)[links + 1];  // it may be gone afterwards
        advance(forest, id, choose(forest, id, turn.occasion), turn);
    }
}

InheritEngine::Id InheritEngine::copy(Forest& forest, const Values& values, Id parent) {
    const Id child = add(forest, values, at(forest, parent)[kState], parent);
    if (forest.machine->variables) Domain::store64(at(forest, child) + kUser, listener_.fork(user_of(forest, parent)));
    return child;
}

InheritEngine::Id InheritEngine::nearest(Forest& forest, const Plan& plan, const Values& values) {
    for (const unsigned kind : plan.ancestors)
        if (const std::uint32_t* leaf = leaf_at(forest, kind, values); leaf != nullptr && leaf[kExact] != kNil)
            return leaf[kExact];
    return forest.root;
}

InheritEngine::Choice InheritEngine::choose(const Forest& forest, Id id, const Occasion& occasion) {
    Choice choice;
    const Cell& cell = forest.cells[at(forest, id)[kState] * program_.events.size() + occasion.event];
    for (std::uint32_t k = cell.first; k < cell.first + cell.count; ++k) {
        const Machine::Transition& transition = *forest.transitions[k].transition;
        std::int32_t answer = 1;
        if (transition.guard != Machine::kNoCode)
            answer = listener_.call(transition.guard, user_of(forest, id), &occasion);
        if (answer < 0) continue;
        choice.relevant = true;
        choice.success = answer != 0;
        if (!(choice.success ? transition.success : transition.failure)) continue;
        choice.known = &forest.transitions[k];
        break;
    }
    return choice;
}

void InheritEngine::advance(Forest& forest, Id id, const Choice& choice, Turn& turn) {
    if (choice.known == nullptr) return;
    turn.taken = true;
    const Machine::Transition& transition = *choice.known->transition;
    const Machine::End& end = choice.success ? *transition.success : *transition.failure;
    std::uint32_t* slice = at(forest, id);
    const Machine::State before = slice[kState];
    Machine::State after = end.target != Machine::kStay ? end.target : before;
    if (end.block != Machine::kNoCode) {
        const std::int32_t answer = listener_.call(end.block, user_of(forest, id), &turn.occasion);
        if (answer >= 0) after = static_cast<Machine::State>(answer);
    }
    if (after != before) move(forest, id, after);
    const Machine::Place& place = forest.machine->states[after];
    if (end.action != Machine::kNoCode) listener_.call(end.action, user_of(forest, id), &turn.occasion);
    if (place.action != Machine::kNoCode) listener_.call(place.action, user_of(forest, id), &turn.occasion);

    const EventId event = turn.occasion.event;
    if (history_.on()) slice[kPast] = history_.add(slice[kPast], event, turn.occasion.origin.stamp());
    if (listener_.wants_change(forest.property, before, after))
        turn.changes.push_back({forest.property, before, after, choice.known->number, choice.success, ref(forest, id),
                                report_values(forest, id)});
    const bool bound = program_.binding != Binding::Full || mask_of(forest, id) == program_.all();
    if (place.category >= 0 && bound) {
        Report report;
        report.property = forest.property;
        report.category = static_cast<std::uint16_t>(place.category);
        report.final = place.final || place.transitions.empty();
        report.event = event;
        report.stamp = turn.occasion.origin.stamp();
        report.instance = ref(forest, id);
        report.values = report_values(forest, id);
        if (history_.on()) report.witness = history_.read(slice[kPast]);
        turn.reports.push_back(std::move(report));
    }
    if (place.final) remove(forest, id);
}

bool InheritEngine::is_exact() const {
    const auto binds_all = [&](const EventDecl& event) { return event.mask() == program_.all(); };
    return forests_.size() == 1 && program_.parameters <= 1 &&
           std::all_of(program_.events.begin(), program_.events.end(), binds_all);
}

InheritEngine::Id InheritEngine::make_copy(Slot slot) {
    Values values{};
    values[0] = slot;
    return copy(forests_[0], values, forests_[0].root);
}

void InheritEngine::follow(Id slice, State after) {
    if (after != state_of(slice)) move(forests_[0], slice, after);
}

void InheritEngine::remember(Id slice, EventId event, const Stamp& stamp) {
    std::uint32_t& past = at(forests_[0], slice)[kPast];
    past = history_.add(past, event, stamp);
    if (history_.full()) compact_history();
}

void InheritEngine::compact_history() {
    std::size_t places = 0;
    for (const Forest& forest : forests_) places += forest.slices.last();
    if (history_.put_off(counts_.alive(), places)) return;
    history_.compact([&](auto&& visit) {
        for (Forest& forest : forests_)
            for (Id id = 1; id <= forest.slices.last(); ++id)
                if (at(forest, id)[kPresent] != 0) visit(at(forest, id)[kPast]);
    });
}

// ---- what others want to know ----

std::size_t InheritEngine::bytes() const {
    std::size_t sum = history_.bytes();
    for (const auto& domain : domains_) sum += domain->bytes();
    for (const Forest& forest : forests_) {
        sum += forest.slices.bytes();
        for (const Pool& pool : forest.leaves) sum += pool.bytes();
        for (const Index& index : forest.indexes) sum += index.bytes();
    }
    return sum;
}

void InheritEngine::each_slice(const std::function<void(const Slice&)>& visit) {
    for (Forest& forest : forests_) {
        std::vector<Id> ids;
        for (Id id = 1; id <= forest.slices.last(); ++id)
            if (at(forest, id)[kPresent] != 0) ids.push_back(id);
        std::sort(ids.begin(), ids.end(), [&](Id a, Id b) { return at(forest, a)[kSerial] < at(forest, b)[kSerial]; });
        for (const Id id : ids) {
            const std::uint32_t* slice = at(forest, id);
            InstanceRef parent{this, forest.property, slice[kParent], slice[kParentSerial]};
            if (present(parent) == nullptr) parent = {};
            visit({ref(forest, id), parent, forest.property, slice[kState], user_of(forest, id),
                   report_values(forest, id)});
        }
    }
}

void InheritEngine::each_instance(const Visit& visit) {
    each_slice([&](const Slice& slice) {
        std::vector<Standing> standings(forests_.size());
        standings[slice.property].state = slice.state;
        visit(slice.values, standings,
              [&] { return history_.read(at(forests_[slice.property], slice.self.id)[kPast]); });
    });
}

std::vector<std::vector<bool>> InheritEngine::occupied() {
    std::vector<std::vector<bool>> found;
    for (const Forest& forest : forests_) {
        std::vector<bool>& states = found.emplace_back();
        for (const std::uint32_t count : forest.population) states.push_back(count != 0);
    }
    return found;
}

}  // namespace mopsus
