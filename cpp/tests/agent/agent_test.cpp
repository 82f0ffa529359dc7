// The agent without a debugger, and with a tracer that does at the gate what a debugger would do.
#include "agent/agent.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "../check.hpp"

using namespace mopsus::agent;

namespace {

constexpr std::uint32_t kLetters = 3;
constexpr std::uint64_t kWidth = 5;      // of a record: events here have two values at the most
constexpr std::uint64_t kCopy = 0x1000;  // where a function goes on: nobody goes there in these tests

// Memory that a child shares, as a program shares it with a debugger.
void* shared(std::size_t length) {
    void* memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return memory;
}

// A function with an event when it is entered, and, with `returns`, one when it returns.
struct Hook {
    explicit Hook(std::vector<std::uint32_t> cells, std::uint64_t places = 1 << 10, std::uint64_t capacity = 1 << 12,
                  bool keyed = true)
        : cells_(std::move(cells)),
          keys_(static_cast<std::uint64_t*>(shared(8 * places))),
          rows_(static_cast<std::uint32_t*>(shared(4 * places))),
          log(static_cast<Log*>(shared(sizeof(Log) + capacity * 8 * kWidth))),
          monitor(static_cast<Monitor*>(shared(sizeof(Monitor)))),
          events(static_cast<Event*>(shared(kLetters * sizeof(Event)))) {
        *monitor = {cells_.data(), keys_, rows_, keyed ? places - 1 : 0, 0, 0, nullptr, 0, nullptr, nullptr};
        log->capacity = capacity;
        log->width = kWidth;
        REQUIRE(mopsus_agent_begin() != 0);
        mopsus_agent.log = log;
        mopsus_agent.turns = 0;  // of thousands of calls, one looks whether there is a debugger
        for (std::uint32_t letter = 0; letter < kLetters; ++letter) {
            events[letter] = {monitor, letter, keyed, 1, letter, 0, {}};
            events[letter].sources[0] = {Source::Argument, 0, 0, 8, 1, {}, 0};
            mopsus_agent.sites[letter] = {};
            Site& site = mopsus_agent.sites[letter];
            site.entry = site.copy = kCopy;
            site.events = 1;
            site.looks = kEntries | kReturns;
            site.first = &events[letter];
            site.generation = 1;
        }
    }

    Record noted(std::uint64_t number) const {
        Record record{};
        std::memcpy(&record, log->words + number * kWidth, 8 * kWidth);
        return record;
    }

    std::uint32_t row(std::uint64_t key) const {
        for (std::uint64_t at = 0; at <= monitor->mask; ++at) {
            if (rows_[at] != 0 && keys_[at] == key) return rows_[at];
        }
        return 0;
    }

    // Cells with code; an instance begins with these words, the first of which says which variables it has.
    void compute(const std::vector<Instruction>& code, const std::vector<std::uint64_t>& beginning) {
        monitor->code = code.data();
        monitor->words = beginning.size();
        monitor->beginning = beginning.data();
        monitor->variables = static_cast<std::uint64_t*>(shared(8 * beginning.size() * (monitor->mask + 1)));
    }

