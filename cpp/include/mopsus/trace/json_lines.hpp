// A block of whole lines with a JSON object on each, read into columns in one pass.
//
// What is JSON is what Python's `json` reads, with at most `kMostNested` brackets open at once. Of a key that occurs
// twice, the last counts. The field `a.b` is the key `a.b`, or else the key `b` of the object at `a`. Values that
// nobody asks for must be JSON, but need not be UTF-8. A line that is no object, or has a value that its column does
// not plainly take, is left to the definition.
//
// Behind a block there is a zero byte, as there is behind every std::string and Python's bytes.
#pragma once

#include "mopsus/trace/columns.hpp"

namespace mopsus {

constexpr int kMostNested = 500;
constexpr std::size_t kMostDigits = 4300;  // of a whole number

RowsRead read_json_lines(std::string_view block, const std::vector<Field>& fields, const ReadOdd& odd);

// What the values of each of these fields look like: nothing if there are none. Lines that are no objects do not count.
std::vector<std::optional<CellType>> infer_json_lines(std::string_view block, const std::vector<std::string>& names);

}  // namespace mopsus
