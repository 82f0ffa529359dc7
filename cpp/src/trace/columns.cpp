#include "mopsus/trace/columns.hpp"

#include <algorithm>
#include <cstring>

#include "trace/cells.hpp"
#include "mopsus/engine/key.hpp"
#include "machine/utf8.hpp"

namespace mopsus {

namespace {

void set_bit(std::vector<std::uint8_t>& bits, std::size_t at, bool value) {
    if (at / 8 >= bits.size()) bits.resize(at / 8 + 1, 0);
    if (value) bits[at / 8] |= static_cast<std::uint8_t>(1U << (at % 8));
}

bool is_number(CellType type) { return type == CellType::Int || type == CellType::Float; }
bool is_text(CellType type) { return type == CellType::Text || type == CellType::Bytes; }

// Lending: what the release callbacks of a column free.
struct Loan {
    std::shared_ptr<const OwnedColumns> owner;
    std::vector<const void*> buffers;
    std::vector<ArrowArray*> children;
    ArrowArray dictionary{};
};

struct SchemaLoan {
    std::string name;
    std::string format;
    std::vector<ArrowSchema*> children;
    ArrowSchema dictionary{};
};

void release_array(ArrowArray* array) {
    auto* loan = static_cast<Loan*>(array->private_data);
    for (ArrowArray* child : loan->children) {
        if (child->release != nullptr) child->release(child);
        delete child;
    }
    if (loan->dictionary.release != nullptr) loan->dictionary.release(&loan->dictionary);
    delete loan;
    array->release = nullptr;
}

void release_schema(ArrowSchema* schema) {
    auto* loan = static_cast<SchemaLoan*>(schema->private_data);
    for (ArrowSchema* child : loan->children) {
        if (child->release != nullptr) child->release(child);
        delete child;
    }
    if (loan->dictionary.release != nullptr) loan->dictionary.release(&loan->dictionary);
    delete loan;
    schema->release = nullptr;
}

void lend_schema(ArrowSchema* schema, const std::string& format, const std::string& name) {
    auto* loan = new SchemaLoan{name, format, {}, {}};
    *schema = {
        loan->format.c_str(), loan->name.c_str(), nullptr, 2 /* nullable */, 0, nullptr, nullptr, release_schema, loan};
}

Loan* lend_array(ArrowArray* array, std::shared_ptr<const OwnedColumns> owner, std::int64_t length, std::int64_t nulls,
                 std::vector<const void*> buffers) {
    auto* loan = new Loan{std::move(owner), std::move(buffers), {}, {}};
    *array = {
        length,  nulls,         0,   static_cast<std::int64_t>(loan->buffers.size()), 0, loan->buffers.data(), nullptr,
        nullptr, release_array, loan};
    return loan;
}

// An empty vector may have no memory, and Arrow wants some.
template <class T>
const void* memory(const std::vector<T>& data) {
    static const std::uint64_t nothing = 0;
    return data.empty() ? static_cast<const void*>(&nothing) : data.data();
}

void lend_column(const std::shared_ptr<const OwnedColumns>& owner, const OwnedColumns::Column& column,
                 ArrowSchema* schema, ArrowArray* array) {
    const void* validity = column.validity.empty() ? nullptr : column.validity.data();
    const char* texts = column.type == CellType::Text ? "u" : "z";
    if (column.dictionary) {
        lend_schema(schema, "i", column.name);
        auto* names = static_cast<SchemaLoan*>(schema->private_data);
        lend_schema(&names->dictionary, texts, "");
        schema->dictionary = &names->dictionary;
        Loan* loan = lend_array(array, owner, owner->rows, column.nulls, {validity, memory(column.codes)});
        lend_array(&loan->dictionary, owner, static_cast<std::int64_t>(column.offsets.size()) - 1, 0,
                   {nullptr, memory(column.offsets), column.text.data()});
        array->dictionary = &loan->dictionary;
        return;
    }
    switch (column.type) {
        case CellType::Int:
        case CellType::Float:
            lend_schema(schema,
                        !column.timestamp.empty()      ? column.timestamp
                        : column.type == CellType::Int ? "l"
                                                       : "g",
                        column.name);
            lend_array(array, owner, owner->rows, column.nulls, {validity, memory(column.words)});
            return;
        case CellType::Bool:
            lend_schema(schema, "b", column.name);
            lend_array(array, owner, owner->rows, column.nulls, {validity, memory(column.bits)});
            return;
        case CellType::Text:
        case CellType::Bytes:
            lend_schema(schema, texts, column.name);
            lend_array(array, owner, owner->rows, column.nulls, {validity, memory(column.offsets), column.text.data()});
    }
}

// A value of an Arrow column in a column of the given type, if it is plainly one of it.
class ArrowCells {
public:
    ArrowCells(const Column& column, CellType type, bool timestamp)
        : column_(column),
          values_(column.dictionary() ? *column.dictionary() : column),
          type_(type),
          timestamp_(timestamp) {}

