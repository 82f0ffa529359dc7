// Steps monitors inside of a debugged program.
//
// A hook at the entry of a function comes here with its number and the registers. The machine of every event at that function is stepped; if
// nobody reacts to the step, the function goes on, after some ten nanoseconds. Otherwise nothing is stepped, and the *gate* is called, an
// empty function where the debugger has a breakpoint.
//
// This runs in the midst of any program, in any thread, at any moment. So it calls nobody, allocates nothing, and keeps away from registers
// that it would have to save: it is compiled without the libraries and without vector instructions.
#include "agent.hpp"

#include "system.hpp"

using namespace mopsus::agent;

Agent mopsus_agent;

const std::uint32_t mopsus_agent_layout[] = {sizeof(Monitor), sizeof(Source), sizeof(Event), sizeof(Site), sizeof(Record), sizeof(Stop),
                                             offsetof(Log, records), sizeof(Change), sizeof(Journal), sizeof(Agent), sizeof(Instruction)};

namespace {

constexpr std::uint64_t kHidden = ~std::uint64_t{0};  // where nobody can be on a stack
constexpr std::uint32_t kPatience = 1U << 8;          // looks, before a thread lets others run
constexpr std::uint32_t kDoubt = 1U << 9;             // looks, before it sleeps in between
constexpr std::uint32_t kDespair = kDoubt + 200;      // looks, before it gives up
constexpr std::uint64_t kBetweenChecks = 1U << 14;    // calls
constexpr std::uint32_t kMostTries = 16;              // to hand a call over: where signals come faster than it can, the program goes on

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
bool load(const Source& source, std::uint64_t from, std::uint64_t& value) {
    value = from;
    if (source.follow != 0) {
        value = 0;
        if (!read_memory(from, &value, source.width)) return false;
    }
    value = extended(value, source.width, source.is_signed != 0);
    return true;
}

std::uint64_t hash(std::uint64_t key) { return key * 0x9E3779B97F4A7C15ULL >> 20; }

// Takes all hooks out again: nobody is there who wants to know. What is shared with the debugger is left as it is, for this may be a copy of
// the process that it has.
void leave() {
    for (Site& site : mopsus_agent.sites) {
        put(site.looks, 0U);
        if (site.placed != 0) put_back(site.entry, site.jump, site.original);
    }
    mopsus_agent.alive = nullptr;
}

bool is_alive() {
    if (mopsus_agent.alive == nullptr) return false;
    if (*mopsus_agent.alive != 0) return true;
    leave();
    return false;
}

// A debugger that was killed could not say goodbye. A child that borrows our memory, by `vfork`, has none, and that means nothing.
bool is_deserted() { return this_process() == mopsus_agent.process && !is_traced(); }

// Where the instance is that an event is about, or where it would be.
std::uint64_t place_of(const Event& event, const Record& record) {
    if (event.keyed == 0) return 0;
    const Monitor& monitor = *event.monitor;
    const std::uint64_t key = record.values[0];
    std::uint64_t at = hash(key) & monitor.mask;
    while (monitor.rows[at] != 0 && monitor.keys[at] != key) at = (at + 1) & monitor.mask;
    return at;
}

// Which values of an event are too large to be numbers with a sign.
std::uint64_t unfit(const Event& event, const Record& record) {
    std::uint64_t found = 0;
    for (std::uint32_t k = 0; k < kMostValues; ++k) {  // those that it does not have are 0
        if (event.sources[k].is_signed == 0) found |= (record.values[k] >> 63) << k;
    }
    return found;
}

// The cell after its code, if it has some, with the variables afterwards. Apart: machines without do not pay for it.
__attribute__((noinline)) std::uint32_t computed(const Event& event, const Record& record, std::uint64_t at, std::uint32_t cell,
                                                 std::uint64_t* variables) {
    const Monitor& monitor = *event.monitor;
    const bool begins = event.keyed != 0 && monitor.rows[at] == 0;
    const std::uint64_t* before = begins ? monitor.beginning : monitor.variables + at * monitor.words;
    for (std::uint64_t word = 0; word < monitor.words; ++word) variables[word] = get(before[word]);
    if ((cell & kCode) == 0) return cell;
    return compute(monitor.code + (cell & kRow), {record.values, unfit(event, record), variables}, kStop);
}

// The one thread that is in here at a time.
class Turn {
public:
    Turn() {
        const std::uint64_t me = this_thread();
        const std::uint64_t here = word(__builtin_frame_address(0));
        if (get(mopsus_agent.owner) == me) {
            // A signal came while this thread was in here. Its handler is deeper on the stack, unless it has jumped out.
            mine_ = here >= get(mopsus_agent.stack);
            if (mine_) put(mopsus_agent.log->committing, std::uint64_t{0});
        } else {
            take(me);
        }
        if (mine_) put(mopsus_agent.stack, here);
    }
    ~Turn() {
        if (!mine_) return;
        put(mopsus_agent.stack, kHidden);
        __atomic_store_n(&mopsus_agent.owner, 0, __ATOMIC_RELEASE);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool mine() const { return mine_; }

private:
    void take(std::uint64_t me) {
        for (std::uint32_t looks = 0; looks < kDespair; ++looks) {
            std::uint64_t nobody = 0;
            mine_ = __atomic_compare_exchange_n(&mopsus_agent.owner, &nobody, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
            if (mine_) return;
            if (looks > kDoubt) sleep_a_millisecond();
            else if (looks > kPatience) system_call(kYield);
            else asm volatile("pause");
        }
    }

    bool mine_ = false;
};

// All events of a function that is entered or returns.
class Happening {
public:
    // `frame` is where the stack pointer will be when the function has returned.
    Happening(std::uint64_t number, Looks what, std::uint64_t caller, std::uint64_t frame)
        : site_(mopsus_agent.sites[number]), what_(what), first_(site_.first + (what == kReturns ? site_.events : 0)),
          count_(what == kReturns ? site_.returns : site_.events), caller_(caller) {
        stop_.site = static_cast<std::uint32_t>(number);
        stop_.returning = what == kReturns;
        stop_.frame = frame;
    }

    // `read` gives the values of an event, and which of them it cannot read. Without a debugger in between, unless somebody reacts. False:
    // nothing is stepped, and if anybody does, it is the debugger.
    template <typename Read>
    bool take_place(Read read) {
        const Turn turn;
        ++site_.calls;
        if ((++mopsus_agent.turns & (kBetweenChecks - 1)) == 0 && is_deserted()) {
            leave();
            return false;
        }
        stop_.stuck = !turn.mine();
        for (std::uint32_t tries = 0;;) {
            if ((get(site_.looks) & what_) == 0) return false;  // the debugger was here meanwhile
            if (look(read) && turn.mine()) {
                if (commit()) break;
                continue;
            }
            const std::uint32_t before = get(site_.placed);
            if (!call_gate(Handle) || what_ == kReturns) return false;
            // The debugger sees the call when it goes on without a hook. If a signal came first, its handler may have done something after
            // which the hook was put back.
            const std::uint32_t now = get(site_.placed);
            if (now == 0 || now == before || ++tries == kMostTries) return false;
        }
        for (std::uint32_t k = 0; k < count_; ++k) {
            if ((passed_ >> k & 1) != 0) asm volatile("incq %0" : "+m"(first_[k].passed));
        }
        if (journal_.count == 0) return true;
        const Log& log = *mopsus_agent.log;
        if (crowds_) call_gate(Crowded);
        else if (log.used + kMostEvents > log.capacity) call_gate(Full);
        return true;
    }

private:
    // What each event would do. False: somebody reacts, or it cannot be told.
    template <typename Read>
    bool look(Read& read) {
        const Log& log = *mopsus_agent.log;
        journal_.seen = get(log.changes);
        journal_.used = get(log.used);
        journal_.count = 0;
        stop_.unreadable = 0;
        passed_ = 0;
        crowds_ = false;
        bool goes_on = journal_.used + kMostEvents <= log.capacity;
        for (std::uint32_t k = 0; k < count_; ++k) {
            Record record{first_[k].number, caller_, 0, {}};
            const std::uint64_t unreadable = read(first_[k], record.values);
            stop_.unreadable |= unreadable << k * kMostValues;
            for (std::uint32_t value = 0; value < kMostValues; ++value) stop_.values[k][value] = record.values[value];
            goes_on = goes_on && unreadable == 0 && step(k, record);
        }
        return goes_on;
    }

    bool step(std::uint32_t k, const Record& record) {
        const Event& event = first_[k];
        Monitor& monitor = *event.monitor;
        const bool is_huge = event.keyed != 0 && event.sources[0].is_signed == 0 && record.values[0] >> 63 != 0;
        if (is_huge) return false;  // it would be taken for a negative number
        const std::uint64_t at = place_of(event, record);
        Change& change = journal_.changes[journal_.count];
        std::uint32_t cell = monitor.cells[monitor.rows[at] + event.letter];
        if ((cell & kCode) != 0 || monitor.words != 0) cell = computed(event, record, at, cell, change.variables);
        if ((cell & kStop) != 0) return false;
        if ((cell & kKeep) == 0) {
            passed_ |= 1U << k;
            return true;
        }
        const bool fresh = event.keyed != 0 && monitor.rows[at] == 0 && (cell & kRow) != 0;
        const std::uint64_t used = monitor.used + fresh;
        if (fresh && used >= monitor.mask) return false;  // one place stays free, or a search would never end
        crowds_ |= fresh && used * 2 > monitor.mask;
        change.record = record;
        change.record.time = __builtin_ia32_rdtsc();
        change.monitor = &monitor;
        change.at = at;
        change.used = used;
        change.row = cell & kRow;
        change.keyed = event.keyed;
        ++journal_.count;
        return true;
    }

    bool commit() const {
        return journal_.count != 0 ? mopsus_agent_commit(&journal_) : get(mopsus_agent.log->changes) == journal_.seen;
    }

    // False: there is no debugger.
    bool call_gate(Reason reason) {
        if (this_process() != mopsus_agent.process) return false;
        if (!is_traced()) {
            leave();
            return false;
        }
        stop_.reason = reason;
        mopsus_agent_gate(&stop_);
        return true;
    }

    Site& site_;
    Looks what_;
    Event* first_;
    std::uint32_t count_;
    std::uint32_t passed_;  // a bit for each that changes nothing
    bool crowds_;
    std::uint64_t caller_;
    Journal journal_;
    Stop stop_;
};

std::uint32_t read_entry(const Event& event, const std::uint64_t* arguments, std::uint64_t* values) {
    std::uint32_t unreadable = 0;
    for (std::uint32_t k = 0; k < event.values; ++k) {
        const Source& source = event.sources[k];
        if (!load(source, source.base == Source::Argument ? arguments[source.index] : source.address, values[k])) unreadable |= 1U << k;
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
            if (!load(source, source.base == Source::Argument ? call.arguments[source.index] : source.address, call.kept[place]))
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
        } else if (!load(source, source.base == Source::Result ? call.results[0] : call.arguments[source.index], values[k])) {
            unreadable |= 1U << k;
        }
    }
    return unreadable;
}

bool looks_at(const Site& site, Looks what) { return is_alive() && (get(site.looks) & what) != 0; }

}  // namespace

__attribute__((noinline)) void mopsus_agent_gate(const Stop* stop) { asm volatile("" : : "D"(stop)); }

// All at once, for whoever does not stop the program in the midst of it. A debugger that does so completes it, and lets this return at once.
// False: it has changed something since, and everything must be looked at again.
__attribute__((noinline)) bool mopsus_agent_commit(const Journal* journal) {
    Log& log = *mopsus_agent.log;
    mopsus_agent.journal = journal;
    put(log.committing, std::uint64_t{1});
    const bool valid = get(log.changes) == journal->seen;
    if (valid) {
        for (std::uint64_t k = 0; k < journal->count; ++k) {
            const Change& change = journal->changes[k];
            if (change.keyed != 0) change.monitor->keys[change.at] = change.record.values[0];
            change.monitor->used = change.used;
            change.monitor->rows[change.at] = change.row;
            const std::uint64_t words = change.monitor->words;
            for (std::uint64_t word = 0; word < words; ++word) put(change.monitor->variables[change.at * words + word], change.variables[word]);
            log.records[journal->used + k] = change.record;
        }
        log.used = journal->used + journal->count;
    }
    put(log.committing, std::uint64_t{0});
    return valid;
}

// Memory that the debugger has, too, by the name of a file.
std::uint64_t mopsus_agent_share(const char* file, std::uint64_t length) { return map_file(file, length); }

// Memory for code, at this address or not at all.
std::uint64_t mopsus_agent_code(std::uint64_t address, std::uint64_t length) { return map_code(address, length); }

// To be called first, and again by a debugger that has just come to a copy of the process. False if the kernel cannot tell copies apart.
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

// Where to go on. A call that was seen here must not come to where a debugger would see it again.
std::uint64_t mopsus_agent_entered(Registers* registers) {
    const Site& site = mopsus_agent.sites[registers->site];
    const auto read = [&](const Event& event, std::uint64_t* values) { return read_entry(event, registers->arguments, values); };
    const bool seen =
        looks_at(site, kEntries) && Happening(registers->site, kEntries, registers->caller, word(registers + 1)).take_place(read);
    return seen ? site.copy : get(site.resume);
}

std::uint64_t mopsus_agent_called(Call* call) {
    const Site& site = mopsus_agent.sites[call->site];
    const auto read = [&](const Event& event, std::uint64_t* values) { return read_entry(event, call->arguments, values); };
    bool seen = false;
    call->generation = 0;
    if (looks_at(site, kEntries)) {
        call->generation = site.generation;
        keep(site, *call);
        seen = site.events == 0 || Happening(call->site, kEntries, call->caller, word(call + 1)).take_place(read);
    }
    return seen ? site.copy : get(site.resume);
}

void mopsus_agent_returned(Call* call) {
    const Site& site = mopsus_agent.sites[call->site];
    if (!looks_at(site, kReturns) || call->generation != site.generation) return;
    std::uint32_t place = 0;
    Happening(call->site, kReturns, call->caller, word(call + 1)).take_place([&](const Event& event, std::uint64_t* values) {
        if (&event == site.first + site.events) place = 0;  // it may be read again
        return read_return(event, *call, place, values);
    });
}
