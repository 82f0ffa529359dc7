#include "columns.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "arrow_capsule.hpp"
#include "mopsus/trace/csv.hpp"
#include "mopsus/trace/json_lines.hpp"
#include "mopsus/trace/recognise.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

using FieldArgs = std::tuple<std::string, std::string, bool, bool>;  // name, type, dictionary, required

constexpr const char* kTypes[] = {"int", "float", "bool", "str", "bytes"};

CellType type_of(const std::string& name) {
    for (std::size_t k = 0; k < std::size(kTypes); ++k)
        if (name == kTypes[k]) return static_cast<CellType>(k);
    throw nb::value_error("a column is int, float, bool, str or bytes");
}

std::vector<Field> fields_of(const std::vector<FieldArgs>& fields) {
    std::vector<Field> found;
    for (const auto& [name, type, dictionary, required] : fields)
        found.push_back({name, type_of(type), dictionary, required});
    return found;
}

std::vector<std::optional<std::string>> names_of(const std::vector<std::optional<CellType>>& types) {
    std::vector<std::optional<std::string>> names;
    for (const std::optional<CellType>& type : types)
        names.push_back(type ? std::optional<std::string>(kTypes[static_cast<std::size_t>(*type)]) : std::nullopt);
    return names;
}

std::string_view view(nb::bytes block) { return {block.c_str(), block.size()}; }

void check_positions(const std::vector<std::size_t>& positions, std::size_t width) {
    for (const std::size_t position : positions)
        if (position >= width) throw nb::index_error("a position outside of the rows");
}

// A value of the definition's, which lives as long as the row that it is of.
Cell cell_of(nb::handle value, CellType type) {
    if (value.is_none()) return {};
    switch (type) {
        case CellType::Int: return Cell::of_word(nb::cast<std::int64_t>(value));
        case CellType::Float: return Cell::of_real(nb::cast<double>(value));
        case CellType::Bool: return Cell::of_word(nb::cast<bool>(value) ? 1 : 0);
        case CellType::Text: {
            Py_ssize_t size = 0;
            const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
            if (text == nullptr) nb::raise_python_error();
            return Cell::of_text({text, static_cast<std::size_t>(size)});
        }
        case CellType::Bytes: break;
    }
    const auto bytes = nb::cast<nb::bytes>(value);
    return Cell::of_text({bytes.c_str(), bytes.size()});
}

// The definition: `odd(at, offset)` gives the values of the row, or None if it is a bad one, and where the next row
// begins.
class Definition {
public:
    Definition(nb::callable odd, const std::vector<Field>& fields) : odd_(std::move(odd)), fields_(fields) {}

    ReadOdd reader() {
        return [this](std::size_t at, std::int64_t offset, std::vector<Cell>& cells, std::size_t& end) {
            const nb::gil_scoped_acquire held;
            const auto answer = nb::cast<nb::tuple>(odd_(at, offset));
            end = nb::cast<std::size_t>(answer[1]);
            if (answer[0].is_none()) return false;
            values_ = nb::cast<nb::tuple>(answer[0]);
            if (values_.size() != fields_.size()) throw nb::value_error("a row has a value for each column");
            for (std::size_t k = 0; k < fields_.size(); ++k) cells[k] = cell_of(values_[k], fields_[k].type);
            return true;
        };
    }

private:
    nb::callable odd_;
    const std::vector<Field>& fields_;
    nb::tuple values_;
};

template <class Read>
nb::tuple read(const std::vector<Field>& fields, nb::callable odd, Read&& with) {
    Definition definition(std::move(odd), fields);
    RowsRead found;
    {
        const nb::gil_scoped_release released;
        found = with(definition.reader());
    }
    return nb::make_tuple(Columns{std::move(found.columns)}, found.count);
}

nb::tuple read_text(nb::bytes block, std::size_t width, const std::vector<FieldArgs>& args,
                    const std::vector<std::size_t>& positions, nb::callable odd) {
    check_positions(positions, width);
    if (positions.size() != args.size()) throw nb::value_error("a field has a position");
    const std::vector<Field> fields = fields_of(args);
    return read(fields, std::move(odd),
                [&](const ReadOdd& reader) { return read_csv(view(block), width, fields, positions, reader); });
}