    bool timestamp() const { return timestamp_; }

    bool read(std::int64_t row, Cell& cell, std::string& scratch) const {
        if (!column_.valid(row)) return true;
        const std::int64_t at = column_.dictionary() ? column_.integer(row) : row;
        if (column_.dictionary() && (at < 0 || at >= values_.length())) return false;
        if (!values_.valid(at)) return true;
        cell.null = false;
        switch (type_) {
            case CellType::Int: cell.word = values_.integer(at); return is_whole() || timestamp_;
            case CellType::Float: return read_number(at, cell);
            case CellType::Bool: {
                std::string unused;
                if (values_.type() != Column::Type::Bool) return false;
                cell.word = static_cast<std::int64_t>(values_.key(at, unused).bits);
                return true;
            }
            case CellType::Text: return read_text(at, cell, scratch);
            case CellType::Bytes: cell.text = values_.text(at); return values_.type() == Column::Type::Bytes;
        }
        return false;
    }

private:
    bool is_whole() const { return values_.type() == Column::Type::Int64 && values_.nanoseconds() == 0; }
    bool read_number(std::int64_t at, Cell& cell) const {
        if (values_.type() == Column::Type::Double) return cell = Cell::of_real(values_.real(at)), true;
        if (is_whole()) cell = Cell::of_real(static_cast<double>(values_.integer(at)));
        return is_whole();
    }
    bool read_text(std::int64_t at, Cell& cell, std::string& scratch) const {
        if (values_.type() == Column::Type::Text) {
            cell.text = values_.text(at);
            return is_utf8(cell.text);
        }
        if (!is_whole()) return false;
        scratch = std::to_string(values_.integer(at));
        cell.text = scratch;
        return true;
    }

