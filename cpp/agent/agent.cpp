// Steps monitors inside of a debugged program.
//
// A hook at the entry of a function comes here with its number and the registers. The machine of every event at that
// function is stepped; if nobody reacts to the step, the function goes on, after some ten nanoseconds. Otherwise
// nothing is stepped, and the *gate* is called, an empty function where the debugger has a breakpoint.
//
// This runs in the midst of any program, in any thread, at any moment. So it calls nobody, allocates nothing, and keeps
// away from registers that it would have to save: it is compiled without the libraries and without vector instructions.
#include "agent.hpp"

#include "system.hpp"

using namespace mopsus::agent;

Agent mopsus_agent;

const std::uint32_t mopsus_agent_layout[] = {sizeof(Monitor), sizeof(Source), sizeof(Event),        sizeof(Site),
                                             sizeof(Record),  sizeof(Stop),   offsetof(Log, words), sizeof(Change),
                                             sizeof(Journal), sizeof(Agent),  sizeof(Instruction)};

namespace {

constexpr std::uint64_t kHidden = ~std::uint64_t{0};  // where nobody can be on a stack
constexpr std::uint32_t kPatience = 1U << 8;          // looks, before a thread lets others run
constexpr std::uint32_t kDoubt = 1U << 9;             // looks, before it sleeps in between
constexpr std::uint32_t kDespair = kDoubt + 200;      // looks, before it gives up
constexpr std::uint64_t kBetweenChecks = 1U << 16;    // calls
constexpr std::uint64_t kAhead = 16;                  // records
constexpr std::uint32_t kMostTries =
    16;  // to hand a call over: where signals come faster than it can, the program goes on

// The words of a record.
constexpr std::uint64_t kEvent = offsetof(Record, event) / 8;
constexpr std::uint64_t kCaller = offsetof(Record, caller) / 8;
constexpr std::uint64_t kTime = offsetof(Record, time) / 8;
constexpr std::uint64_t kValues = offsetof(Record, values) / 8;

// What a debugger may look at or change when it stops the program between any two instructions.
template <typename T>
T get(const T& shared) {
    return __atomic_load_n(&shared, __ATOMIC_RELAXED);
}

template <typename T>
void put(T& shared, T value) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&shared, value, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

std::uint64_t word(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

// What tells threads apart: where their own variables are.
std::uint64_t this_thread() {
    std::uint64_t pointer;
    asm volatile("mov %%fs:0x10, %0" : "=r"(pointer));
    return pointer;
}

std::uint64_t extended(std::uint64_t value, std::uint8_t width, bool is_signed) {
    const unsigned unused = 64 - 8 * static_cast<unsigned>(width);
    value <<= unused;
    return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> unused) : value >> unused;
}

// False: there is no memory where the value should be.
inline __attribute__((always_inline)) bool load(const Source& source, std::uint64_t from, std::uint64_t& value) {
    value = from;
    if (source.follow != 0) {
        value = 0;
        if (!read_memory(from, &value, source.width)) return false;
    }
    value = extended(value, source.width, source.is_signed != 0);
    return true;
}

std::uint64_t hash(std::uint64_t key) { return key * 0x9E3779B97F4A7C15ULL >> 20; }

// Takes all hooks out again: nobody is there who wants to know. What is shared with the debugger is left as it is, for
// this may be a copy of the process that it has. Many threads may find out at a time: one does it, for two would take
// the right to write from each other.
void leave() {
    if (__atomic_exchange_n(&mopsus_agent.alive, nullptr, __ATOMIC_ACQ_REL) == nullptr) return;
    for (Site& site : mopsus_agent.sites) {
        put(site.looks, 0U);
        if (site.placed != 0) put_back(site.entry, site.jump, site.original);
    }
}

bool is_alive() {
    const std::uint64_t* alive = get(mopsus_agent.alive);  // another thread may be about to leave
    if (alive == nullptr) return false;
    if (get(*alive) != 0) return true;
    leave();
    return false;
}

// A debugger that was killed could not say goodbye. A child that borrows our memory, by `vfork`, has none, and that
// means nothing.
bool is_deserted() { return this_process() == mopsus_agent.process && !is_traced(); }

void count_passed(Event& event) { __atomic_fetch_add(&event.passed, 1, __ATOMIC_RELAXED); }

// Where the instance is that an event is about, or where it would be.
std::uint64_t place_of(const Event& event, std::uint64_t key) {
    if (event.keyed == 0) return 0;
    const Monitor& monitor = *event.monitor;
    std::uint64_t at = hash(key) & monitor.mask;
    while (get(monitor.rows[at]) != 0 && get(monitor.keys[at]) != key) at = (at + 1) & monitor.mask;
    return at;
}

// Is a value too large to be a number with a sign?
bool is_unfit(const Source& source, std::uint64_t value) { return source.is_signed == 0 && value >> 63 != 0; }

// The cell after its code, if it has some, with the variables afterwards. Apart: machines without do not pay for it.
__attribute__((noinline)) std::uint32_t computed(const Event& event, const std::uint64_t* values, std::uint64_t at,
                                                 std::uint32_t cell, std::uint64_t* variables) {
    const Monitor& monitor = *event.monitor;
    const bool begins = event.keyed != 0 && monitor.rows[at] == 0;
    const std::uint64_t* before = begins ? monitor.beginning : monitor.variables + at * monitor.words;
    for (std::uint64_t word = 0; word < monitor.words; ++word) variables[word] = get(before[word]);
    if ((cell & kCode) == 0) return cell;
    std::uint64_t unfit = 0;
    for (std::uint32_t k = 0; k < event.values; ++k) unfit |= std::uint64_t{is_unfit(event.sources[k], values[k])} << k;
    return compute(monitor.code + (cell & kRow), {values, unfit, variables}, kStop);
}

// The one thread that is in here at a time. A signal may come meanwhile whose handler comes here, too: it has the turn
// in between, unless the thread was about to change something, and then the thread looks again.
class Turn {
public:
    Turn() {
        const std::uint64_t me = this_thread();
        const std::uint64_t here = word(__builtin_frame_address(0));
        if (get(mopsus_agent.owner) == me) {
            outer_ = get(mopsus_agent.stack);
            nested_ = here < outer_;  // else the thread has jumped out: a handler is deeper on the stack
            if (!nested_) put(mopsus_agent.log->committing, std::uint64_t{0});
            mine_ = get(mopsus_agent.log->committing) == 0;
        } else {
            take(me);
        }
        if (mine_) put(mopsus_agent.stack, here);
    }
    ~Turn() {
        if (!mine_) return;
        put(mopsus_agent.stack, nested_ ? outer_ : kHidden);
        if (nested_)
            __atomic_fetch_add(&mopsus_agent.log->changes, 1, __ATOMIC_RELAXED);
        else
            __atomic_store_n(&mopsus_agent.owner, 0, __ATOMIC_RELEASE);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool mine() const { return mine_; }

private:
    void take(std::uint64_t me) {
        for (std::uint32_t looks = 0; looks < kDespair; ++looks) {
            std::uint64_t nobody = 0;
            mine_ = __atomic_compare_exchange_n(&mopsus_agent.owner, &nobody, me, false, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED);
            if (mine_) return;
            if (looks > kDoubt)
                sleep_a_millisecond();
            else if (looks > kPatience)
                system_call(kYield);
            else
                asm volatile("pause");
        }
    }

    bool mine_ = false;
    bool nested_ = false;
    std::uint64_t outer_ = kHidden;  // where on the stack the thread was in here before the signal
};

// An instance goes to another row by this event, whose record has the values already: that is the journal's next
// change.
void note(const Event& event, std::uint64_t caller, std::uint64_t* record, std::uint64_t at, std::uint64_t key,
          std::uint64_t used, std::uint32_t row) {
    const std::uint64_t width = mopsus_agent.log->width;
    for (std::uint64_t word = kValues + event.values; word < width; ++word) record[word] = 0;
    record[kEvent] = event.number;
    record[kCaller] = caller;
    record[kTime] = __builtin_ia32_rdtsc();
    asm volatile("prefetchw %0" : : "m"(record[kAhead * width]));  // it may be in the debugger's cache
    Change& change = mopsus_agent.journal.changes[mopsus_agent.journal.count++];
    change.monitor = event.monitor;
    change.at = at;
    change.key = key;
    change.used = used;
    change.row = row;
    change.keyed = event.keyed;
}

// A call with one event, as most are, that needs no code and no memory but a register: what a `Happening` does, at half
// the cost. False: it takes a closer look, and nothing has happened yet.
class Glance {
public:
    Glance(Site& site, const std::uint64_t* arguments) : site_(site), event_(*site.first), monitor_(*event_.monitor) {
        const Source& source = event_.sources[0];
        if (site.events != 1 || event_.values != event_.keyed || monitor_.words != 0) return;
        seen_ = get(mopsus_agent.log->changes);
        if (event_.keyed != 0) {
            if (source.base != Source::Argument || source.follow != 0) return;
            key_ = extended(arguments[source.index], source.width, source.is_signed != 0);
            if (is_unfit(source, key_)) return;
            at_ = place_of(event_, key_);
        }
        row_ = get(monitor_.rows[at_]);
        cell_ = monitor_.cells[row_ + event_.letter];
    }

