// Slices of guarded machines, with a listener in the place of code: its words are counters.
#include <map>

#include "check.hpp"
#include "engine/inherit.hpp"
#include "mopsus/engine/archive.hpp"
#include "mopsus/machine/guarded.hpp"
#include "programs.hpp"

namespace mopsus::test {

namespace {

enum Code : std::uint32_t { kBelowTwo, kIgnore, kCount, kJump, kNote, kStart };
enum State : std::uint32_t { kInit, kBusy, kBad, kGone };
enum Event : EventId { kOpen, kUse, kClose, kPair, kAll };

// Each slice has a counter; `kCount` adds to it and `kBelowTwo` asks for it.
class Counters final : public Listener {
public:
    void report(Report&& report) override { reports.push_back(std::move(report)); }
    std::uint64_t fork(std::uint64_t parent) override {
        counters[++last] = parent != 0 ? counters.at(parent) : 0;
        return last;
    }
    void drop(std::uint64_t user) override { counters.erase(user); }
    std::string save(std::uint64_t user) override { return std::to_string(counters.at(user)); }
    std::uint64_t load(const std::string& text) override {
        counters[++last] = std::stoi(text);
        return last;
    }
    std::int32_t call(std::uint32_t code, std::uint64_t user, const Occasion* occasion) override {
        REQUIRE((occasion == nullptr) == (code == kStart));
        switch (code) {
            case kBelowTwo: return counters.at(user) < 2 ? 1 : 0;
            case kJump: return kBad;
            case kCount: ++counters.at(user); break;
            case kStart: counters.at(user) = 0; break;
            case kNote: ++notes; break;
            default: break;
        }
        return -1;
    }
    bool wants_change(std::uint16_t, std::uint32_t, std::uint32_t) const override { return true; }
    void changed(Change&& change) override { changes.push_back(std::move(change)); }
    void unmatched(const Occasion&) override { ++lost; }

    std::map<std::uint64_t, int> counters;
    std::uint64_t last = 0;
    std::vector<Report> reports;
    std::vector<Change> changes;
    int notes = 0;
    int lost = 0;
};

// A thing (0) is used at most twice while it is open; pairs of it and another (1) inherit what is known of it.
Program things() {
    using Machine = GuardedMachine;
    auto machine = std::make_shared<Machine>();
    machine->variables = true;
    machine->initialization = kStart;
    machine->states.resize(4);
    machine->states[kInit].transitions = {
        {kOpen, Machine::kNoCode, Machine::End{Machine::kNoCode, Machine::kNoCode, kBusy}, {}},
        {kAll, kIgnore, Machine::End{}, Machine::End{}},
    };
    machine->states[kBusy].transitions = {
        {kUse, kBelowTwo, Machine::End{kCount, kNote, Machine::kStay}, Machine::End{kJump, Machine::kNoCode, kInit}},
        {kPair, kBelowTwo, Machine::End{kCount, Machine::kNoCode, Machine::kStay}, {}},
        {kClose, Machine::kNoCode, Machine::End{Machine::kNoCode, Machine::kNoCode, kGone}, {}},
        {kAll, Machine::kNoCode, Machine::End{Machine::kNoCode, Machine::kNoCode, kBad}, {}},
    };
    machine->states[kBad].category = 0;
    machine->states[kBad].action = kNote;
    machine->states[kGone].final = true;
    Program program;
    program.parameters = 2;
    program.history = 4;
    program.events = {{"open", {0}, true, false, {}},
                      {"use", {0}, true, false, {}},
                      {"close", {0}, true, false, {}},
                      {"pair", {1, 0}, true, false, {}},
                      {"all", {}, true, false, {}}};
    program.machines = {machine};
    program.check();
    return program;
}

class Things {
public:
    Things() : program(things()), engine(Engine::make(program, counters)) {}
    void send(EventId event, const std::vector<std::int64_t>& values) {
        std::vector<Slot> slots;
        const std::vector<std::uint8_t>& parameters = program.events[event].parameters;
        for (std::size_t k = 0; k < values.size(); ++k) {
            Domain& domain = engine->domain(parameters[k]);
            const Key key = Key::of_int(values[k]);
            const Slot known = domain.find(key);
            slots.push_back(known != kNil || !engine->inserts(event) ? known : domain.insert(key));
        }
        Nowhere origin(++row);
        engine->step(event, slots.data(), origin);
    }
    void end(unsigned p, std::int64_t value) {
        const Slot slot = engine->domain(p).find(Key::of_int(value));
        engine->domain(p).bury(slot);
        engine->forget(p, slot);
    }
    // The states of all slices, in the order in which they were made.
    std::vector<std::uint32_t> states() {
        std::vector<std::uint32_t> found;
        engine->begin();
        engine->each_slice([&](const Engine::Slice& slice) { found.push_back(slice.state); });
        return found;
    }

