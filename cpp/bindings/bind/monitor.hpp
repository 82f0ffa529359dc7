// A core monitor that takes Python values and calls Python code.
//
// Three rules keep it safe. The engine is never entered twice: an event that comes while one is
// being handled (from an action, from a finaliser, from another thread of an unsynchronized
// monitor) waits its turn. Handlers run when the engine is done with their event. The death of an
// object is only noted when it happens, and acted upon before the next event.
#pragma once

#include <Python.h>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <utility>
#include <vector>

#include "code.hpp"
#include "convert.hpp"
#include "engine/flat.hpp"
#include "engine/inherit.hpp"
#include "mopsus/engine/archive.hpp"
#include "mopsus/engine/monitor.hpp"
#include "moment.hpp"
#include "pending.hpp"
#include "places.hpp"
#include "recent.hpp"
#include "engine/slicing.hpp"
#include "terms.hpp"
#include "watch.hpp"

namespace mopsus::python {

// What the Python side supplies; each may be None.
struct Callbacks {
    PyObject* report =
        nullptr;  // (property, category, final, event, values, states, serials, stamp, witness, instance, user, steps)
    PyObject* admit = nullptr;  // (event, instance, user, values, stamp) -> bool
    PyObject* fork = nullptr;   // (user or None) -> user; without it, variables are a dictionary
    PyObject* save = nullptr;   // (user) -> str
    PyObject* load = nullptr;   // (str) -> user
    PyObject* fault = nullptr;  // (exception, number of the code or -1, event or -1, stamp or None, predicate or None)
};

// What may be asked for later.
struct Listeners {
    PyObject* change = nullptr;     // (property, before, after, transition, success, values, states, serials)
    PyObject* unmatched = nullptr;  // (event, values)
    // By property, for each state whether `change` is told when it is left, and when it is entered; nothing: always.
    std::vector<std::pair<std::string, std::string>> heeded;
};

struct Options {
    std::vector<KeyMode> modes;
    bool per_thread = false;
    bool synchronized_ = true;
    bool decentralized = false;
    std::uint64_t max_live = 0;  // more instances that can still report, and the monitor is given up; 0: no limit
};

// Is this exception Ctrl-C, an order to exit, or whatever else is rather meant for the program than an error of a
// spec's code?
bool is_wish(PyObject* exception);

class PyMonitor final : public Listener {
public:
    PyMonitor(Program program, std::vector<std::string> parameters, Options options, Callbacks callbacks);
    ~PyMonitor() override;

    // An event with values in parameter order, then those of its fields. False with an exception set if it cannot be
    // taken. `Always`: it waits for other threads even if the monitor is unsynchronized, because the program waits for
    // what comes of it.
    enum class Wait : std::uint8_t { IfAsked, Always };
    bool emit(EventId event, PyObject* const* values, Wait wait = Wait::IfAsked);
    // The same for the commonest case, a single object that no instance changes its state for, or that is known to a
    // flat engine whose machine is no table. `No`: nothing was done.
    enum class Quiet : std::uint8_t { No, Done, Raised };
    Quiet emit_quietly(EventId event, PyObject* value) {
        if (first_pending_ != nullptr && !inside_) make_pending_of(value);
        if (!quiet_) return Quiet::No;
        const Slot slot = recent_.find(parameter_of_[event], value);
        return slot != kNil ? emit_familiar(event, slot) : emit_unfamiliar(event, value);
    }
    // The same if it is certain that no code but the engine's runs: for an object of the last events and a table.
    bool emit_silently(EventId event, PyObject* value) {
        if (first_pending_ != nullptr && is_pending(value)) return false;
        const Slot slot = place(event, value);
        return slot != kNil && emit_at(event, slot);
    }
    // Where `emit_at` finds such an object as long as it lives and the monitor has this age; kNil: nowhere.
    Slot place(EventId event, PyObject* value) const {
        return quiet_ && tabular_ ? recent_.find(parameter_of_[event], value) : kNil;
    }
    unsigned age() const { return age_; }
    // As `emit_silently`.
    bool emit_at(EventId event, Slot slot) {
        if (!quiet_ || !(flat_ != nullptr ? flat_->step_quietly(event, slot) : slicing_->step_quietly(event, slot)))
            return false;
        ++core_.seen[event];
        return true;
    }

