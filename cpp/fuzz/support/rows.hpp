// Rows that were read from a block: they can be lent as Arrow data, and are the same when they come back.
#pragma once

#include <string>
#include <string_view>

#include "mopsus/trace/columns.hpp"

namespace mopsus::fuzz {

// A column of any type.
Field field_of(std::uint8_t kind, std::string name);

std::size_t next_line(std::string_view text, std::size_t at);

void look(const RowsRead& found);

}  // namespace mopsus::fuzz