    const Column& column_;
    const Column& values_;
    CellType type_;
    bool timestamp_;  // points in time are wanted, in their own unit
};

}  // namespace

Cell Cell::of_real(double number) { return of_word(bits_of(number)); }

double OwnedColumns::Column::real(std::size_t row) const {
    double number = 0;
    std::memcpy(&number, &words[row], sizeof number);
    return number;
}

std::string_view OwnedColumns::Column::text_at(std::size_t k) const {
    const auto from = static_cast<std::size_t>(offsets[k]);
    return std::string_view(text).substr(from, static_cast<std::size_t>(offsets[k + 1]) - from);
}

Cell OwnedColumns::Column::cell(std::size_t row) const {
    if (!valid(row)) return {};
    if (is_number(type)) return Cell::of_word(words[row]);
    return type == CellType::Bool ? Cell::of_word(truth(row) ? 1 : 0) : Cell::of_text(text_of(row));
}

const OwnedColumns::Column* OwnedColumns::find(std::string_view name) const {
    for (const Column& column : columns)
        if (column.name == name) return &column;
    return nullptr;
}

std::int64_t OwnedColumns::number(std::int64_t row) const {
    const Column* numbers = find(kNumber);
    return numbers == nullptr ? first_row + row : numbers->words[static_cast<std::size_t>(row)];
}

std::int64_t OwnedColumns::rows_before(std::int64_t number) const {
    const Column* numbers = find(kNumber);
    if (numbers == nullptr) return std::clamp<std::int64_t>(number - first_row, 0, rows);
    return std::lower_bound(numbers->words.begin(), numbers->words.end(), number) - numbers->words.begin();
}

void OwnedColumns::lend(const std::shared_ptr<const OwnedColumns>& self, ArrowSchema* schema, ArrowArray* array) {
    lend_schema(schema, "+s", "");
    Loan* loan = lend_array(array, self, self->rows, 0, {nullptr});
    auto* names = static_cast<SchemaLoan*>(schema->private_data);
    for (const Column& column : self->columns) {
        names->children.push_back(new ArrowSchema{});
        loan->children.push_back(new ArrowArray{});
        lend_column(self, column, names->children.back(), loan->children.back());
    }
    schema->n_children = array->n_children = static_cast<std::int64_t>(self->columns.size());
    schema->children = names->children.data();
    array->children = loan->children.data();
}

ColumnBuilder::ColumnBuilder(std::string name, CellType type, bool dictionary, std::size_t rows) {
    column.name = std::move(name);
    column.type = type;
    column.dictionary = dictionary;
    recent_.fill(-1);
    if (is_number(type)) column.words.reserve(rows);
    if (type == CellType::Bool) column.bits.reserve(rows / 8 + 1);
    if (dictionary) column.codes.reserve(rows);
    if (is_text(type)) column.offsets.assign(1, 0);
}

void ColumnBuilder::add(const Cell& cell) {
    if (cell.null) {
        if (column.validity.empty())
            for (std::size_t row = 0; row < rows_; ++row) set_bit(column.validity, row, true);
        ++column.nulls;
    }
    if (column.nulls != 0) set_bit(column.validity, rows_, !cell.null);
    switch (column.type) {
        case CellType::Int:
        case CellType::Float: column.words.push_back(cell.word); break;
        case CellType::Bool: set_bit(column.bits, rows_, cell.word != 0); break;
        case CellType::Text:
        case CellType::Bytes:
            if (column.dictionary)
                column.codes.push_back(cell.null ? 0 : code(cell.text));
            else
                append(cell.text);
    }
    ++rows_;
}

void ColumnBuilder::append(std::string_view text) {
    column.text.append(text);
    column.offsets.push_back(static_cast<std::int32_t>(column.text.size()));
}

// Texts seen lately are found without hashing all of them.
std::int32_t ColumnBuilder::code(std::string_view text) {
    std::uint64_t start = 0;
    if (!text.empty()) std::memcpy(&start, text.data(), text.size() < 8 ? text.size() : 8);
    std::int32_t& recent = recent_[mix(start ^ text.size(), 0x9E3779B97F4A7C15ULL) >> 58];
    if (recent < 0 || text != column.text_at(static_cast<std::size_t>(recent))) {
        const auto [entry, fresh] = codes_.try_emplace(std::string(text), static_cast<std::int32_t>(codes_.size()));
        if (fresh) {
            append(text);
            column.counts.push_back(0);
        }
        recent = entry->second;
    }
    ++column.counts[static_cast<std::size_t>(recent)];
    return recent;
}

RowBuilder::RowBuilder(const std::vector<Field>& fields, std::size_t rows) : cells_(fields.size()) {
    for (const Field& field : fields) builders_.emplace_back(field, rows < 1U << 16 ? rows : 1U << 16);
}

void RowBuilder::add(const std::vector<Cell>& cells) {
    if (count_ != good_) {
        for (auto offset = static_cast<std::int64_t>(offsets_.size()); offset < good_; ++offset)
            offsets_.push_back(offset);
        offsets_.push_back(count_);
    }
    for (std::size_t k = 0; k < builders_.size(); ++k) builders_[k].add(cells[k]);
    ++count_;
    ++good_;
}

std::size_t RowBuilder::add_odd(const ReadOdd& odd, std::size_t at) {
    cells_.assign(builders_.size(), {});
    std::size_t end = at;
    if (odd(at, count_, cells_, end))
        add(cells_);
    else
        leave_out();
    return std::max(end, at + 1);
}

RowsRead RowBuilder::finish() {
    auto found = std::make_shared<OwnedColumns>();
    found->rows = good_;
    for (ColumnBuilder& builder : builders_) found->columns.push_back(std::move(builder.column));
    if (!offsets_.empty()) {
        ColumnBuilder numbers(OwnedColumns::kNumber, CellType::Int, false, offsets_.size());
        for (const std::int64_t offset : offsets_) numbers.add(Cell::of_word(found->first_row + offset));
        found->columns.push_back(std::move(numbers.column));
    }
    return {std::move(found), count_};
}

RowsRead read_arrow(const ArrowSchema& schema, const ArrowArray& array, const std::vector<Field>& fields,
                    const ReadOdd& odd) {
    std::vector<Column> columns;
    std::vector<ArrowCells> readers;
    columns.reserve(fields.size());
    for (const Field& field : fields)
        for (std::int64_t k = 0; k < schema.n_children; ++k)
            if (field.name == schema.children[k]->name)
                columns.emplace_back(*schema.children[k], *array.children[k], array.offset);
    std::vector<Field> wanted = fields;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const bool timestamp = columns[k].nanoseconds() != 0 && fields[k].type == CellType::Float;
        if (timestamp) wanted[k].type = CellType::Int;
        readers.emplace_back(columns[k], wanted[k].type, timestamp);
    }
    RowBuilder rows(wanted, static_cast<std::size_t>(array.length));
    std::vector<Cell> cells(fields.size());
    std::vector<std::string> scratch(fields.size());
    const auto read = [&](std::size_t k, std::int64_t row, Cell& cell) {
        cell = {};
        return readers[k].read(row, cell, scratch[k]);
    };
    // The definition knows no points in time, only seconds.
    const ReadOdd as_defined = [&](std::size_t row, std::int64_t offset, std::vector<Cell>& given, std::size_t& end) {
        const bool good = odd(row, offset, given, end);
        for (std::size_t k = 0; k < readers.size(); ++k)
            if (readers[k].timestamp()) read(k, static_cast<std::int64_t>(row), given[k]);
        return good;
    };
    for (std::int64_t row = 0; row < array.length;) {
        bool plain = true;
        for (std::size_t k = 0; plain && k < readers.size(); ++k)
            plain = read(k, row, cells[k]) && !(cells[k].null && fields[k].required);
        if (plain) rows.add(cells);
        row = plain ? row + 1 : static_cast<std::int64_t>(rows.add_odd(as_defined, static_cast<std::size_t>(row)));
    }
    RowsRead found = rows.finish();
    for (std::size_t k = 0; k < readers.size(); ++k)
        if (readers[k].timestamp()) found.columns->columns[k].timestamp = columns[k].format();
    return found;
}