    // ---- instances that stay with their loops; see pending.hpp ----
    // May an instance that this event creates stay with a loop whose iterator nobody else has?
    bool defers(EventId event) const { return deferring_[event]; }
    // The event that creates it happens now. False if nothing was done: then it takes its turn as any other event.
    bool begin_pending(Pending& pending);
    // An event of the loop's. False if it must take its turn: then the instance is made first.
    bool step_pending(Pending& pending, EventId event);
    // The same, if nothing can come after it.
    bool step_last(Pending& pending, EventId event) {
        if (inside_ || (table_->step(pending.deferred.state, event) & kNotable) != 0) return false;
        ++core_.seen[event];
        end_pending(pending, false);
        return true;
    }
    // The loop and its iterator are at their end. What the iterator went over may live on, and is then known by its
    // number.
    void end_pending(Pending& pending, bool survives);
    // An iterator comes, takes so many steps, ends (if anybody asks for that) and goes, and nobody gets to see it.
    // False as above.
    bool pass(EventId step, std::size_t steps, const EventId* end);
    // Somebody else may have got the iterator.
    void make(Pending& pending);

    struct TraceRow {
        PyObject* time = nullptr;
        PyObject* thread = nullptr;
        std::string location;
        bool is_source = false;
        std::int64_t row = 0;
    };
    bool emit_row(EventId event, PyObject* const* values, const TraceRow& where);
    // Many events at a time: `use` gets the engine, and how a value of a parameter becomes a slot. False as for `emit`.
    template <class Use>
    bool take_all(Use&& use) {
        if (!enter_for_trace()) return false;
        if (!deaths_.empty()) bury();
        Engine& engine = core_.per_thread() ? core_.engine(Key::of_bits(KeyKind::Null, 0)) : core_.engine();
        use([&](unsigned p, PyObject* value) { return slot_of(engine, p, value, true); }, engine);
        leave();
        return granted();
    }
    // Parameters by number, with the values that end.
    bool release(const std::vector<std::pair<unsigned, PyObject*>>& values, PyObject* thread);
    std::optional<BadRow> run(ArrowArrayStream& stream, const std::string& source, BatchOptions options);
    bool needs_python() const;
    // Between the two, whoever reads a log steps the engine itself. False with an exception set if that cannot be.
    bool begin_rows() {
        make_all_pending();
        return enter() == Entry::Now;
    }
    bool end_rows() {
        leave();
        return granted();
    }
    bool has_reports() const { return !ready_.empty(); }

    bool reset(std::uint64_t engine, InstanceRef instance, bool reported);
    void close();
    bool closed() const { return closing_; }
    // Where an exception came from, as far as that is known.
    struct Origins {
        std::int32_t code = -1;
        std::int32_t event = -1;
        const Stamp* stamp = nullptr;
        PyObject* predicate = nullptr;  // as the plan has it
    };
    // The exception that is set is reported as a fault of monitoring, unless it is Ctrl-C or an order to exit: that one
    // is raised by the next event that can.
    void fault() { fault(Origins()); }
    void fault(const Origins& origins);
    // Is the exception that is set one for the program, which the last event ended with?
    bool grants() const { return granting_; }
    // Act on deaths noted so far, and begin, unless an event is being handled: then nothing may change.
    void settle();
    Monitor& core() { return core_; }
    // Objects that a machine needs as long as it runs.
    void pin(PyObject* object) { pinned_.push_back(Py_NewRef(object)); }
    // The terms of an event's fields, while it is being handled.
    EventData terms_of(PyObject* const* values, std::size_t count);
    // Reports so far, by property and category.
    const std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t>& reported() const { return reported_; }
    std::vector<Item> snapshot();
    void restore(std::vector<Item> items);

