#include "monitor.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <unordered_set>

#include "mopsus/engine/archive.hpp"
#include "saved_error.hpp"
#include "unobserved.hpp"

namespace mopsus::python {

namespace {

// Threads that wait for a monitor. One pair for all monitors: waiting is rare.
std::mutex turn_mutex;
std::condition_variable turn_over;

// Numbers that are never used twice, unlike the system's; `ended` outlives the thread.
struct ThreadName {
    std::uint64_t number;
    std::shared_ptr<bool> ended = std::make_shared<bool>(false);
    ThreadName() {
        static std::mutex mutex;
        static std::uint64_t last = 0;
        const std::lock_guard lock(mutex);
        number = ++last;
    }
    ~ThreadName() { *ended = true; }
};
thread_local ThreadName this_thread;

// The values of an event: its parameters, then its fields.
struct Given {
    PyObject* const* values = nullptr;
    std::size_t parameters = 0;
    std::size_t fields = 0;

    Given() = default;
    Given(PyObject* const* all, const EventDecl& event)
        : values(all), parameters(event.parameters.size()), fields(event.fields.size()) {}
};

class Carrier : public Origin {
public:
    Carrier(PyMonitor& monitor, const Given& given) : monitor_(monitor), given_(given) {}
    EventData data() override {
        if (data_.arena == nullptr) data_ = monitor_.terms_of(given_.values + given_.parameters, given_.fields);
        return data_;
    }
    const void* const* values() override { return reinterpret_cast<const void* const*>(given_.values); }

protected:
    PyMonitor& monitor_;

private:
    Given given_;
    EventData data_;
};

class Here final : public Carrier {
public:
    // The clock is read now: code that the event runs may send others, which come later.
    explicit Here(PyMonitor& monitor, const Given& given = {}) : Carrier(monitor, given), when_(monitor.now()) {}
    Stamp stamp() override {
        if (!known_) stamp_ = monitor_.here();
        known_ = true;
        if (when_.time_kind != Stamp::Time::None) stamp_.time = when_.time;
        return stamp_;
    }
    Stamp when() override { return when_; }

private:
    bool known_ = false;
    Stamp when_;
    Stamp stamp_;
};

class Known final : public Carrier {
public:
    Known(PyMonitor& monitor, const Given& given, const Stamp& stamp) : Carrier(monitor, given), stamp_(stamp) {}
    Stamp stamp() override { return stamp_; }

private:
    Stamp stamp_;
};

// Nanoseconds since the epoch by a clock that never goes back: the system is asked for the date only once.
std::int64_t clock_now() {
    using std::chrono::steady_clock, std::chrono::system_clock;
    const auto count = [](auto moment) { return std::chrono::nanoseconds(moment.time_since_epoch()).count(); };
    static const std::int64_t start = count(system_clock::now()) - count(steady_clock::now());
    return start + count(steady_clock::now());
}

double monotonic() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void drop_all(std::vector<PyObject*>& objects) {
    std::vector<PyObject*> gone;
    gone.swap(objects);
    for (PyObject* object : gone) Py_XDECREF(object);
}

}  // namespace

PyMonitor::PyMonitor(Program program, std::vector<std::string> parameters, Options options, Callbacks callbacks)
    : core_(std::move(program), options.per_thread, std::move(parameters), *this),
      options_(std::move(options)),
      callbacks_(callbacks),
      unit_(core_.program().unit()),
      representatives_(core_.program().parameters, nullptr) {
    for (PyObject* one :
         {callbacks_.report, callbacks_.admit, callbacks_.fork, callbacks_.save, callbacks_.load, callbacks_.fault})
        Py_XINCREF(one);
    choose_engine();
}

void PyMonitor::choose_engine() {
    ++age_;
    flat_ = nullptr;
    slicing_ = nullptr;
    inherit_ = nullptr;
    tabular_ = false;
    recent_.clear();
    parameter_of_.assign(core_.program().events.size(), kNoParameter);
    if (!core_.per_thread() && !options_.decentralized) {
        for (std::size_t k = 0; k < parameter_of_.size(); ++k)
            if (const EventDecl& event = core_.program().events[k];
                event.parameters.size() == 1 && options_.modes[event.parameters[0]] == KeyMode::ByKind)
                parameter_of_[k] = event.parameters[0];
        Engine* engine = &core_.engine();
        if (auto* flat = dynamic_cast<FlatEngine*>(engine); flat != nullptr && flat->quiet()) flat_ = flat;
        if (auto* slicing = dynamic_cast<SlicingEngine*>(engine); slicing != nullptr && slicing->tabular())
            slicing_ = slicing;
        if (auto* inherit = dynamic_cast<InheritEngine*>(engine);
            inherit != nullptr && core_.program().parameters == 1 && inherit->is_small())
            inherit_ = inherit;
        tabular_ = slicing_ != nullptr || (flat_ != nullptr && flat_->bulk());
    }
    choose_deferring();
    set_quiet();
}

void PyMonitor::choose_deferring() {
    const std::vector<EventDecl>& events = core_.program().events;
    deferring_.assign(events.size(), 0);
    table_ = nullptr;
    if (!tabular_) return;
    const auto by_kind = [&](std::uint8_t p) { return options_.modes[p] == KeyMode::ByKind; };
    for (std::size_t k = 0; k < events.size(); ++k)
        deferring_[k] = core_.engine().defers(static_cast<EventId>(k)) &&
                        std::all_of(events[k].parameters.begin(), events[k].parameters.end(), by_kind);
    table_ = core_.engine().first_table();
}

PyMonitor::~PyMonitor() {
    close();
    clear();
}

void PyMonitor::close() {
    if (closed_) return;
    closing_ = true;
    if (inside_) return;
    make_all_pending();
    closed_ = true;
    set_quiet();
    core_.each_engine([&](Engine& engine) { unwatch_all(engine); });
}

void PyMonitor::unwatch_all(Engine& engine) {
    const auto& parameters = core_.parameter_names();
    for (unsigned p = 0; p < parameters.size(); ++p) {
        Domain& domain = engine.domain(p);
        for (Slot slot = 1; slot <= domain.last(); ++slot) {
            if (domain.kind(slot) != KeyKind::Object || domain.watch(slot) == 0) continue;
            const std::uint64_t word = domain.watch(slot);
            domain.set_watch(slot, 0);
            unwatch(word, watcher(engine, p), as_object(domain.bits(slot)));
            --watches_;
        }
    }
    std::erase_if(deaths_, [&](const Death& death) { return death.engine == &engine; });
    set_quiet();
    last_watcher_ = nullptr;
    for (unsigned p = 0; p < parameters.size(); ++p) watchers_.erase({&engine, p});
}

int PyMonitor::traverse(visitproc visit, void* arg) {
    for (PyObject* one :
         {callbacks_.report, callbacks_.admit, callbacks_.fork, callbacks_.save, callbacks_.load, callbacks_.fault})
        Py_VISIT(one);
    for (PyObject* one : {listeners_.change, listeners_.unmatched, names_, no_variables_}) Py_VISIT(one);
    for (SpecCode& code : codes_)
        if (const int result = code.traverse(visit, arg); result != 0) return result;
    for (PyObject* one : pinned_) Py_VISIT(one);
    for (PyObject* one : representatives_) Py_VISIT(one);
    return 0;
}

void PyMonitor::clear() {
    Py_CLEAR(callbacks_.report);
    Py_CLEAR(callbacks_.admit);
    Py_CLEAR(callbacks_.fork);
    Py_CLEAR(callbacks_.save);
    Py_CLEAR(callbacks_.load);
    Py_CLEAR(callbacks_.fault);
    Py_CLEAR(listeners_.change);
    Py_CLEAR(listeners_.unmatched);
    for (SpecCode& code : codes_) code.clear();
    Py_CLEAR(names_);
    Py_CLEAR(no_variables_);
    drop_all(pinned_);
    for (PyObject*& one : representatives_) Py_CLEAR(one);
    places_.clear();
    for (Waiting& one : waiting_) drop_all(one.values);
    waiting_.clear();
    drop_ready();
    drop_all(trash_);
    Py_CLEAR(wish_);
}

Errors errors{PyExc_ValueError, PyExc_TypeError, PyExc_MemoryError};

// ---- locations ----

void hide(PyObject* code, bool placeless) {
    if ((placeless ? placeless_code : hidden_code).insert(code).second) Py_INCREF(code);
}

Stamp PyMonitor::now() const {
    Stamp stamp;
    if (unit_ == 0) return stamp;
    stamp.time = static_cast<std::uint64_t>(clock_now());
    stamp.time_kind = Stamp::Time::Instant;
    return stamp;
}

Stamp PyMonitor::here() {
    Stamp stamp = now();
    if (began_ && unit_ == 0) stamp.set_seconds(monotonic() - *began_);
    if (numbers_ != nullptr) stamp.row = (*numbers_)();
    stamp.location = place_;
    if (place_ != 0 || is_collecting()) return stamp;
    if (numbers_ == nullptr) stamp.row = part_number();
    const std::uint32_t* location = places_.here([&](const std::string& text) { return core_.location(text, false); });
    if (location != nullptr) stamp.location = *location;
    return stamp;
}

// ---- taking turns ----

PyMonitor::Entry PyMonitor::enter(Wait wait) {
    if (closing_) {
        PyErr_SetString(errors.closed, "the monitor is closed");
        return Entry::Refused;
    }
    while (inside_) {
        if (inside_thread_ == std::this_thread::get_id() || (!options_.synchronized_ && wait == Wait::IfAsked))
            return Entry::Later;
        ++waiters_;
        Py_BEGIN_ALLOW_THREADS std::unique_lock lock(turn_mutex);
        turn_over.wait_for(lock, std::chrono::milliseconds(5));
        lock.unlock();
        Py_END_ALLOW_THREADS-- waiters_;
        if (PyErr_CheckSignals() != 0) return Entry::Refused;
    }
    inside_ = true;
    set_quiet();
    inside_thread_ = std::this_thread::get_id();
    return Entry::Now;
}

bool PyMonitor::enter_for_trace() {
    const Entry entry = enter();
    if (entry == Entry::Later)
        PyErr_SetString(PyExc_RuntimeError,
                        "a trace cannot be fed to a monitor from within its own handling of an event");
    if (entry == Entry::Now) make_all_pending();
    return entry == Entry::Now;
}

void PyMonitor::leave() {
    // Events that came meanwhile, in their order.
    while (!waiting_.empty()) {
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        const EventDecl& event = core_.program().events[next.event];
        Known origin(*this, {next.values.data(), event}, next.stamp);
        handle(next.event, next.values.data(), engine_for(next.thread, next.thread_ended), origin);
        for (PyObject* value : next.values) trash_.push_back(value);
    }
    inside_ = false;
    if (closing_) close();
    set_quiet();
    if (waiters_ != 0) turn_over.notify_all();
    if (!trash_.empty()) {
        const SavedError saved;
        drop_all(trash_);
    }
    if (has_terms_) forget_terms();
    if (!ready_.empty()) deliver();
    if (is_too_large()) look_at_limit();
}

void PyMonitor::look_at_limit() {
    if (inside_ || in_batch_ || closed_ || !ready_.empty()) return;
    make_all_pending();
    core_.each_engine([&](Engine& engine) { unwatch_all(engine); });
    core_.give_up();
    choose_engine();
    const std::uint64_t events = std::accumulate(core_.seen.begin(), core_.seen.end(), std::uint64_t{0});
    PyErr_Format(errors.limit,
                 "given up after %llu events: more than %llu monitors were live, which is the limit (max-live)",
                 static_cast<unsigned long long>(events), static_cast<unsigned long long>(options_.max_live));
    fault();
}

Engine& PyMonitor::engine_for(std::uint64_t thread, const std::shared_ptr<bool>& ended) {
    if (!core_.per_thread()) return core_.engine();
    if (threads_.emplace(thread, ended).second) {
        // A new thread is a good moment to forget those that have ended.
        for (auto at = threads_.begin(); at != threads_.end();) {
            if (!*at->second) {
                ++at;
                continue;
            }
            const Key key = Key::of_bits(KeyKind::Object, at->first);
            unwatch_all(core_.engine(key));
            core_.end_thread(key);
            at = threads_.erase(at);
        }
    }
    return core_.engine(Key::of_bits(KeyKind::Object, thread));
}

bool PyMonitor::emit(EventId event, PyObject* const* values, Wait wait) {
    switch (enter(wait)) {
        case Entry::Refused: return false;
        case Entry::Later: {
            Waiting later{event, {}, here(), this_thread.number, this_thread.ended};
            for (std::size_t k = 0; k < core_.program().events[event].values(); ++k) {
                later.values.push_back(Py_NewRef(values[k]));
                stir_pending_of(values[k]);
            }
            waiting_.push_back(std::move(later));
            return true;
        }
        case Entry::Now: break;
    }
    const EventDecl& declared = core_.program().events[event];
    Here origin(*this, {values, declared});
    handle(event, values, core_.per_thread() ? engine_for(this_thread.number, this_thread.ended) : core_.engine(),
           origin);
    leave();
    return granted();
}

// An event of an object that is not among those seen lately, or that the engine does not know.
PyMonitor::Quiet PyMonitor::emit_unfamiliar(EventId event, PyObject* value) {
    const std::uint8_t p = parameter_of_[event];
    if (p == kNoParameter || !has_identity(Py_TYPE(value))) return Quiet::No;
    Engine& engine = core_.engine();
    const Slot slot = engine.domain(p).find(Key::of_bits(KeyKind::Object, reinterpret_cast<std::uintptr_t>(value)));
    if (slot != kNil) {
        recent_.remember(p, value, slot);
        return emit_familiar(event, slot);
    }
    if (!tabular_ || engine.inserts(event)) return Quiet::No;
    ++core_.seen[event];
    return Quiet::Done;
}

// An event of an object that was seen lately, for a machine of any kind.
PyMonitor::Quiet PyMonitor::emit_ready(EventId event, Slot slot) {
    if (!flat_->ready(slot)) return Quiet::No;
    Here origin(*this);
    const Word after = flat_->step_ready(event, slot, origin);
    ++core_.seen[event];
    if ((after & kNotable) == 0) return Quiet::Done;
    inside_ = true;  // nothing is quiet while an event is being handled, so none is
    set_quiet();
    inside_thread_ = std::this_thread::get_id();
    flat_->note(slot, event, plain(after), origin.stamp());
    leave();
    return granted() ? Quiet::Done : Quiet::Raised;
}

bool PyMonitor::emit_row(EventId event, PyObject* const* values, const TraceRow& where) {
    if (!enter_for_trace()) return false;
    Stamp stamp;
    stamp.row = where.row != 0 ? where.row : part_number();
    if (!where.location.empty()) stamp.location = core_.location(where.location, where.is_source);
    std::string scratch;
    if (where.time != nullptr && where.time != Py_None) {
        const Key key = key_of(where.time, scratch);
        stamp.time = key.bits;
        if (key.kind == KeyKind::Int) stamp.time_kind = Stamp::Time::Int;
        if (key.kind == KeyKind::Float) stamp.time_kind = Stamp::Time::Float;
    }
    const EventDecl& declared = core_.program().events[event];
    Known origin(*this, {values, declared}, stamp);
    Engine& engine = core_.per_thread()
                         ? core_.engine(key_of(where.thread != nullptr ? where.thread : Py_None, scratch))
                         : core_.engine();
    handle(event, values, engine, origin);
    leave();
    return granted();
}

bool PyMonitor::release(const std::vector<std::pair<unsigned, PyObject*>>& values, PyObject* thread) {
    if (const Entry entry = enter(); entry != Entry::Now) {
        if (entry == Entry::Later)
            PyErr_SetString(PyExc_RuntimeError, "values cannot be released from within the handling of an event");
        return false;
    }
    make_all_pending();
    std::string scratch;
    Engine& engine = core_.per_thread() ? core_.engine(key_of(thread, scratch)) : core_.engine();
    for (const auto& [p, value] : values) {
        const Key key = key_of(value, scratch_);
        if (key.kind != KeyKind::Object) core_.release(engine, p, key);
    }
    leave();
    return granted();
}

EventData PyMonitor::terms_of(PyObject* const* values, std::size_t count) {
    has_terms_ = true;
    Term* terms = terms_.terms(count);
    for (std::size_t k = 0; k < count; ++k) terms[k] = to_term(values[k], terms_);
    return {terms, count, &terms_};
}

// Objects that terms held may end now, and their ends run code.
void PyMonitor::forget_terms() {
    has_terms_ = false;
    terms_.clear();
    if (!terms_were_dropped) return;
    const SavedError saved;
    end_dropped_terms();
}

void PyMonitor::handle(EventId event, PyObject* const* values, Engine& engine, Origin& origin) {
    if (!deaths_.empty()) bury();
    const std::vector<std::uint8_t>& parameters = core_.program().events[event].parameters;
    if (first_pending_ != nullptr)
        for (std::size_t k = 0; k < parameters.size(); ++k) make_pending_of(values[k]);
    std::array<Slot, kMaxParameters> slots;
    const bool insert = engine.inserts(event);
    for (std::size_t k = 0; k < parameters.size(); ++k) slots[k] = slot_of(engine, parameters[k], values[k], insert);
    ++core_.seen[event];
    engine.step(event, slots.data(), origin);
}

// ---- batches ----

// Without objects to be watched and without code to be called, nobody else can touch the engine: a batch runs without
// Python's lock.
bool PyMonitor::needs_python() const {
    const Program& program = core_.program();
    if (program.calls_out() || listeners_.unmatched != nullptr || watches_ != 0 || program.variables ||
        program.immediate || core_.per_thread())
        return true;
    return std::any_of(program.events.begin(), program.events.end(),
                       [](const EventDecl& event) { return event.guarded; });
}

namespace {

// The next batch of the stream; none at its end, or with a reason in `failure`.
std::shared_ptr<ArrowArray> next_batch(ArrowArrayStream& stream, std::string& failure) {
    const std::shared_ptr<ArrowArray> batch(new ArrowArray{}, [](ArrowArray* array) {
        if (array->release != nullptr) array->release(array);
        delete array;
    });
    if (stream.get_next(&stream, batch.get()) != 0) {
        const char* text = stream.get_last_error(&stream);
        failure = text != nullptr && *text != 0 ? text : "the data cannot be read";
        return nullptr;
    }
    return batch->release != nullptr ? batch : nullptr;
}

// Some rows of a batch. After so many at the latest, signals are heeded, and reports are made if there are many.
std::shared_ptr<ArrowArray> piece_of(const std::shared_ptr<ArrowArray>& batch, std::int64_t from) {
    constexpr std::int64_t kPiece = 8192;
    const std::shared_ptr<ArrowArray> piece(new ArrowArray(*batch), [batch](ArrowArray* array) { delete array; });
    piece->offset += from;
    piece->length = std::min(kPiece, batch->length - from);
    piece->release = nullptr;  // the batch does it
    return piece;
}

}  // namespace

// The rows of a batch; false if no others are to follow.
bool PyMonitor::run_batch(const ArrowSchema& schema, const std::shared_ptr<ArrowArray>& batch, BatchOptions& options,
                          std::optional<BadRow>& bad, std::string& failure) {
    const bool python = needs_python();
    for (std::int64_t from = 0; from < batch->length;) {
        if (!python) released_ = PyEval_SaveThread();
        do {  // mostly nothing is to be reported, and nobody needs Python's lock before the end of the batch
            const std::shared_ptr<ArrowArray> piece = piece_of(batch, from);
            try {
                bad = core_.run(schema, piece, options);
            } catch (const std::exception& error) {
                failure = error.what();
            }
            from += piece->length;
            options.first_row += piece->length;
        } while (!bad && failure.empty() && from < batch->length && ready_.size() < kMostReady && !interrupted());
        if (!python) PyEval_RestoreThread(std::exchange(released_, nullptr));
        event_done();
        if (bad || !failure.empty() || closing_ || wish_ != nullptr || PyErr_Occurred() != nullptr ||
            PyErr_CheckSignals() != 0 || is_too_large())
            return false;
    }
    return true;
}

std::optional<BadRow> PyMonitor::run(ArrowArrayStream& stream, const std::string& source, BatchOptions options) {
    if (!enter_for_trace()) return {};
    in_batch_ = true;
    if (!source.empty()) options.source = core_.location(source, true);
    if (!deaths_.empty()) bury();
    std::optional<BadRow> bad;
    std::string failure;
    ArrowSchema schema{};
    bool more = stream.get_schema(&stream, &schema) == 0;
    if (!more) failure = "the data has no schema";
    while (more) {
        PyThreadState* released = needs_python() ? nullptr : PyEval_SaveThread();
        const std::shared_ptr<ArrowArray> batch = next_batch(stream, failure);
        if (released != nullptr) PyEval_RestoreThread(released);
        more = batch != nullptr && run_batch(schema, batch, options, bad, failure);
    }
    core_.end_stream();
    if (schema.release != nullptr) schema.release(&schema);
    in_batch_ = false;
    leave();
    granted();
    if (!failure.empty() && PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_ValueError, failure.c_str());
    return bad;
}

// Handlers of signals run between two rows; what one raises ends the batch.
bool PyMonitor::interrupted() {
    if (is_too_large()) return true;
    constexpr auto kPause = std::chrono::milliseconds(50);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return false;
    next_look_ = now + kPause;
    if (wish_ != nullptr) return true;
    if (released_ == nullptr) return PyErr_CheckSignals() != 0;
    PyEval_RestoreThread(released_);
    const bool wanted = PyErr_CheckSignals() != 0;
    released_ = PyEval_SaveThread();
    return wanted;
}

// ---- snapshots ----

std::vector<Item> PyMonitor::snapshot() {
    settle();
    Archive archive;
    core_.transfer(archive);
    return std::move(archive.items());
}

void PyMonitor::restore(std::vector<Item> items) {
    Archive archive(std::move(items));
    try {
        core_.restore(archive);
    } catch (...) {
        choose_engine();  // there is another one
        throw;
    }
    if (!core_.given_up()) return;
    choose_engine();
    PyErr_SetString(errors.limit,
                    "given up before the snapshot was taken: more monitors were live than the limit allows (max-live)");
    fault();
}

}  // namespace mopsus::python
