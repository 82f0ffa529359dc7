// A block of whole CSV rows, read into Arrow columns in one pass.
//
// Only what is plainly CSV is read: a row of another length, a stray quote or carriage return, bytes that
// are no UTF-8 or a number in an unusual form make it give up, and whoever called looks at the block
// row by row, by the definition. What is read means what the definition says.
//
// Behind a block there is a zero byte, as there is behind every std::string and Python's bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mopsus/trace/arrow.hpp"

namespace mopsus {

enum class CellType : std::uint8_t { Int, Float, Bool, Text, Bytes };

struct CsvField {
    std::string name;
    std::size_t position = 0;  // in a row
    CellType type = CellType::Text;
    bool dictionary = false;  // few distinct texts: number them
};

// Columns that own their data, and can be lent out as Arrow data.
class OwnedColumns {
public:
    struct Column {
        std::string name;
        CellType type = CellType::Text;
        bool dictionary = false;
        std::vector<std::uint8_t> validity;  // a bit per row; empty if no row is null
        std::int64_t nulls = 0;
        std::vector<std::int64_t> words;      // whole numbers, or the bits of floating-point ones
        std::vector<std::uint8_t> bits;       // truth values
        std::vector<std::int32_t> offsets;    // of texts
        std::string text;
        std::vector<std::int32_t> codes;      // with a dictionary: of each row; then the texts are the dictionary's
        std::vector<std::int64_t> counts;     // of each text of the dictionary
    };

    std::int64_t rows = 0;
    std::vector<Column> columns;

    const Column* find(std::string_view name) const;
    // A struct array whose children are the columns; `self` is kept until both are released.
    static void lend(const std::shared_ptr<const OwnedColumns>& self, ArrowSchema* schema, ArrowArray* array);
};

// The named fields of rows that have `width` fields each, or nothing.
std::shared_ptr<const OwnedColumns> read_csv(std::string_view block, std::size_t width, const std::vector<CsvField>& fields);

// What the fields at each of these positions look like: nothing if all are empty.
// Rows that are no rows are left out; gives up (outer nothing) as `read_csv` does.
std::optional<std::vector<std::optional<CellType>>> infer_csv(std::string_view block, std::size_t width,
                                                              const std::vector<std::size_t>& positions);

}  // namespace mopsus
