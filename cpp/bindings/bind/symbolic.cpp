#include "symbolic.hpp"
#include "saved_error.hpp"

#include <nanobind/stl/vector.h>

#include <array>

#include "mopsus/machine/symbolic.hpp"
#include "terms.hpp"
#include "unobserved.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

constexpr std::size_t kMostArguments = 64;

// A Python function of terms. What the plan says of it is borrowed: whoever owns the machine keeps it.
class Predicate final : public SymbolicMachine::Test {
public:
    explicit Predicate(nb::handle planned) : planned_(planned.ptr()), function_(planned.attr("function").ptr()) {}

    std::optional<bool> holds(const Term* values, std::size_t count, EventId event, Origin& origin) override {
        if (owner_ != nullptr && owner_->closed()) return {};
        PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
        PyErr_Fetch(&type, &value, &trace);  // an exception of the program's, which goes on after the event
        const Unobserved unobserved;
        std::array<PyObject*, kMostArguments> arguments;
        std::size_t made = 0;
        while (made < count && (arguments[made] = from_term(values[made])) != nullptr) ++made;
        PyObject* result = made == count ? PyObject_Vectorcall(function_, arguments.data(), count, nullptr) : nullptr;
        const int truth = result != nullptr ? PyObject_IsTrue(result) : -1;
        if (truth < 0 && owner_ != nullptr) {
            const Stamp stamp = origin.stamp();
            owner_->fault({-1, static_cast<std::int32_t>(event), &stamp, planned_});
        } else {
            forget_error();
        }
        Py_XDECREF(result);
        while (made > 0) Py_DECREF(arguments[--made]);
        PyErr_Restore(type, value, trace);
        return truth < 0 ? std::nullopt : std::optional<bool>(truth != 0);
    }
    // Errors are faults of this monitor.
    PyObject* belong_to(PyMonitor& owner) {
        owner_ = &owner;
        return planned_;
    }

private:
    PyObject* planned_;
    PyObject* function_;
    PyMonitor* owner_ = nullptr;
};

class Making {
public:
    explicit Making(SymbolicMachine& machine) : machine_(machine) {}

    void patterns(nb::handle rows) {
        for (const nb::handle item : rows) {
            const auto row = nb::cast<nb::tuple>(item);
            SymbolicMachine::Pattern& made = machine_.patterns.emplace_back();
            made.kind = static_cast<SymbolicMachine::Pattern::Kind>(nb::cast<std::uint8_t>(row[0]));
            made.slot = nb::cast<std::uint32_t>(row[1]);
            made.value = constant(row[2]);
            made.parts = nb::cast<std::vector<std::uint32_t>>(row[3]);
            made.rest = nb::cast<bool>(row[4]);
        }
    }
    void expressions(nb::handle rows) {
        for (const nb::handle item : rows) {
            const auto row = nb::cast<nb::tuple>(item);
            SymbolicMachine::Expression& made = machine_.expressions.emplace_back();
            made.op = static_cast<SymbolicMachine::Operator>(nb::cast<std::uint8_t>(row[0]));
            made.number = nb::cast<std::uint32_t>(row[1]);
            made.value = constant(row[2]);
            made.operands = nb::cast<std::vector<std::uint32_t>>(row[3]);
        }
    }
    void tests(nb::handle rows) {
        for (const nb::handle item : rows) {
            const auto row = nb::cast<nb::tuple>(item);
            auto slots = nb::cast<std::vector<std::uint32_t>>(row[1]);
            if (slots.size() > kMostArguments) throw nb::value_error("a predicate has at most 64 arguments");
            machine_.tests.push_back({std::make_shared<Predicate>(row[0]), std::move(slots)});
        }
    }
    void nodes(nb::handle rows) {
        for (const nb::handle item : rows) {
            const auto row = nb::cast<nb::tuple>(item);
            SymbolicMachine::Node& made = machine_.nodes.emplace_back();
            made.kind = static_cast<SymbolicMachine::Node::Kind>(nb::cast<std::uint8_t>(row[0]));
            made.flag = nb::cast<bool>(row[1]);
            made.whole = nb::cast<bool>(row[2]);
            made.letter = nb::cast<std::int32_t>(row[3]);
            made.parts = nb::cast<std::vector<std::uint32_t>>(row[4]);
            made.guard = nb::cast<SymbolicMachine::Guard>(row[5]);
            made.then = nb::cast<std::uint32_t>(row[6]);
            made.live = nb::cast<std::vector<std::uint32_t>>(row[7]);
        }
    }
    // An integer is the field of that number, a tuple has parts, anything else stands for itself.
    SymbolicMachine::Shape shape(nb::handle item) {
        SymbolicMachine::Shape made;
        if (PyLong_CheckExact(item.ptr()))
            made.field = nb::cast<std::int32_t>(item);
        else if (PyTuple_CheckExact(item.ptr()))
            for (const nb::handle part : item) made.parts.push_back(shape(part));
        else
            made.value = constant(item);
        return made;
    }

private:
    // A pattern or expression without a value has the class `Nothing` of the plan here, which is no term.
    Term constant(nb::handle value) {
        if (PyType_Check(value.ptr())) return {};
        Arena arena;
        const Term kept = keep(to_term(value.ptr(), arena), arena);
        machine_.constants.push_back(kept);
        return kept;
    }
    SymbolicMachine& machine_;
};

}  // namespace

std::shared_ptr<const Machine> make_symbolic(nb::tuple arguments) {
    auto machine = std::make_shared<SymbolicMachine>();
    Making making(*machine);
    making.nodes(arguments[0]);
    machine->root = nb::cast<std::uint32_t>(arguments[1]);
    machine->slots = nb::cast<std::uint32_t>(arguments[2]);
    making.patterns(arguments[3]);
    making.expressions(arguments[4]);
    making.tests(arguments[5]);
    machine->fields = nb::cast<std::vector<std::uint32_t>>(arguments[6]);
    for (const nb::handle item : arguments[7]) machine->shapes.push_back(making.shape(item));
    machine->linear = nb::cast<bool>(arguments[8]);
    machine->first_match = nb::cast<bool>(arguments[9]);
    machine->erlang_order = nb::cast<bool>(arguments[10]);
    machine->limit = nb::cast<std::uint32_t>(arguments[11]);
    const auto categories = nb::cast<std::vector<std::int32_t>>(arguments[12]);
    if (categories.size() != machine->categories.size()) throw nb::value_error("a category for each verdict");
    std::copy(categories.begin(), categories.end(), machine->categories.begin());
    machine->restarts = nb::cast<bool>(arguments[13]);
    machine->alive = nb::cast<std::vector<Mask>>(arguments[14]);
    return machine;
}

void keep_predicates(const Machine& machine, PyMonitor& monitor) {
    if (const auto* symbolic = dynamic_cast<const SymbolicMachine*>(&machine))
        for (const SymbolicMachine::TestCall& call : symbolic->tests)
            monitor.pin(static_cast<Predicate&>(*call.test).belong_to(monitor));
}

}  // namespace mopsus::python
