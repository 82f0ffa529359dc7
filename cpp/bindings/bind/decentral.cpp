#include "decentral.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "mopsus/decentral/ehe.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

using namespace mopsus::decentral;

// The class of errors that Python wants.
PyObject* knowledge_error = PyExc_ValueError;

void translate(const std::exception_ptr& raised, void*) {
    try {
        std::rethrow_exception(raised);
    } catch (const Error& error) {
        PyErr_SetString(knowledge_error, error.what());
    }
}

// In Python, an atom is a pair, an observation a triple, and a verdict a bool or None.
using Pair = std::tuple<Time, Input>;
using Triple = std::tuple<Time, Input, bool>;
using Nodes = std::vector<std::tuple<Input, Diagram, Diagram>>;

Truth truth_of(std::optional<bool> verdict) {
    return !verdict ? Truth::Unknown : *verdict ? Truth::True : Truth::False;
}
std::optional<bool> verdict_of(Truth truth) {
    return truth == Truth::Unknown ? std::nullopt : std::optional(truth == Truth::True);
}

Observation observation_of(const Triple& triple) {
    const auto& [time, input, value] = triple;
    return {{time, input}, value};
}

std::vector<Triple> triples(std::span<const Observation> observations) {
    std::vector<Triple> result;
    result.reserve(observations.size());
    for (const auto& [atom, value] : observations) result.emplace_back(atom.time, atom.input, value);
    return result;
}

void construct(Automaton* self, std::vector<std::string> inputs, const std::vector<std::optional<bool>>& verdicts,
               const Nodes& nodes, std::vector<Diagram> roots) {
    std::vector<Truth> truths;
    for (const std::optional<bool> verdict : verdicts) truths.push_back(truth_of(verdict));
    std::vector<Automaton::Node> made;
    for (const auto& [input, if_false, if_true] : nodes) made.push_back({input, if_false, if_true});
    new (self) Automaton(std::move(inputs), std::move(truths), std::move(made), std::move(roots));
}

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

void add_memory(nb::module_& module) {
    nb::class_<Memory>(module, "Memory")
        .def(
            "__init__",
            [](Memory* self, const std::vector<Triple>& observations) {
                new (self) Memory();
                for (const Triple& each : observations) self->add(observation_of(each));
            },
            nb::arg("observations") = std::vector<Triple>())
        .def(
            "add", [](Memory& self, Time time, Input input, bool value) { self.add({{time, input}, value}); },
            nb::arg("time"), nb::arg("input"), nb::arg("value"))
        .def(
            "get", [](const Memory& self, Time time, Input input) { return self.get({time, input}); }, nb::arg("time"),
            nb::arg("input"))
        .def("merge", &Memory::merge, nb::arg("other"))
        .def("drop", &Memory::drop, nb::arg("time"))
        .def("clear", &Memory::clear)
        .def("copy", [](const Memory& self) { return Memory(self); })
        .def("observations", [](const Memory& self) { return triples(self.observations()); })
        .def("__len__", [](const Memory& self) { return self.observations().size(); })
        .def("__eq__", [](const Memory& self, const Memory& other) { return self == other; }, nb::is_operator());
}

void add_ehe(nb::module_& module) {
    nb::class_<Ehe>(module, "Ehe")
        .def(
            "__init__",
            [](Ehe* self, std::shared_ptr<Automaton> automaton, Time origin) {
                new (self) Ehe(std::move(automaton), origin);
            },
            nb::arg("automaton"), nb::arg("origin") = 0)
        .def_static(
            "load",
            [](std::shared_ptr<Automaton> automaton, nb::bytes data) {
                return Ehe::load(std::move(automaton), {static_cast<const std::uint8_t*>(data.data()), data.size()});
            },
            nb::arg("automaton"), nb::arg("data"))
        .def("save", [](const Ehe& self) { return bytes_of(self.save()); })
        .def("copy", [](const Ehe& self) { return Ehe(self); })
        .def_prop_ro("origin", &Ehe::origin)
        .def_prop_ro("start", &Ehe::start)
        .def_prop_ro("end", &Ehe::end)
        .def_prop_ro("resolved", &Ehe::resolved)
        .def_prop_ro("evaluations", [](const Ehe& self) { return self.counters().evaluations; })
        .def_prop_ro("simplifications", [](const Ehe& self) { return self.counters().simplifications; })
        .def("tick", &Ehe::tick)
        .def(
            "learn", [](Ehe& self, Time time, Input input, bool value) { self.learn({{time, input}, value}); },
            nb::arg("time"), nb::arg("input"), nb::arg("value"))
        .def("update", &Ehe::update, nb::arg("memory"))
        .def("resolve", &Ehe::resolve)
        .def("states", &Ehe::states, nb::arg("time"))
        .def("state", &Ehe::state, nb::arg("time"))
        .def(
            "verdict", [](const Ehe& self, Time time) { return verdict_of(self.verdict(time)); }, nb::arg("time"))
        .def("drop", &Ehe::drop, nb::arg("time"))
        .def("drop_resolved", &Ehe::drop_resolved)
        .def("forget", &Ehe::forget)
        .def("reset", &Ehe::reset, nb::arg("origin"))
        .def("merge", &Ehe::merge, nb::arg("other"))
        .def("earliest",
             [](const Ehe& self) -> std::optional<std::pair<Time, std::vector<Input>>> {
                 const std::optional<Ehe::Pending> pending = self.earliest();
                 if (!pending) return std::nullopt;
                 return std::pair(pending->time, pending->inputs);
             })
        .def(
            "missing",
            [](const Ehe& self, Time time) {
                std::vector<Pair> result;
                for (const auto& [when, input] : self.missing(time)) result.emplace_back(when, input);
                return result;
            },
            nb::arg("time"))
        .def(
            "reasons", [](const Ehe& self, Time time) { return triples(self.reasons(time)); }, nb::arg("time"))
        .def(
            "expression",
            [](const Ehe& self, Time time, State state, std::size_t most) {
                std::vector<std::vector<Triple>> result;
                for (const Ehe::Product& product : self.expression(time, state, most))
                    result.push_back(triples(product));
                return result;
            },
            nb::arg("time"), nb::arg("state"), nb::arg("most") = 10'000)
        .def("entries", &Ehe::entries)
        .def("nodes", &Ehe::nodes)
        .def("data", &Ehe::data)
        .def("__eq__", [](const Ehe& self, const Ehe& other) { return self == other; }, nb::is_operator());
}

}  // namespace

void add_decentral(nb::module_& module) {
    nb::register_exception_translator(translate);
    module.def("use_knowledge_error", [](nb::handle type) { knowledge_error = type.inc_ref().ptr(); }, nb::arg("type"));
    nb::class_<Automaton>(module, "Automaton")
        .def("__init__", &construct, nb::arg("inputs"), nb::arg("verdicts"), nb::arg("nodes"), nb::arg("roots"))
        .def_prop_ro("fingerprint", &Automaton::fingerprint);
    module.attr("NOTHING") = kNothing;
    module.attr("SOMETHING") = kSomething;
    add_memory(module);
    add_ehe(module);
    add_decentral_monitors(module);
    add_node(module);
    add_simulation(module);
}

}  // namespace mopsus::python