    const std::uint64_t* variables(std::uint64_t key) const {
        std::uint64_t at = 0;
        while (rows_[at] == 0 || keys_[at] != key) ++at;
        return monitor->variables + at * monitor->words;
    }

private:
    std::vector<std::uint32_t> cells_;
    std::uint64_t* keys_;
    std::uint32_t* rows_;

public:
    Log* log;
    Monitor* monitor;
    Event* events;
};

void enter(std::uint64_t site, std::uint64_t argument, std::uint64_t caller = 7) {
    Registers registers{};
    registers.arguments[0] = argument;
    registers.site = site;
    registers.caller = caller;
    REQUIRE(mopsus_agent_entered(&registers) == kCopy);
}

// Rows of `states` states; a step into the last one must be told at once, if it `stops`.
std::vector<std::uint32_t> random_table(std::mt19937& random, std::uint32_t states, bool stops) {
    std::vector<std::uint32_t> cells(kLetters * (states + 1));
    for (std::uint32_t row = 0; row <= states; ++row) {
        for (std::uint32_t letter = 0; letter < kLetters; ++letter) {
            const std::uint32_t here = row * kLetters;
            const std::uint32_t target =
                random() % 3 == 0 ? here : static_cast<std::uint32_t>(1 + random() % states) * kLetters;
            const bool reacts = stops && target == states * kLetters;
            cells[here + letter] = target | (reacts ? kStop : target != here || random() % 4 == 0 ? kKeep : 0);
        }
    }
    return cells;
}

TEST(agent_steps_what_a_map_steps) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        const bool keyed = round % 4 != 0;
        const auto cells = random_table(random, 4, false);
        const Hook hook(cells, 1 << 10, 1 << 12, keyed);
        std::map<std::uint64_t, std::uint32_t> expected;
        std::vector<Record> noted;
        std::array<std::uint64_t, kLetters> passed{};
        for (int step = 0; step < 300; ++step) {
            const auto letter = static_cast<std::uint32_t>(random() % kLetters);
            const std::uint64_t key = static_cast<std::uint64_t>(random() % 40) - 20;
            enter(letter, key, 100 + letter);
            std::uint32_t& row = expected[keyed ? key : 0];
            const std::uint32_t cell = cells[row + letter];
            if ((cell & kKeep) != 0)
                noted.push_back({letter, 100 + letter, 0, {key, 0, 0, 0}});
            else
                ++passed[letter];
            row = cell & kRow;
        }
        for (const auto& [key, row] : expected) REQUIRE(!keyed || hook.row(key) == row);
        REQUIRE(keyed || hook.monitor->rows[0] == expected[0]);
        REQUIRE(hook.log->used == noted.size());
        REQUIRE((hook.monitor->noted != 0) == !noted.empty());
        for (std::size_t k = 0; k < noted.size(); ++k) {
            noted[k].time = hook.noted(k).time;
            REQUIRE(std::memcmp(hook.log->words + k * kWidth, &noted[k], 8 * kWidth) == 0);
            REQUIRE(k == 0 || noted[k - 1].time <= noted[k].time);
        }
        for (std::uint32_t letter = 0; letter < kLetters; ++letter)
            REQUIRE(hook.events[letter].passed == passed[letter]);
    }
}

TEST(agent_steps_events_of_many_threads_one_by_one) {
    // Each event goes on to the next row, so that each is kept; twelve rows, then it begins anew.
    std::vector<std::uint32_t> cells;
    for (std::uint32_t row = 0; row <= 12; ++row)
        cells.insert(cells.end(), kLetters, (row % 12 + 1) * kLetters | kKeep);
    constexpr int kThreads = 4;
    constexpr int kSteps = 4000;
    const Hook hook(cells, 1 << 6, kThreads * kSteps + kMostEvents);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([] {
            for (std::uint64_t step = 0; step < kSteps; ++step) enter(step % kLetters, step % 5);
        });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE(hook.log->used == kThreads * kSteps);
    REQUIRE(hook.monitor->used == 5);
    for (std::uint64_t key = 0; key < 5; ++key)
        REQUIRE(hook.row(key) == ((kThreads * kSteps / 5 - 1) % 12 + 1) * kLetters);
}

TEST(agent_reads_arguments_by_width_sign_and_pointer) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep));
    std::int16_t there = -5;
    const auto value_of = [&](Source source, std::uint64_t argument) {
        hook.events[0].sources[0] = source;
        hook.log->used = 0;
        enter(0, argument);
        REQUIRE(hook.log->used == 1);
        return hook.noted(0).values[0];
    };
    REQUIRE(value_of({Source::Argument, 0, 0, 4, 1, {}, 0}, 0xABCDEF01FFFFFFFF) == ~std::uint64_t{0});
    REQUIRE(value_of({Source::Argument, 0, 0, 4, 0, {}, 0}, 0xABCDEF01FFFFFFFF) == 0xFFFFFFFF);
    REQUIRE(value_of({Source::Argument, 0, 0, 1, 0, {}, 0}, 0x1234) == 0x34);
    REQUIRE(value_of({Source::Argument, 0, 1, 2, 1, {}, 0}, reinterpret_cast<std::uint64_t>(&there)) ==
            static_cast<std::uint64_t>(-5));
    REQUIRE(value_of({Source::Fixed, 0, 1, 2, 0, {}, reinterpret_cast<std::uint64_t>(&there)}, 0) == 0xFFFB);
}