    // ---- slices of guarded machines ----
    void add_code(SpecCode code) { codes_.push_back(std::move(code)); }
    // Where names are looked up that are no variables: a dictionary.
    void use_names(PyObject* names);
    // `heeded` is empty, or has a byte for each state of each property.
    void listen(PyObject* change, PyObject* unmatched, std::vector<std::pair<std::string, std::string>> heeded);
    bool put(std::uint64_t engine, InstanceRef instance, std::uint32_t state);

    // ---- going back ----
    // The state as it is now. It keeps the objects that it refers to; the variables of instances go through `save`.
    struct Checkpoint {
        std::vector<Item> items;
        std::vector<PyObject*> objects;  // new references
        std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t> reported;
    };
    bool checkpoint(Checkpoint& checkpoint);  // false as for `emit`
    bool rewind(const Checkpoint& checkpoint);
    int traverse(visitproc visit, void* arg);
    void clear();
    // A new reference to a value; `state`: u(nbound), s(calar), o(bject), d(ead object, of which the name of its type
    // is left).
    PyObject* to_python(Engine& engine, unsigned p, const Value& value, char& state) const;
    PyObject* witness_to_python(const std::vector<PastEvent>& events) const;

    void report(Report&& report) override;
    void event_done() override;
    bool interrupted() override;
    bool admit(EventId event, InstanceRef instance, std::uint64_t user, const std::vector<Value>& values,
               Origin& origin) override;
    std::uint64_t fork(std::uint64_t parent) override;
    void drop(std::uint64_t user) override;
    std::string save(std::uint64_t user) override;
    std::uint64_t load(const std::string& text) override;
    std::int32_t call(std::uint32_t code, std::uint64_t user, const Occasion* occasion) override;
    bool wants_change(std::uint16_t property, std::uint32_t before, std::uint32_t after) const override {
        if (listeners_.change == nullptr || property >= listeners_.heeded.size()) return listeners_.change != nullptr;
        const auto& [left, entered] = listeners_.heeded[property];
        return (before < left.size() && left[before] != 0) || (after < entered.size() && entered[after] != 0);
    }
    void changed(Change&& change) override;
    void unmatched(const Occasion& occasion) override;

private:
    struct Waiting {  // an event whose turn has not come
        EventId event;
        std::vector<PyObject*> values;
        Stamp stamp;
        std::uint64_t thread;
        std::shared_ptr<bool> thread_ended;
    };
    class Watcher final : public Mourner {
    public:
        Watcher(PyMonitor& monitor, Engine& engine, unsigned parameter)
            : Mourner(engine, parameter), monitor_(monitor) {}
        void died(Slot slot) override;

    private:
        PyMonitor& monitor_;
    };
    struct Death {
        Engine* engine;
        unsigned parameter;
        Slot slot;
    };

    enum class Entry { Now, Later, Refused };
    Entry enter(Wait wait = Wait::IfAsked);
    void leave();
    bool enter_for_trace();  // not from within the handling of an event
    bool run_batch(const ArrowSchema& schema, const std::shared_ptr<ArrowArray>& batch, BatchOptions& options,
                   std::optional<BadRow>& bad, std::string& failure);
    void handle(EventId event, PyObject* const* values, Engine& engine, Origin& origin);
    Slot slot_of(Engine& engine, unsigned p, PyObject* value, bool insert);
    PyObject* canonical(unsigned p, PyObject* value);
    Engine& engine_for(std::uint64_t thread, const std::shared_ptr<bool>& ended);
    std::uint32_t type_name(PyTypeObject* type);
    bool granted();  // false with an exception set if a callback wants the program to stop
    void bury();
    void deliver();
    PyObject* told(const Report& report);  // what the callback gave
    PyObject* told(const Change& change);
    struct Unmatched {
        EventId event;
        PyObject* values;  // a tuple
    };
    PyObject* told(const Unmatched& unmatched);
    // The values of an instance, how to read them, and their serial numbers.
    struct Shown {
        PyObject* values;
        PyObject* serials;
        std::string states;
    };
    Shown show(Engine& engine, const std::vector<Value>& values) const;
    // All values of an event as new references; 0 or the number of them.
    std::size_t values_of(const Occasion& occasion, PyObject** values);
    void choose_engine();
    void watch_object(Engine& engine, unsigned p, Slot slot, PyObject* value);
    void drop_ready();
    Watcher& watcher(Engine& engine, unsigned parameter);
    void unwatch_all(Engine& engine);
    bool is_too_large() {
        return options_.max_live != 0 && !core_.given_up() && core_.most_alive() > options_.max_live;
    }
    // Gives the monitor up if it is too large and nobody refers to its instances; says so as a fault.
    void look_at_limit();
    bool live(Engine& engine, unsigned p, const Value& value) const;
    PyObject* stamp_to_python(const Stamp& stamp) const;
    PyObject* steps_to_python(const Explanation& explanation) const;
    void forget_terms();

