#include "check.hpp"
#include "engine/flat.hpp"
#include "mopsus/engine/archive.hpp"
#include "mopsus/engine/history.hpp"
#include "programs.hpp"
#include "engine/slicing.hpp"

namespace mopsus::test {

namespace {

void end(Engine& engine, unsigned p, std::int64_t value) {
    const Slot slot = engine.domain(p).find(Key::of_int(value));
    if (slot == kNil) return;
    engine.domain(p).bury(slot);
    engine.forget(p, slot);
}

// The slice of an instance by definition, run through its machine.
using Binding = std::vector<std::int64_t>;  // by parameter; -1: unbound
struct Step {
    EventId event;
    std::vector<std::int64_t> values;
};

std::set<std::tuple<std::size_t, Binding>> by_definition(const Program& program, const std::vector<Step>& trace) {
    std::set<Binding> instances{Binding(program.parameters, -1)};
    std::set<std::tuple<std::size_t, Binding>> found;
    const auto binding_of = [&](const Step& step) {
        Binding binding(program.parameters, -1);
        for (std::size_t k = 0; k < step.values.size(); ++k)
            binding[program.events[step.event].parameters[k]] = step.values[k];
        return binding;
    };
    for (std::size_t end = 0; end < trace.size(); ++end) {
        const Binding now = binding_of(trace[end]);
        std::set<Binding> joined{now};
        for (const Binding& one : instances) {
            Binding both = now;
            bool compatible = true;
            for (std::size_t p = 0; p < both.size(); ++p) {
                if (one[p] == -1) continue;
                compatible = compatible && (both[p] == -1 || both[p] == one[p]);
                both[p] = one[p];
            }
            if (compatible) joined.insert(both);
        }
        for (const Binding& one : joined) {
            std::uint32_t state = table_of(program.machines[0]).initial;
            for (std::size_t k = 0; k <= end; ++k) {
                const Binding event = binding_of(trace[k]);
                bool within = true;
                for (std::size_t p = 0; p < event.size(); ++p)
                    within = within && (event[p] == -1 || event[p] == one[p]);
                if (within) state = table_of(program.machines[0]).next[state * program.events.size() + trace[k].event];
            }
            if (!table_of(program.machines[0]).categories[state].empty()) found.emplace(end, one);
        }
        instances.insert(joined.begin(), joined.end());
    }
    return found;
}

// Reports and instances in a form that can be compared.
std::vector<std::string> told(const Collector& collector) {
    std::vector<std::string> found;
    for (const Report& report : collector.reports) {
        std::string text = std::to_string(report.category) + " at " + std::to_string(report.stamp.row) + " of";
        for (const Value& value : report.values)
            text += value.kind == KeyKind::None ? " -" : ' ' + std::to_string(value.bits);
        for (const PastEvent& past : report.witness)
            text += ", " + std::to_string(past.event) + " at " + std::to_string(past.stamp.row);
        found.push_back(text);
    }
    return found;
}

std::multiset<std::pair<Binding, std::uint32_t>> standing(Engine& engine) {
    std::multiset<std::pair<Binding, std::uint32_t>> found;
    engine.each_instance(
        [&](const std::vector<Value>& values, const std::vector<Engine::Standing>& states, const Engine::Recall&) {
            Binding binding;
            for (const Value& value : values)
                binding.push_back(value.kind == KeyKind::None ? -1 : static_cast<std::int64_t>(value.bits));
            found.emplace(binding, states[0].state.value());
        });
    return found;
}

Program random_program(std::mt19937& random, unsigned parameters) {
    Program program;
    program.parameters = parameters;
    const unsigned events = 1 + random() % 4;
    for (unsigned e = 0; e < events; ++e) {
        EventDecl event;
        event.name = "e" + std::to_string(e);
        for (std::uint8_t p = 0; p < parameters; ++p)
            if (random() % 2 == 0) event.parameters.push_back(p);
        program.events.push_back(event);
    }
    auto owned = std::make_shared<TableMachine>();
    TableMachine& machine = *owned;
    machine.states = 2 + static_cast<std::uint32_t>(random() % 3);
    for (std::uint32_t k = 0; k < machine.states * events; ++k)
        machine.next.push_back(static_cast<std::uint32_t>(random() % machine.states));
    for (std::uint32_t k = 0; k < machine.states; ++k)
        machine.categories.push_back(random() % 3 == 0 ? std::vector<std::uint16_t>{0} : std::vector<std::uint16_t>{});
    program.machines = {owned};
    assume_anything(program);
    return program;
}

}  // namespace

TEST(slicing_is_what_the_definition_says) {
    std::mt19937 random(11);
    for (int round = 0; round < 400; ++round) {
        Program program = random_program(random, random() % 4);
        program.history = random() % 2 * 4;
        program.check();
        Collector collector;
        const auto engine = Engine::make(program, collector);
        std::vector<Step> trace;
        std::set<std::tuple<std::size_t, Binding>> found;
        for (std::size_t k = 0; k < 12; ++k) {
            Step step{static_cast<EventId>(random() % program.events.size()), {}};
            for (std::size_t p = 0; p < program.events[step.event].parameters.size(); ++p)
                step.values.push_back(random() % 2);
            trace.push_back(step);
            send(*engine, step.event, step.values, static_cast<std::int64_t>(k));
            for (const Report& report : collector.reports) {
                Binding binding;
                for (const Value& value : report.values)
                    binding.push_back(value.kind == KeyKind::None ? -1 : static_cast<std::int64_t>(value.bits));
                REQUIRE(found.emplace(k, binding).second);
                REQUIRE(report.witness.empty() == (program.history == 0));
                REQUIRE(program.history == 0 || report.witness.back().stamp.row == static_cast<std::int64_t>(k));
            }
            collector.reports.clear();
        }
        REQUIRE(found == by_definition(program, trace));
    }
}

// Quiet steps wherever there can be some, against none: the same reports, witnesses and instances, deaths included.
TEST(quiet_steps_are_steps) {
    std::mt19937 random(12);
    std::size_t quiet = 0;
    for (int round = 0; round < 600; ++round) {
        Program program =
            round % 3 == 0 ? unsafe_iter() : random_program(random, 1 + static_cast<unsigned>(random() % 3));
        program.history = random() % 2 * 4;
        program.binding = random() % 4 == 0 ? mopsus::Binding::Maximal : mopsus::Binding::Any;
        if (round % 3 != 0) {
            for (EventDecl& event : program.events) event.creation = random() % 2 == 0;
            for (auto& masks : table_of(program.machines[0]).alive)
                masks = {static_cast<Mask>(random() & program.all())};
        }
        program.check();
        Collector plain_reports, quick_reports;
        const auto plain = Engine::make(program, plain_reports);
        const auto quick = Engine::make(program, quick_reports);
        auto* flat = dynamic_cast<FlatEngine*>(quick.get());
        auto* slicing = dynamic_cast<SlicingEngine*>(quick.get());
        for (std::int64_t k = 0; k < 60; ++k) {
            if (random() % 6 == 0) {
                const auto p = static_cast<unsigned>(random() % program.parameters);
                const auto value = static_cast<std::int64_t>(random() % 3);
                end(*plain, p, value);
                end(*quick, p, value);
                continue;
            }
            const auto event = static_cast<EventId>(random() % program.events.size());
            std::vector<std::int64_t> values;
            for (std::size_t p = 0; p < program.events[event].parameters.size(); ++p) values.push_back(random() % 3);
            send(*plain, event, values, k);
            if (values.size() == 1) {
                const Slot slot = slot_of(*quick, program.events[event].parameters[0], Key::of_int(values[0]));
                if (flat != nullptr ? flat->bulk() && flat->step_quietly(event, slot)
                                    : slicing->tabular() && slicing->step_quietly(event, slot)) {
                    ++quiet;
                    continue;
                }
            }
            send(*quick, event, values, k);
        }
        REQUIRE(told(plain_reports) == told(quick_reports));
        REQUIRE(plain->counts().created == quick->counts().created &&
                plain->counts().collected == quick->counts().collected);
        REQUIRE(standing(*plain) == standing(*quick));
    }
    REQUIRE(quiet > 2000);
}

TEST(unsafe_iter_is_found_and_its_monitors_end_with_the_iterator) {
    const Program program = unsafe_iter();
    Collector collector;
    const auto engine = Engine::make(program, collector);
    for (std::int64_t i = 0; i < 5000; ++i) {
        send(*engine, 0, {1, i});
        send(*engine, 2, {i});
        send(*engine, 1, {1});
        if (i % 1000 == 0) send(*engine, 2, {i});
        end(*engine, 1, i);
    }
    REQUIRE(collector.reports.size() == 5);
    REQUIRE(engine->counts().created == 5000 && engine->counts().alive() == 0 && engine->counts().most == 1);
    REQUIRE(engine->bytes() < 200000);  // one collection, one iterator at a time
}

TEST(an_instance_outlives_a_value_that_it_does_not_need) {
    const Program program = unsafe_iter();
    Collector collector;
    const auto engine = Engine::make(program, collector);
    send(*engine, 0, {1, 2});
    send(*engine, 1, {1});
    end(*engine, 0, 1);  // the collection is gone; the iterator can still be used
    REQUIRE(engine->counts().alive() == 1);
    send(*engine, 2, {2});
    REQUIRE(collector.reports.size() == 1);
    REQUIRE(collector.reports[0].values[0].dead && !collector.reports[0].values[1].dead);
    REQUIRE(engine->counts().alive() == 0);
}

TEST(values_may_end_in_any_order_and_come_back_as_others) {
    std::mt19937 random(5);
    const Program program = unsafe_iter();
    Collector collector;
    const auto engine = Engine::make(program, collector);
    for (int round = 0; round < 50000; ++round) {
        const std::int64_t c = random() % 4;
        const std::int64_t i = random() % 12;
        switch (random() % 6) {
            case 0: send(*engine, 0, {c, i}); break;
            case 1: send(*engine, 1, {c}); break;
            case 2: send(*engine, 2, {i}); break;
            case 3: end(*engine, 0, c); break;
            default: end(*engine, 1, i); break;
        }
    }
    for (std::int64_t k = 0; k < 12; ++k) {
        end(*engine, 0, k);
        end(*engine, 1, k);
    }
    REQUIRE(engine->counts().alive() == 0);
    REQUIRE(engine->domain(0).used() == 0 && engine->domain(1).used() == 0);
}

TEST(every_word_of_the_listener_is_given_back) {
    Program program = unsafe_iter();
    program.variables = true;
    Collector collector;
    {
        const auto engine = Engine::make(program, collector);
        for (std::int64_t i = 0; i < 100; ++i) send(*engine, 0, {i % 7, i});
        REQUIRE(collector.live == 100);
        end(*engine, 1, 5);
        REQUIRE(collector.live == 99);
    }
    REQUIRE(collector.live == 0);
}

TEST(a_snapshot_goes_on_where_it_was_taken) {
    std::mt19937 random(3);
    for (int round = 0; round < 100; ++round) {
        Program program = random_program(random, random() % 4);
        program.binding = static_cast<mopsus::Binding>(random() % 3);
        program.connected = random() % 2 == 0;
        program.history = 3;
        Collector straight_reports, cut_reports;
        const auto straight = Engine::make(program, straight_reports);
        auto cut = Engine::make(program, cut_reports);
        for (int k = 0; k < 30; ++k) {
            if (k % 10 == 5) {
                Archive out;
                cut->transfer(out);
                cut = Engine::make(program, cut_reports);
                Archive in(std::move(out.items()));
                cut->transfer(in);
                REQUIRE(in.at_end());
            }
            const auto event = static_cast<EventId>(random() % program.events.size());
            std::vector<std::int64_t> values;
            for (std::size_t p = 0; p < program.events[event].parameters.size(); ++p) values.push_back(random() % 2);
            send(*straight, event, values, k + 1);
            send(*cut, event, values, k + 1);
        }
        REQUIRE(straight_reports.reports.size() == cut_reports.reports.size());
        REQUIRE(straight->counts().created == cut->counts().created);
    }
}

TEST(a_damaged_snapshot_is_refused) {
    std::mt19937 random(9);
    const Program program = unsafe_iter();
    Collector collector;
    const auto engine = Engine::make(program, collector);
    for (std::int64_t i = 0; i < 5; ++i) send(*engine, 0, {i % 2, i});
    Archive out;
    engine->transfer(out);
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<Item> items = out.items();
        switch (random() % 3) {
            case 0: items.resize(random() % items.size()); break;
            case 1: items[random() % items.size()] = static_cast<std::int64_t>(random()) - 1000; break;
            default: items[random() % items.size()] = std::string("x"); break;
        }
        const auto other = Engine::make(program, collector);
        Archive in(std::move(items));
        try {
            other->transfer(in);
            for (std::int64_t i = 0; i < 5; ++i) send(*other, 2, {i});
        } catch (const BadSnapshot&) {
            ++refused;
        }
    }
    REQUIRE(refused > 1000);
}