    bool take_place(std::uint64_t caller) {
        return cell_ == (cell_ & (kRow | kKeep)) && ((cell_ & kKeep) != 0 ? is_noted(caller) : passes());
    }

private:
    // It changes nothing. That is told from what nobody changes but as a whole: no turn is needed.
    bool passes() {
        if (get(mopsus_agent.log->changes) != seen_) return false;
        if ((get(event_.passed) & (kBetweenChecks - 1)) == kBetweenChecks - 1 && is_deserted()) {
            leave();
            return false;
        }
        count_passed(event_);
        ++site_.calls;
        return true;
    }

    // An instance that is there already goes to another row.
    bool is_noted(std::uint64_t caller) {
        if (event_.keyed != 0 && row_ == 0) return false;
        const Turn turn;
        const Log& log = *mopsus_agent.log;
        Journal& journal = mopsus_agent.journal;
        if (!turn.mine() || ((mopsus_agent.turns + 1) & (kBetweenChecks - 1)) == 0) return false;
        journal.used = get(log.used);
        if (journal.used + 1 + kMostEvents > log.capacity) return false;  // whoever comes next asks for room
        if (get(monitor_.rows[at_]) != row_ || (event_.keyed != 0 && monitor_.keys[at_] != key_)) return false;
        std::uint64_t* record = mopsus_agent.log->words + journal.used * log.width;
        if (event_.keyed != 0) record[kValues] = key_;
        journal.seen = seen_;
        journal.count = 0;
        note(event_, caller, record, at_, key_, monitor_.used, cell_ & kRow);
        if (!mopsus_agent_commit()) return false;
        ++site_.calls;
        ++mopsus_agent.turns;
        return true;
    }

