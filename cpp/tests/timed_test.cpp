#include "check.hpp"
#include "mopsus/engine/archive.hpp"
#include "programs.hpp"
#include "machine/timed_runner.hpp"

namespace mopsus::test {

namespace {

using Kind = TimedMachine::Kind;
using Bounds = TimedMachine::Bounds;

class At final : public Origin {
public:
    explicit At(std::int64_t time) {
        stamp_.time = static_cast<std::uint64_t>(time);
        stamp_.time_kind = Stamp::Time::Int;
    }
    explicit At(double time) {
        std::memcpy(&stamp_.time, &time, sizeof time);
        stamp_.time_kind = Stamp::Time::Float;
    }
    static At instant(std::int64_t nanoseconds) {
        At at(nanoseconds);
        at.stamp_.time_kind = Stamp::Time::Instant;
        return at;
    }
    static At never() {
        At at(std::int64_t{0});
        at.stamp_.time_kind = Stamp::Time::None;
        return at;
    }
    Stamp stamp() override { return stamp_; }

private:
    Stamp stamp_;
};

constexpr std::uint64_t kSecond = 1'000'000'000;

std::array<Bounds, 2> seconds(std::uint64_t low, std::uint64_t high) {
    return {Bounds{low, high, high - low}, Bounds{low * kSecond, high * kSecond, (high - low) * kSecond}};
}

// Events a, b, c are letters 0, 1, 2; letter 3 always holds. One operator, which is reported.
std::unique_ptr<TimedMachine> machine_of(Kind kind, std::vector<std::uint32_t> operands, std::array<Bounds, 2> bounds) {
    auto owned = std::make_unique<TimedMachine>();
    TimedMachine& machine = *owned;
    machine.letters = {{true, false, false}, {false, true, false}, {false, false, true}, {true, true, true}};
    machine.operators = {{kind, std::move(operands), bounds}};
    machine.formula = 4;
    machine.categories = {0, 1, 2, 3};
    machine.alive = {0b1};
    machine.check(3);
    return owned;
}

// The categories of a step, as a set of bits.
unsigned step(TimedRunner& runner, Word state, EventId event, At at) {
    const Word after = runner.step(state, event, at);
    REQUIRE(plain(after) == state);
    unsigned categories = 0;
    for (const std::uint16_t category : runner.outcome().categories) categories |= 1U << category;
    REQUIRE(((after & kNotable) != 0) == (categories != 0));
    return categories;
}

constexpr unsigned kYes = 1, kNo = 2, kWithoutTime = 4, kBackwards = 8;

std::vector<Item> saved(TimedRunner& runner, Word state) {
    Archive archive;
    runner.transfer(archive, state);
    return archive.items();
}

}  // namespace

TEST(timed_once_with_bounds_on_both_sides) {
    TimedRunner runner(*machine_of(Kind::Since, {0}, seconds(2, 3)), 3);
    const Word state = runner.begin();
    REQUIRE(step(runner, state, 0, At(std::int64_t{10})) == kNo);
    REQUIRE(step(runner, state, 1, At(std::int64_t{11})) == kNo);
    REQUIRE(step(runner, state, 1, At(std::int64_t{12})) == kYes);
    REQUIRE(step(runner, state, 1, At(std::int64_t{13})) == kYes);
    REQUIRE(step(runner, state, 1, At(std::int64_t{14})) == kNo);
    REQUIRE(runner.kept(state) == 0);
}

TEST(timed_events_with_bad_times_change_nothing) {
    TimedRunner runner(*machine_of(Kind::Since, {0}, seconds(2, 3)), 3);
    const Word state = runner.begin();
    REQUIRE(step(runner, state, 0, At::never()) == kWithoutTime);
    REQUIRE(step(runner, state, 0, At(std::int64_t{10})) == kNo);
    const std::vector<Item> before = saved(runner, state);
    REQUIRE(step(runner, state, 1, At(std::int64_t{9})) == kBackwards);
    REQUIRE(step(runner, state, 1, At::never()) == kWithoutTime);
    REQUIRE(step(runner, state, 1, At(std::numeric_limits<double>::quiet_NaN())) == kWithoutTime);
    REQUIRE(step(runner, state, 1, At(std::numeric_limits<double>::infinity())) == kWithoutTime);
    REQUIRE(step(runner, state, 1, At(1e30)) == kWithoutTime);
    REQUIRE(saved(runner, state) == before);
    REQUIRE(step(runner, state, 1, At(std::int64_t{10})) == kNo);
}

TEST(timed_integers_and_fractions_mix_exactly) {
    TimedRunner runner(*machine_of(Kind::Since, {0}, seconds(2, 3)), 3);
    const Word state = runner.begin();
    REQUIRE(step(runner, state, 0, At(std::int64_t{1'700'000'000})) == kNo);
    REQUIRE(step(runner, state, 1, At(1'700'000'001.999'999)) == kNo);
    REQUIRE(step(runner, state, 1, At(std::int64_t{1'700'000'002})) == kYes);
    REQUIRE(step(runner, state, 1, At(1'700'000'003.0)) == kYes);
    REQUIRE(step(runner, state, 1, At::instant(1'700'000'003'000'000'001)) == kNo);
    // What does not fit on the other scale has no time.
    REQUIRE(step(runner, state, 1, At(std::int64_t{1} << 62)) == kWithoutTime);
    const Word other = runner.begin();
    REQUIRE(step(runner, other, 0, At(std::int64_t{1} << 62)) == kNo);
    REQUIRE(step(runner, other, 0, At(1.5)) == kWithoutTime);
    REQUIRE(step(runner, other, 1, At((std::int64_t{1} << 62) + 3)) == kYes);
}

TEST(timed_decimal_fractions_are_what_they_look_like) {
    TimedRunner runner(*machine_of(Kind::Since, {0}, {Bounds{1, 0, 0}, Bounds{kSecond / 5, kSecond / 5, 0}}), 3);
    const Word state = runner.begin();  // once[0.2,0.2]
    REQUIRE(step(runner, state, 0, At(0.1)) == kNo);
    REQUIRE(step(runner, state, 1, At(0.3)) == kYes);  // although 0.3 - 0.1 < 0.2 in doubles
    for (const double start : {0.7, 12.1, 86'400.3, 1'700'000'000.3, 1'700'000'123.7}) {
        REQUIRE(step(runner, state, 0, At(start)) == kNo);
        REQUIRE(step(runner, state, 1, At(start + 0.2)) == kYes);
    }
}

TEST(timed_times_reach_from_end_to_end_of_the_integers) {
    TimedRunner runner(*machine_of(Kind::Since, {0}, {Bounds{1, 5, 4}, Bounds{1, 5, 4}}), 3);
    const Word state = runner.begin();
    REQUIRE(step(runner, state, 0, At(std::numeric_limits<std::int64_t>::min())) == kNo);
    REQUIRE(step(runner, state, 1, At(std::numeric_limits<std::int64_t>::min() + 5)) == kYes);
    REQUIRE(step(runner, state, 1, At(std::numeric_limits<std::int64_t>::max())) == kNo);
}

TEST(timed_memory_is_bounded_whatever_the_rate) {
    constexpr std::int64_t kMillisecond = 1'000'000;
    struct Case {
        std::uint64_t low, high;
        std::size_t bound;  // low / (high - low), rounded up, and one
    };
    for (const Case& one : {Case{0, 3600, 1}, Case{1, 3600, 2}, Case{1800, 3600, 2}, Case{3000, 3600, 6},
                            Case{3599, 3600, 3600}, Case{7, 10, 4}}) {
        for (const int every : {1, 7, 700, 1500}) {  // every so many milliseconds there is a witness
            TimedRunner runner(*machine_of(Kind::Since, {0}, seconds(one.low, one.high)), 3);
            const Word state = runner.begin();
            std::size_t most = 0;
            const std::int64_t last = static_cast<std::int64_t>(one.high) * 1100;
            for (std::int64_t t = 0; t <= last; t += one.high > 100 ? 10 : 1) {
                step(runner, state, t % every == 0 ? 0 : 1, At::instant(t * kMillisecond));
                most = std::max(most, runner.kept(state));
            }
            REQUIRE(most <= one.bound);
        }
    }
}

TEST(timed_dense_witnesses_are_one_group) {
    TimedRunner runner(*machine_of(Kind::Since, {0}, seconds(1800, 3600)), 3);
    const Word state = runner.begin();
    const std::size_t empty = runner.bytes();
    for (std::int64_t t = 0; t < 2'000'000; ++t) step(runner, state, 0, At::instant(t * 1'000'000));
    REQUIRE(runner.kept(state) == 1);
    REQUIRE(runner.bytes() <= empty + 1024);
}

TEST(timed_since_ends_when_its_left_operand_fails) {
    TimedRunner runner(*machine_of(Kind::Since, {1, 0}, seconds(1, 5)), 3);
    const Word state = runner.begin();
    REQUIRE(step(runner, state, 0, At(std::int64_t{0})) == kNo);
    REQUIRE(step(runner, state, 1, At(std::int64_t{2})) == kYes);
    REQUIRE(step(runner, state, 2, At(std::int64_t{3})) == kNo);
    REQUIRE(step(runner, state, 1, At(std::int64_t{4})) == kNo);
}

TEST(timed_until_gives_several_verdicts_at_the_event_that_settles_them) {
    TimedRunner runner(*machine_of(Kind::Until, {1, 0}, seconds(0, 5)), 3);
    const Word state = runner.begin();
    REQUIRE(step(runner, state, 1, At(std::int64_t{0})) == 0);
    REQUIRE(step(runner, state, 1, At(std::int64_t{4})) == 0);
    REQUIRE(step(runner, state, 1, At(std::int64_t{6})) == kNo);   // of the first event
    REQUIRE(step(runner, state, 0, At(std::int64_t{7})) == kYes);  // of the other two, and its own
    REQUIRE(step(runner, state, 1, At(std::int64_t{8})) == 0);
    REQUIRE(step(runner, state, 2, At(std::int64_t{9})) == kNo);  // the left operand fails
}

TEST(timed_copies_go_their_own_way) {
    for (const Kind kind : {Kind::Since, Kind::Until}) {
        TimedRunner runner(*machine_of(kind, {1, 0}, seconds(1, 5)), 3);
        const Word state = runner.begin();
        step(runner, state, 1, At(std::int64_t{0}));
        step(runner, state, 0, At(std::int64_t{2}));
        const std::vector<Item> before = saved(runner, state);
        const Word twin = runner.copy(state);
        REQUIRE(saved(runner, twin) == before);
        step(runner, twin, 2, At(std::int64_t{3}));
        REQUIRE(saved(runner, state) == before);
        runner.end(twin);
        REQUIRE(saved(runner, state) == before);
    }
}

TEST(timed_storage_of_ended_states_is_reused) {
    TimedRunner runner(*machine_of(Kind::Since, {0}, seconds(1, 5)), 3);
    std::size_t bytes = 0;
    for (int round = 0; round < 100; ++round) {
        std::vector<Word> states;
        for (int k = 0; k < 100; ++k) {
            states.push_back(runner.begin());
            REQUIRE(step(runner, states.back(), 1, At(std::int64_t{k})) == kNo);  // nothing is left of the one before
            step(runner, states.back(), 0, At(std::int64_t{k}));
        }
        for (const Word state : states) runner.end(state);
        if (round == 0) bytes = runner.bytes();
    }
    REQUIRE(runner.bytes() == bytes);
}

TEST(timed_an_instance_lives_as_long_as_some_event_may_report) {
    TimedRunner runner(*machine_of(Kind::Since, {0}, seconds(1, 5)), 3);
    const Word state = runner.begin();
    REQUIRE(runner.alive(state, 0) && runner.alive(state, 0b10) && !runner.alive(state, 0b1));
}

namespace {

std::unique_ptr<TimedMachine> random_machine(std::mt19937& random) {
    auto owned = machine_of(Kind::Not, {0}, {});
    TimedMachine& machine = *owned;
    machine.operators.clear();
    const auto count = 1 + random() % 7;
    for (std::uint32_t k = 0; k < count; ++k) {
        const auto kind = static_cast<Kind>(random() % 8);
        std::vector<std::uint32_t> operands{static_cast<std::uint32_t>(random() % (4 + k))};
        const bool connective = kind == Kind::And || kind == Kind::Or || kind == Kind::Xor;
        if (connective || ((kind == Kind::Since || kind == Kind::Until) && random() % 2 == 0))
            operands.push_back(static_cast<std::uint32_t>(random() % (4 + k)));
        const std::uint64_t low = random() % 4;
        machine.operators.push_back({kind, operands, seconds(low, low + random() % 4)});
    }
    machine.formula = static_cast<std::uint32_t>(3 + count);
    machine.check(3);
    return owned;
}

}  // namespace

TEST(timed_snapshots_continue_where_they_were_made) {
    std::mt19937 random(7);
    for (int round = 0; round < 400; ++round) {
        const auto machine = random_machine(random);
        TimedRunner runner(*machine, 3);
        TimedRunner other(*machine, 3);
        const Word state = runner.begin();
        double time = 0;
        const auto next = [&] {
            time += static_cast<double>(random() % 5) / 2;
            return At(time);
        };
        for (int k = 0; k < 12; ++k) step(runner, state, static_cast<EventId>(random() % 3), next());
        Archive archive(saved(runner, state));
        const Word twin = other.begin();
        other.transfer(archive, twin);
        REQUIRE(archive.at_end());
        for (int k = 0; k < 12; ++k) {
            const auto event = static_cast<EventId>(random() % 3);
            const At at = next();
            REQUIRE(step(runner, state, event, at) == step(other, twin, event, at));
        }
    }
}

TEST(timed_damaged_snapshots_are_refused_or_harmless) {
    std::mt19937 random(11);
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
        const auto machine = random_machine(random);
        TimedRunner runner(*machine, 3);
        const Word state = runner.begin();
        for (int k = 0; k < 9; ++k) step(runner, state, static_cast<EventId>(random() % 3), At(std::int64_t{k}));
        std::vector<Item> items = saved(runner, state);
        const std::size_t at = random() % items.size();
        switch (random() % 4) {
            case 0: items[at] = std::string("x"); break;
            case 1: items.resize(at); break;
            case 2: items[at] = static_cast<std::int64_t>(random()) << (random() % 33); break;
            default: items[at] = static_cast<std::int64_t>(random() % 20) - 4; break;
        }
        TimedRunner other(*machine, 3);
        Archive archive(std::move(items));
        const Word twin = other.begin();
        try {
            other.transfer(archive, twin);
        } catch (const BadSnapshot&) {
            ++refused;
            continue;
        }
        for (int k = 0; k < 9; ++k) step(other, twin, static_cast<EventId>(random() % 3), At(std::int64_t{100 + k}));
        other.end(other.copy(twin));
    }
    REQUIRE(refused > 500);
}

TEST(timed_machines_that_make_no_sense_are_refused) {
    const auto refused = [](auto&& spoil) {
        const auto owned = machine_of(Kind::Since, {1, 0}, seconds(1, 5));
        TimedMachine& machine = *owned;
        spoil(machine);
        try {
            machine.check(3);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    REQUIRE(!refused([](TimedMachine&) {}));
    REQUIRE(refused([](TimedMachine& machine) { machine.formula = 5; }));
    REQUIRE(refused([](TimedMachine& machine) { machine.nanoseconds = 0; }));
    REQUIRE(refused([](TimedMachine& machine) { machine.letters[0].pop_back(); }));
    REQUIRE(refused([](TimedMachine& machine) { machine.operators[0].operands = {4}; }));
    REQUIRE(refused([](TimedMachine& machine) { machine.operators[0].operands = {}; }));
    REQUIRE(refused([](TimedMachine& machine) { machine.operators[0].kind = Kind::Not; }));
    REQUIRE(refused([](TimedMachine& machine) {
        machine.operators[0].kind = Kind::And;
        machine.operators[0].operands = {1};
    }));
}

}  // namespace mopsus::test