nb::tuple read_json(nb::bytes block, const std::vector<FieldArgs>& args, nb::callable odd) {
    const std::vector<Field> fields = fields_of(args);
    return read(fields, std::move(odd),
                [&](const ReadOdd& reader) { return read_json_lines(view(block), fields, reader); });
}

nb::tuple read_batch(nb::handle batch, const std::vector<FieldArgs>& args, nb::callable odd) {
    const std::vector<Field> fields = fields_of(args);
    const auto pair = nb::cast<nb::tuple>(batch.attr("__arrow_c_array__")());
    auto schema = taken<ArrowSchema>(pair[0], "arrow_schema");
    auto array = taken<ArrowArray>(pair[1], "arrow_array");
    const auto release = [](auto* held) { held->release(held); };
    const std::unique_ptr<ArrowSchema, decltype(release)> schema_owner(&schema, release);
    const std::unique_ptr<ArrowArray, decltype(release)> array_owner(&array, release);
    return read(fields, std::move(odd),
                [&](const ReadOdd& reader) { return read_arrow(schema, array, fields, reader); });
}

std::optional<std::vector<std::optional<std::string>>> infer_text(nb::bytes block, std::size_t width,
                                                                  const std::vector<std::size_t>& positions) {
    check_positions(positions, width);
    const auto seen = infer_csv(view(block), width, positions);
    if (!seen) return {};
    return names_of(*seen);
}

std::vector<std::optional<std::string>> infer_json(nb::bytes block, const std::vector<std::string>& names) {
    return names_of(infer_json_lines(view(block), names));
}

nb::tuple lend(const Columns& self, nb::handle /*requested_schema*/) {
    auto schema = std::make_unique<ArrowSchema>();
    auto array = std::make_unique<ArrowArray>();
    OwnedColumns::lend(self.owned, schema.get(), array.get());
    nb::object first = nb::steal(PyCapsule_New(schema.release(), "arrow_schema", free_capsule<ArrowSchema>));
    nb::object second = nb::steal(PyCapsule_New(array.release(), "arrow_array", free_capsule<ArrowArray>));
    return nb::make_tuple(std::move(first), std::move(second));
}

const OwnedColumns::Column& at(const Columns& self, const std::string& name) {
    const OwnedColumns::Column* column = self.owned->find(name);
    if (column == nullptr) throw nb::key_error(name.c_str());
    return *column;
}

const OwnedColumns::Column& numbered(const Columns& self, const std::string& name) {
    const OwnedColumns::Column& column = at(self, name);
    if (!column.dictionary) throw nb::type_error("this column has no dictionary");
    return column;
}

nb::object value(const OwnedColumns::Column& column, std::size_t row) {
    if (!column.valid(row)) return nb::none();
    switch (column.type) {
        case CellType::Int: return nb::int_(column.words[row]);
        case CellType::Float: return nb::float_(column.real(row));
        case CellType::Bool: return nb::bool_(column.truth(row));
        case CellType::Text:
        case CellType::Bytes: break;
    }
    const std::string_view text = column.text_of(row);
    if (column.type == CellType::Text) return nb::str(text.data(), text.size());
    return nb::bytes(text.data(), text.size());
}

nb::dict first_row(const Columns& self) {
    nb::dict row;
    for (const OwnedColumns::Column& column : self.owned->columns)
        if (self.owned->rows > 0 && column.name != OwnedColumns::kNumber)
            row[nb::str(column.name.c_str(), column.name.size())] = value(column, 0);
    return row;
}

nb::list distinct(const Columns& self, const std::string& name) {
    const OwnedColumns::Column& column = numbered(self, name);
    nb::list texts;
    for (std::size_t k = 0; k < column.counts.size(); ++k)
        texts.append(nb::str(column.text_at(k).data(), column.text_at(k).size()));
    return texts;
}

// How many of the first `rows` rows have one of the texts.
std::int64_t count(const Columns& self, const std::string& name, const std::vector<std::string>& texts,
                   std::int64_t rows) {
    const OwnedColumns::Column& column = numbered(self, name);
    const std::set<std::string_view> wanted(texts.begin(), texts.end());
    std::vector<bool> hit;
    std::int64_t total = 0;
    for (std::size_t k = 0; k < column.counts.size(); ++k) {
        hit.push_back(wanted.contains(column.text_at(k)));
        if (hit.back()) total += column.counts[k];
    }
    if (rows >= self.owned->rows) return total;
    total = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
        if (column.valid(row) && hit[static_cast<std::size_t>(column.codes[row])]) ++total;
    return total;
}

