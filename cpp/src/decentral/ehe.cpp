#include <algorithm>
#include <bit>

#include "mopsus/decentral/ehe.hpp"

namespace mopsus::decentral {

Ehe::Ehe(std::shared_ptr<const Automaton> automaton, Time origin)
    : automaton_(std::move(automaton)),
      inputs_(words_for(automaton_->inputs().size())),
      states_(words_for(automaton_->states())),
      stride_(2 * inputs_ + states_) {
    reset(origin);
}

void Ehe::reset(Time origin) {
    origin_ = resolved_ = origin;
    begin(origin, 0);
}

void Ehe::forget() {
    resolved_ = start_;
    begin(start_, only(0));
}

// Know nothing but a state.
void Ehe::begin(Time time, State state) {
    start_ = time;
    words_.assign(stride_, 0);
    set_bit(reach(0), state);
    stale_first_ = 1;
    stale_last_ = 0;
}

std::size_t Ehe::layer_of(Time time) const {
    if (time < start_ || time > end())
        throw Error("timestamp " + std::to_string(time) + " is not between " + std::to_string(start_) + " and " +
                    std::to_string(end()));
    return time - start_;
}

std::size_t Ehe::count(std::size_t layer) const {
    std::size_t number = 0;
    for (std::size_t word = 0; word < states_; ++word)
        number += static_cast<std::size_t>(std::popcount(reach(layer)[word]));
    return number;
}

State Ehe::only(std::size_t layer) const {
    std::size_t word = 0;
    while (reach(layer)[word] == 0) ++word;
    return static_cast<State>(word * 64 + static_cast<std::size_t>(std::countr_zero(reach(layer)[word])));
}

// What is known in a layer has changed, or where one may be in the layer before.
void Ehe::stale(std::size_t layer) const {
    if (stale_first_ > stale_last_) stale_first_ = stale_last_ = layer;
    stale_first_ = std::min(stale_first_, layer);
    stale_last_ = std::max(stale_last_, layer);
}

// Computes the states of all layers up to this one.
void Ehe::settle(std::size_t layer) const {
    std::vector<Word> fresh;
    for (; stale_first_ <= stale_last_ && stale_first_ <= layer; ++stale_first_) {
        fresh.assign(states_, 0);
        automaton_->step(reach(stale_first_ - 1), at(stale_first_), fresh.data());
        if (std::equal(fresh.begin(), fresh.end(), reach(stale_first_))) continue;
        std::copy(fresh.begin(), fresh.end(), reach(stale_first_));
        if (stale_first_ + 1 < layers()) stale_last_ = std::max(stale_last_, stale_first_ + 1);
    }
}

void Ehe::tick() {
    settle();
    add_layer();
    const std::size_t last = layers() - 1;
    automaton_->step(reach(last - 1), at(last), reach(last));
}

void Ehe::learn(Observation observation) {
    const auto& [atom, truth] = observation;
    if (atom.input >= automaton_->inputs().size())
        throw Error("the automaton has no input " + std::to_string(atom.input));
    if (atom.time <= start_) return;
    const std::size_t layer = layer_of(atom.time);
    if (!at(layer).has(atom.input)) {
        set_bit(known(layer), atom.input);
        if (truth) set_bit(value(layer), atom.input);
        stale(layer);
    } else if (at(layer).get(atom.input) != truth) {
        throw Error("'" + automaton_->inputs()[atom.input] + "' was observed both true and false at " +
                    std::to_string(atom.time));
    }
}

bool Ehe::update(const Memory& memory) {
    for (const Observation& observation : memory.after(start_)) {
        if (observation.atom.time > end()) break;
        learn(observation);
    }
    return resolve();
}

bool Ehe::resolve() {
    for (std::size_t layer = resolved_ - start_ + 1; layer < layers(); ++layer) {
        counters_.evaluations += count(layer);
        settle(layer);
        const std::size_t left = count(layer);
        if (left == 1) {
            resolved_ = start_ + layer;
            return true;
        }
        counters_.simplifications += left;
    }
    return false;
}

std::vector<State> Ehe::states(Time time) const {
    const std::size_t layer = layer_of(time);
    settle(layer);
    std::vector<State> result;
    for (State state = 0; state < automaton_->states(); ++state)
        if (bit(reach(layer), state)) result.push_back(state);
    return result;
}

std::optional<State> Ehe::state(Time time) const {
    const std::size_t layer = layer_of(time);
    settle(layer);
    return count(layer) == 1 ? std::optional(only(layer)) : std::nullopt;
}

Truth Ehe::verdict(Time time) const {
    const std::vector<State> all = states(time);
    const Truth first = automaton_->verdict(all.front());
    return std::all_of(all.begin(), all.end(), [&](State state) { return automaton_->verdict(state) == first; })
               ? first
               : Truth::Unknown;
}

std::size_t Ehe::last_known() const {
    settle();
    std::size_t layer = layers() - 1;
    while (count(layer) != 1) --layer;
    return layer;
}

Time Ehe::drop(Time time) {
    if (time <= start_) return 0;
    std::size_t layer = layer_of(std::min(time, end()));
    settle(layer);
    while (count(layer) != 1) --layer;
    begin_at(layer);
    return layer;
}

// Make a layer whose state is known the first one.
void Ehe::begin_at(std::size_t layer) {
    settle(layer);
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(layer * stride_));
    std::fill_n(words_.begin(), 2 * inputs_, Word{0});
    start_ += layer;
    resolved_ = std::max(resolved_, start_);
    if (stale_first_ <= stale_last_) {
        stale_first_ -= layer;
        stale_last_ -= layer;
    } else {
        stale_first_ = 1;
        stale_last_ = 0;
    }
}