TEST(agent_tells_returns_with_what_was_there_before) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep));
    Site& site = mopsus_agent.sites[0];
    site.events = 0;
    site.returns = 1;
    hook.events[0].values = 2;
    hook.events[0].sources[0] = {Source::Argument, 0, 1, 4, 1, {}, 0};
    hook.events[0].sources[1] = {Source::Result, 0, 0, 4, 1, {}, 0};
    std::int32_t there = 11;
    const auto call = [&](std::function<void()> inside) {
        Call frame{};
        frame.arguments[0] = reinterpret_cast<std::uint64_t>(&there);
        REQUIRE(mopsus_agent_called(&frame) == kCopy);
        inside();
        frame.results[0] = 12;
        mopsus_agent_returned(&frame);
    };
    call([&] { there = 0; });
    REQUIRE(hook.log->used == 1);
    REQUIRE(hook.noted(0).values[0] == 11);
    REQUIRE(hook.noted(0).values[1] == 12);
    call([&] { ++site.generation; });  // the events are others now
    call([&] { site.looks = 0; });
    REQUIRE(hook.log->used == 1);
}

TEST(agent_commits_nothing_that_was_seen_before_a_change) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep));
    Journal& journal = mopsus_agent.journal;
    journal = {};
    journal.count = 1;
    journal.changes[0] = {hook.monitor, 3, 5, 1, kLetters, 1, {}};
    ++hook.log->changes;
    REQUIRE(!mopsus_agent_commit());
    REQUIRE(hook.log->used == 0 && hook.monitor->used == 0 && hook.row(5) == 0);
    journal.seen = hook.log->changes;
    REQUIRE(mopsus_agent_commit());
    REQUIRE(hook.log->used == 1 && hook.monitor->used == 1 && hook.row(5) == kLetters && hook.log->committing == 0);
}

// A page with a hook in it, at a place of a line of the processor's cache.
struct Code {
    explicit Code(std::uint64_t column) : page(static_cast<std::uint8_t*>(shared(4096))), entry(page + column) {
        const std::uint8_t jump[] = {0xE9, 1, 2, 3, 4};
        const std::uint8_t original[] = {0x55, 0x48, 0x89, 0xE5, 0x53};
        Site& site = mopsus_agent.sites[0];
        site.entry = reinterpret_cast<std::uint64_t>(entry);
        site.placed = 1;
        std::memcpy(site.jump, jump, sizeof jump);
        std::memcpy(site.original, original, sizeof original);
        std::memset(page, 0x90, 4096);
        std::memcpy(entry, jump, sizeof jump);
    }
    ~Code() {
        mopsus_agent.sites[0].placed = 0;
        ::munmap(page, 4096);
    }
    bool is_original() const {
        return entry[-1] == 0x90 && entry[0] == 0x55 && entry[1] == 0x48 && entry[4] == 0x53 && entry[5] == 0x90;
    }
    std::uint8_t* page;
    std::uint8_t* entry;
};

TEST(agent_that_nobody_debugs_takes_its_hooks_out) {
    for (const std::uint64_t column : {64U, 64U + 17U, 64U + 56U, 64U + 57U, 64U + 62U}) {
        const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kStop));
        const Code code(column);
        enter(0, 1);  // somebody would have to react
        REQUIRE(code.is_original());
        REQUIRE(mopsus_agent.alive == nullptr);
        enter(0, 1);
        REQUIRE(hook.log->used == 0 && hook.row(1) == 0);
    }
}

TEST(agent_looks_now_and_then_whether_somebody_debugs) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep));
    const Code code(64);
    mopsus_agent.turns = ~std::uint64_t{0};
    enter(0, 1);
    REQUIRE(code.is_original());
    REQUIRE(hook.log->used == 0);
}

TEST(agent_looks_for_a_debugger_also_if_nothing_ever_changes) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, 0));
    const Code code(64);
    for (int call = 0; call < 1 << 17 && mopsus_agent.alive != nullptr; ++call) enter(0, 1);
    REQUIRE(code.is_original());
    REQUIRE(hook.log->used == 0 && hook.events[0].passed > 0);
}