TEST(history_keeps_the_last_events_of_every_slice) {
    // What makes an entry too large for the small form, if anything: times, another trace, a row far away.
    for (const auto& [change, from] : {std::pair{0, 0}, {1, 20}, {1, 200000}, {2, 20}, {2, 200000}, {3, 200000}}) {
        History history(4, 9);
        std::vector<History::Head> heads(100, 0);
        std::vector<std::vector<Stamp>> wanted(100);
        std::mt19937 random(1);
        for (std::int64_t row = 1; row <= 600000; ++row) {
            const std::size_t k = random() % heads.size();
            Stamp stamp;
            stamp.row = row;
            stamp.location = 3;
            if (row > from && change == 1) {
                stamp.time_kind = Stamp::Time::Int;
                stamp.time = static_cast<std::uint64_t>(row) * 2;
            }
            if (row > from && change == 2) stamp.location = 4;
            if (row > from && change == 3) stamp.row = row << 16;
            heads[k] = history.add(heads[k], static_cast<EventId>(row % 9), stamp);
            wanted[k].push_back(stamp);
            if (wanted[k].size() > 4) wanted[k].erase(wanted[k].begin());
            if (history.full())
                history.compact([&](auto&& visit) {
                    for (History::Head& head : heads) visit(head);
                });
        }
        for (std::size_t k = 0; k < heads.size(); ++k) {
            const std::vector<PastEvent> past = history.read(heads[k]);
            REQUIRE(past.size() == wanted[k].size());
            for (std::size_t n = 0; n < past.size(); ++n) {
                const Stamp& stamp = past[n].stamp;
                REQUIRE(stamp.row == wanted[k][n].row && stamp.time == wanted[k][n].time &&
                        stamp.location == wanted[k][n].location && stamp.time_kind == wanted[k][n].time_kind);
                REQUIRE(past[n].event == (change == 3 && stamp.row > from ? stamp.row >> 16 : stamp.row) % 9);
            }
        }
        REQUIRE(history.bytes() < 16000000);
    }
}

