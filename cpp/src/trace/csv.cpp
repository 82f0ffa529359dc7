#include "mopsus/trace/csv.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <unordered_map>

#include "mopsus/engine/key.hpp"
#include "machine/utf8.hpp"

namespace mopsus {

namespace {

bool is_ascii(std::string_view text) {
    unsigned char any = 0;
    for (const char c : text) any |= static_cast<unsigned char>(c);
    return any < 0x80;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whole numbers of at most 18 digits; longer ones, and other ways to write them, are for the definition.
bool read_int(std::string_view cell, std::int64_t& number) {
    const bool negative = cell.front() == '-';
    if (negative) cell.remove_prefix(1);
    if (cell.empty() || cell.size() > 18) return false;
    std::int64_t value = 0;
    for (const char c : cell) {
        if (!is_digit(c)) return false;
        value = value * 10 + (c - '0');
    }
    number = negative ? -value : value;
    return true;
}

// Decimal numbers that start with a digit and are within the range of a double.
bool read_float(std::string_view cell, std::int64_t& bits) {
    const bool negative = cell.front() == '-';
    if (!is_digit(cell[negative ? 1 : 0])) return false;  // a cell is never empty, and ends in what is no digit
    double number = 0;
    const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    if (fault != std::errc() || end != cell.data() + cell.size()) return false;
    std::memcpy(&bits, &number, sizeof bits);
    return true;
}

std::optional<bool> read_bool(std::string_view cell) {
    if (cell == "true" || cell == "True" || cell == "TRUE" || cell == "1") return true;
    if (cell == "false" || cell == "False" || cell == "FALSE" || cell == "0") return false;
    return {};
}

// Walks over the records of a block. `on_field(position, cell)` gives false to give up.
class Records {
public:
    Records(std::string_view block, std::size_t width) : at_(block.data()), end_(block.data() + block.size()), width_(width) {
        for (const char c : {',', '\n', '\r', '\0'}) stops_[static_cast<unsigned char>(c)] = true;
    }

    // `on_row()` after each record. False: this is no plain CSV.
    template <class OnField, class OnRow>
    bool walk(OnField&& on_field, OnRow&& on_row) {
        while (at_ < end_) {
            if (*at_ == '\n') {
                ++at_;
                continue;
            }
            if (*at_ == '\r') {  // an empty line, too
                if (!end_of_row()) return false;
                continue;
            }
            for (std::size_t position = 0;; ++position) {
                if (position == width_) return false;
                std::string_view cell;
                if (!(at_ < end_ && *at_ == '"' ? quoted(cell) : bare(cell)) || !on_field(position, cell)) return false;
                if (at_ < end_ && *at_ == ',') {
                    ++at_;
                    continue;
                }
                if (position + 1 != width_ || !end_of_row()) return false;
                break;
            }
            on_row();
        }
        return true;
    }

private:
    bool bare(std::string_view& cell) {
        const char* start = at_;
        while (at_ < end_) {
            while (!stops_[static_cast<unsigned char>(*at_)]) ++at_;  // the byte after a block is a stop
            if (at_ >= end_ || *at_ != '\0') break;
            ++at_;
        }
        cell = {start, static_cast<std::size_t>(at_ - start)};
        return true;
    }
    bool quoted(std::string_view& cell) {
        const char* start = ++at_;
        const auto* close = static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
        if (close == nullptr) return false;
        at_ = close + 1;
        if (at_ < end_ && *at_ == '"') {  // a quote within: the text must be put together
            scratch_.assign(start, close);
            while (at_ < end_ && *at_ == '"') {
                start = at_;
                close = static_cast<const char*>(std::memchr(at_ + 1, '"', static_cast<std::size_t>(end_ - at_ - 1)));
                if (close == nullptr) return false;
                scratch_.append(start, close);
                at_ = close + 1;
            }
            cell = scratch_;
        } else {
            cell = {start, static_cast<std::size_t>(close - start)};
        }
        return at_ == end_ || *at_ == ',' || *at_ == '\n' || *at_ == '\r';
    }
    bool end_of_row() {
        if (at_ == end_) return true;
        if (*at_ == '\r') {
            ++at_;
            if (at_ == end_) return true;
        }
        return *at_++ == '\n';
    }

    const char* at_;
    const char* end_;
    std::size_t width_;
    std::array<bool, 256> stops_{};
    std::string scratch_;
};

class ColumnBuilder {
public:
    ColumnBuilder(const CsvField& field, std::size_t rows, bool ascii) : ascii_(ascii) {
        column.name = field.name;
        column.type = field.type;
        column.dictionary = field.dictionary;
        if (field.type == CellType::Int || field.type == CellType::Float) column.words.reserve(rows);
        if (field.type == CellType::Bool) column.bits.reserve(rows / 8 + 1);
        if (field.dictionary) column.codes.reserve(rows);
        if (field.type == CellType::Text || field.type == CellType::Bytes) column.offsets.assign(1, 0);
    }

    bool add(std::string_view cell) {
        const bool valid = !cell.empty();
        if (!valid) note_null();
        if (!column.validity.empty()) set_bit(column.validity, rows_, valid);
        switch (column.type) {
            case CellType::Int:
            case CellType::Float: {
                std::int64_t word = 0;
                if (valid && !(column.type == CellType::Int ? read_int(cell, word) : read_float(cell, word))) return false;
                column.words.push_back(word);
                break;
            }
            case CellType::Bool: {
                const std::optional<bool> truth = valid ? read_bool(cell) : false;
                if (!truth) return false;
                set_bit(column.bits, rows_, *truth);
                break;
            }
            case CellType::Text:
                if (!ascii_ && !is_utf8(cell)) return false;
                [[fallthrough]];
            case CellType::Bytes:
                if (column.dictionary) {
                    column.codes.push_back(valid ? code(cell) : 0);
                } else {
                    append(cell);
                }
        }
        ++rows_;
        return true;
    }

    OwnedColumns::Column column;

private:
    static void set_bit(std::vector<std::uint8_t>& bits, std::size_t at, bool value) {
        if (at / 8 >= bits.size()) bits.resize(at / 8 + 1, 0);
        if (value) bits[at / 8] |= static_cast<std::uint8_t>(1U << (at % 8));
    }
    void note_null() {
        ++column.nulls;
        if (!column.validity.empty()) return;
        for (std::size_t row = 0; row < rows_; ++row) set_bit(column.validity, row, true);
        set_bit(column.validity, rows_, false);
    }
    void append(std::string_view cell) {
        column.text.append(cell);
        column.offsets.push_back(static_cast<std::int32_t>(column.text.size()));
    }
    // Most columns with a dictionary have a handful of texts; those seen lately are found without hashing all of them.
    std::int32_t code(std::string_view cell) {
        std::uint64_t start = 0;
        std::memcpy(&start, cell.data(), cell.size() < 8 ? cell.size() : 8);
        Recent& recent = recent_[mix(start ^ cell.size(), 0x9E3779B97F4A7C15ULL) >> 58];
        if (recent.code >= 0) {
            const auto from = static_cast<std::size_t>(column.offsets[static_cast<std::size_t>(recent.code)]);
            const auto to = static_cast<std::size_t>(column.offsets[static_cast<std::size_t>(recent.code) + 1]);
            if (cell == std::string_view(column.text).substr(from, to - from)) {
                ++column.counts[static_cast<std::size_t>(recent.code)];
                return recent.code;
            }
        }
        const auto [entry, fresh] = codes_.try_emplace(std::string(cell), static_cast<std::int32_t>(codes_.size()));
        if (fresh) {
            append(cell);
            column.counts.push_back(0);
        }
        recent.code = entry->second;
        ++column.counts[static_cast<std::size_t>(recent.code)];
        return recent.code;
    }

    struct Recent {
        std::int32_t code = -1;
    };
    bool ascii_;
    std::size_t rows_ = 0;
    std::array<Recent, 64> recent_{};
    std::unordered_map<std::string, std::int32_t> codes_;
};

// Moves behind digits; false if there is none.
bool skip_digits(std::string_view text, std::size_t& at) {
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > first;
}

// Is this what may follow the whole part of a decimal number, such as `.5e-3`?
bool is_fraction(std::string_view text) {
    std::size_t at = 0;
    if (at < text.size() && text[at] == '.' && !skip_digits(text, ++at)) return false;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        if (!skip_digits(text, at)) return false;
    }
    return at == text.size();
}

// What a field makes a column whose type nobody has said. Narrower than what a column of the type accepts: `007`
// and `+1` are more likely names.
CellType kind_of(std::string_view cell) {
    std::string_view rest = cell;
    if (rest.front() == '-') rest.remove_prefix(1);
    std::size_t whole = 0;
    if (skip_digits(rest, whole) && (whole == 1 || rest[0] != '0')) {
        if (whole == rest.size()) {
            std::int64_t number = 0;
            const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
            return fault == std::errc() ? CellType::Int : CellType::Text;
        }
        if (is_fraction(rest.substr(whole))) return CellType::Float;
    }
    return cell != "0" && cell != "1" && read_bool(cell) ? CellType::Bool : CellType::Text;
}

CellType join(CellType one, CellType other) {
    if (one == other) return one;
    const auto number = [](CellType type) { return type == CellType::Int || type == CellType::Float; };
    return number(one) && number(other) ? CellType::Float : CellType::Text;
}

std::vector<int> places(std::size_t width, std::size_t count, auto&& position_of) {
    std::vector<int> place(width, -1);
    for (std::size_t k = 0; k < count; ++k) place[position_of(k)] = static_cast<int>(k);
    return place;
}

// Lending: what the release callbacks of a column free.
struct Loan {
    std::shared_ptr<const OwnedColumns> owner;
    std::vector<const void*> buffers;
    std::vector<ArrowArray*> children;
    ArrowArray dictionary{};
};

struct SchemaLoan {
    std::string name;
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

void lend_schema(ArrowSchema* schema, const char* format, const std::string& name) {
    auto* loan = new SchemaLoan{name, {}, {}};
    *schema = {format, loan->name.c_str(), nullptr, 2 /* nullable */, 0, nullptr, nullptr, release_schema, loan};
}

Loan* lend_array(ArrowArray* array, std::shared_ptr<const OwnedColumns> owner, std::int64_t length, std::int64_t nulls, std::vector<const void*> buffers) {
    auto* loan = new Loan{std::move(owner), std::move(buffers), {}, {}};
    *array = {length, nulls, 0, static_cast<std::int64_t>(loan->buffers.size()), 0, loan->buffers.data(), nullptr, nullptr, release_array, loan};
    return loan;
}

// An empty vector may have no memory, and Arrow wants some.
template <class T>
const void* memory(const std::vector<T>& data) {
    static const std::uint64_t nothing = 0;
    return data.empty() ? static_cast<const void*>(&nothing) : data.data();
}

void lend_column(const std::shared_ptr<const OwnedColumns>& owner, const OwnedColumns::Column& column, ArrowSchema* schema, ArrowArray* array) {
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
            lend_schema(schema, column.type == CellType::Int ? "l" : "g", column.name);
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

}  // namespace

const OwnedColumns::Column* OwnedColumns::find(std::string_view name) const {
    for (const Column& column : columns)
        if (column.name == name) return &column;
    return nullptr;
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

std::shared_ptr<const OwnedColumns> read_csv(std::string_view block, std::size_t width, const std::vector<CsvField>& fields) {
    if (width == 0) return nullptr;  // no row has no fields: there was no header
    const bool ascii = is_ascii(block);
    std::vector<ColumnBuilder> builders;
    const std::size_t guess = block.size() / (2 * width) + 1;
    for (const CsvField& field : fields) builders.emplace_back(field, guess < 1U << 16 ? guess : 1U << 16, ascii);
    const std::vector<int> place = places(width, fields.size(), [&](std::size_t k) { return fields[k].position; });
    auto found = std::make_shared<OwnedColumns>();
    Records records(block, width);
    const bool good = records.walk(
        [&](std::size_t position, std::string_view cell) { return place[position] < 0 || builders[static_cast<std::size_t>(place[position])].add(cell); },
        [&] { ++found->rows; });
    if (!good) return nullptr;
    for (ColumnBuilder& builder : builders) found->columns.push_back(std::move(builder.column));
    return found;
}

std::optional<std::vector<std::optional<CellType>>> infer_csv(std::string_view block, std::size_t width,
                                                              const std::vector<std::size_t>& positions) {
    if (width == 0) return std::nullopt;
    std::vector<std::optional<CellType>> seen(positions.size());
    const std::vector<int> place = places(width, positions.size(), [&](std::size_t k) { return positions[k]; });
    Records records(block, width);
    const bool good = records.walk(
        [&](std::size_t position, std::string_view cell) {
            if (place[position] < 0 || cell.empty()) return true;
            std::optional<CellType>& type = seen[static_cast<std::size_t>(place[position])];
            if (type != CellType::Text) type = type ? join(*type, kind_of(cell)) : kind_of(cell);
            return true;
        },
        [] {});
    if (!good) return {};
    return seen;
}

}  // namespace mopsus