TEST(agent_that_several_threads_leave_together) {
    for (int round = 0; round < 300; ++round) {
        const Hook hook(std::vector<std::uint32_t>(kLetters * 2, 0));
        const Code code(64);
        std::vector<std::thread> threads;
        std::atomic<std::uint32_t> waiting = kLetters;
        if (round % 2 == 0) *const_cast<std::uint64_t*>(mopsus_agent.alive) = 0;  // the debugger has said goodbye
        for (std::uint32_t letter = 0; letter < kLetters; ++letter) {
            hook.events[letter].passed = (1U << 16) - 1;  // or it is time to look for one
            threads.emplace_back([letter, &waiting] {
                Registers registers{};
                registers.site = letter;
                for (--waiting; waiting != 0;) {}
                while (mopsus_agent_entered(&registers) != kCopy) {
                }  // who comes while another leaves begins the function again
            });
        }
        for (std::thread& thread : threads) thread.join();
        REQUIRE(code.is_original());
    }
}

TEST(agent_leaves_code_alone_that_is_not_its_own) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kStop));
    const Code code(64);
    code.entry[2] = 0xCC;
    enter(0, 1);
    REQUIRE(code.entry[0] == 0xE9 && code.entry[2] == 0xCC);
    mopsus_agent.sites[0].entry = 1;  // no memory at all
    enter(0, 1);
}

int status_of(pid_t child) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return status;
}

TEST(agent_in_a_copy_of_the_process_takes_its_hooks_out_and_says_nothing) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep));
    const Code code(64);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        enter(0, 1);
        ::_exit(code.is_original() && mopsus_agent.alive == nullptr ? 0 : 1);
    }
    REQUIRE(status_of(child) == 0);
    REQUIRE(hook.log->used == 0);
    enter(0, 1);
    REQUIRE(hook.log->used == 1);
}

// What the gate is called with while a child does something. `handle` may change what is shared.
std::vector<Stop> gates_of(const std::function<void()>& child_does, const std::function<void(const Stop&)>& handle) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        REQUIRE(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0);
        ::raise(SIGSTOP);
        REQUIRE(mopsus_agent_begin() != 0);
        for (Site& site : mopsus_agent.sites) site.looks = site.first == nullptr ? 0 : kEntries | kReturns;
        child_does();
        ::_exit(0);
    }
    int status = status_of(child);
    REQUIRE(WIFSTOPPED(status));
    auto* gate = reinterpret_cast<void*>(&mopsus_agent_gate);
    const long code = ::ptrace(PTRACE_PEEKTEXT, child, gate, nullptr);
    REQUIRE(::ptrace(PTRACE_POKETEXT, child, gate, (code & ~0xFFL) | 0xCC) == 0);
    std::vector<Stop> found;
    while (true) {
        REQUIRE(::ptrace(PTRACE_CONT, child, nullptr, nullptr) == 0);
        status = status_of(child);
        if (!WIFSTOPPED(status)) break;
        REQUIRE(WSTOPSIG(status) == SIGTRAP);
        user_regs_struct registers{};
        REQUIRE(::ptrace(PTRACE_GETREGS, child, nullptr, &registers) == 0);
        Stop stop{};
        iovec here{&stop, sizeof stop};
        iovec there{reinterpret_cast<void*>(registers.rdi), sizeof stop};
        REQUIRE(::process_vm_readv(child, &here, 1, &there, 1, 0) == static_cast<ssize_t>(sizeof stop));
        found.push_back(stop);
        handle(stop);
        registers.rip = static_cast<unsigned long long>(
            ::ptrace(PTRACE_PEEKDATA, child, reinterpret_cast<void*>(registers.rsp), nullptr));
        registers.rsp += 8;
        REQUIRE(::ptrace(PTRACE_SETREGS, child, nullptr, &registers) == 0);
    }
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return found;
}

