#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "decentral.hpp"
#include "mopsus/decentral/monitors.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

using namespace mopsus::decentral;

// In Python, a message is a pair of a peer's number and its content.
using Pairs = std::vector<std::pair<Address, Content>>;
using Found = std::optional<std::pair<Time, bool>>;
using Runs = std::vector<std::tuple<Time, Time, bool>>;
using Times = std::vector<std::pair<Time, Time>>;

void add_messages(nb::module_& module) {
    nb::class_<Encoding>(module, "Encoding")
        .def(
            "__init__", [](Encoding* self, const Ehe& ehe, std::uint64_t number) { new (self) Encoding{ehe, number}; },
            nb::arg("ehe"), nb::arg("number") = 0)
        .def_prop_ro("ehe", [](const Encoding& self) { return Ehe(self.ehe); })
        .def_ro("number", &Encoding::number);
    nb::class_<Verdict>(module, "Verdict")
        .def(
            "__init__",
            [](Verdict* self, Time first, Time last, bool value) { new (self) Verdict{first, last, value}; },
            nb::arg("first"), nb::arg("last"), nb::arg("value"))
        .def_ro("first", &Verdict::first)
        .def_ro("last", &Verdict::last)
        .def_ro("value", &Verdict::value);
    nb::class_<Kill>(module, "Kill").def(nb::init<>());
    nb::class_<Acknowledgement>(module, "Acknowledgement")
        .def(
            "__init__", [](Acknowledgement* self, std::uint64_t number) { new (self) Acknowledgement{number}; },
            nb::arg("number"))
        .def_ro("number", &Acknowledgement::number);
    nb::class_<Payload>(module, "Payload")
        .def(
            "__init__",
            [](Payload* self, nb::bytes data) { new (self) Payload{std::string(data.c_str(), data.size())}; },
            nb::arg("data"))
        .def_prop_ro("data", [](const Payload& self) { return nb::bytes(self.bytes.data(), self.bytes.size()); });
    module.def("message_kind", [](const Content& content) { return std::string(kind(content)); }, nb::arg("content"));
    module.def(
        "message_data",
        [](const Content& content, const std::vector<std::string>& inputs) { return data(content, inputs); },
        nb::arg("content"), nb::arg("inputs"));
    module.def(
        "save_message",
        [](const Content& content) {
            const std::string bytes = save(content);
            return nb::bytes(bytes.data(), bytes.size());
        },
        nb::arg("content"));
    module.def(
        "load_message",
        [](std::shared_ptr<Automaton> automaton, nb::bytes bytes) {
            return load(std::move(automaton), {static_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
        },
        nb::arg("automaton").none(), nb::arg("bytes"));
}

void construct_step(Step* self, Pairs outbox, Found finding, bool stop, bool again, const Times& resolutions,
                    Time dropped, std::uint64_t evaluations, std::uint64_t simplifications) {
    new (self) Step();
    for (auto& [to, content] : outbox) self->outbox.push_back({to, std::move(content)});
    if (finding) self->finding = Finding{finding->first, finding->second};
    self->stop = stop;
    self->again = again;
    for (const auto& [before, known] : resolutions) self->resolutions.push_back({before, known});
    self->dropped = dropped;
    self->work = {evaluations, simplifications};
}

void add_step(nb::module_& module) {
    nb::class_<Step>(module, "Step")
        .def("__init__", &construct_step, nb::arg("outbox") = Pairs(), nb::arg("finding") = Found(),
             nb::arg("stop") = false, nb::arg("again") = false, nb::arg("resolutions") = Times(),
             nb::arg("dropped") = Time(0), nb::arg("evaluations") = 0, nb::arg("simplifications") = 0)
        .def_prop_ro("outbox",
                     [](const Step& self) {
                         Pairs pairs;
                         for (const auto& [to, content] : self.outbox) pairs.emplace_back(to, content);
                         return pairs;
                     })
        .def_prop_ro("finding",
                     [](const Step& self) {
                         return self.finding ? Found({self.finding->time, self.finding->verdict}) : std::nullopt;
                     })
        .def_ro("stop", &Step::stop)
        .def_ro("again", &Step::again)
        .def_prop_ro("answers",
                     [](const Step& self) {
                         Runs runs;
                         for (const auto& [first, last, value] : self.answers) runs.emplace_back(first, last, value);
                         return runs;
                     })
        .def_prop_ro("resolutions",
                     [](const Step& self) {
                         Times pairs;
                         for (const auto& [before, known] : self.resolutions) pairs.emplace_back(before, known);
                         return pairs;
                     })
        .def_ro("dropped", &Step::dropped)
        .def_prop_ro("evaluations", [](const Step& self) { return self.work.evaluations; })
        .def_prop_ro("simplifications", [](const Step& self) { return self.work.simplifications; });
}

Step step(decentral::Monitor& self, Time time, const Memory& seen, Pairs inbox) {
    std::vector<Letter> letters;
    for (auto& [from, content] : inbox) letters.push_back({from, std::move(content)});
    return self.step(time, seen, letters);
}

}  // namespace

void add_decentral_monitors(nb::module_& module) {
    add_messages(module);
    add_step(module);
    nb::class_<Extent>(module, "Extent")
        .def_ro("start", &Extent::start)
        .def_ro("end", &Extent::end)
        .def_ro("entries", &Extent::entries)
        .def_ro("nodes", &Extent::nodes)
        .def_ro("states", &Extent::states);
    nb::class_<decentral::Monitor>(module, "DecentralMonitor")
        .def("step", &step, nb::arg("time"), nb::arg("seen"), nb::arg("inbox"))
        .def_prop_ro("extent", &decentral::Monitor::extent)
        .def("reasons",
             [](const decentral::Monitor& self) {
                 std::vector<std::tuple<Time, Input, bool>> triples;
                 for (const auto& [atom, value] : self.reasons()) triples.emplace_back(atom.time, atom.input, value);
                 return triples;
             })
        .def("missing", [](const decentral::Monitor& self) {
            std::vector<std::pair<Time, Input>> pairs;
            for (const auto& [time, input] : self.missing()) pairs.emplace_back(time, input);
            return pairs;
        });
    nb::class_<Encoder, decentral::Monitor>(module, "Encoder").def_prop_ro("ehe", [](const Encoder& self) {
        return Ehe(self.ehe());
    });
    nb::class_<Orchestrator, Encoder>(module, "Orchestrator")
        .def(
            "__init__",
            [](Orchestrator* self, std::shared_ptr<Automaton> automaton) {
                new (self) Orchestrator(std::move(automaton));
            },
            nb::arg("automaton"));
    nb::class_<Forwarder, decentral::Monitor>(module, "Forwarder").def(nb::init<Address>(), nb::arg("to"));
    nb::class_<Migrant, Encoder>(module, "Migrant")
        .def(
            "__init__",
            [](Migrant* self, std::shared_ptr<Automaton> automaton, std::vector<Address> owners, Address count,
               Address here, bool round_robin, bool active, std::uint64_t patience) {
                const Migrant::Way way = round_robin ? Migrant::Way::RoundRobin : Migrant::Way::Earliest;
                new (self) Migrant(std::move(automaton), {std::move(owners), count, here, way, patience}, active);
            },
            nb::kw_only(), nb::arg("automaton"), nb::arg("owners"), nb::arg("count"), nb::arg("here"),
            nb::arg("round_robin"), nb::arg("active"), nb::arg("patience") = 0)
        .def_static(
            "first",
            [](std::shared_ptr<Automaton> automaton, const std::vector<Address>& owners) {
                return Migrant::first(automaton, owners);
            },
            nb::arg("automaton"), nb::arg("owners"))
        .def_prop_ro("active", &Migrant::active);
}

}  // namespace mopsus::python