    Site& site_;
    Event& event_;
    Monitor& monitor_;
    std::uint64_t seen_ = 0;
    std::uint64_t key_ = 0;
    std::uint64_t at_ = 0;
    std::uint32_t row_ = 0;
    std::uint32_t cell_ = kStop;
};

// All events of a function that is entered or returns.
class Happening {
public:
    // `frame` is where the stack pointer will be when the function has returned.
    Happening(std::uint64_t number, Looks what, std::uint64_t caller, std::uint64_t frame)
        : number_(number),
          site_(mopsus_agent.sites[number]),
          what_(what),
          first_(site_.first + (what == kReturns ? site_.events : 0)),
          count_(what == kReturns ? site_.returns : site_.events),
          caller_(caller),
          frame_(frame) {}

    // `read` gives the values of an event, and which of them it cannot read. Without a debugger in between, unless
    // somebody reacts. False: nothing is stepped, and the debugger will do so if the call begins again.
    template <typename Read>
    __attribute__((noinline)) bool take_place(Read read) {
        const Turn turn;
        ++site_.calls;
        if ((++mopsus_agent.turns & (kBetweenChecks - 1)) == 0 && is_deserted()) {
            leave();
            return false;
        }
        for (std::uint32_t tries = 0;;) {
            if ((get(site_.looks) & what_) == 0) return false;  // the debugger was here meanwhile
            if (turn.mine() && look(read)) {
                if (commit()) break;
                continue;
            }
            const std::uint32_t before = get(site_.placed);
            if (!hand_over(read, !turn.mine()) || what_ == kReturns) return true;
            // The debugger sees the call when it begins again without a hook. If a signal came first, its handler may
            // have done something after which the hook was put back.
            const std::uint32_t now = get(site_.placed);
            if (now == 0) return false;
            if (now == before || ++tries == kMostTries) return true;
        }
        for (std::uint32_t k = 0; k < count_; ++k) {
            if ((passed_ >> k & 1) != 0) count_passed(first_[k]);
        }
        if (mopsus_agent.journal.count != 0 && (crowds_ || is_full())) ask_for_room();
        return true;
    }

private:
    static bool is_full() { return get(mopsus_agent.log->used) + kMostEvents > mopsus_agent.log->capacity; }

    // What each event would do. False: somebody reacts, or it cannot be told.
    template <typename Read>
    bool look(Read& read) {
        Log& log = *mopsus_agent.log;
        Journal& journal = mopsus_agent.journal;
        journal.seen = get(log.changes);
        journal.used = get(log.used);
        journal.count = 0;
        passed_ = 0;
        crowds_ = false;
        if (journal.used + kMostEvents > log.capacity) return false;
        for (std::uint32_t k = 0; k < count_; ++k) {
            std::uint64_t* record = log.words + (journal.used + journal.count) * log.width;
            if (read(first_[k], record + kValues) != 0 || !step(k, record)) return false;
        }
        return true;
    }

