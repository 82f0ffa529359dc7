// The values that parameters take, reduced to what slicing needs: equality and a hash.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mopsus {

enum class KeyKind : std::uint8_t { None, Object, Int, Float, Bool, Null, Text, Bytes, BigInt, Tuple };

// Kinds whose content does not fit in 64 bits.
inline bool is_blob(KeyKind kind) { return kind >= KeyKind::Text; }

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint32_t hash_bits(KeyKind kind, std::uint64_t bits) {
    const auto salt = static_cast<std::uint64_t>(kind) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::uint32_t>(mix(bits ^ salt, 0xD6E8FEB86659FD93ULL));
}

inline std::uint32_t hash_bytes(KeyKind kind, std::string_view text) {
    std::uint64_t state = 0xA0761D6478BD642FULL ^ (static_cast<std::uint64_t>(kind) + text.size());
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t word = 0;
    for (; left >= 8; at += 8, left -= 8) {
        std::memcpy(&word, at, 8);
        state = mix(state ^ word, 0xE7037ED1A0B428DBULL);
    }
    word = 0;
    if (left != 0) std::memcpy(&word, at, left);
    return static_cast<std::uint32_t>(mix(state ^ word, 0x8EBC6AF09C88C6E3ULL));
}

// A value to be looked up. It borrows its bytes.
struct Key {
    KeyKind kind = KeyKind::None;
    std::uint32_t hash = 0;
    std::uint64_t bits = 0;
    std::string_view blob;

    static Key of_bits(KeyKind kind, std::uint64_t bits) { return {kind, hash_bits(kind, bits), bits, {}}; }
    static Key of_int(std::int64_t value) { return of_bits(KeyKind::Int, static_cast<std::uint64_t>(value)); }
    static Key of_float(double value) {
        if (value == 0.0) value = 0.0;                  // -0.0 equals 0.0
        if (value != value) value = __builtin_nan("");  // all NaNs are one value here
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        return of_bits(KeyKind::Float, bits);
    }
    static Key of_blob(KeyKind kind, std::string_view blob) { return {kind, hash_bytes(kind, blob), 0, blob}; }
};

// A value by itself, as a report carries it. `serial` numbers the objects seen, from 1.
struct Value {
    KeyKind kind = KeyKind::None;
    bool dead = false;
    std::uint32_t serial = 0;
    std::uint32_t tag = 0;  // see Domain
    std::uint64_t bits = 0;
    std::string blob;

    Key key() const { return is_blob(kind) ? Key::of_blob(kind, blob) : Key::of_bits(kind, bits); }
};

}  // namespace mopsus
