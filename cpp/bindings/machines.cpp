#include "machines.hpp"

#include <nanobind/stl/vector.h>

#include <map>

#include "mopsus/table.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

std::shared_ptr<const Machine> make_table(nb::tuple arguments) {
    auto machine = std::make_shared<TableMachine>();
    machine->states = nb::cast<std::uint32_t>(arguments[0]);
    machine->initial = nb::cast<std::uint32_t>(arguments[1]);
    machine->next = nb::cast<std::vector<std::uint32_t>>(arguments[2]);
    machine->categories = nb::cast<std::vector<std::vector<std::uint16_t>>>(arguments[3]);
    machine->final = nb::cast<std::vector<std::vector<std::uint16_t>>>(arguments[4]);
    machine->alive = nb::cast<std::vector<std::vector<Mask>>>(arguments[5]);
    return machine;
}

}  // namespace

std::shared_ptr<const Machine> make_machine(const std::string& kind, nb::tuple arguments) {
    static const std::map<std::string, std::shared_ptr<const Machine> (*)(nb::tuple)> makers = {
        {"table", make_table},
    };
    const auto maker = makers.find(kind);
    if (maker == makers.end()) throw nb::value_error(("the core runs no machine of kind " + kind).c_str());
    return maker->second(std::move(arguments));
}

}  // namespace mopsus::python