std::shared_ptr<OwnedColumns> marked_rows(const OwnedColumns& columns, const std::vector<std::uint8_t>& marks) {
    auto found = std::make_shared<OwnedColumns>();
    found->first_row = columns.first_row;
    found->rows = std::count(marks.begin(), marks.end(), 1);
    const auto copy = [&](const OwnedColumns::Column& column) {
        ColumnBuilder builder(column.name, column.type, column.dictionary, static_cast<std::size_t>(found->rows));
        for (std::size_t row = 0; row < marks.size(); ++row)
            if (marks[row] != 0) builder.add(column.cell(row));
        builder.column.timestamp = column.timestamp;
        found->columns.push_back(std::move(builder.column));
    };
    for (const OwnedColumns::Column& column : columns.columns) copy(column);
    if (columns.find(OwnedColumns::kNumber) == nullptr && found->rows != columns.rows) {
        ColumnBuilder numbers(OwnedColumns::kNumber, CellType::Int, false, static_cast<std::size_t>(found->rows));
        for (std::size_t row = 0; row < marks.size(); ++row)
            if (marks[row] != 0) numbers.add(Cell::of_word(columns.first_row + static_cast<std::int64_t>(row)));
        found->columns.push_back(std::move(numbers.column));
    }
    return found;
}

std::shared_ptr<OwnedColumns> first_rows(const OwnedColumns& columns, std::int64_t rows) {
    std::vector<std::uint8_t> marks(static_cast<std::size_t>(columns.rows), 0);
    std::fill_n(marks.begin(), std::clamp<std::int64_t>(rows, 0, columns.rows), std::uint8_t{1});
    return marked_rows(columns, marks);
}

}  // namespace mopsus
