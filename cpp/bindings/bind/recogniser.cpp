#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "columns.hpp"
#include "mopsus/trace/recognise.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

// Which rows of some columns are which events.
struct FoundEvents {
    std::shared_ptr<const Recogniser> recogniser;
    std::shared_ptr<const OwnedColumns> columns;
    std::vector<Marks> marks;
};

struct PyRecogniser {
    std::shared_ptr<const Recogniser> core;
};

// A whole number of any size.
Test::Constant whole(nb::handle value) {
    int overflow = 0;
    const std::int64_t word = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return word;
    Real real{PyLong_AsDouble(value.ptr()), 0};
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return Real{overflow * std::numeric_limits<double>::infinity(), -overflow};
    }
    const nb::object near = nb::steal(PyLong_FromDouble(real.value));
    real.beyond = (nb::borrow(value) > near ? 1 : 0) - (nb::borrow(value) < near ? 1 : 0);
    return real;
}

Test::Constant constant_of(nb::handle value) {
    if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
    if (nb::isinstance<nb::int_>(value)) return whole(value);
    if (nb::isinstance<nb::float_>(value)) return Real{nb::cast<double>(value), 0};
    return nb::cast<std::string>(value);
}

Test::Relation relation_of(const std::string& sign) {
    static constexpr const char* kSigns[] = {"==", "!=", "<", "<=", ">", ">="};
    for (std::size_t k = 0; k < std::size(kSigns); ++k)
        if (sign == kSigns[k]) return static_cast<Test::Relation>(k);
    throw nb::value_error("no relation");
}

Test::Kind kind_of(const std::string& name) {
    static constexpr const char* kNames[] = {"constant", "all", "any",        "none",     "named",    "true",   "null",
                                             "compare",  "in",  "startswith", "endswith", "contains", "matches"};
    for (std::size_t k = 0; k < std::size(kNames); ++k)
        if (name == kNames[k]) return static_cast<Test::Kind>(k);
    throw nb::value_error("no test");
}

std::function<bool(std::string_view)> search_of(nb::object function) {
    return [function = std::move(function)](std::string_view text) {
        const nb::gil_scoped_acquire held;
        return nb::cast<bool>(function(nb::str(text.data(), text.size())));
    };
}

Test test_of(nb::tuple form) {
    Test test;
    test.kind = kind_of(nb::cast<std::string>(form[0]));
    switch (test.kind) {
        case Test::Kind::Constant: test.truth = nb::cast<bool>(form[1]); return test;
        case Test::Kind::All:
        case Test::Kind::Any:
        case Test::Kind::None:
            for (nb::handle operand : form[1]) test.operands.push_back(test_of(nb::cast<nb::tuple>(operand)));
            if (test.kind == Test::Kind::None && test.operands.size() != 1) throw nb::value_error("one test is denied");
            return test;
        case Test::Kind::Named: test.names = nb::cast<std::vector<std::string>>(form[1]); return test;
        default: break;
    }
    test.field = nb::cast<std::string>(form[1]);
    switch (test.kind) {
        case Test::Kind::Compare:
            test.relation = relation_of(nb::cast<std::string>(form[2]));
            for (nb::handle value : form[3]) test.constants.push_back(constant_of(value));
            if (test.constants.empty()) test.other = nb::cast<std::string>(form[4]);
            break;
        case Test::Kind::In:
            for (nb::handle value : form[2]) test.constants.push_back(constant_of(value));
            test.truth = nb::cast<bool>(form[3]);
            break;
        case Test::Kind::Matches: test.search = search_of(nb::borrow(form[2])); break;
        case Test::Kind::True:
        case Test::Kind::Null: break;
        default: test.text = nb::cast<std::string>(form[2]);
    }
    return test;
}

using RuleArgs = std::tuple<std::string, nb::tuple, std::vector<std::pair<std::string, std::string>>>;
using Releasable = std::vector<std::pair<std::string, std::vector<std::string>>>;

void make(PyRecogniser* self, const std::vector<RuleArgs>& rules, const std::vector<std::string>& values,
          const Releasable& releasable) {
    std::vector<RowRule> made;
    for (const auto& [event, test, columns] : rules) made.push_back({event, test_of(test), columns});
    new (self) PyRecogniser{std::make_shared<Recogniser>(std::move(made), values, releasable)};
}

// The readers go on meanwhile.
FoundEvents find(const PyRecogniser& self, const Columns& columns) {
    const nb::gil_scoped_release released;
    return {self.core, columns.owned, self.core->find(*columns.owned)};
}

Columns events(const FoundEvents& self) {
    const nb::gil_scoped_release released;
    return {self.recogniser->events(*self.columns, self.marks)};
}

// How many of the first rows are some event.
std::int64_t count_events(const std::vector<const FoundEvents*>& found, std::int64_t rows) {
    std::vector<std::uint8_t> any(static_cast<std::size_t>(rows), 0);
    for (const FoundEvents* each : found)
        for (const Marks& marks : each->marks) {
            if (marks.size() < any.size()) throw nb::value_error("there are not so many rows");
            for (std::size_t row = 0; row < any.size(); ++row) any[row] |= marks[row];
        }
    return std::count(any.begin(), any.end(), 1);
}

}  // namespace

void add_recogniser(nb::module_& module) {
    nb::class_<FoundEvents>(module, "FoundEvents").def("events", &events);
    nb::class_<PyRecogniser>(module, "Recogniser")
        .def("__init__", &make, nb::arg("rules"), nb::arg("values"), nb::arg("releasable"))
        .def("find", &find, nb::arg("columns"));
    module.def("count_events", &count_events, nb::arg("found"), nb::arg("rows"));
}

}  // namespace mopsus::python
