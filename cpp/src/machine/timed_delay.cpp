#include "timed_delay.hpp"

#include <algorithm>

namespace mopsus {

Delays::Delays(const TimedMachine& machine) : lane_of_(machine.letters.size() + machine.operators.size(), kNone) {
    for (std::size_t k = 0; k < machine.operators.size(); ++k) {
        const TimedMachine::Operator& op = machine.operators[k];
        const bool future = op.kind == Kind::Next || op.kind == Kind::Until;
        if (!future && std::none_of(op.operands.begin(), op.operands.end(),
                                    [&](std::uint32_t value) { return is_delayed(value); }))
            continue;
        const auto lane = static_cast<std::uint32_t>(plans_.size());
        for (std::uint32_t n = 0; n < op.operands.size(); ++n) {
            const std::uint32_t value = op.operands[n];
            if (is_delayed(value))
                plans_[lane_of_[value]].readers.push_back({lane, n});
            else
                inputs_.push_back({value, {lane, n}});
        }
        const std::size_t value = machine.letters.size() + k;
        plans_.push_back(
            {op.kind, static_cast<std::uint32_t>(op.operands.size()), op.bounds, {}, value == machine.formula});
        lane_of_[value] = lane;
    }
}

std::uint32_t Delays::begin() {
    if (free_.empty()) {
        states_.push_back(std::make_unique<State>());
        free_.push_back(static_cast<std::uint32_t>(states_.size()));
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    std::vector<Lane>& lanes = states_[id - 1]->lanes;
    lanes.resize(plans_.size());
    for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k].operands.resize(plans_[k].operands);
    return id;
}

std::uint32_t Delays::copy(std::uint32_t id) {
    const std::uint32_t twin = begin();
    *states_[twin - 1] = *states_[id - 1];
    return twin;
}

void Delays::end(std::uint32_t id) {
    *states_[id - 1] = State();
    free_.push_back(id);
}

void Delays::give(State& state, Reader reader, bool value) const {
    Lane& lane = state.lanes[reader.lane];
    Track& track = lane.operands[reader.operand];
    const bool right = reader.operand + 1 == lane.operands.size();
    if (plans_[reader.lane].kind != Kind::Until)
        track.values.push(value ? 1 : 0);
    else if (value == right)
        track.marks.push(track.known);
    ++track.known;
}

unsigned Delays::advance(std::uint32_t id, const std::uint8_t* values, std::uint64_t time, Scale scale) {
    State& state = *states_[id - 1];
    state.times.push(time);
    for (const auto& [value, reader] : inputs_) give(state, reader, values[value] != 0);
    unsigned verdicts = 0;
    std::uint64_t slowest = state.points();
    for (std::size_t k = 0; k < plans_.size(); ++k) {
        const Plan& plan = plans_[k];
        Lane& lane = state.lanes[k];
        while (lane.done < state.points()) {
            const Truth value = next(plan.kind, plan.bounds[scale], state, lane);
            if (value == Truth::Unknown) break;
            ++lane.done;
            for (const Reader reader : plan.readers) give(state, reader, value == Truth::True);
            if (plan.formula) verdicts |= value == Truth::True ? 1U : 2U;
        }
        slowest = std::min(slowest, plan.kind == Kind::Since ? lane.taken : lane.done);
    }
    // `previous` still looks one point back.
    const std::uint64_t needed = slowest == 0 ? 0 : slowest - 1;
    state.times.pop(needed - state.first);
    state.first = needed;
    return verdicts;
}

// The value of an operator at the next point that has none.
Delays::Truth Delays::next(Kind kind, const Bounds& bounds, State& state, Lane& lane) {
    const std::uint64_t point = lane.done;
    Track& operand = lane.right();
    switch (kind) {
        case Kind::Previous:
            if (point == 0) return Truth::False;
            operand.forget_before(point - 1);
            if (!bounds.has(state.time(point) - state.time(point - 1))) return Truth::False;
            return operand.at(point - 1);
        case Kind::Next:
            operand.forget_before(point + 1);
            if (point + 1 == state.points()) return Truth::Unknown;
            if (!bounds.has(state.time(point + 1) - state.time(point))) return Truth::False;
            return operand.at(point + 1);
        case Kind::Since: return since(bounds, state, lane);
        case Kind::Until: return until(bounds, state, lane);
        default: return connect(kind, lane);
    }
}

Delays::Truth Delays::connect(Kind kind, Lane& lane) {
    const std::uint64_t point = lane.done;
    bool odd = kind == Kind::Not;
    bool complete = true;
    for (Track& operand : lane.operands) {
        operand.forget_before(point);
        const Truth value = operand.at(point);
        if (kind == Kind::And && value == Truth::False) return Truth::False;
        if (kind == Kind::Or && value == Truth::True) return Truth::True;
        complete = complete && value != Truth::Unknown;
        odd = odd != (value == Truth::True);
    }
    if (!complete) return Truth::Unknown;
    if (kind == Kind::And) return Truth::True;
    if (kind == Kind::Or) return Truth::False;
    return odd ? Truth::True : Truth::False;
}

Delays::Truth Delays::since(const Bounds& bounds, const State& state, Lane& lane) {
    const std::uint64_t point = lane.done;
    for (; lane.taken <= point; ++lane.taken) {
        const Truth left = lane.operands.size() == 2 ? lane.operands[0].at(lane.taken) : Truth::True;
        const Truth right = lane.right().at(lane.taken);
        if (left == Truth::Unknown || right == Truth::Unknown) break;
        if (left == Truth::False) lane.witnesses.clear();
        if (right == Truth::True) lane.witnesses.add(state.time(lane.taken), bounds);
    }
    for (Track& operand : lane.operands) operand.forget_before(lane.taken);
    if (lane.taken <= point) return since_ahead(bounds, state, lane);
    return lane.witnesses.within(state.time(point), bounds) ? Truth::True : Truth::False;
}

// At points from `taken` on, one operand is not known yet, and the other may be. The value is known all the same if it
// is the same whatever the missing operands turn out to be. `a since[low, high] b` at `point` holds if there is a
// witness, a point of `b` between `now - high` and `now - low`, with `a` at every point after it:
//
//     before `taken`       from `taken` on, `a` or `b` unknown                             point
//     ---------------------|-----------------------|-----------------|---------------------|----> time
//     `witnesses`          first: no witness       hope: the first   near: the last point
//     that still hold      lies before it          possible witness  that is not too near
//
// `first` is the last point at which `a` fails, if one is known. All of these places only move on, so that looking at
// all points of a run takes no longer than looking at each a few times.
Delays::Truth Delays::since_ahead(const Bounds& bounds, const State& state, Lane& lane) {
    const std::uint64_t point = lane.done;
    const std::uint64_t now = state.time(point);
    const Track& right = lane.right();
    const Track* left = lane.operands.size() == 2 ? &lane.operands[0] : nullptr;
    const Ahead& ahead = lane.ahead;
    const bool broken = left != nullptr && look_for_break(*left, lane, point);
    const std::uint64_t first = broken ? ahead.broken : lane.taken;
    const std::uint64_t known = std::min(right.known, point + 1);
    look_for_witness(bounds, state, lane, first);

    const bool old = !broken && lane.witnesses.within(now, bounds);
    if (old && (left == nullptr || left->known > point)) return Truth::True;
    if (bounds.low == 0 && right.at(point) == Truth::True) return Truth::True;
    const auto reachable = [&](std::uint64_t from) {
        return ahead.near >= from && now - state.time(ahead.near) >= bounds.low &&
               now - state.time(ahead.near) <= bounds.high;
    };
    // The first witness that is known and not too far may be too near; beyond what is known, any point may be one.
    const bool hopeful = ahead.hope < known && now - state.time(ahead.hope) >= bounds.low;
    const bool open = right.known <= point && reachable(std::max(right.known, first));
    return old || hopeful || open ? Truth::Unknown : Truth::False;
}

// Whether the left operand is known to fail at a point from `taken` on; `ahead.broken` is the last one. A new witness
// may lie there, but none before.
bool Delays::look_for_break(const Track& left, Lane& lane, std::uint64_t point) {
    Ahead& ahead = lane.ahead;
    for (ahead.looked = std::max(ahead.looked, lane.taken); ahead.looked <= point && ahead.looked < left.known;
         ++ahead.looked)
        if (left.at(ahead.looked) == Truth::False) ahead.broken = ahead.looked;
    return ahead.broken >= lane.taken && ahead.looked > lane.taken && left.at(ahead.broken) == Truth::False;
}

void Delays::look_for_witness(const Bounds& bounds, const State& state, Lane& lane, std::uint64_t first) {
    const std::uint64_t point = lane.done;
    const std::uint64_t now = state.time(point);
    const Track& right = lane.right();
    const std::uint64_t known = std::min(right.known, point + 1);
    Ahead& ahead = lane.ahead;
    ahead.hope = std::max(ahead.hope, first);
    while (ahead.hope < known && (right.at(ahead.hope) == Truth::False || now - state.time(ahead.hope) > bounds.high))
        ++ahead.hope;
    ahead.near = std::max(ahead.near, lane.taken);
    while (ahead.near < point && now - state.time(ahead.near + 1) >= bounds.low) ++ahead.near;
}

Delays::Truth Delays::until(const Bounds& bounds, const State& state, Lane& lane) {
    const std::uint64_t point = lane.done;
    const std::uint64_t now = state.time(point);
    Track& left = lane.operands.front();
    Track& right = lane.right();
    const bool conditional = &left != &right;
    Queue<std::uint64_t>& witnesses = right.marks;
    while (!witnesses.empty() && (witnesses.front() < point || state.time(witnesses.front()) - now < bounds.low))
        witnesses.pop();
    if (conditional)
        while (!left.marks.empty() && left.marks.front() < point) left.marks.pop();
    const bool broken = conditional && !left.marks.empty();
    if (!witnesses.empty()) {
        const std::uint64_t witness = witnesses.front();
        if (state.time(witness) - now > bounds.high) return Truth::False;
        if (broken) return witness <= left.marks.front() ? Truth::True : Truth::False;
        return !conditional || witness <= std::max(left.known, point) ? Truth::True : Truth::Unknown;
    }
    // Only points whose right operand is not known yet could be witnesses: no later than where the
    // left one fails, and within the interval.
    lane.reach = std::max(lane.reach, point);
    while (lane.reach < state.points() && state.time(lane.reach) - now < bounds.low) ++lane.reach;
    const std::uint64_t candidate = std::max(right.known, lane.reach);
    if (broken && left.marks.front() < candidate) return Truth::False;
    const std::uint64_t earliest = state.time(std::min(candidate, state.points() - 1));
    return earliest - now > bounds.high ? Truth::False : Truth::Unknown;
}

void Delays::transfer(Archive& archive, std::uint32_t id) {
    State& state = *states_[id - 1];
    archive.field(state.first, 0, 1ULL << 62);
    transfer_queue(archive, state.times, [&](std::uint64_t& time) { archive.field(time); });
    if (state.first != 0 && state.times.empty()) throw BadSnapshot("the points of a timed formula are missing");
    for (std::size_t k = 0; k < plans_.size(); ++k) transfer_lane(archive, state, plans_[k], state.lanes[k]);
    // An operand is known as far as its own lane has got, and at all points if it does not depend on the future.
    const auto require_known = [&](Reader reader, std::uint64_t known) {
        if (state.lanes[reader.lane].operands[reader.operand].known != known)
            throw BadSnapshot("the values of a timed formula do not fit together");
    };
    for (const auto& [value, reader] : inputs_) require_known(reader, state.points());
    for (std::size_t k = 0; k < plans_.size(); ++k)
        for (const Reader reader : plans_[k].readers) require_known(reader, state.lanes[k].done);
}

void Delays::transfer_lane(Archive& archive, const State& state, const Plan& plan, Lane& lane) const {
    const std::uint64_t points = state.points();
    // The point before the slowest is still there.
    const std::uint64_t slowest = state.first + (state.first != 0 ? 1 : 0);
    archive.field(lane.done, slowest, points);
    // The values that are known reach back to the first point that is still of use.
    std::uint64_t used = lane.done;
    if (plan.kind == Kind::Since) {
        archive.field(lane.taken, slowest, lane.done);
        used = lane.taken;
    }
    if (plan.kind == Kind::Next) ++used;
    if (plan.kind == Kind::Previous && used != 0) --used;
    for (Track& operand : lane.operands) {
        archive.field(operand.known, 0, points);
        transfer_queue(archive, operand.values, [&](std::uint8_t& value) { archive.field(value, 0, 1); });
        transfer_queue(archive, operand.marks,
                       [&](std::uint64_t& mark) { archive.field(mark, 0, points == 0 ? 0 : points - 1); });
        const std::uint64_t count = operand.values.size();
        const bool whole = plan.kind == Kind::Until ? points != 0 || operand.marks.empty()
                                                    : operand.known <= used || operand.known - used <= count;
        if (count > operand.known || !whole) throw BadSnapshot("the operands of a timed formula do not fit together");
    }
    archive.field(lane.reach, 0, points);
    lane.witnesses.transfer(archive);
}

std::size_t Delays::kept(std::uint32_t id) const {
    std::size_t count = 0;
    for (const Lane& lane : states_[id - 1]->lanes) count += lane.witnesses.size();
    return count;
}

std::size_t Delays::bytes() const {
    std::size_t bytes = states_.capacity() * sizeof(void*) + free_.capacity() * sizeof(std::uint32_t);
    for (const auto& state : states_) {
        bytes += sizeof(State) + state->times.bytes() + state->lanes.capacity() * sizeof(Lane);
        for (const Lane& lane : state->lanes) {
            bytes += lane.witnesses.bytes() + lane.operands.capacity() * sizeof(Track);
            for (const Track& operand : lane.operands) bytes += operand.values.bytes() + operand.marks.bytes();
        }
    }
    return bytes;
}

}  // namespace mopsus
