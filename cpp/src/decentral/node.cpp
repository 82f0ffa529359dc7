#include "mopsus/decentral/node.hpp"

#include <algorithm>
#include <string>

#include "mopsus/decentral/all_at_once.hpp"
#include "mopsus/decentral/one_by_one.hpp"

namespace mopsus::decentral {

namespace {

std::unique_ptr<Instances> instances_of(std::shared_ptr<const Automaton> automaton, const Node::Settings& settings) {
    if (settings.one_by_one) return std::make_unique<OneByOne>(std::move(automaton), settings.respawns);
    return std::make_unique<AllAtOnce>(std::move(automaton), settings.respawns);
}

}  // namespace

Node::Node(std::shared_ptr<const Automaton> automaton, Settings settings)
    : settings_(std::move(settings)),
      inputs_(automaton->inputs().size()),
      observed_(words_for(inputs_)),
      values_(words_for(inputs_)),
      news_(2 * words_for(inputs_)),
      instances_(instances_of(std::move(automaton), settings_)) {
    for (const auto& [input, monitor] : settings_.references) {
        if (input >= inputs_) throw Error("the automaton has no input " + std::to_string(input));
        if (told_by_.size() <= monitor) told_by_.resize(monitor + 1, kNothing);
        if (told_by_[monitor] != kNothing) throw Error("two inputs are verdicts of monitor " + std::to_string(monitor));
        told_by_[monitor] = input;
    }
    for (Input input = 0; input < inputs_; ++input)
        if (std::find(told_by_.begin(), told_by_.end(), input) == told_by_.end()) set_bit(observed_.data(), input);
}

Extent Node::extent() const {
    std::vector<State> states = instances_->states();
    return {instances_->known(), instances_->end(), states.size(), 0, std::move(states)};
}

Step Node::step(Time time, const Memory& seen, std::span<const Letter> inbox) {
    Step result;
    if (released_) return result;
    instances_->extend(time);
    if (settings_.hold)
        hold(time, seen);
    else
        observe(seen);
    for (const Letter& letter : inbox) receive(letter);
    instances_->conclude(result);
    answer(result);
    return result;
}

void Node::observe(const Memory& seen) {
    for (const auto& [atom, value] : seen.observations()) {
        if (atom.input == kNothing && settings_.stutters)
            instances_->learn_quiet(atom.time);
        else if (atom.input < inputs_)
            learn({atom.time, atom.time}, atom.input, value);
    }
}

void Node::hold(Time time, const Memory& seen) {
    for (const auto& [atom, value] : seen.observations()) {
        if (atom.input >= inputs_) continue;
        hold_until(atom.time - 1);
        if (value != bit(values_.data(), atom.input)) values_[atom.input / 64] ^= Word{1} << (atom.input % 64);
    }
    hold_until(time);
}

// What was observed has not changed up to here.
void Node::hold_until(Time time) {
    if (time <= held_until_) return;
    refuse_if_far(time);
    instances_->learn({held_until_ + 1, time}, {observed_.data(), values_.data()});
    held_until_ = time;
}

void Node::learn(Interval interval, Input input, bool value) {
    std::fill(news_.begin(), news_.end(), Word{0});
    Word* const known = news_.data();
    Word* const values = known + news_.size() / 2;
    set_bit(known, input);
    if (value) set_bit(values, input);
    refuse_if_far(interval.last);
    instances_->learn(interval, {known, values});
}

// Instances whose states go round while nothing changes are looked at for each timestamp at which they can begin.
void Node::refuse_if_far(Time time) const {
    constexpr Time kFarthest = Time{1} << 20;
    const Time end = instances_->end();
    if (time > end && time - end > kFarthest)
        throw Error("an input is told " + std::to_string(time - end) + " timestamps too early");
}

void Node::receive(const Letter& letter) {
    if (const auto* verdict = std::get_if<Verdict>(&letter.content)) {
        const Input input = letter.from < told_by_.size() ? told_by_[letter.from] : kNothing;
        if (input == kNothing || verdict->first == 0 || verdict->first > verdict->last)
            throw Error("a monitor is told a verdict that it does not refer to");
        learn({verdict->first, verdict->last}, input, verdict->value);
    } else if (std::holds_alternative<Kill>(letter.content)) {
        std::erase(settings_.receivers, letter.from);
        released_ = settings_.receivers.empty() && !settings_.root && !settings_.report;
    } else {
        throw Error("a monitor that others refer to is told verdicts, nothing else");
    }
}

void Node::answer(Step& step) {
    for (const Verdict& each : step.answers)
        for (const Address receiver : settings_.receivers) step.outbox.push_back({receiver, each});
    if (!found_ && instances_->first_found()) {
        found_ = true;
        if (settings_.root) {
            step.finding = Finding{*instances_->first_found(), step.answers.front().value};
            step.stop = !settings_.respawns;
        }
        released_ |= !settings_.respawns;
    }
    if (!settings_.report) step.answers.clear();
    if (released_) release(step);
}

// It needs no verdicts any more.
void Node::release(Step& step) {
    if (step.stop) return;
    for (const auto& [input, monitor] : settings_.references) step.outbox.push_back({monitor, Kill{}});
}

}  // namespace mopsus::decentral
