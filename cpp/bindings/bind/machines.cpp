#include "machines.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "mopsus/machine/caret.hpp"
#include "mopsus/machine/guarded.hpp"
#include "mopsus/machine/rewrite.hpp"
#include "mopsus/machine/stack.hpp"
#include "mopsus/machine/table.hpp"
#include "mopsus/machine/timed.hpp"
#include "symbolic.hpp"

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
    machine->after_report = nb::cast<std::vector<std::uint32_t>>(arguments[6]);
    machine->every = nb::cast<bool>(arguments[7]);
    return machine;
}

std::shared_ptr<const Machine> make_rewrite(nb::tuple arguments) {
    auto machine = std::make_shared<RewriteMachine>();
    machine->symbols = nb::cast<std::uint32_t>(arguments[0]);
    machine->moves = nb::cast<std::vector<std::uint32_t>>(arguments[1]);
    machine->matches = nb::cast<std::vector<std::uint32_t>>(arguments[2]);
    for (const nb::handle item : nb::cast<nb::list>(arguments[3])) {
        const auto rule = nb::cast<nb::tuple>(item);
        machine->rules.push_back({nb::cast<std::uint32_t>(rule[0]), nb::cast<std::vector<std::uint16_t>>(rule[1]),
                                  nb::cast<std::uint8_t>(rule[2]), nb::cast<bool>(rule[3])});
    }
    machine->scanning = nb::cast<bool>(arguments[4]);
    machine->budget = nb::cast<std::uint32_t>(arguments[5]);
    machine->longest = nb::cast<std::uint32_t>(arguments[6]);
    machine->alive = nb::cast<std::vector<Mask>>(arguments[7]);
    const auto endings = nb::cast<nb::list>(arguments[8]);
    for (std::size_t k = 0; k < RewriteMachine::kEndings; ++k) {
        const auto ending = nb::cast<nb::tuple>(endings[k]);
        if (!ending[0].is_none()) machine->categories[k] = nb::cast<std::uint16_t>(ending[0]);
        machine->restarts[k] = nb::cast<bool>(ending[1]);
    }
    return machine;
}

std::shared_ptr<const Machine> make_stack(nb::tuple arguments) {
    auto machine = std::make_shared<StackMachine>();
    machine->states = nb::cast<std::uint32_t>(arguments[0]);
    machine->nonterminals = nb::cast<std::uint32_t>(arguments[1]);
    machine->actions = nb::cast<std::vector<std::vector<std::int32_t>>>(arguments[2]);
    machine->gotos = nb::cast<std::vector<std::int32_t>>(arguments[3]);
    for (const nb::handle item : nb::cast<nb::list>(arguments[4])) {
        const auto production = nb::cast<nb::tuple>(item);
        machine->productions.push_back(
            {nb::cast<std::uint32_t>(production[0]), nb::cast<std::uint32_t>(production[1])});
    }
    machine->guaranteed = nb::cast<bool>(arguments[5]);
    machine->lazy = nb::cast<bool>(arguments[6]);
    machine->suffix = nb::cast<bool>(arguments[7]);
    machine->match = nb::cast<std::int32_t>(arguments[8]);
    machine->fail = nb::cast<std::int32_t>(arguments[9]);
    machine->alive = nb::cast<std::vector<std::vector<Mask>>>(arguments[10]);
    machine->failed = nb::cast<std::vector<Mask>>(arguments[11]);
    machine->exhausted = nb::cast<std::int32_t>(arguments[12]);
    machine->budget = nb::cast<std::uint32_t>(arguments[13]);
    return machine;
}

TimedMachine::Bounds bounds_of(nb::handle numbers) {
    const auto list = nb::cast<std::vector<std::uint64_t>>(numbers);
    if (list.size() != 3) throw nb::value_error("an interval has three numbers");
    return {list[0], list[1], list[2]};
}

