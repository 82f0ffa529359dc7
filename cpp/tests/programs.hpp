// Small programs, a listener that collects, and slicing by definition to compare with.
#pragma once

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "mopsus/engine/engine.hpp"

namespace mopsus::test {

class Collector final : public Listener {
public:
    void report(Report&& report) override { reports.push_back(std::move(report)); }
    std::uint64_t fork(std::uint64_t) override { return ++live; }
    void drop(std::uint64_t) override { --live; }
    std::vector<Report> reports;
    std::uint64_t live = 0;
};

class Nowhere final : public Origin {
public:
    explicit Nowhere(std::int64_t row = 0) : row_(row) {}
    Stamp stamp() override {
        Stamp stamp;
        stamp.row = row_;
        return stamp;
    }

private:
    std::int64_t row_;
};

// The machine of a program that is still being made.
inline TableMachine& table_of(const std::shared_ptr<const Machine>& machine) {
    return const_cast<TableMachine&>(dynamic_cast<const TableMachine&>(*machine));
}

// What the analyses of a machine would say at worst: anything may lead to a report.
inline void assume_anything(Program& program) {
    std::set<Mask> unions{0};
    for (const EventDecl& event : program.events) {
        std::set<Mask> more;
        for (const Mask mask : unions) more.insert(mask | event.mask());
        unions.insert(more.begin(), more.end());
    }
    for (EventDecl& event : program.events) {
        event.enable.assign(unions.begin(), unions.end());
        event.creation = true;
    }
    for (auto& shared : program.machines) {
        TableMachine& machine = table_of(shared);
        machine.final.assign(machine.states, {});
        machine.alive.assign(machine.states, {0});
    }
}

inline Slot slot_of(Engine& engine, unsigned p, const Key& key) {
    const Slot known = engine.domain(p).find(key);
    return known != kNil ? known : engine.domain(p).insert(key);
}

inline void send(Engine& engine, EventId event, const std::vector<std::int64_t>& values, std::int64_t row = 0) {
    std::vector<Slot> slots;
    for (std::size_t k = 0; k < values.size(); ++k)
        slots.push_back(slot_of(engine, engine.program().events[event].parameters[k], Key::of_int(values[k])));
    Nowhere origin(row);
    engine.step(event, slots.data(), origin);
}

// UnsafeIter: create(c, i) next(i)* update(c)+ next(i), as a machine and its analyses by hand.
inline Program unsafe_iter() {
    Program program;
    program.parameters = 2;  // c, i
    program.events = {{"create", {0, 1}, true, false, {0}},
                      {"update", {0}, false, false, {0b11}},
                      {"next", {1}, false, false, {0b11}}};
    auto owned = std::make_shared<TableMachine>();
    TableMachine& machine = *owned;  // 0 start, 1 created, 2 updated, 3 match, 4 fail
    machine.states = 5;
    machine.next = {1, 4, 4, /**/ 4, 2, 1, /**/ 4, 2, 3, /**/ 4, 4, 4, /**/ 4, 4, 4};
    machine.categories = {{}, {}, {}, {0}, {}};
    machine.final.assign(5, {});
    machine.alive = {{0b11}, {0b11}, {0b10}, {}, {}};
    program.machines = {owned};
    return program;
}

}  // namespace mopsus::test
