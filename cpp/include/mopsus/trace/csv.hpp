// A block of whole CSV rows, read into columns in one pass.
//
// Only what is plainly CSV is read here: a row of another length, a stray quote or carriage return, bytes that
// are no UTF-8 or a number in an unusual form are left to the definition.
//
// Behind a block there is a zero byte, as there is behind every std::string and Python's bytes.
#pragma once

#include "mopsus/trace/columns.hpp"

namespace mopsus {

// The fields at these positions of rows that have `width` fields each.
RowsRead read_csv(std::string_view block, std::size_t width, const std::vector<Field>& fields,
                  const std::vector<std::size_t>& positions, const ReadOdd& odd);

// What the fields at each of these positions look like: nothing if all are empty.
// Gives up (outer nothing) at what is not plainly a row.
std::optional<std::vector<std::optional<CellType>>> infer_csv(std::string_view block, std::size_t width,
                                                              const std::vector<std::size_t>& positions);

}  // namespace mopsus
