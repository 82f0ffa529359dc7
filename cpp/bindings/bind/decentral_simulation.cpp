#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "decentral.hpp"
#include "mopsus/decentral/simulation.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

using namespace mopsus::decentral;

// A monitor written in Python.
class Foreign final : public decentral::Monitor {
public:
    explicit Foreign(nb::object object) : object_(std::move(object)), step_(object_.attr("step")) {}

    Step step(Time time, const Memory& seen, std::span<const Letter> inbox) override {
        std::vector<std::pair<Address, Content>> letters;
        for (const auto& [from, content] : inbox) letters.emplace_back(from, content);
        return nb::cast<Step>(step_(time, Memory(seen), std::move(letters)));
    }
    Time length() const override { return nb::cast<Time>(object_.attr("length")); }

private:
    nb::object object_;
    nb::object step_;
};

// Calls functions of Python; None where nobody listens.
class Caller final : public Listener {
public:
    Caller(nb::object began, nb::object stepped, nb::object sent, nb::object delivered)
        : began_(std::move(began)),
          stepped_(std::move(stepped)),
          sent_(std::move(sent)),
          delivered_(std::move(delivered)) {}

    void began(Time round) override {
        if (!began_.is_none()) began_(round);
    }
    void stepped(Time round, Number monitor, const Step& step) override {
        if (!stepped_.is_none()) stepped_(round, monitor, Step(step));
    }
    void sent(Time round, Number from, Number to, const Content& content, std::uint64_t data, std::uint64_t bytes,
              std::span<const Time> arrivals) override {
        if (!sent_.is_none())
            sent_(round, from, to, content, data, bytes, std::vector<Time>(arrivals.begin(), arrivals.end()));
    }
    void delivered(Time round, Number from, Number to, const Content& content) override {
        if (!delivered_.is_none()) delivered_(round, from, to, content);
    }

private:
    nb::object began_;
    nb::object stepped_;
    nb::object sent_;
    nb::object delivered_;
};

std::shared_ptr<decentral::Monitor> monitor_of(nb::handle object) {
    if (nb::isinstance<decentral::Monitor>(object)) return nb::cast<std::shared_ptr<decentral::Monitor>>(object);
    return std::make_shared<Foreign>(nb::borrow(object));
}

using PythonSeat =
    std::tuple<nb::object, Component, std::vector<Input>, Input, std::vector<std::string>, std::vector<Number>>;

Outcome simulate(const std::vector<PythonSeat>& seats, const Feed& feed, const Conditions& conditions, Time limit,
                 std::uint64_t seed, nb::object began, nb::object stepped, nb::object sent, nb::object delivered) {
    std::vector<Seat> made;
    for (const auto& [monitor, place, inputs, moves, names, peers] : seats)
        made.push_back({monitor_of(monitor), place, inputs, moves, names, peers});
    Simulation simulation(std::move(made), feed, conditions, limit, seed);
    if (began.is_none() && stepped.is_none() && sent.is_none() && delivered.is_none()) return simulation.run();
    Caller caller(std::move(began), std::move(stepped), std::move(sent), std::move(delivered));
    return simulation.run(&caller);
}

void add_feed(nb::module_& module) {
    nb::class_<Feed>(module, "Feed")
        .def(nb::init<std::vector<Input>, Time, bool>(), nb::arg("propositions"), nb::arg("length"),
             nb::arg("held") = false)
        .def(
            "add",
            [](Feed& self, Component component, Time time, Input proposition, bool value) {
                self.add(component, {time, proposition, value});
            },
            nb::arg("component"), nb::arg("time"), nb::arg("proposition"), nb::arg("value"))
        .def_prop_ro("length", &Feed::length);
}

void add_conditions(nb::module_& module) {
    nb::class_<Conditions>(module, "Conditions")
        .def(nb::init<>())
        .def_rw("least_delay", &Conditions::least_delay)
        .def_rw("most_delay", &Conditions::most_delay)
        .def_rw("reorder", &Conditions::reorder)
        .def_rw("duplication", &Conditions::duplication)
        .def_rw("loss", &Conditions::loss)
        .def_rw("resend", &Conditions::resend)
        .def(
            "part",
            [](Conditions& self, Time from, Time to, std::vector<std::uint32_t> sides) {
                self.partitions.push_back({{from, to}, std::move(sides)});
            },
            nb::arg("from_round"), nb::arg("to_round"), nb::arg("sides"))
        .def(
            "crash",
            [](Conditions& self, Time from, Time to, Number monitor) { self.crashes.push_back({{from, to}, monitor}); },
            nb::arg("from_round"), nb::arg("to_round"), nb::arg("monitor"));
}

void add_outcome(nb::module_& module) {
    nb::class_<Spread>(module, "Spread")
        .def_ro("sum", &Spread::sum)
        .def_ro("count", &Spread::count)
        .def_ro("most", &Spread::most);
    nb::class_<Load>(module, "Load")
        .def_ro("total", &Load::total)
        .def_ro("critical", &Load::critical)
        .def_ro("most", &Load::most)
        .def_ro("imbalance", &Load::imbalance);
    nb::class_<Measures>(module, "Measures")
        .def_ro("messages", &Measures::messages)
        .def_ro("messages_by_kind", &Measures::messages_by_kind)
        .def_ro("data", &Measures::data)
        .def_ro("bytes", &Measures::bytes)
        .def_ro("answers", &Measures::answers)
        .def_ro("observations", &Measures::observations)
        .def_ro("turns", &Measures::turns)
        .def_ro("gap", &Measures::gap)
        .def_ro("batch", &Measures::batch)
        .def_ro("age", &Measures::age)
        .def_ro("simplifications", &Measures::simplifications)
        .def_ro("evaluations", &Measures::evaluations)
        .def_ro("longest", &Measures::longest)
        .def_prop_ro("lost", [](const Measures& self) { return self.network.lost; })
        .def_prop_ro("resent", [](const Measures& self) { return self.network.resent; })
        .def_prop_ro("doubled", [](const Measures& self) { return self.network.doubled; });
    nb::class_<Outcome>(module, "SimulationOutcome")
        .def_prop_ro("finding",
                     [](const Outcome& self) -> std::optional<std::pair<Time, bool>> {
                         if (!self.finding) return std::nullopt;
                         return std::pair(self.finding->time, self.finding->verdict);
                     })
        .def_ro("round", &Outcome::round)
        .def_ro("finder", &Outcome::finder)
        .def_ro("rounds", &Outcome::rounds)
        .def_ro("measures", &Outcome::measures)
        .def_ro("on_the_way", &Outcome::on_the_way)
        .def(
            "answers",
            [](const Outcome& self, Number monitor) {
                std::vector<std::tuple<Time, Time, bool>> runs;
                for (const auto& [first, last, value] : self.answers.at(monitor)) runs.emplace_back(first, last, value);
                return runs;
            },
            nb::arg("monitor"));
}

}  // namespace

void add_simulation(nb::module_& module) {
    add_feed(module);
    add_conditions(module);
    add_outcome(module);
    module.def("simulate", &simulate, nb::arg("seats"), nb::arg("feed"), nb::arg("conditions"), nb::arg("limit"),
               nb::arg("seed"), nb::arg("began").none(), nb::arg("stepped").none(), nb::arg("sent").none(),
               nb::arg("delivered").none());
}

}  // namespace mopsus::python
