#include "plain_value.hpp"

#include <charconv>
#include <cstring>

namespace mopsus {

namespace {

// A number as `std::to_string` writes it.
bool take_number(std::string_view text, std::uint64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && (text[0] != '0' || text.size() == 1);
}

// An integer beyond 64 bits, in hexadecimal digits.
bool is_big_integer(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    if (!text.starts_with("0x")) return false;
    text.remove_prefix(2);
    constexpr std::size_t kDigits = 16;
    if (text.size() < kDigits || text[0] == '0' || text.find_first_not_of("0123456789abcdef") != std::string_view::npos)
        return false;
    return text.size() > kDigits || text[0] >= '8';
}

bool is_plain(const Value& value, int depth) {
    switch (value.kind) {
        case KeyKind::Int:
        case KeyKind::Text:
        case KeyKind::Bytes: return true;
        case KeyKind::Float: {
            double number = 0;
            std::memcpy(&number, &value.bits, sizeof number);
            return Key::of_float(number).bits == value.bits;
        }
        case KeyKind::Bool: return value.bits <= 1;
        case KeyKind::Null: return value.bits == 0;
        case KeyKind::BigInt: return is_big_integer(value.blob);
        case KeyKind::Tuple: {
            if (depth >= kDeepestTuple) return false;
            std::string_view text = value.blob;
            while (!text.empty()) {
                Value part;
                if (!take_part(text, part) || !is_plain(part, depth + 1)) return false;
            }
            return true;
        }
        default: return false;
    }
}

}  // namespace

bool take_part(std::string_view& text, Value& part) {
    const auto kind = static_cast<unsigned>(static_cast<unsigned char>(text[0])) - 'A';
    if (kind < static_cast<unsigned>(KeyKind::Int) || kind > static_cast<unsigned>(KeyKind::Tuple)) return false;
    part.kind = static_cast<KeyKind>(kind);
    const std::size_t colon = text.find(':');
    std::uint64_t size = 0;
    if (colon == std::string_view::npos || !take_number(text.substr(1, colon - 1), size) ||
        size > text.size() - colon - 1)
        return false;
    const std::string_view content = text.substr(colon + 1, size);
    text.remove_prefix(colon + 1 + size);
    part.bits = 0;
    part.blob.clear();
    if (!is_blob(part.kind)) return take_number(content, part.bits);
    part.blob = content;
    return true;
}

bool is_plain_value(const Value& value) { return is_plain(value, 0); }

}  // namespace mopsus
