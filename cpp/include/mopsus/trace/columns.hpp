// The rows of a trace in memory: columns of one type each, whatever file they came from.
//
// Readers fill them block by block. What is not plainly a row is given to `ReadOdd`, which knows the definition:
// what is read without it means what the definition says.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mopsus/trace/arrow.hpp"

namespace mopsus {

enum class CellType : std::uint8_t { Int, Float, Bool, Text, Bytes };

// A value on its way into a column: a number, the bits of one, a truth value; or a text, which lies elsewhere.
struct Cell {
    bool null = true;
    std::int64_t word = 0;
    std::string_view text;

    static Cell of_word(std::int64_t word) { return {false, word, {}}; }
    static Cell of_text(std::string_view text) { return {false, 0, text}; }
    static Cell of_real(double number);
};

struct Field {
    std::string name;
    CellType type = CellType::Text;
    bool dictionary = false;  // few distinct texts: number them
    bool required = false;    // a row without it is odd
};

// Columns that own their data, and can be lent out as Arrow data.
class OwnedColumns {
public:
    struct Column {
        std::string name;
        CellType type = CellType::Text;
        bool dictionary = false;
        std::string timestamp;               // the Arrow format of whole numbers that are points in time
        std::vector<std::uint8_t> validity;  // a bit per row; empty if no row is null
        std::int64_t nulls = 0;
        std::vector<std::int64_t> words;    // whole numbers, or the bits of floating-point ones
        std::vector<std::uint8_t> bits;     // truth values
        std::vector<std::int32_t> offsets;  // of texts
        std::string text;
        std::vector<std::int32_t> codes;   // with a dictionary: of each row; then the texts are the dictionary's
        std::vector<std::int64_t> counts;  // of each text of the dictionary

        bool valid(std::size_t row) const { return validity.empty() || ((validity[row / 8] >> (row % 8)) & 1U) != 0; }
        bool truth(std::size_t row) const { return ((bits[row / 8] >> (row % 8)) & 1U) != 0; }
        double real(std::size_t row) const;
        // The k-th text: of the row, or of the dictionary.
        std::string_view text_at(std::size_t k) const;
        std::string_view text_of(std::size_t row) const {
            return text_at(dictionary ? static_cast<std::size_t>(codes[row]) : row);
        }
        Cell cell(std::size_t row) const;
    };

    static constexpr const char* kNumber =
        "#row";  // the column that says a row's number where rows before it are missing

    std::int64_t rows = 0;
    std::int64_t first_row = 1;
    std::vector<Column> columns;

    const Column* find(std::string_view name) const;
    std::int64_t number(std::int64_t row) const;
    // How many rows come before the one of that number.
    std::int64_t rows_before(std::int64_t number) const;
    // A struct array whose children are the columns; `self` is kept until both are released.
    static void lend(const std::shared_ptr<const OwnedColumns>& self, ArrowSchema* schema, ArrowArray* array);
};

// A column that grows by cells of its type.
class ColumnBuilder {
public:
    ColumnBuilder(std::string name, CellType type, bool dictionary, std::size_t rows);
    explicit ColumnBuilder(const Field& field, std::size_t rows)
        : ColumnBuilder(field.name, field.type, field.dictionary, rows) {}

    void add(const Cell& cell);

    OwnedColumns::Column column;

private:
    void append(std::string_view text);
    std::int32_t code(std::string_view text);

    std::size_t rows_ = 0;
    std::array<std::int32_t, 64> recent_;  // most columns with a dictionary have a handful of texts
    std::unordered_map<std::string, std::int32_t> codes_;
};

// What the definition makes of the row that begins at `at` and has that offset among the rows of its block: its cells,
// or false if it is a bad one. `end` is where the next row begins.
using ReadOdd = std::function<bool(std::size_t at, std::int64_t offset, std::vector<Cell>& cells, std::size_t& end)>;

// What a reader has found in a block: the good rows, and how many rows there are in all.
struct RowsRead {
    std::shared_ptr<OwnedColumns> columns;
    std::int64_t count = 0;
};

// Collects the rows of a block.
class RowBuilder {
public:
    RowBuilder(const std::vector<Field>& fields, std::size_t rows);

    void add(const std::vector<Cell>& cells);
    void leave_out() { ++count_; }
    // Takes the row as the definition says, and gives the place of the next one.
    std::size_t add_odd(const ReadOdd& odd, std::size_t at);
    RowsRead finish();

private:
    std::vector<ColumnBuilder> builders_;
    std::vector<Cell> cells_;
    std::int64_t count_ = 0;
    std::int64_t good_ = 0;
    std::vector<std::int64_t> offsets_;  // of the good rows, once one has been left out
};

// The rows of Arrow data, in columns of these types.
RowsRead read_arrow(const ArrowSchema& schema, const ArrowArray& array, const std::vector<Field>& fields,
                    const ReadOdd& odd);

// A copy of the first rows.
std::shared_ptr<OwnedColumns> first_rows(const OwnedColumns& columns, std::int64_t rows);
// A copy of the rows that are marked.
std::shared_ptr<OwnedColumns> marked_rows(const OwnedColumns& columns, const std::vector<std::uint8_t>& marks);

}  // namespace mopsus