TEST(agent_steps_nothing_of_a_call_that_somebody_reacts_to) {
    std::vector<std::uint32_t> cells(kLetters * 2, kLetters | kKeep);
    cells[kLetters + 1] = kLetters | kStop;
    const Hook hook(cells);
    const auto found = gates_of(
        [] {
            enter(0, 4);
            enter(1, 4);
            enter(1, 9);
        },
        [](const Stop&) {});
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].reason == Handle && found[0].site == 1 && found[0].returning == 0 && found[0].values[0][0] == 4);
    REQUIRE(hook.log->used == 2 && hook.noted(1).values[0] == 9);
}

TEST(agent_leaves_what_it_cannot_read_to_the_debugger) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep));
    hook.events[0].sources[0] = {Source::Argument, 0, 1, 4, 1, {}, 0};
    const auto found = gates_of([] { enter(0, 8); }, [](const Stop&) {});
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].reason == Handle && found[0].unreadable == 1);
    REQUIRE(hook.log->used == 0);
}

TEST(agent_calls_when_its_log_is_full) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep), 1 << 6, 16);
    std::uint64_t taken = 0;
    const auto found = gates_of(
        [] {
            for (std::uint64_t step = 0; step < 1000; ++step) enter(0, step % 7);
        },
        [&](const Stop& stop) {
            REQUIRE(stop.reason == Full);
            taken += hook.log->used;
            hook.log->used = 0;
            ++hook.log->changes;
        });
    REQUIRE(taken + hook.log->used == 1000);
    REQUIRE(found.size() == 1000 / (16 - kMostEvents + 1));
}

TEST(agent_calls_when_its_table_is_half_full_and_never_fills_it) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep), 1 << 4);
    const auto found = gates_of(
        [] {
            for (std::uint64_t key = 0; key < 40; ++key) enter(0, key);
        },
        [](const Stop&) {});
    REQUIRE(hook.monitor->used == 14);
    REQUIRE(hook.log->used == 14);
    REQUIRE(found.size() == 40 - 7);
    REQUIRE(found.front().reason == Crowded && found.back().reason == Handle);
}

// A value may be added to a count that begins with 10; nobody may take what is not there.
const std::vector<Instruction> kCounting = {
    {Operation::Variable, 0},
    {Operation::Value, 1},
    {Operation::Add, 0},
    {Operation::Assign, 0},
    {Operation::End, kLetters | kKeep},
    {Operation::Value, 1},
    {Operation::Variable, 0},
    {Operation::AtMost, 0},
    {Operation::JumpIfFalse, 5},
    {Operation::Variable, 0},
    {Operation::Value, 1},
    {Operation::Subtract, 0},
    {Operation::Assign, 0},
    {Operation::End, kLetters | kKeep},
    {Operation::GiveUp, 0},
    {Operation::Variable, 0},
    {Operation::Number, 20},
    {Operation::Less, 0},
    {Operation::JumpIfFalse, 1},
    {Operation::End, kLetters},
    {Operation::End, kLetters | kKeep},
};
const std::vector<std::uint64_t> kTen = {1, 10};

void be_counting(Hook& hook) {
    hook.compute(kCounting, kTen);
    for (std::uint32_t letter = 0; letter < kLetters; ++letter) {
        hook.events[letter].values = 2;
        hook.events[letter].sources[1] = {Source::Argument, 1, 0, 8, letter != 0, {}, 0};
    }
}

void count(std::uint64_t site, std::uint64_t key, std::uint64_t number) {
    Registers registers{};
    registers.arguments[0] = key;
    registers.arguments[1] = number;
    registers.site = site;
    REQUIRE(mopsus_agent_entered(&registers) == kCopy);
}

TEST(agent_counts_as_a_map_does) {
    std::mt19937 random(5);
    Hook hook({0 | kCode, 5 | kCode, 0, 0 | kCode, 5 | kCode, 15 | kCode});
    be_counting(hook);
    std::map<std::uint64_t, std::uint64_t> expected;
    std::uint64_t noted = 0;
    std::uint64_t passed = 0;
    for (int step = 0; step < 2000; ++step) {
        const auto letter = static_cast<std::uint32_t>(random() % kLetters);
        const std::uint64_t key = random() % 20;
        const bool known = expected.contains(key);
        const std::uint64_t has = known ? expected[key] : 10;
        const std::uint64_t number = letter == 1 ? random() % (has + 1) : random() % 10;
        count(letter, key, number);
        if (letter != 2) expected[key] = letter == 0 ? has + number : has - number;
        ++(letter != 2 || (known && has >= 20) ? noted : passed);
    }
    for (const auto& [key, has] : expected) REQUIRE(hook.variables(key)[0] == 1 && hook.variables(key)[1] == has);
    REQUIRE(hook.log->used == noted && hook.events[2].passed == passed);
}