    // The record has the values, and gets all else if it is to be kept.
    bool step(std::uint32_t k, std::uint64_t* record) {
        const Event& event = first_[k];
        Monitor& monitor = *event.monitor;
        const std::uint64_t key = event.keyed != 0 ? record[kValues] : 0;
        if (event.keyed != 0 && is_unfit(event.sources[0], key))
            return false;  // it would be taken for a negative number
        const std::uint64_t at = place_of(event, key);
        const std::uint32_t row = monitor.rows[at];
        std::uint32_t cell = monitor.cells[row + event.letter];
        if ((cell & kCode) != 0 || monitor.words != 0) {
            Journal& journal = mopsus_agent.journal;
            cell = computed(event, record + kValues, at, cell, journal.changes[journal.count].variables);
        }
        if ((cell & (kStop | kKeep)) != kKeep) {
            passed_ |= 1U << k;
            return (cell & kStop) == 0;
        }
        const bool fresh = event.keyed != 0 && row == 0 && (cell & kRow) != 0;
        const std::uint64_t used = monitor.used + fresh;
        if (fresh && used >= monitor.mask) return false;  // one place stays free, or a search would never end
        crowds_ |= fresh && used * 2 > monitor.mask;
        note(event, caller_, record, at, key, used, cell & kRow);
        return true;
    }

    bool commit() const {
        const Journal& journal = mopsus_agent.journal;
        return journal.count != 0 ? mopsus_agent_commit() : get(mopsus_agent.log->changes) == journal.seen;
    }

    // The debugger is told everything, and does the rest. False: there is none.
    template <typename Read>
    __attribute__((noinline)) bool hand_over(Read& read, bool stuck) const {
        Stop stop{};
        stop.stuck = stuck;
        for (std::uint32_t k = 0; k < count_; ++k)
            stop.unreadable |= std::uint64_t{read(first_[k], stop.values[k])} << k * kMostValues;
        return call_gate(Handle, stop);
    }

    __attribute__((noinline)) void ask_for_room() const {
        Stop stop{};
        call_gate(crowds_ ? Crowded : Full, stop);
    }

    // False: there is no debugger.
    bool call_gate(Reason reason, Stop& stop) const {
        if (this_process() != mopsus_agent.process) return false;
        if (!is_traced()) {
            leave();
            return false;
        }
        stop.reason = reason;
        stop.site = static_cast<std::uint32_t>(number_);
        stop.returning = what_ == kReturns;
        stop.frame = frame_;
        mopsus_agent_gate(&stop, mopsus_agent.turns);
        return true;
    }

