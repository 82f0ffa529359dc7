// The parametric engine: events with values in, reports out. One engine serves one
// specification (and, under `perthread`, one thread of it).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "mopsus/engine/domain.hpp"
#include "mopsus/engine/origin.hpp"
#include "mopsus/engine/program.hpp"
#include "mopsus/engine/property.hpp"

namespace mopsus {

class Archive;

struct PastEvent {
    EventId event = 0;
    Stamp stamp;
};

class Engine;

// Refers to an instance for as long as it exists; harmless afterwards.
struct InstanceRef {
    Engine* engine = nullptr;
    std::uint32_t kind = 0;
    std::uint32_t id = 0;
    std::uint32_t serial = 0;
};

struct Report {
    std::uint16_t property = 0;
    std::uint16_t category = 0;
    bool final = false;
    EventId event = 0;
    Stamp stamp;
    InstanceRef instance;
    std::uint64_t user = 0;
    std::vector<Value> values;  // by parameter; kind None where unbound
    std::vector<PastEvent> witness;
    Explanation explanation;
};

// An instance of a guarded machine took a transition.
struct Change {
    std::uint16_t property = 0;
    std::uint32_t before = 0;  // states
    std::uint32_t after = 0;
    std::uint32_t transition = 0;  // of the state before
    bool success = true;           // by which end
    InstanceRef instance;
    std::vector<Value> values;  // by parameter; kind None where unbound
};

// The event that code of a guarded machine is asked about.
struct Occasion {
    Engine& engine;
    EventId event;
    const Slot* slots;  // in the event's parameter order
    Origin& origin;
};

// Whoever runs the engine. Reports come when all steps of their event are done, so a listener
// may send further events from within one.
class Listener {
public:
    virtual ~Listener() = default;
    virtual void report(Report&& report) = 0;
    // In a batch of an `immediate` program: an event is done, the next one is yet to come.
    virtual void event_done() {}
    // Asked every few rows of a batch: must it end here? What has been done stays done.
    virtual bool interrupted() { return false; }
    // Before an instance takes a guarded event: may it?
    virtual bool admit(EventId, InstanceRef, std::uint64_t /*user*/, const std::vector<Value>&, Origin&) {
        return true;
    }
    // The listener's word for a new instance, derived from another's word (0: from nothing).
    virtual std::uint64_t fork(std::uint64_t /*parent*/) { return 0; }
    virtual void drop(std::uint64_t /*user*/) {}
    // Code of a guarded machine. A guard answers 1 or 0 for the end to be taken, a block with a state; both with -1 if
    // they have no answer, as actions always do. The initialization of variables has no occasion.
    virtual std::int32_t call(std::uint32_t /*code*/, std::uint64_t /*user*/, const Occasion*) { return -1; }
    // Of guarded machines, if anybody wants to know: transitions taken, and the events that nobody took. They come
    // before the reports of the event.
    virtual bool wants_change(std::uint16_t /*property*/, std::uint32_t /*before*/, std::uint32_t /*after*/) const {
        return false;
    }
    virtual void changed(Change&& /*change*/) {}
    virtual void unmatched(const Occasion&) {}
    // The same word as text, and back, for snapshots.
    virtual std::string save(std::uint64_t /*user*/) { return {}; }
    virtual std::uint64_t load(const std::string& /*text*/) { return 0; }
};

struct Counts {
    std::uint64_t created = 0;
    std::uint64_t collected = 0;
    std::uint64_t most = 0;             // alive at a time
    std::vector<std::uint64_t> fallen;  // by event: that it left, without a report, with nothing to report
    std::uint64_t alive() const { return created - collected; }
    void create() {
        ++created;
        most = std::max(most, alive());
    }
    void fall(EventId event) {
        if (fallen.size() <= event) fallen.resize(event + 1, 0);
        ++fallen[event];
    }
    // Those of an engine whose instances are none of these.
    void add(const Counts& others) {
        created += others.created;
        collected += others.collected;
        most = std::max(most, others.most);
        if (fallen.size() < others.fallen.size()) fallen.resize(others.fallen.size(), 0);
        for (std::size_t k = 0; k < others.fallen.size(); ++k) fallen[k] += others.fallen[k];
    }
};

// An instance of a table that was created, but that the engine has not got yet: whoever holds it knows that no event
// can concern it but those that he steps it by.
struct Deferred {
    std::uint64_t birth = 0;
    Word state = 0;
    bool changed = false;  // by the one event that is in its past
    PastEvent past;
};

class Engine {
public:
    // The simplest engine that can run the program, chosen by the shape of its parameters.
    static std::unique_ptr<Engine> make(const Program& program, Listener& listener);

