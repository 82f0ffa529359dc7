// Values that are written as text: what both readers of text take without asking the definition.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "mopsus/trace/columns.hpp"

namespace mopsus {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool is_ascii(std::string_view text) {
    unsigned char any = 0;
    for (const char c : text) any |= static_cast<unsigned char>(c);
    return any < 0x80;
}

inline std::int64_t bits_of(double number) {
    std::int64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

// Whole numbers of 64 bits, in digits; other ways to write them are for the definition.
inline bool read_int(std::string_view text, std::int64_t& number) {
    const bool negative = !text.empty() && text.front() == '-';
    std::string_view digits = text;
    if (negative) digits.remove_prefix(1);
    if (digits.empty() || digits.size() > 20) return false;
    if (digits.size() > 18) {
        const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
        return fault == std::errc() && end == text.data() + text.size();
    }
    std::int64_t value = 0;
    for (const char c : digits) {
        if (!is_digit(c)) return false;
        value = value * 10 + (c - '0');
    }
    number = negative ? -value : value;
    return true;
}

// Decimal numbers that are within the range of a double.
inline bool read_real(std::string_view text, std::int64_t& bits) {
    double number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || end != text.data() + text.size()) return false;
    bits = bits_of(number);
    return true;
}

// The same, and they start with a digit.
inline bool read_float(std::string_view text, std::int64_t& bits) {
    const std::size_t first = !text.empty() && text.front() == '-' ? 1 : 0;
    return first < text.size() && is_digit(text[first]) && read_real(text, bits);
}

inline std::optional<bool> read_bool(std::string_view text) {
    if (text == "true" || text == "True" || text == "TRUE" || text == "1") return true;
    if (text == "false" || text == "False" || text == "FALSE" || text == "0") return false;
    return {};
}

// The value of a text in a column of numbers or truth values, if it is plainly one.
inline bool read_cell(std::string_view text, CellType type, Cell& cell) {
    cell.null = false;
    if (type == CellType::Int) return read_int(text, cell.word);
    if (type == CellType::Float) return read_float(text, cell.word);
    const std::optional<bool> truth = read_bool(text);
    cell.word = truth.value_or(false) ? 1 : 0;
    return truth.has_value();
}

// The type of a column that holds values of both types.
inline CellType join(CellType one, CellType other) {
    if (one == other) return one;
    const auto number = [](CellType type) { return type == CellType::Int || type == CellType::Float; };
    return number(one) && number(other) ? CellType::Float : CellType::Text;
}

inline void join(std::optional<CellType>& seen, CellType type) { seen = seen ? join(*seen, type) : type; }

}  // namespace mopsus
