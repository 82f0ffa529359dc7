#include "mopsus/decentral/simulation.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace mopsus::decentral {

namespace {

std::vector<Component> places_of(const std::vector<Seat>& seats) {
    std::vector<Component> places;
    for (const Seat& seat : seats) places.push_back(seat.place);
    return places;
}

// Verdicts of neighbouring timestamps become one if they are the same.
void append(std::vector<Verdict>& answers, const Verdict& verdict) {
    if (!answers.empty() && answers.back().value == verdict.value && answers.back().last + 1 == verdict.first)
        answers.back().last = verdict.last;
    else
        answers.push_back(verdict);
}

}  // namespace

Simulation::Simulation(std::vector<Seat> seats, const Feed& feed, Conditions conditions, Time limit, std::uint64_t seed)
    : seats_(std::move(seats)),
      feed_(feed),
      reader_(feed),
      limit_(limit),
      network_(std::move(conditions), places_of(seats_), limit, seed),
      residents_(feed.components()),
      desks_(seats_.size()),
      simplifications_(feed.components()),
      evaluations_(feed.components()) {
    for (Number number = 0; number < seats_.size(); ++number) {
        const Seat& seat = seats_[number];
        if (seat.place >= feed.components()) throw Error("there is no component " + std::to_string(seat.place));
        if (seat.inputs.size() != feed.propositions(seat.place))
            throw Error("every proposition of a component is an input of its monitors, or read by none");
        residents_[seat.place].push_back(number);
        polled_ = polled_ || (feed.held() && !seat.monitor->holds());
    }
    connect();
    for (Component component = 0; polled_ && component < feed.components(); ++component) {
        std::vector<Feed::Observed>& values = values_.emplace_back();
        for (Input each = 0; each < feed.propositions(component); ++each) values.push_back({0, each, false});
    }
    outcome_.answers.resize(seats_.size());
}

void Simulation::connect() {
    std::vector<std::map<Number, Address>> addresses(seats_.size());
    for (Number number = 0; number < seats_.size(); ++number) {
        const std::vector<Number>& peers = seats_[number].peers;
        for (Address address = 0; address < peers.size(); ++address) {
            if (peers[address] >= seats_.size()) throw Error("there is no monitor " + std::to_string(peers[address]));
            addresses[number].emplace(peers[address], address);
        }
    }
    for (Number number = 0; number < seats_.size(); ++number) {
        std::vector<Address>& known = known_as_.emplace_back();
        for (const Number peer : seats_[number].peers) {
            const auto found = addresses[peer].find(number);
            if (found == addresses[peer].end())
                throw Error("monitor " + std::to_string(peer) + " does not know monitor " + std::to_string(number));
            known.push_back(found->second);
        }
    }
}

Outcome Simulation::run(Listener* listener) {
    listener_ = listener;
    std::vector<Number> now;
    for (Number each = 0; each < seats_.size(); ++each) again_.push_back(each);
    for (Time round = next_round(0); round != 0 && round <= limit_ && !stopped_; round = next_round(round)) {
        if (listener_ != nullptr) listener_->began(round);
        for (const Number each : std::exchange(again_, {})) wake(round, each);
        if (!later_.empty() && later_.begin()->first == round) {
            due_.insert(due_.end(), later_.begin()->second.begin(), later_.begin()->second.end());
            later_.erase(later_.begin());
        }
        observe(round);
        deliver(round);
        restart(round);
        now.clear();
        now.swap(due_);
        std::sort(now.begin(), now.end());
        for (const Number each : now) turn(round, each);
        simplifications_.end_round();
        evaluations_.end_round();
        outcome_.rounds = round;
    }
    outcome_.measures.simplifications = simplifications_.load();
    outcome_.measures.evaluations = evaluations_.load();
    outcome_.measures.network = network_.counters();
    for (auto& [round, deliveries] : on_the_way_)
        for (Delivery& each : deliveries) outcome_.on_the_way.emplace_back(each.to, std::move(each.letter.content));
    return std::move(outcome_);
}

Time Simulation::next_round(Time round) const {
    // Monitors that are told values again and again, or have asked for it, have a turn in every round.
    if (!again_.empty() || (polled_ && round < feed_.length())) return round + 1;
    Time next = reader_.next();
    const auto sooner = [&](Time when) {
        if (when > round && (next == 0 || when < next)) next = when;
    };
    if (!on_the_way_.empty()) sooner(on_the_way_.begin()->first);
    if (!later_.empty()) sooner(later_.begin()->first);
    if (feed_.held()) sooner(feed_.length());
    for (const Conditions::Crash& each : network_.crashes()) sooner(each.span.to);
    return next;
}

void Simulation::wake(Time round, Number monitor) {
    if (std::exchange(desks_[monitor].due, true)) return;
    const Time lag = seats_[monitor].monitor->lag();
    const Time early = lag == 0 || round >= feed_.length() ? 0 : round % lag;
    if (early == 0)
        due_.push_back(monitor);
    else
        later_[std::min(round - early + lag, feed_.length())].push_back(monitor);
}

bool Simulation::reads(Number monitor, std::span<const Feed::Observed> observed) const {
    const std::vector<Input>& inputs = seats_[monitor].inputs;
    return std::any_of(observed.begin(), observed.end(), [&](const Feed::Observed& each) {
        return each.proposition != kNothing && inputs[each.proposition] < kSomething;
    });
}