TEST(agent_leaves_to_the_debugger_what_its_words_cannot_tell) {
    Hook hook({0 | kCode, 5 | kCode, 0, 0 | kCode, 5 | kCode, 15 | kCode});
    be_counting(hook);
    const std::uint64_t most = ~std::uint64_t{0} >> 1;
    const auto found = gates_of(
        [&] {
            count(0, 4, 1);
            count(0, 4, most);      // the sum is too large
            count(0, 4, most + 1);  // without a sign, it is no number that fits
            count(1, 4, 12);        // the code says so
            count(1, 4, most + 1);  // with a sign, it is the least number of all: the difference is too large
        },
        [&](const Stop& stop) { REQUIRE(stop.reason == Handle && hook.log->used == 1); });
    REQUIRE(found.size() == 4);
    REQUIRE(hook.variables(4)[0] == 1 && hook.variables(4)[1] == 11);
}

TEST(agent_runs_code_of_a_machine_without_variables) {
    const std::vector<Instruction> code = {
        {Operation::Value, 0}, {Operation::JumpIfFalse, 1}, {Operation::End, kLetters | kKeep}, {Operation::End, 0}};
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kCode));
    hook.monitor->code = code.data();
    enter(0, 0);
    enter(1, 4);
    REQUIRE(hook.row(0) == 0 && hook.events[0].passed == 1);
    REQUIRE(hook.row(4) == kLetters && hook.log->used == 1);
}

TEST(agent_looks_at_no_variable_without_a_value) {
    Hook hook({0 | kCode, 5 | kCode, 0, 0 | kCode, 5 | kCode, 15 | kCode});
    be_counting(hook);
    const std::vector<std::uint64_t> nothing = {0, 10};
    hook.monitor->beginning = nothing.data();
    REQUIRE(gates_of([] { count(0, 4, 1); }, [](const Stop&) {}).size() == 1);
    REQUIRE(hook.log->used == 0 && hook.row(4) == 0);
}

std::uint64_t this_thread() {
    std::uint64_t pointer;
    asm volatile("mov %%fs:0x10, %0" : "=r"(pointer));
    return pointer;
}

TEST(agent_that_a_thread_never_left) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep));
    mopsus_agent.owner = this_thread();
    mopsus_agent.stack = 1;  // deeper than we are: a signal handler has jumped out
    enter(0, 1);
    REQUIRE(hook.log->used == 1 && mopsus_agent.owner == 0);
    const auto found = gates_of(
        [] {
            mopsus_agent.owner = 1;  // another thread, which is gone
            enter(0, 3);
        },
        [](const Stop&) {});
    REQUIRE(found.size() == 1 && found[0].reason == Handle && found[0].stuck == 1);
    REQUIRE(hook.log->used == 1);
}

TEST(agent_that_a_handler_enters_while_its_thread_is_in_it) {
    const Hook hook(std::vector<std::uint32_t>(kLetters * 2, kLetters | kKeep));
    const auto found = gates_of(
        [&] {
            const std::uint64_t above = ~std::uint64_t{0} - 1;
            mopsus_agent.owner = this_thread();
            mopsus_agent.stack = above;
            enter(0, 2);  // the thread was only looking: it will look again
            REQUIRE(hook.log->used == 1 && hook.log->changes == 1);
            REQUIRE(mopsus_agent.owner == this_thread() && mopsus_agent.stack == above);
            hook.log->committing = 1;
            enter(0, 3);
        },
        [](const Stop&) {});
    REQUIRE(found.size() == 1 && found[0].reason == Handle && found[0].stuck == 1);
    REQUIRE(hook.log->used == 1 && hook.row(2) == kLetters && hook.row(3) == 0);
}

}  // namespace