    virtual ~Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Makes the instances that are there before the first event, if it has not been done.
    virtual void begin() {}
    // One event. `slots` are in the event's parameter order; 0 stands for a value that was never
    // inserted, which is only allowed where `inserts(event)` is false.
    virtual void step(EventId event, const Slot* slots, Origin& origin) = 0;
    // Must unknown values be inserted for this event, or can the event not matter to them?
    virtual bool inserts(EventId event) const = 0;
    // The value in `slot` of parameter `p` is dead (already buried in its domain).
    virtual void forget(unsigned p, Slot slot) = 0;
    // Back to the initial state, if the instance is still there; or only what was `reported` ends.
    virtual bool reset(InstanceRef instance, bool reported) = 0;
    virtual std::size_t bytes() const = 0;
    // Every instance that may still report, with where it stands in each property: the number of the state of a table,
    // or whether the formula holds now, if the machine can say.
    struct Standing {
        std::optional<std::uint32_t> state;
        std::optional<bool> holds;
    };
    // The last one reads what the instance remembers, oldest first: nothing if there is no history.
    using Recall = std::function<std::vector<PastEvent>()>;
    using Visit = std::function<void(const std::vector<Value>&, const std::vector<Standing>&, const Recall&)>;
    virtual void each_instance(const Visit& visit) = 0;
    // The instances of guarded machines, in the order in which they were made.
    struct Slice {
        InstanceRef self;
        InstanceRef parent;  // serial 0: none, or it is no longer there
        std::uint16_t property = 0;
        std::uint32_t state = 0;
        std::uint64_t user = 0;
        std::vector<Value> values;
    };
    virtual void each_slice(const std::function<void(const Slice&)>& /*visit*/) {}
    virtual bool put(InstanceRef /*instance*/, std::uint32_t /*state*/) { return false; }
    // Of each property, the states that some instance is in; nothing if the engine cannot say.
    virtual std::vector<std::vector<bool>> occupied() { return {}; }
    virtual void transfer(Archive& archive) = 0;

    // ---- instances that are made later ----
    // May the instance that this event creates be made later, if one of its values is new? Only if every event that
    // could concern it binds one of its values. Such an engine never calls its listener in the middle of a step.
    virtual bool defers(EventId) const { return false; }
    // The instance before its first event; it counts as created.
    virtual Deferred defer() { return {}; }
    // Now it is made, of these values …
    virtual void adopt(EventId /*event*/, const Slot* /*slots*/, const Deferred& /*deferred*/) {}
    // … or it has ended before.
    void end_deferred() { ++counts_.collected; }

    // Hints that a step with this slot is near: bring what is known of it, and then the instances.
    virtual void prefetch(unsigned, Slot) const {}
    virtual void prefetch_instances(unsigned, Slot) {}

    // One domain per parameter (and one without a use where there are none).
    Domain& domain(unsigned p) { return *domains_[p]; }
    std::size_t domains() const { return domains_.size(); }
    const Counts& counts() const { return counts_; }
    // The largest number of obligations that one instance had; see `Runner::largest`.
    std::size_t largest() const {
        std::size_t most = 0;
        for (const Property& property : properties_) most = std::max(most, property.largest());
        return most;
    }
    const Program& program() const { return program_; }
    // Of the first property, if that is what it has.
    const Table* first_table() const { return properties_.empty() ? nullptr : properties_[0].table(); }
    // How many values were numbered so far.
    std::uint32_t& numbered() { return *values_; }

protected:
    Engine(const Program& program, Listener& listener) : program_(program), listener_(listener) {
        for (const auto& machine : program.machines) properties_.emplace_back(*machine, program.events.size());
        if (program.history != 0)
            for (const Property& property : properties_) property.explain();
    }

    // The same for the states of one instance, `words`; whether its past is over.
    bool reset_states(Word* words, bool reported) const {
        bool over = true;
        for (std::size_t k = 0; k < properties_.size(); ++k) {
            words[k] = properties_[k].reset(words[k], reported);
            over = over && !(reported && properties_[k].keeps_others());
        }
        return over;
    }

    // Counts an instance that an event without a report has taken from `before` to where nothing can be reported any
    // more, unless what it had just reported was what it was for.
    void count_fall(const Word* before, const Word* words, EventId event) {
        for (std::size_t k = 0; k < properties_.size(); ++k) {
            const Property& property = properties_[k];
            if (!property.outcome(before[k], event).categories.empty() || property.alive(words[k], 0)) return;
            if (const Table* table = property.table(); table != nullptr && table->reported(before[k])) return;
        }
        if (!properties_.empty()) counts_.fall(event);
    }

    std::vector<Standing> standings(const Word* words) const {
        std::vector<Standing> found(properties_.size());
        for (std::size_t k = 0; k < properties_.size(); ++k) {
            if (const Table* table = properties_[k].table()) found[k].state = words[k] / table->events();
            found[k].holds = properties_[k].holds(words[k]);
        }
        return found;
    }

    const Program& program_;
    Listener& listener_;
    std::vector<Property> properties_;
    std::vector<std::unique_ptr<Domain>> domains_;
    std::shared_ptr<std::uint32_t> values_ = std::make_shared<std::uint32_t>(0);  // numbers them, over all domains
    Counts counts_;
};

}  // namespace mopsus