// An instance that is made later reports what it would have reported, and counts the same.
TEST(deferred_instances_report_the_same) {
    enum : EventId { kCreate, kUpdate, kNext };
    std::mt19937 random(7);
    for (const std::uint32_t history : {0U, 8U}) {
        Program program = unsafe_iter();
        program.history = history;
        Collector at_once, later;
        SlicingEngine direct(program, at_once), put_off(program, later);
        REQUIRE(put_off.defers(kCreate) && !put_off.defers(kUpdate) && !put_off.defers(kNext));
        std::map<std::int64_t, std::pair<std::int64_t, Deferred>>
            waiting;  // by iterator: its collection, and the instance
        const auto adopt = [&](std::int64_t i) {
            const auto [c, deferred] = waiting.at(i);
            waiting.erase(i);
            const Slot slots[] = {slot_of(put_off, 0, Key::of_int(c)), slot_of(put_off, 1, Key::of_int(i))};
            put_off.adopt(kCreate, slots, deferred);
        };
        std::int64_t iterators = 0;
        for (std::int64_t row = 1; row < 3000; ++row) {
            const std::int64_t c = random() % 4;
            const std::int64_t i = random() % static_cast<unsigned>(iterators + 1);
            const unsigned what = random() % 8;
            if (what == 0) {
                send(direct, kCreate, {c, iterators}, row);
                Deferred deferred = put_off.defer();
                deferred.state = plain(put_off.first_table()->step(deferred.state, kCreate));
                deferred.changed = true;
                deferred.past.event = kCreate;
                deferred.past.stamp.row = row;
                waiting.emplace(iterators++, std::pair(c, deferred));
            } else if (what == 1) {
                send(direct, kUpdate, {c}, row);
                std::vector<std::int64_t> concerned;
                for (const auto& [iterator, one] : waiting)
                    if (one.first == c) concerned.push_back(iterator);
                for (const std::int64_t iterator : concerned) adopt(iterator);
                send(put_off, kUpdate, {c}, row);
            } else if (what == 2) {
                end(direct, 1, i);
                if (waiting.erase(i) != 0)
                    put_off.end_deferred();
                else
                    end(put_off, 1, i);
            } else {
                send(direct, kNext, {i}, row);
                if (!waiting.contains(i)) send(put_off, kNext, {i}, row);
            }
        }
        REQUIRE(at_once.reports.size() > 10 && at_once.reports.size() == later.reports.size());
        for (std::size_t k = 0; k < later.reports.size(); ++k) {
            const Report &one = at_once.reports[k], &other = later.reports[k];
            REQUIRE(one.stamp.row == other.stamp.row && one.values[1].bits == other.values[1].bits &&
                    one.witness.size() == other.witness.size());
            for (std::size_t n = 0; n < one.witness.size(); ++n)
                REQUIRE(one.witness[n].event == other.witness[n].event &&
                        one.witness[n].stamp.row == other.witness[n].stamp.row);
        }
        REQUIRE(direct.counts().created == put_off.counts().created &&
                direct.counts().collected == put_off.counts().collected);
        REQUIRE(direct.counts().most == put_off.counts().most);
    }
}

TEST(a_wrong_program_is_refused) {
    const auto refused = [](auto&& change) {
        Program program = unsafe_iter();
        change(program);
        try {
            program.check();
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    REQUIRE(!refused([](Program&) {}));
    REQUIRE(refused([](Program& p) { p.parameters = 17; }));
    REQUIRE(refused([](Program& p) { p.events.clear(); }));
    REQUIRE(refused([](Program& p) { p.events[0].parameters = {0, 0}; }));
    REQUIRE(refused([](Program& p) { p.events[0].parameters = {2}; }));
    REQUIRE(refused([](Program& p) { p.events[0].enable = {8}; }));
    REQUIRE(refused([](Program& p) { table_of(p.machines[0]).next[3] = 5; }));
    REQUIRE(refused([](Program& p) { table_of(p.machines[0]).next.pop_back(); }));
    REQUIRE(refused([](Program& p) { table_of(p.machines[0]).alive.pop_back(); }));
}

}  // namespace mopsus::test
