// Integers of any size, for guards that compute beyond a word. Simple rather than quick: they are rare.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mopsus/machine/term.hpp"

namespace mopsus {

class BigInt {
public:
    BigInt() = default;
    BigInt(std::int64_t value);  // NOLINT: integers are integers
    explicit BigInt(Term integer);
    static BigInt from_decimal(std::string_view text);  // an optional sign and digits
    static BigInt from_whole(double value);             // a finite one without a fraction

    Term to_term(Arena& arena) const { return arena.integer(negative_, digits_.data(), digits_.size()); }
    std::string to_decimal() const;
    double to_double() const;  // infinite if it is too large
    bool is_zero() const { return digits_.empty(); }
    bool negative() const { return negative_; }
    std::size_t bits() const;  // of its magnitude

    BigInt operator-() const;
    friend BigInt operator+(const BigInt& a, const BigInt& b);
    friend BigInt operator-(const BigInt& a, const BigInt& b) { return a + -b; }
    friend BigInt operator*(const BigInt& a, const BigInt& b);
    // Towards zero; the remainder has the sign of the first. The second is not zero.
    static void divide(const BigInt& a, const BigInt& b, BigInt& quotient, BigInt& remainder);
    // As numbers of two's complement without end.
    enum class Bitwise : std::uint8_t { And, Or, Xor };
    static BigInt bitwise(Bitwise operation, const BigInt& a, const BigInt& b);
    BigInt shifted_left(std::size_t by) const;
    BigInt shifted_right(std::size_t by) const;  // rounds down
    static int compare(const BigInt& a, const BigInt& b);

private:
    using Digits = std::vector<std::uint32_t>;
    static int compare_digits(const Digits& a, const Digits& b);
    static Digits add(const Digits& a, const Digits& b);
    static Digits subtract(const Digits& a, const Digits& b);  // a is not smaller
    static std::uint32_t divide_by(Digits& a, std::uint32_t by);
    static void trim(Digits& digits);
    static BigInt of(bool negative, Digits digits);
    Digits complement(std::size_t size) const;

    bool negative_ = false;
    Digits digits_;  // the lowest first, and the highest is not 0
};

}  // namespace mopsus