void Simulation::see(Number monitor, Time time, std::span<const Feed::Observed> observed) {
    const Seat& seat = seats_[monitor];
    for (const Feed::Observed& each : observed) {
        const Input input = each.proposition == kNothing ? kNothing : seat.inputs[each.proposition];
        desks_[monitor].seen.add({{time, input}, each.value});
        outcome_.measures.observations += input < kSomething;
    }
    if (seat.moves != kNothing)
        desks_[monitor].seen.add({{time, seat.moves}, observed.front().proposition != kNothing});
    wake(time, monitor);
}

void Simulation::observe(Time round) {
    if (reader_.next() == round) {
        for (const auto& [component, observed] : reader_.take()) {
            if (polled_)
                for (const Feed::Observed& each : observed) values_[component][each.proposition].value = each.value;
            for (const Number monitor : residents_[component])
                if (!feed_.held() || (seats_[monitor].monitor->holds() && reads(monitor, observed)))
                    see(monitor, round, observed);
        }
    }
    if (feed_.held() && (polled_ ? round <= feed_.length() : round == feed_.length())) poll(round);
}

void Simulation::poll(Time round) {
    for (Component component = 0; component < feed_.components(); ++component) {
        for (const Number monitor : residents_[component]) {
            if (!seats_[monitor].monitor->holds()) {
                see(monitor, round, values_[component]);
            } else if (round == feed_.length()) {
                wake(round, monitor);
            }
        }
    }
}

void Simulation::deliver(Time round) {
    if (on_the_way_.empty() || on_the_way_.begin()->first != round) return;
    arrived_ = std::move(on_the_way_.begin()->second);
    on_the_way_.erase(on_the_way_.begin());
    for (auto& [from, to, letter] : arrived_) {
        if (listener_ != nullptr) listener_->delivered(round, from, to, letter.content);
        desks_[to].inbox.push_back(std::move(letter));
        wake(round, to);
    }
    arrived_.clear();
}

void Simulation::restart(Time round) {
    for (const Conditions::Crash& each : network_.crashes())
        if (each.span.to == round) wake(round, each.monitor);
}

void Simulation::turn(Time round, Number monitor) {
    Desk& desk = desks_[monitor];
    desk.due = false;
    // What was used in the last turn is used again, so that nothing has to be allocated.
    desk_.seen.clear();
    desk_.inbox.clear();
    std::swap(desk_, desk);
    if (network_.down(round, monitor)) return;
    network_.arrange(desk_.inbox);
    Step step = seats_[monitor].monitor->step(std::min(round, feed_.length()), desk_.seen, desk_.inbox);
    account(round, monitor, step);
    for (Message& message : step.outbox) post(round, monitor, message);
}

void Simulation::account(Time round, Number monitor, const Step& step) {
    Measures& measures = outcome_.measures;
    ++measures.turns;
    for (const auto& [before, known] : step.resolutions) {
        measures.gap.add(known - before);
        measures.age.add(round - known);
    }
    if (!step.resolutions.empty() && !step.finding) measures.batch.add(step.dropped);
    simplifications_.add(seats_[monitor].place, step.work.simplifications);
    evaluations_.add(seats_[monitor].place, step.work.evaluations);
    measures.longest = std::max(measures.longest, seats_[monitor].monitor->length());
    for (const Verdict& each : step.answers) append(outcome_.answers[monitor], each);
    if (step.finding && !outcome_.finding) {
        outcome_.finding = step.finding;
        outcome_.round = round;
        outcome_.finder = monitor;
    }
    if (step.again) again_.push_back(monitor);
    stopped_ = stopped_ || step.stop;
    if (listener_ != nullptr) listener_->stepped(round, monitor, step);
}

void Simulation::post(Time round, Number from, Message& message) {
    const Seat& seat = seats_[from];
    if (message.to >= seat.peers.size())
        throw Error("monitor " + std::to_string(from) + " has no peer " + std::to_string(message.to));
    const Number to = seat.peers[message.to];
    const Address sender = known_as_[from][message.to];
    Measures& measures = outcome_.measures;
    const std::uint64_t size = data(message.content, seat.names);
    const std::uint64_t bytes = save(message.content).size();
    ++measures.messages;
    ++measures.messages_by_kind[message.content.index()];
    measures.data += size;
    measures.bytes += bytes;
    if (const auto* verdict = std::get_if<Verdict>(&message.content))
        measures.answers += verdict->last - verdict->first + 1;
    const Network::Arrivals arrivals = network_.arrivals(round, from, to);
    if (listener_ != nullptr) listener_->sent(round, from, to, message.content, size, bytes, arrivals.all());
    for (std::size_t copy = 0; copy < arrivals.count; ++copy) {
        const bool last = copy + 1 == arrivals.count;
        Content content = last ? std::move(message.content) : message.content;
        const auto [those, first] = on_the_way_.try_emplace(arrivals.rounds[copy]);
        if (first) those->second.swap(arrived_);
        those->second.push_back({from, to, {sender, std::move(content)}});
    }
}

}  // namespace mopsus::decentral