    Monitor core_;
    Options options_;
    Callbacks callbacks_;
    Listeners listeners_;
    std::vector<SpecCode> codes_;
    PyObject* names_ = nullptr;
    PyObject* no_variables_ = nullptr;  // for code of slices that have none
    std::int64_t unit_;                 // of time, in nanoseconds; 0: no machine asks when an event happened
    bool closed_ = false;
    bool closing_ =
        false;  // as soon as the event that is being handled is done; until then nothing more is asked or told
    bool inside_ = false;    // the engine is at work
    bool in_batch_ = false;  // rows of a batch are under way, though a handler may be what runs
    std::thread::id inside_thread_;
    std::uint64_t watches_ = 0;
    PyThreadState* released_ = nullptr;                // of the thread whose batch is under way without the interpreter
    std::chrono::steady_clock::time_point next_look_;  // for signals, during a batch
    int waiters_ = 0;                                  // threads that wait for their turn
    // ---- for `emit_quietly` ----
    FlatEngine* flat_ = nullptr;  // the engine, if it is one of these and has such events
    SlicingEngine* slicing_ = nullptr;
    InheritEngine* inherit_ = nullptr;
    bool tabular_ = false;  // are its machines tables?
    bool quiet_ = false;    // has nothing else to be seen to?
    unsigned age_ = 0;      // how many engines there were before
    void set_quiet() {
        quiet_ = (tabular_ || flat_ != nullptr || inherit_ != nullptr) && !inside_ && !closed_ && deaths_.empty();
    }
    std::vector<std::uint8_t> parameter_of_;  // by event: its only one, if that is told apart as usual
    static constexpr std::uint8_t kNoParameter = 0xFF;
    static constexpr std::size_t kMostReady =
        1000;  // reports that wait while a batch goes on: telling many takes seconds
    RecentObjects recent_;
    Quiet emit_unfamiliar(EventId event, PyObject* value);
    Quiet emit_familiar(EventId event, Slot slot) {
        if (tabular_) return emit_at(event, slot) ? Quiet::Done : Quiet::No;
        return inherit_ != nullptr ? emit_to_slice(event, slot) : emit_ready(event, slot);
    }
    Quiet emit_ready(EventId event, Slot slot);
    Quiet emit_to_slice(EventId event, Slot slot) {
        if (listeners_.change != nullptr || !inherit_->step_quietly(event, slot)) return Quiet::No;
        ++core_.seen[event];
        return Quiet::Done;
    }

    // ---- instances that stay with their loops ----
    Pending *first_pending_ = nullptr, *last_pending_ = nullptr;
    unsigned pending_count_ = 0;
    const Table* table_ = nullptr;         // of the only property, if any event defers
    std::vector<std::uint8_t> deferring_;  // by event: may what it creates be pending?
    bool is_pending(const PyObject* value) const {
        for (const Pending* one = first_pending_; one != nullptr; one = one->after)
            if (one->is_about(value)) return true;
        return false;
    }
    void make_pending_of(PyObject* value);
    void make_all_pending();
    // An event about the value waits for its turn, and the next step of the loop must wait behind it.
    void stir_pending_of(PyObject* value);
    void choose_deferring();
    void find_counter(Pending& pending);
    void detach(Pending& pending);
    Slot late_slot(unsigned p, PyObject* value, std::uint32_t serial);

