#include "mopsus/decentral/monitors.hpp"

#include <algorithm>

namespace mopsus::decentral {

namespace {

// The first verdict that follows from what an encoding knows.
std::optional<Finding> conclude(Ehe& ehe) {
    do {
        const Truth truth = ehe.verdict(ehe.resolved());
        if (truth != Truth::Unknown) return Finding{ehe.resolved(), truth == Truth::True};
    } while (ehe.resolve());
    ehe.drop_resolved();
    return std::nullopt;
}

void learn(Ehe& ehe, const Memory& memory) {
    for (const Observation& observation : memory.after(ehe.start())) {
        while (ehe.end() < observation.atom.time) ehe.tick();
        ehe.learn(observation);
    }
}

void check(Component component, Component components) {
    if (component >= components) throw Error("there is no component " + std::to_string(component));
}

// Of the components that have one of these inputs, `here` if it is one of them, else the first.
Component owner(const std::vector<Input>& inputs, const std::vector<Component>& owners, std::optional<Component> here) {
    std::vector<Component> all;
    for (const Input input : inputs) all.push_back(owners[input]);
    return here && std::find(all.begin(), all.end(), *here) != all.end() ? *here : *std::min_element(all.begin(), all.end());
}

}  // namespace

Step Orchestrator::step(Time time, const Memory& seen, std::span<const Content> inbox) {
    while (ehe_.end() < time) ehe_.tick();
    learn(ehe_, seen);
    for (const Content& content : inbox) {
        const auto* memory = std::get_if<Memory>(&content);
        if (memory == nullptr) throw Error("an orchestrator is told observations, nothing else");
        learn(ehe_, *memory);
    }
    return {{}, conclude(ehe_)};
}

Step Forwarder::step(Time, const Memory& seen, std::span<const Content>) {
    Step result;
    if (!seen.empty()) result.outbox.push_back({to_, seen});
    return result;
}

Migrant::Migrant(std::shared_ptr<const Automaton> automaton, std::vector<Component> owners, Component components, Component here, Way way, bool active)
    : owners_(std::move(owners)), components_(components), here_(here), way_(way), ehe_(std::move(automaton)), active_(active) {
    if (owners_.size() != ehe_.automaton()->inputs().size()) throw Error("every input has one owner");
    for (const Component each : owners_) check(each, components);
    check(here, components);
}

Component Migrant::first(const std::shared_ptr<const Automaton>& automaton, const std::vector<Component>& owners) {
    if (owners.size() != automaton->inputs().size()) throw Error("every input has one owner");
    Ehe ehe(automaton);
    ehe.tick();
    const std::optional<Ehe::Pending> pending = ehe.earliest();
    return pending ? owner(pending->inputs, owners, std::nullopt) : 0;
}

Component Migrant::choose() const {
    if (way_ == Way::RoundRobin) return (here_ + 1) % components_;
    const std::optional<Ehe::Pending> pending = ehe_.earliest();
    return pending ? owner(pending->inputs, owners_, here_) : here_;
}

Step Migrant::step(Time time, const Memory& seen, std::span<const Content> inbox) {
    seen_.merge(seen);
    for (const Content& content : inbox) {
        const auto* ehe = std::get_if<Ehe>(&content);
        if (ehe == nullptr) throw Error("a migrating monitor is sent encodings, nothing else");
        ehe_.merge(*ehe);
        active_ = true;
    }
    if (!active_) return {};
    while (ehe_.end() < time) ehe_.tick();
    learn(ehe_, seen_);
    Step result{{}, conclude(ehe_)};
    if (result.finding) return result;
    // Whatever encoding comes later is told the known state, so nothing before that is asked for again.
    seen_.drop(ehe_.start());
    if (const Component there = choose(); there != here_) {
        result.outbox.push_back({there, ehe_});
        ehe_.forget();
        active_ = false;
    }
    return result;
}

}  // namespace mopsus::decentral
