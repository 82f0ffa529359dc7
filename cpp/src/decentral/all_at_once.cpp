#include "mopsus/decentral/all_at_once.hpp"

#include <algorithm>
#include <utility>

namespace mopsus::decentral {

namespace {

// What a diagram or state leads to. Both bits: to nothing at all, which no diagram does.
constexpr std::uint8_t kTrue = 1;
constexpr std::uint8_t kFalse = 2;
constexpr std::uint8_t kNotAsked = 0xff;

bool sooner(const Verdict& one, const Verdict& other) { return one.first < other.first; }

}  // namespace

// What is used while working. There may be thousands of monitors in turn, so all have the same.
struct AllAtOnce::Scratch {
    // States that are sure to lead to true, then those to false: after a timestamp, and before it.
    std::vector<Word> sure;
    std::vector<Word> earlier;
    // For each node of the diagrams what it is sure to lead to, as far as that was asked for.
    std::vector<std::uint8_t> fates;
    std::vector<Diagram> asked;
    std::vector<Group> groups;

    static Scratch& get() {
        thread_local Scratch scratch;
        return scratch;
    }
    std::uint8_t fate_of(State state) const {
        const Word* words = sure.data();
        return static_cast<std::uint8_t>((bit(words, state) ? kTrue : 0) |
                                         (bit(words + sure.size() / 2, state) ? kFalse : 0));
    }
};

AllAtOnce::AllAtOnce(std::shared_ptr<const Automaton> automaton, bool respawns)
    : automaton_(std::move(automaton)),
      respawns_(respawns),
      states_(words_for(automaton_->states())),
      stretches_(automaton_->inputs().size(), 2 * states_),
      verdicts_(2 * states_) {
    for (State state = 0; state < automaton_->states(); ++state)
        if (const Truth truth = automaton_->verdict(state); truth != Truth::Unknown)
            set_bit(verdicts_.data() + (truth == Truth::True ? 0 : states_), state);
}

void AllAtOnce::extend(Time time) {
    const Time end = this->end();
    if (time <= end) return;
    stretches_.extend(time);
    if (respawns_)
        new_.add({end + 1, time});
    else if (end == 0)
        new_.add({1, 1});
}

void AllAtOnce::learn(Interval interval, Known news) {
    interval.first = std::max(interval.first, known() + 1);
    if (interval.first > interval.last) return;
    extend(interval.last);
    if (!stretches_.learn(interval, news))
        throw Error("an input was told both true and false between " + std::to_string(interval.first) + " and " +
                    std::to_string(interval.last));
}

void AllAtOnce::learn_quiet(Time time) {
    if (time <= known()) return;
    extend(time);
    stretches_.learn_quiet(time);
}

void AllAtOnce::conclude(Step& step) {
    const Time before = known();
    for (const bool again : {false, true}) {
        for (Time steps = 1; stretches_.size() > 0 && steps > 0;) {
            steps = passable();
            if (steps > 0) pass(steps);
        }
        // What is found by looking back may be all that kept the others waiting.
        if (!again) look_back();
    }
    std::sort(found_.begin(), found_.end(), sooner);
    for (const Verdict& each : found_) {
        std::vector<Verdict>& all = step.answers;
        if (!all.empty() && all.back().value == each.value && all.back().last + 1 == each.first)
            all.back().last = each.last;
        else
            all.push_back(each);
    }
    found_.clear();
    if (known() > before) step.resolutions.push_back({before, known()});
    step.dropped += known() - before;
    step.work = std::exchange(work_, {});
}

// The state that follows in the first stretch, if the inputs that matter are known.
std::optional<State> AllAtOnce::next(State state) const {
    const Known known = stretches_.at(0);
    Diagram at = automaton_->root(state);
    while (at >= 0) {
        const Automaton::Node& node = automaton_->node(at);
        if (!known.has(node.input)) return std::nullopt;
        at = node.next(known.get(node.input));
    }
    return static_cast<State>(~at);
}

// The state after so many steps within the first stretch.
State AllAtOnce::after(State state, Time steps) const {
    for (std::size_t taken = 0; taken < automaton_->states(); ++taken, --steps) {
        if (steps == 0) return state;
        const State following = *next(state);
        if (following == state) return state;
        state = following;
    }
    // After as many steps as there are states it goes round.
    Time round = 1;
    for (State each = *next(state); each != state; each = *next(each)) ++round;
    for (Time left = steps % round; left > 0; --left) state = *next(state);
    return state;
}

// How many timestamps of the first stretch all instances can take.
Time AllAtOnce::passable() const {
    Time most = stretches_.interval(0).last - known();
    if (stretches_.quiet(0)) return most;
    for (const Group& group : groups_) most = passable_from(group.state, most);
    if (!new_.empty()) {
        const Time before = new_.first() - 1 - known();
        if (before < most) most = before + passable_from(0, most - before);
    }
    return most;
}

Time AllAtOnce::passable_from(State state, Time most) const {
    // Who can take more steps than there are states goes round.
    for (Time steps = 0; steps < most && steps <= automaton_->states(); ++steps) {
        const std::optional<State> following = next(state);
        if (!following) return steps;
        if (*following == state) break;
        state = *following;
    }
    return most;
}

void AllAtOnce::pass(Time steps) {
    if (!stretches_.quiet(0)) {
        std::vector<Group>& moving = Scratch::get().groups;
        moving.swap(groups_);
        for (auto& [state, starts] : moving) {
            ++work_.evaluations;
            put(starts, after(state, steps), state);
        }
        moving.clear();
    }
    pass_new(known() + steps);
    stretches_.drop(known() + steps);
}

// The instances that begin up to this timestamp of the first stretch.
void AllAtOnce::pass_new(Time to) {
    Timestamps begun = new_.take({known() + 1, to});
    State state = 0;
    for (Time start = to; !begun.empty(); --start) {
        ++work_.evaluations;
        const State following = stretches_.quiet(0) ? state : *next(state);
        // All that began before have been here too.
        const bool all = following == state || automaton_->verdict(following) != Truth::Unknown;
        state = following;
        Timestamps those = begun.take({all ? begun.first() : start, start});
        put(those, state, 0);
    }
}

// Instances have come from one state to another.
void AllAtOnce::put(Timestamps& starts, State state, State from) {
    if (starts.empty()) return;
    if (const Truth truth = automaton_->verdict(state); truth != Truth::Unknown)
        return found(starts, truth == Truth::True, from);
    const auto group =
        std::find_if(groups_.begin(), groups_.end(), [&](const Group& each) { return each.state == state; });
    if (group == groups_.end())
        groups_.push_back({state, std::move(starts)});
    else
        group->starts.join(starts);
}

void AllAtOnce::look_back() {
    if (stretches_.size() == 0) return;
    const auto [first, last] = stretches_.newest();
    bool changed = false;
    for (std::size_t stretch = last; stretch-- > 0 && (changed || stretch >= first);)
        if (changed || stretches_.news(stretch)) changed = look_back(stretch);
    stretches_.read_all();
    const Word* sure = stretches_.room(0);
    std::erase_if(groups_, [&](const Group& group) {
        const bool found_true = bit(sure, group.state);
        if (!found_true && !bit(sure + states_, group.state)) return false;
        found(group.starts, found_true, group.state);
        return true;
    });
}

// What is sure at the beginning of a stretch; has that changed?
bool AllAtOnce::look_back(std::size_t stretch) {
    Scratch& scratch = Scratch::get();
    const Word* after = stretch + 1 < stretches_.size() ? stretches_.room(stretch + 1) : verdicts_.data();
    scratch.sure.assign(after, after + 2 * states_);
    const Interval interval = stretches_.interval(stretch);
    for (Time time = interval.last;; --time) {
        bool steady = stretches_.quiet(stretch);
        if (!steady) {
            step_back(stretch, scratch);
            steady = scratch.earlier == scratch.sure;
            scratch.earlier.swap(scratch.sure);
        }
        if (const std::uint8_t fate = scratch.fate_of(0); fate != 0)
            found(new_.take({steady ? interval.first : time, time}), fate == kTrue, 0);
        if (steady || time == interval.first) break;
    }
    stretches_.read(stretch);
    const bool changed = !std::equal(scratch.sure.begin(), scratch.sure.end(), stretches_.room(stretch));
    std::copy(scratch.sure.begin(), scratch.sure.end(), stretches_.room(stretch));
    return changed;
}

// From what is sure after a timestamp of a stretch to what is sure before it.
void AllAtOnce::step_back(std::size_t stretch, Scratch& scratch) {
    scratch.earlier.assign(2 * states_, 0);
    if (scratch.fates.size() < automaton_->nodes().size()) scratch.fates.resize(automaton_->nodes().size(), kNotAsked);
    const Known known = stretches_.at(stretch);
    for (State state = 0; state < automaton_->states(); ++state) {
        const std::uint8_t lot = fate(automaton_->root(state), known, scratch);
        if (lot == kTrue) set_bit(scratch.earlier.data(), state);
        if (lot == kFalse) set_bit(scratch.earlier.data() + states_, state);
        if (automaton_->verdict(state) == Truth::Unknown) {
            ++work_.evaluations;
            work_.simplifications += lot == 0;
        }
    }
    for (const Diagram each : scratch.asked) scratch.fates[static_cast<std::size_t>(each)] = kNotAsked;
    scratch.asked.clear();
}

std::uint8_t AllAtOnce::fate(Diagram diagram, Known known, Scratch& scratch) const {
    while (diagram >= 0 && known.has(automaton_->node(diagram).input)) {
        const Automaton::Node& node = automaton_->node(diagram);
        diagram = node.next(known.get(node.input));
    }
    if (diagram < 0) return scratch.fate_of(static_cast<State>(~diagram));
    std::uint8_t& lot = scratch.fates[static_cast<std::size_t>(diagram)];
    if (lot == kNotAsked) {
        const Automaton::Node& node = automaton_->node(diagram);
        lot = fate(node.if_false, known, scratch);
        if (lot != 0) lot &= fate(node.if_true, known, scratch);
        scratch.asked.push_back(diagram);
    }
    return lot;
}

// Those that were in this state at `known()`, or are new, have a verdict.
void AllAtOnce::found(const Timestamps& starts, bool verdict, State from) {
    if (starts.empty()) return;
    if (starts.first() == 1) first_found_ = when_sure(from);
    for (const Interval& each : starts.intervals()) found_.push_back({each.first, each.last, verdict});
}

// The first timestamp at which all states that may follow have the same verdict.
Time AllAtOnce::when_sure(State from) const {
    std::vector<Word> reached(states_);
    set_bit(reached.data(), from);
    Time time = known();
    const auto sure = [&] {
        return std::equal(reached.begin(), reached.end(), verdicts_.begin(),
                          [](Word one, Word all) { return (one & ~all) == 0; }) ||
               std::equal(reached.begin(), reached.end(), verdicts_.begin() + static_cast<std::ptrdiff_t>(states_),
                          [](Word one, Word all) { return (one & ~all) == 0; });
    };
    for (std::size_t stretch = 0; stretch < stretches_.size() && !sure(); ++stretch) {
        const Interval interval = stretches_.interval(stretch);
        for (time = interval.first; time <= interval.last && !stretches_.quiet(stretch); ++time) {
            std::vector<Word> following(states_);
            automaton_->step(reached.data(), stretches_.at(stretch), following.data());
            const bool steady = following == reached;
            reached.swap(following);
            if (sure()) return time;
            if (steady) break;
        }
        time = interval.last;
    }
    return time;
}

std::vector<State> AllAtOnce::states() const {
    std::vector<State> result;
    if (!new_.empty()) result.push_back(0);
    for (const Group& group : groups_)
        if (group.state != 0 || new_.empty()) result.push_back(group.state);
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<Atom> AllAtOnce::missing() const {
    if (stretches_.size() == 0) return {};
    const Known known = stretches_.at(0);
    std::vector<bool> asked(automaton_->inputs().size());
    std::vector<bool> visited(automaton_->nodes().size());
    std::vector<Diagram> open;
    for (const State state : states()) open.push_back(automaton_->root(state));
    while (!open.empty()) {
        const Diagram at = open.back();
        open.pop_back();
        if (at < 0 || visited[static_cast<std::size_t>(at)]) continue;
        visited[static_cast<std::size_t>(at)] = true;
        const auto& [input, if_false, if_true] = automaton_->node(at);
        const bool unknown = !known.has(input);
        asked[input] = asked[input] || unknown;
        if (unknown || !known.get(input)) open.push_back(if_false);
        if (unknown || known.get(input)) open.push_back(if_true);
    }
    std::vector<Atom> result;
    for (Input input = 0; input < asked.size(); ++input)
        if (asked[input]) result.push_back({stretches_.interval(0).first, input});
    return result;
}

}  // namespace mopsus::decentral