std::shared_ptr<const Machine> make_timed(nb::tuple arguments) {
    auto machine = std::make_shared<TimedMachine>();
    machine->letters = nb::cast<std::vector<std::vector<bool>>>(arguments[0]);
    for (const nb::handle item : nb::cast<nb::list>(arguments[1])) {
        const auto op = nb::cast<nb::tuple>(item);
        const auto kind = nb::cast<std::uint8_t>(op[0]);
        if (kind > static_cast<std::uint8_t>(TimedMachine::Kind::Until)) throw nb::value_error("no such operator");
        machine->operators.push_back({static_cast<TimedMachine::Kind>(kind),
                                      nb::cast<std::vector<std::uint32_t>>(op[1]),
                                      {bounds_of(op[2]), bounds_of(op[3])}});
    }
    machine->formula = nb::cast<std::uint32_t>(arguments[2]);
    machine->nanoseconds = nb::cast<std::int64_t>(arguments[3]);
    const auto categories = nb::cast<std::vector<std::int32_t>>(arguments[4]);
    if (categories.size() != machine->categories.size()) throw nb::value_error("a timed machine has four verdicts");
    std::copy(categories.begin(), categories.end(), machine->categories.begin());
    machine->alive = nb::cast<std::vector<Mask>>(arguments[5]);
    return machine;
}

std::shared_ptr<const Machine> make_caret(nb::tuple arguments) {
    auto machine = std::make_shared<CaretMachine>();
    for (const std::uint8_t role : nb::cast<std::vector<std::uint8_t>>(arguments[0]))
        machine->roles.push_back(static_cast<CaretMachine::Role>(role));
    for (const nb::handle item : nb::cast<nb::list>(arguments[1])) {
        const auto step = nb::cast<nb::tuple>(item);
        machine->steps.push_back({static_cast<CaretMachine::Op>(nb::cast<std::uint8_t>(step[0])),
                                  static_cast<CaretMachine::Memory>(nb::cast<std::uint8_t>(step[1])),
                                  nb::cast<bool>(step[2]), nb::cast<bool>(step[3]), nb::cast<bool>(step[4]),
                                  nb::cast<std::uint32_t>(step[5]), nb::cast<std::uint32_t>(step[6])});
    }
    machine->deepest = nb::cast<std::uint32_t>(arguments[2]);
    const auto categories = nb::cast<nb::tuple>(arguments[3]);
    std::uint16_t* const places[] = {&machine->validation, &machine->violation, &machine->exhausted};
    for (std::size_t k = 0; k < std::size(places); ++k)
        if (!categories[k].is_none()) *places[k] = nb::cast<std::uint16_t>(categories[k]);
    machine->alive = nb::cast<std::vector<Mask>>(arguments[4]);
    machine->restarts = nb::cast<bool>(arguments[5]);
    return machine;
}

// None, or (block, action, target), each maybe None.
std::optional<GuardedMachine::End> end_of(nb::handle item) {
    if (item.is_none()) return {};
    const auto part = [&](std::size_t k) {
        const nb::object value = nb::cast<nb::tuple>(item)[k];
        return value.is_none() ? GuardedMachine::kNoCode : nb::cast<std::uint32_t>(value);
    };
    return GuardedMachine::End{part(0), part(1), part(2)};
}

std::shared_ptr<const Machine> make_guarded(nb::tuple arguments) {
    auto machine = std::make_shared<GuardedMachine>();
    const auto code = [](nb::handle item) {
        return item.is_none() ? GuardedMachine::kNoCode : nb::cast<std::uint32_t>(item);
    };
    machine->initial = nb::cast<std::uint32_t>(arguments[0]);
    machine->variables = nb::cast<bool>(arguments[1]);
    machine->initialization = code(arguments[2]);
    for (const nb::handle item : nb::cast<nb::list>(arguments[3])) {
        const auto state = nb::cast<nb::tuple>(item);
        GuardedMachine::Place& place = machine->states.emplace_back();
        place.final = nb::cast<bool>(state[0]);
        place.action = code(state[1]);
        place.category = nb::cast<std::int32_t>(state[2]);
        for (const nb::handle one : nb::cast<nb::list>(state[3])) {
            const auto transition = nb::cast<nb::tuple>(one);
            place.transitions.push_back(
                {nb::cast<EventId>(transition[0]), code(transition[1]), end_of(transition[2]), end_of(transition[3])});
        }
    }
    return machine;
}

}  // namespace

std::shared_ptr<const Machine> make_machine(const std::string& kind, nb::tuple arguments) {
    static const std::map<std::string, std::shared_ptr<const Machine> (*)(nb::tuple)> makers = {
        {"guarded", make_guarded}, {"symbolic", make_symbolic}, {"table", make_table}, {"stack", make_stack},
        {"rewrite", make_rewrite}, {"caret", make_caret},       {"timed", make_timed},
    };
    const auto maker = makers.find(kind);
    if (maker == makers.end()) throw nb::value_error(("the core runs no machine of kind " + kind).c_str());
    return maker->second(std::move(arguments));
}

}  // namespace mopsus::python