// The rows have got their place in the trace.
void begin_at(Columns& self, std::int64_t first_row) {
    const std::int64_t shift = first_row - self.owned->first_row;
    self.owned->first_row = first_row;
    for (OwnedColumns::Column& column : self.owned->columns)
        if (column.name == OwnedColumns::kNumber)
            for (std::int64_t& number : column.words) number += shift;
}

std::optional<std::tuple<std::int64_t, std::string, std::string>> first_lacking(const Columns& self,
                                                                                const EventNeeds& needs) {
    const std::vector<Lack> found = find_lacking(*self.owned, needs, true);
    if (found.empty()) return {};
    const Lack& lack = found.front();
    return std::tuple(self.owned->number(lack.row), needs[lack.event].first, needs[lack.event].second[lack.parameter]);
}

// Without the rows of which an event lacks something; a row may be several events. And how many those were.
std::pair<Columns, std::int64_t> without_lacking(const Columns& self, const EventNeeds& needs) {
    std::set<std::int64_t> bad;
    for (const Lack& lack : find_lacking(*self.owned, needs, false)) bad.insert(self.owned->number(lack.row));
    if (bad.empty()) return {self, 0};
    Marks marks;
    for (std::int64_t row = 0; row < self.owned->rows; ++row)
        marks.push_back(bad.contains(self.owned->number(row)) ? 0 : 1);
    return {Columns{marked_rows(*self.owned, marks)}, static_cast<std::int64_t>(bad.size())};
}

// `bytes.count` looks at one byte after the other.
std::int64_t count_byte(nb::handle text, char byte, std::int64_t end) {
    Py_buffer view;
    if (PyObject_GetBuffer(text.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
    const auto* data = static_cast<const char*>(view.buf);
    const std::int64_t found = std::count(data, data + std::clamp<std::int64_t>(end, 0, view.len), byte);
    PyBuffer_Release(&view);
    return found;
}

}  // namespace

void add_columns(nb::module_& module) {
    nb::class_<Columns>(module, "Columns")
        .def_prop_ro("num_rows", [](const Columns& self) { return self.owned->rows; })
        .def_prop_ro("column_names",
                     [](const Columns& self) {
                         nb::list names;
                         for (const OwnedColumns::Column& column : self.owned->columns)
                             names.append(nb::str(column.name.c_str(), column.name.size()));
                         return names;
                     })
        .def(
            "null_count", [](const Columns& self, const std::string& name) { return at(self, name).nulls; },
            nb::arg("name"))
        .def("distinct", &distinct, nb::arg("name"))
        .def("count", &count, nb::arg("name"), nb::arg("texts"), nb::arg("rows"))
        .def("first", &first_row)
        .def("begin_at", &begin_at, nb::arg("first_row"))
        .def(
            "rows_before", [](const Columns& self, std::int64_t number) { return self.owned->rows_before(number); },
            nb::arg("number"))
        .def(
            "before",
            [](const Columns& self, std::int64_t number) {
                return Columns{first_rows(*self.owned, self.owned->rows_before(number))};
            },
            nb::arg("number"))
        .def("first_lacking", &first_lacking, nb::arg("needs"))
        .def("without_lacking", &without_lacking, nb::arg("needs"))
        .def("__arrow_c_array__", &lend, nb::arg("requested_schema").none() = nb::none());
    module.def("count_byte", &count_byte, nb::arg("text"), nb::arg("byte"), nb::arg("end"));
    module.def("read_csv", &read_text, nb::arg("block"), nb::arg("width"), nb::arg("fields"), nb::arg("positions"),
               nb::arg("odd"));
    module.def("read_json_lines", &read_json, nb::arg("block"), nb::arg("fields"), nb::arg("odd"));
    module.def("read_arrow", &read_batch, nb::arg("batch"), nb::arg("fields"), nb::arg("odd"));
    module.def("infer_csv", &infer_text, nb::arg("block"), nb::arg("width"), nb::arg("positions"));
    module.def("infer_json_lines", &infer_json, nb::arg("block"), nb::arg("names"));
    module.attr("MOST_NESTED") = kMostNested;
    module.attr("MOST_DIGITS") = kMostDigits;
}

}  // namespace mopsus::python
