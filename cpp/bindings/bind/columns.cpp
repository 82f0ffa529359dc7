#include "columns.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "mopsus/trace/csv.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

struct Columns {
    std::shared_ptr<const OwnedColumns> owned;

    const OwnedColumns::Column& at(const std::string& name) const {
        const OwnedColumns::Column* column = owned->find(name);
        if (column == nullptr) throw nb::key_error(name.c_str());
        return *column;
    }
};

constexpr const char* kTypes[] = {"int", "float", "bool", "str", "bytes"};

CellType type_of(const std::string& name) {
    for (std::size_t k = 0; k < std::size(kTypes); ++k)
        if (name == kTypes[k]) return static_cast<CellType>(k);
    throw nb::value_error("a column is int, float, bool, str or bytes");
}

std::string_view view(nb::bytes block) { return {block.c_str(), block.size()}; }

void check_position(std::size_t position, std::size_t width) {
    if (position >= width) throw nb::index_error("a position outside of the rows");
}

nb::object read(nb::bytes block, std::size_t width, const std::vector<std::tuple<std::string, std::size_t, std::string, bool>>& fields) {
    std::vector<CsvField> wanted;
    for (const auto& [name, position, type, dictionary] : fields) {
        check_position(position, width);
        wanted.push_back({name, position, type_of(type), dictionary});
    }
    Columns found;
    {
        const nb::gil_scoped_release released;
        found.owned = read_csv(view(block), width, wanted);
    }
    return found.owned ? nb::cast(std::move(found)) : nb::none();
}

std::optional<std::vector<std::optional<std::string>>> infer(nb::bytes block, std::size_t width, const std::vector<std::size_t>& positions) {
    for (const std::size_t position : positions) check_position(position, width);
    const auto seen = infer_csv(view(block), width, positions);
    if (!seen) return {};
    std::vector<std::optional<std::string>> names;
    for (const std::optional<CellType>& type : *seen)
        names.push_back(type ? std::optional<std::string>(kTypes[static_cast<std::size_t>(*type)]) : std::nullopt);
    return names;
}

template <class T>
void free_capsule(PyObject* capsule) {
    auto* held = static_cast<T*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
    if (held->release != nullptr) held->release(held);
    delete held;
}

nb::tuple lend(const Columns& self, nb::handle /*requested_schema*/) {
    auto schema = std::make_unique<ArrowSchema>();
    auto array = std::make_unique<ArrowArray>();
    OwnedColumns::lend(self.owned, schema.get(), array.get());
    nb::object first = nb::steal(PyCapsule_New(schema.release(), "arrow_schema", free_capsule<ArrowSchema>));
    nb::object second = nb::steal(PyCapsule_New(array.release(), "arrow_array", free_capsule<ArrowArray>));
    return nb::make_tuple(std::move(first), std::move(second));
}

std::string_view text_at(const OwnedColumns::Column& column, std::size_t k) {
    return std::string_view(column.text).substr(static_cast<std::size_t>(column.offsets[k]), static_cast<std::size_t>(column.offsets[k + 1] - column.offsets[k]));
}

bool bit(const std::vector<std::uint8_t>& bits, std::size_t at) { return ((bits[at / 8] >> (at % 8)) & 1U) != 0; }

nb::object value(const OwnedColumns::Column& column, std::size_t row) {
    if (!column.validity.empty() && !bit(column.validity, row)) return nb::none();
    switch (column.type) {
        case CellType::Int: return nb::int_(column.words[row]);
        case CellType::Float: {
            double number = 0;
            std::memcpy(&number, &column.words[row], sizeof number);
            return nb::float_(number);
        }
        case CellType::Bool: return nb::bool_(bit(column.bits, row));
        case CellType::Text:
        case CellType::Bytes: break;
    }
    const std::string_view text = text_at(column, column.dictionary ? static_cast<std::size_t>(column.codes[row]) : row);
    if (column.type == CellType::Text) return nb::str(text.data(), text.size());
    return nb::bytes(text.data(), text.size());
}

nb::dict to_pydict(const Columns& self) {
    nb::dict result;
    for (const OwnedColumns::Column& column : self.owned->columns) {
        nb::list values;
        for (std::size_t row = 0; row < static_cast<std::size_t>(self.owned->rows); ++row) values.append(value(column, row));
        result[column.name.c_str()] = values;
    }
    return result;
}

const OwnedColumns::Column& numbered(const Columns& self, const std::string& name) {
    const OwnedColumns::Column& column = self.at(name);
    if (!column.dictionary) throw nb::type_error("this column has no dictionary");
    return column;
}

nb::list distinct(const Columns& self, const std::string& name) {
    const OwnedColumns::Column& column = numbered(self, name);
    nb::list texts;
    for (std::size_t k = 0; k + 1 < column.offsets.size(); ++k) texts.append(nb::str(text_at(column, k).data(), text_at(column, k).size()));
    return texts;
}

// How many of the first `rows` rows have one of the texts.
std::int64_t count(const Columns& self, const std::string& name, const std::vector<std::string>& texts, std::int64_t rows) {
    const OwnedColumns::Column& column = numbered(self, name);
    const std::set<std::string_view> wanted(texts.begin(), texts.end());
    std::vector<bool> hit;
    std::int64_t total = 0;
    for (std::size_t k = 0; k + 1 < column.offsets.size(); ++k) {
        hit.push_back(wanted.contains(text_at(column, k)));
        if (hit.back()) total += column.counts[k];
    }
    if (rows >= self.owned->rows) return total;
    total = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
        if ((column.validity.empty() || bit(column.validity, row)) && hit[static_cast<std::size_t>(column.codes[row])]) ++total;
    return total;
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
                         for (const OwnedColumns::Column& column : self.owned->columns) names.append(nb::str(column.name.c_str(), column.name.size()));
                         return names;
                     })
        .def("null_count", [](const Columns& self, const std::string& name) { return self.at(name).nulls; }, nb::arg("name"))
        .def("distinct", &distinct, nb::arg("name"))
        .def("count", &count, nb::arg("name"), nb::arg("texts"), nb::arg("rows"))
        .def("to_pydict", &to_pydict)
        .def("__arrow_c_array__", &lend, nb::arg("requested_schema").none() = nb::none());
    module.def("count_byte", &count_byte, nb::arg("text"), nb::arg("byte"), nb::arg("end"));
    module.def("read_csv", &read, nb::arg("block"), nb::arg("width"), nb::arg("fields"));
    module.def("infer_csv", &infer, nb::arg("block"), nb::arg("width"), nb::arg("positions"));
}

}  // namespace mopsus::python