    std::map<std::pair<Engine*, unsigned>, std::unique_ptr<Watcher>> watchers_;
    Watcher* last_watcher_ = nullptr;
    struct Ready {
        std::thread::id thread;
        std::variant<Report, Change, Unmatched> news;
    };
    std::deque<Ready> ready_;  // on their way to Python
    std::deque<Waiting> waiting_;
    std::vector<Death> deaths_;
    std::vector<Death> buried_;  // empty: room for the next ones
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t> reported_;
    std::vector<PyObject*> trash_;
    // An exception that is for the program: KeyboardInterrupt, SystemExit, or one that a handler of a signal has
    // raised.
    PyObject* wish_ = nullptr;
    bool granting_ = false;  // it has just been raised
    Domain type_names_;      // never recycled, so that its slots number the names
    struct Named {
        PyTypeObject* type = nullptr;
        unsigned version = 0;
        std::uint32_t name = 0;
    };
    std::array<Named, 8> last_named_;
    std::vector<PyObject*> pinned_;
    std::vector<PyObject*> representatives_;  // by parameter under `by equality`: dict of (type, value) -> object
    std::map<std::uint64_t, std::shared_ptr<bool>> threads_;
    std::string scratch_;
    Arena terms_;  // of the event that is being handled
    bool has_terms_ = false;

    Places<std::uint32_t> places_;
    std::uint32_t place_ = 0;  // where events come from, if their source knows
    const std::function<std::int64_t()>* numbers_ = nullptr;
    std::optional<double> began_;
    std::shared_ptr<const Part> part_;
    std::int64_t part_number() const { return part_ == nullptr || is_collecting() ? 0 : part_->number(); }

public:
    // Objects of the last events are remembered with their slots. A monitor does without from its first event on only
    // if somebody wants to know what that is worth.
    bool caching() const { return recent_.on; }
    void set_caching(bool on) { recent_.on = on; }
    // Events that the program sends carry the number of the part of the run that they belong to.
    void number_by(std::shared_ptr<const Part> part) { part_ = std::move(part); }
    void look_beyond(std::string folder, std::vector<std::string> but) {
        places_.look_beyond(std::move(folder), std::move(but));
    }
    // While one of these exists, events come from a place that is known (0: from the line that runs), as looking at the
    // stack would take longer than all the rest; and those that a history has get a number from whoever gives some out,
    // and a time in seconds since a moment of the clock that never goes back.
    using Numbers = std::function<std::int64_t()>;
    class From {
    public:
        From(PyMonitor& monitor, std::uint32_t place, const Numbers* numbers, double began)
            : monitor_(monitor),
              place_(std::exchange(monitor.place_, place)),
              numbers_(std::exchange(monitor.numbers_, numbers)),
              began_(std::exchange(monitor.began_, began)) {}
        ~From() {
            monitor_.place_ = place_;
            monitor_.numbers_ = numbers_;
            monitor_.began_ = began_;
        }
        From(const From&) = delete;
        From& operator=(const From&) = delete;

    private:
        PyMonitor& monitor_;
        std::uint32_t place_;
        const Numbers* numbers_;
        std::optional<double> began_;
    };

    Stamp here();       // the line of Python that is running
    Stamp now() const;  // the time alone, and only if somebody asks for it
};

// What is raised when an event cannot be taken; the Python side puts classes of its own here.
struct Errors {
    PyObject* closed;
    PyObject* values;
    PyObject* limit;
};
extern Errors errors;

// Calls made by this code object count as made by its caller, or as made nowhere.
void hide(PyObject* code, bool placeless);

}  // namespace mopsus::python
