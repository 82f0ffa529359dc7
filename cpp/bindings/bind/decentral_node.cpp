#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "decentral.hpp"
#include "mopsus/decentral/node.hpp"

namespace nb = nanobind;

namespace mopsus::python {

using namespace mopsus::decentral;

void add_node(nb::module_& module) {
    nb::class_<Node, decentral::Monitor>(module, "Node")
        .def(
            "__init__",
            [](Node* self, std::shared_ptr<Automaton> automaton, std::vector<std::pair<Input, Address>> references,
               std::vector<Address> receivers, bool respawns, bool one_by_one, bool root, bool report, bool hold,
               Time lag, bool stutters) {
                new (self) Node(std::move(automaton), {.references = std::move(references),
                                                       .receivers = std::move(receivers),
                                                       .respawns = respawns,
                                                       .one_by_one = one_by_one,
                                                       .root = root,
                                                       .report = report,
                                                       .hold = hold,
                                                       .lag = lag,
                                                       .stutters = stutters});
            },
            nb::kw_only(), nb::arg("automaton"), nb::arg("references"), nb::arg("receivers"),
            nb::arg("respawns") = true, nb::arg("one_by_one") = false, nb::arg("root") = false,
            nb::arg("report") = false, nb::arg("hold") = false, nb::arg("lag") = 0, nb::arg("stutters") = true);
}

}  // namespace mopsus::python
