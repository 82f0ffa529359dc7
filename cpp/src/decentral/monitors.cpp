#include "mopsus/decentral/monitors.hpp"

#include <algorithm>
#include <string>

namespace mopsus::decentral {

namespace {

void check(Address address, Address count) {
    if (address >= count) throw Error("there is no monitor " + std::to_string(address));
}

// Of the monitors that see one of these inputs, `here` if it is one of them, else the first.
Address owner(const std::vector<Input>& inputs, const std::vector<Address>& owners, std::optional<Address> here) {
    std::vector<Address> all;
    for (const Input input : inputs) all.push_back(owners[input]);
    return here && std::find(all.begin(), all.end(), *here) != all.end() ? *here
                                                                         : *std::min_element(all.begin(), all.end());
}

}  // namespace

Extent Encoder::extent() const {
    return {ehe_.start(), ehe_.end(), ehe_.entries(), ehe_.nodes(), ehe_.states(ehe_.end())};
}

std::vector<Observation> Encoder::reasons() const { return ehe_.reasons(ehe_.resolved()); }

void Encoder::learn(const Memory& memory) {
    constexpr Time kFarthest = Time{1} << 20;  // ahead; each timestamp takes work and memory
    const std::size_t inputs = ehe_.automaton()->inputs().size();
    for (const Observation& observation : memory.after(ehe_.start())) {
        if (observation.atom.time > ehe_.end() && observation.atom.time - ehe_.end() > kFarthest)
            throw Error("an observation is told " + std::to_string(observation.atom.time - ehe_.end()) +
                        " timestamps too early");
        while (ehe_.end() < observation.atom.time) ehe_.tick();
        if (observation.atom.input < inputs) ehe_.learn(observation);
    }
}

void Encoder::conclude(Step& step) {
    const Ehe::Counters before = ehe_.counters();
    for (Time known = ehe_.resolved();;) {
        if (const Truth truth = ehe_.verdict(known); truth != Truth::Unknown) {
            step.finding = Finding{known, truth == Truth::True};
            step.stop = true;
            break;
        }
        if (!ehe_.resolve()) break;
        step.resolutions.push_back({known, ehe_.resolved()});
        known = ehe_.resolved();
    }
    step.work = {ehe_.counters().evaluations - before.evaluations,
                 ehe_.counters().simplifications - before.simplifications};
    if (!step.finding) step.dropped = ehe_.drop_resolved();
}

Step Orchestrator::step(Time time, const Memory& seen, std::span<const Letter> inbox) {
    Step result;
    while (ehe_.end() < time) ehe_.tick();
    learn(seen);
    for (const Letter& letter : inbox) {
        const auto* memory = std::get_if<Memory>(&letter.content);
        if (memory == nullptr) throw Error("an orchestrator is told observations, nothing else");
        learn(*memory);
    }
    conclude(result);
    return result;
}

Step Forwarder::step(Time, const Memory& seen, std::span<const Letter>) {
    Step result;
    Memory told;
    for (const Observation& observation : seen.observations())
        if (observation.atom.input < kSomething) told.add(observation);
    if (!told.empty()) result.outbox.push_back({to_, std::move(told)});
    return result;
}

Migrant::Migrant(std::shared_ptr<const Automaton> automaton, Route route, bool active)
    : Encoder(std::move(automaton)), route_(std::move(route)), active_(active), received_(route_.count) {
    if (route_.owners.size() != ehe_.automaton()->inputs().size()) throw Error("every input has one owner");
    for (const Address each : route_.owners) check(each, route_.count);
    check(route_.here, route_.count);
}

Address Migrant::first(const std::shared_ptr<const Automaton>& automaton, const std::vector<Address>& owners) {
    if (owners.size() != automaton->inputs().size()) throw Error("every input has one owner");
    Ehe ehe(automaton);
    ehe.tick();
    const std::optional<Ehe::Pending> pending = ehe.earliest();
    return pending ? owner(pending->inputs, owners, std::nullopt) : 0;
}

Address Migrant::choose(Time time) const {
    if (route_.way == Way::RoundRobin) return (route_.here + 1) % route_.count;
    const std::optional<Ehe::Pending> pending = ehe_.earliest();
    if (!pending) return route_.here;
    const Address there = owner(pending->inputs, route_.owners, route_.here);
    if (there != route_.here || pending->time > time) return there;
    // All that was observed here is in the encoding, so this input never will be. The verdict may follow from others.
    for (const Atom& atom : missing())
        if (route_.owners[atom.input] != route_.here) return route_.owners[atom.input];
    return route_.here;
}

Step Migrant::step(Time time, const Memory& seen, std::span<const Letter> inbox) {
    Step result;
    seen_.merge(seen);
    for (const Letter& letter : inbox) receive(letter, result);
    if (active_) {
        while (ehe_.end() < time) ehe_.tick();
        learn(seen_);
        conclude(result);
        if (result.finding) return result;
        // Whatever encoding comes later is told the known state, so nothing before that is asked for again.
        seen_.drop(ehe_.start());
    }
    send_again(result);
    if (active_) move_on(time, result);
    result.again = !unacknowledged_.empty();
    return result;
}

void Migrant::receive(const Letter& letter, Step& step) {
    if (const auto* acknowledgement = std::get_if<Acknowledgement>(&letter.content)) {
        std::erase_if(unacknowledged_, [&](const Sent& sent) {
            return std::get<Encoding>(sent.message.content).number == acknowledgement->number;
        });
        return;
    }
    const auto* encoding = std::get_if<Encoding>(&letter.content);
    if (encoding == nullptr) throw Error("a migrating monitor is sent encodings and acknowledgements, nothing else");
    if (encoding->number != 0) {
        check(letter.from, route_.count);
        step.outbox.push_back({letter.from, Acknowledgement{encoding->number}});
        if (!received_[letter.from].insert(encoding->number).second) return;
    }
    ehe_.merge(encoding->ehe);
    active_ = true;
}

void Migrant::send_again(Step& step) {
    for (Sent& sent : unacknowledged_) {
        if (++sent.turns % route_.patience == 0) step.outbox.push_back(sent.message);
    }
}

void Migrant::move_on(Time time, Step& step) {
    const Address there = choose(time);
    if (there == route_.here) return;
    const Message message{there, Encoding{ehe_, route_.patience == 0 ? 0 : ++sent_count_}};
    step.outbox.push_back(message);
    if (route_.patience != 0) unacknowledged_.push_back({message});
    ehe_.forget();
    active_ = false;
}

}  // namespace mopsus::decentral
