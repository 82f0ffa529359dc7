// Values of parameters that are plain data, as snapshots hold them: which there can be, and how tuples are written.
#pragma once

#include <string_view>

#include "mopsus/engine/key.hpp"

namespace mopsus {

// Tuples in tuples that are plain data; what is nested deeper is told apart by identity.
constexpr int kDeepestTuple = 16;

// A tuple is written as its parts in a row: kind, size, content. Takes the next part off `text`, which must not be
// empty; false if there is none. The part itself is not looked into.
bool take_part(std::string_view& text, Value& part);

// Can a value have come from an event, so that it equals whatever is written the same?
bool is_plain_value(const Value& value);

}  // namespace mopsus