void Ehe::check_agrees(const Ehe& other) const {
    if (automaton_ != other.automaton_ && automaton_->fingerprint() != other.automaton_->fingerprint())
        throw Error("the other one is about another automaton");
    if (origin_ != other.origin_)
        throw Error("the other one began at timestamp " + std::to_string(other.origin_) + ", and this one at " +
                    std::to_string(origin_));
    const Time first = std::max(start_, other.start_);
    const Time last = std::min(end(), other.end());
    for (Time time = first; time <= last; ++time) {
        const std::size_t mine = time - start_;
        const std::size_t its = time - other.start_;
        bool same = true;
        for (std::size_t word = 0; word < inputs_; ++word)
            same &= (known(mine)[word] & other.known(its)[word] & (value(mine)[word] ^ other.value(its)[word])) == 0;
        if (time == first) {
            bool common = false;
            for (std::size_t word = 0; word < states_; ++word)
                common |= (reach(mine)[word] & other.reach(its)[word]) != 0;
            same &= common;
        }
        if (!same) throw Error("the other one contradicts what is known of timestamp " + std::to_string(time));
    }
}

void Ehe::merge(const Ehe& other) {
    settle();
    other.settle();
    check_agrees(other);
    if (other.start_ > end()) {
        begin(other.start_, other.only(0));
    } else if (other.start_ > start_) {
        const std::size_t layer = other.start_ - start_;
        std::copy_n(other.reach(0), states_, reach(layer));
        begin_at(layer);
        if (layers() > 1) stale(1);
    }
    resolved_ = std::max({resolved_, other.resolved_, start_});
    while (end() < other.end()) {
        add_layer();
        stale(layers() - 1);
    }
    for (Time time = std::max(start_, other.start_) + 1; time <= other.end(); ++time) {
        const std::size_t mine = time - start_;
        const std::size_t its = time - other.start_;
        bool news = false;
        for (std::size_t word = 0; word < inputs_; ++word) {
            news |= (other.known(its)[word] & ~known(mine)[word]) != 0;
            known(mine)[word] |= other.known(its)[word];
            value(mine)[word] |= other.value(its)[word];
        }
        if (news) stale(mine);
    }
    settle();
}

bool Ehe::operator==(const Ehe& other) const {
    if (automaton_ != other.automaton_ && automaton_->fingerprint() != other.automaton_->fingerprint()) return false;
    settle();
    other.settle();
    return origin_ == other.origin_ && start_ == other.start_ && resolved_ == other.resolved_ && words_ == other.words_;
}

}  // namespace mopsus::decentral