    Counters counters;
    Program program;
    std::unique_ptr<Engine> engine;
    std::int64_t row = 0;
};

}  // namespace

TEST(slices_count_on_their_own) {
    Things things;
    things.send(kUse, {1});
    REQUIRE(things.counters.lost == 1);
    things.send(kOpen, {1});
    things.send(kOpen, {2});
    things.send(kUse, {1});
    things.send(kUse, {1});
    things.send(kUse, {2});
    REQUIRE(things.counters.reports.empty());
    things.send(kUse, {1});
    REQUIRE(things.counters.reports.size() == 1);
    const Report& report = things.counters.reports[0];
    REQUIRE(report.final && report.values[0].bits == 1 && report.values[1].kind == KeyKind::None);
    REQUIRE(report.witness.size() == 4 && report.witness.back().stamp.row == 7);
    REQUIRE(things.counters.notes == 4);  // three uses, and the arrival
    REQUIRE(!things.counters.changes.back().success && things.counters.changes.back().after == kBad);
    REQUIRE((things.states() == std::vector<std::uint32_t>{kInit, kBad, kBusy}));
}

// One value, and two events about it.
Program doors() {
    using Machine = GuardedMachine;
    auto machine = std::make_shared<Machine>();
    machine->variables = true;
    machine->states.resize(3);
    machine->states[kInit].transitions = {
        {kOpen, Machine::kNoCode, Machine::End{Machine::kNoCode, Machine::kNoCode, kBusy}, {}}};
    machine->states[kBusy].transitions = {
        {kOpen, Machine::kNoCode, Machine::End{Machine::kNoCode, Machine::kNoCode, kInit}, {}},
        {kUse, Machine::kNoCode, Machine::End{Machine::kNoCode, Machine::kNoCode, kBad}, {}}};
    machine->states[kBad].category = 0;
    Program program;
    program.parameters = 1;
    program.history = 4;
    program.events = {{"open", {0}, true, false, {}}, {"use", {0}, true, false, {}}};
    program.machines = {machine};
    program.check();
    return program;
}

TEST(slices_follow_whoever_knows_where_they_go) {
    Counters counters;
    const Program program = doors();
    InheritEngine engine(program, counters);
    REQUIRE(engine.is_exact());
    REQUIRE(engine.states() == 3U);
    engine.begin();
    const Slot slot = engine.domain(0).insert(Key::of_int(7));
    REQUIRE(engine.exact(slot) == kNil);
    const InheritEngine::Id slice = engine.make_copy(slot);
    REQUIRE(engine.exact(slot) == slice);
    REQUIRE(counters.counters.count(engine.variables_of(slice)) == 1U);
    for (std::int64_t row = 1; row <= 3; ++row) {  // as if it had been opened three times
        Nowhere origin(row);
        engine.follow(slice, row % 2 != 0 ? kBusy : kInit);
        engine.remember(slice, kOpen, origin.stamp());
    }
    REQUIRE(engine.state_of(slice) == static_cast<std::uint32_t>(kBusy));
    REQUIRE(counters.changes.empty() && counters.reports.empty());
    Nowhere origin(4);
    engine.step(kUse, &slot, origin);
    REQUIRE(counters.reports.size() == 1 && counters.reports[0].witness.size() == 4);
    REQUIRE(counters.reports[0].witness[1].stamp.row == 2);
    const Program pairs = things();
    REQUIRE(!InheritEngine(pairs, counters).is_exact());
}

TEST(a_final_state_forgets_a_slice_and_its_word) {
    Things things;
    things.send(kOpen, {1});
    REQUIRE(things.counters.counters.size() == 2);
    things.send(kClose, {1});
    REQUIRE(things.counters.counters.size() == 1);
    REQUIRE(things.engine->counts().alive() == 1);
    things.send(kUse, {1});
    REQUIRE(things.counters.lost == 1);
}

TEST(more_specific_slices_inherit_and_are_told_of_less_specific_events) {
    Things things;
    things.send(kOpen, {1});
    things.send(kUse, {1});
    things.send(kPair, {7, 1});
    things.send(kPair, {8, 1});
    std::vector<int> counts;
    things.engine->each_slice(
        [&](const Engine::Slice& slice) { counts.push_back(things.counters.counters.at(slice.user)); });
    REQUIRE((counts == std::vector<int>{0, 1, 2, 2}));
    things.send(kPair, {7, 1});  // the guard fails, and there is no such end
    REQUIRE(things.counters.lost == 1);
    things.send(kUse, {1});
    REQUIRE((things.states() == std::vector<std::uint32_t>{kInit, kBusy, kBad, kBad}));
    things.send(kAll, {});
    REQUIRE((things.states() == std::vector<std::uint32_t>{kInit, kBad, kBad, kBad}));
}

TEST(a_dead_value_ends_the_slices_that_nothing_can_be_about) {
    Things things;
    for (std::int64_t value = 1; value <= 500; ++value) {
        things.send(kOpen, {value});
        things.send(kUse, {value});
        things.send(kUse, {value});
        things.send(kUse, {value});  // in a state that hears nothing any more
        things.end(0, value);
    }
    REQUIRE(things.states().size() == 1);
    REQUIRE(things.engine->domain(0).used() == 0);
    // Whoever still hears the events without values stays.
    things.send(kOpen, {1});
    things.end(0, 1);
    REQUIRE(things.states().size() == 2);
    things.send(kAll, {});
    REQUIRE(things.counters.reports.back().values[0].dead);
}

TEST(slices_can_be_put_into_any_state) {
    Things things;
    InstanceRef root;
    things.engine->begin();
    things.engine->each_slice([&](const Engine::Slice& slice) { root = slice.self; });
    REQUIRE(!things.engine->put(root, 17));
    REQUIRE(things.engine->put(root, kBusy));
    REQUIRE(things.engine->occupied()[0][kBusy] && !things.engine->occupied()[0][kInit]);
    things.send(kUse, {5});
    REQUIRE(things.states().size() == 2);
    REQUIRE(things.engine->put(root, kGone));
    REQUIRE(!things.engine->put(root, kBusy));
    REQUIRE(!things.engine->reset(root, false));
    REQUIRE(things.states().size() == 1);
}

TEST(snapshots_of_slices_go_on_where_they_were) {
    Things first;
    first.send(kOpen, {1});
    first.send(kUse, {1});
    first.send(kPair, {7, 1});
    Archive written;
    first.engine->transfer(written);

    Things second;
    Archive read(written.items());
    second.engine->transfer(read);
    REQUIRE(read.at_end());
    REQUIRE(second.states() == first.states());
    second.send(kUse, {1});
    second.send(kUse, {1});
    REQUIRE(second.counters.reports.size() == 2);
    REQUIRE(second.counters.reports[0].witness.size() == 4);

    // Whatever a damaged one says, it is refused or it is a state.
    for (std::size_t k = 0; k < written.items().size(); ++k) {
        std::vector<Item> damaged = written.items();
        damaged[k] = std::int64_t{3};
        Things third;
        Archive archive(damaged);
        try {
            third.engine->transfer(archive);
            third.send(kUse, {1});
        } catch (const BadSnapshot&) {
        } catch (const std::invalid_argument&) {  // the listener cannot read its word
        }
    }
}

}  // namespace mopsus::test