    std::uint64_t number_;
    Site& site_;
    Looks what_;
    Event* first_;
    std::uint32_t count_;
    std::uint32_t passed_;  // a bit for each that changes nothing
    bool crowds_;
    std::uint64_t caller_;
    std::uint64_t frame_;
};

inline __attribute__((always_inline)) std::uint32_t read_entry(const Event& event, const std::uint64_t* arguments,
                                                               std::uint64_t* values) {
    std::uint32_t unreadable = 0;
    for (std::uint32_t k = 0; k < event.values; ++k) {
        const Source& source = event.sources[k];
        if (!load(source, source.base == Source::Argument ? arguments[source.index] : source.address, values[k]))
            unreadable |= 1U << k;
    }
    return unreadable;
}

// What must be read before the function changes it.
bool is_kept(const Source& source) { return source.base != Source::Result && source.follow != 0; }

void keep(const Site& site, Call& call) {
    call.unreadable = 0;
    std::uint32_t place = 0;
    for (std::uint32_t k = site.events; k < site.events + site.returns; ++k) {
        for (std::uint32_t value = 0; value < site.first[k].values; ++value) {
            const Source& source = site.first[k].sources[value];
            if (!is_kept(source)) continue;
            if (!load(source, source.base == Source::Argument ? call.arguments[source.index] : source.address,
                      call.kept[place]))
                call.unreadable |= std::uint64_t{1} << place;
            ++place;
        }
    }
}

std::uint32_t read_return(const Event& event, const Call& call, std::uint32_t& place, std::uint64_t* values) {
    std::uint32_t unreadable = 0;
    for (std::uint32_t k = 0; k < event.values; ++k) {
        const Source& source = event.sources[k];
        if (is_kept(source)) {
            if ((call.unreadable >> place & 1) != 0) unreadable |= 1U << k;
            values[k] = call.kept[place++];
        } else if (!load(source, source.base == Source::Result ? call.results[0] : call.arguments[source.index],
                         values[k])) {
            unreadable |= 1U << k;
        }
    }
    return unreadable;
}

// Where the function goes on. A call that was seen here must not come to where a debugger would see it again. One that
// was not begins again, and comes there, or here once more if the hook was put back meanwhile; without a debugger there
// is nobody to see it.
std::uint64_t going_on(const Site& site, bool seen) {
    return seen || get(mopsus_agent.alive) == nullptr ? site.copy : site.entry;
}

bool looks_at(const Site& site, Looks what) { return is_alive() && (get(site.looks) & what) != 0; }

}  // namespace

// By the number of its turn, a debugger sees from the registers alone that a thread has come here once more.
__attribute__((noinline)) void mopsus_agent_gate(const Stop* stop, std::uint64_t turn) {
    asm volatile("" : : "D"(stop), "S"(turn));
}

// All at once, for whoever does not stop the program in the midst of it. A debugger that does so completes it, and lets
// this return at once. False: it has changed something since, and everything must be looked at again.
__attribute__((noinline)) bool mopsus_agent_commit() {
    Log& log = *mopsus_agent.log;
    const Journal& journal = mopsus_agent.journal;
    put(log.committing, std::uint64_t{1});
    const bool valid = get(log.changes) == journal.seen;
    if (valid) {
        for (std::uint64_t k = 0; k < journal.count; ++k) {
            const Change& change = journal.changes[k];
            if (change.keyed != 0) put(change.monitor->keys[change.at], change.key);  // first: others may be looking
            change.monitor->used = change.used;
            change.monitor->noted = 1;
            put(change.monitor->rows[change.at], change.row);
            const std::uint64_t words = change.monitor->words;
            for (std::uint64_t word = 0; word < words; ++word)
                put(change.monitor->variables[change.at * words + word], change.variables[word]);
        }
        log.used = journal.used + journal.count;
    }
    put(log.committing, std::uint64_t{0});
    return valid;
}

// Memory that the debugger has, too, by the name of a file.
std::uint64_t mopsus_agent_share(const char* file, std::uint64_t length) { return map_file(file, length); }

// Memory for code, at this address or not at all.
std::uint64_t mopsus_agent_code(std::uint64_t address, std::uint64_t length) { return map_code(address, length); }

// To be called first, and again by a debugger that has just come to a copy of the process. False if the kernel cannot
// tell copies apart.
std::uint64_t mopsus_agent_begin() {
    leave();
    auto* alive = reinterpret_cast<std::uint64_t*>(map_unless_copied());
    if (alive == nullptr) return 0;
    *alive = 1;
    mopsus_agent.process = this_process();
    mopsus_agent.owner = 0;
    mopsus_agent.stack = kHidden;
    mopsus_agent.alive = alive;
    return 1;
}

std::uint64_t mopsus_agent_entered(Registers* registers) {
    Site& site = mopsus_agent.sites[registers->site];
    const auto read = [&](const Event& event, std::uint64_t* values) {
        return read_entry(event, registers->arguments, values);
    };
    const bool seen = looks_at(site, kEntries) &&
                      (Glance(site, registers->arguments).take_place(registers->caller) ||
                       Happening(registers->site, kEntries, registers->caller, word(registers + 1)).take_place(read));
    return going_on(site, seen);
}

std::uint64_t mopsus_agent_called(Call* call) {
    Site& site = mopsus_agent.sites[call->site];
    const auto read = [&](const Event& event, std::uint64_t* values) {
        return read_entry(event, call->arguments, values);
    };
    bool seen = false;
    call->generation = 0;
    if (looks_at(site, kEntries)) {
        call->generation = site.generation;
        keep(site, *call);
        seen = site.events == 0 || Glance(site, call->arguments).take_place(call->caller) ||
               Happening(call->site, kEntries, call->caller, word(call + 1)).take_place(read);
    }
    return going_on(site, seen);
}

void mopsus_agent_returned(Call* call) {
    const Site& site = mopsus_agent.sites[call->site];
    if (!looks_at(site, kReturns) || call->generation != site.generation) return;
    std::uint32_t place = 0;
    Happening(call->site, kReturns, call->caller, word(call + 1))
        .take_place([&](const Event& event, std::uint64_t* values) {
            if (&event == site.first + site.events) place = 0;  // it may be read again
            return read_return(event, *call, place, values);
        });
}
