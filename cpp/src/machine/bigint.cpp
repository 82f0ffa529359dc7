#include "bigint.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mopsus {

BigInt::BigInt(std::int64_t value) : negative_(value < 0) {
    auto magnitude = static_cast<std::uint64_t>(value);
    if (negative_) magnitude = ~magnitude + 1;
    for (; magnitude != 0; magnitude >>= 32) digits_.push_back(static_cast<std::uint32_t>(magnitude));
}

BigInt::BigInt(Term integer) {
    if (integer.is_small()) {
        *this = BigInt(integer.small());
        return;
    }
    const Box& box = integer.box();
    negative_ = (box.flags & Box::kNegative) != 0;
    digits_.assign(box.digits, box.digits + box.size);
}

BigInt BigInt::of(bool negative, Digits digits) {
    BigInt made;
    trim(digits);
    made.negative_ = negative && !digits.empty();
    made.digits_ = std::move(digits);
    return made;
}

void BigInt::trim(Digits& digits) {
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
}

BigInt BigInt::from_decimal(std::string_view text) {
    const bool negative = !text.empty() && text[0] == '-';
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    Digits digits;
    while (!text.empty()) {
        const std::string_view nine = text.substr(0, 9);
        text.remove_prefix(nine.size());
        std::uint64_t carry = 0;
        std::uint64_t scale = 1;
        for (const char c : nine) {
            carry = carry * 10 + static_cast<std::uint64_t>(c - '0');
            scale *= 10;
        }
        for (std::uint32_t& digit : digits) {
            carry += digit * scale;
            digit = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry != 0) digits.push_back(static_cast<std::uint32_t>(carry));
    }
    return of(negative, std::move(digits));
}

BigInt BigInt::from_whole(double value) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(value), &exponent);  // the value is fraction * 2 ** exponent
    constexpr int kMantissa = 53;
    const BigInt mantissa(static_cast<std::int64_t>(std::ldexp(fraction, kMantissa)));
    BigInt made = exponent >= kMantissa ? mantissa.shifted_left(static_cast<std::size_t>(exponent - kMantissa))
                                        : mantissa.shifted_right(static_cast<std::size_t>(kMantissa - exponent));
    made.negative_ = value < 0 && !made.is_zero();
    return made;
}

std::string BigInt::to_decimal() const {
    if (is_zero()) return "0";
    Digits left = digits_;
    std::string text;
    while (!left.empty()) {
        std::uint32_t nine = divide_by(left, 1'000'000'000);
        trim(left);
        for (int k = 0; k < 9 && (nine != 0 || !left.empty()); ++k, nine /= 10)
            text += static_cast<char>('0' + nine % 10);
    }
    if (negative_) text += '-';
    std::reverse(text.begin(), text.end());
    return text;
}

double BigInt::to_double() const {
    // The highest 64 bits, of which the lowest stands for all below, so that rounding is right.
    const std::size_t count = bits();
    const std::size_t down = count > 64 ? count - 64 : 0;
    const BigInt magnitude = of(false, digits_);
    const BigInt high = magnitude.shifted_right(down);
    std::uint64_t word = 0;
    for (std::size_t k = high.digits_.size(); k-- > 0;) word = word << 32 | high.digits_[k];
    if (down != 0 && compare_digits(high.shifted_left(down).digits_, digits_) != 0) word |= 1;
    const double value = down > 2000 ? HUGE_VAL : std::ldexp(static_cast<double>(word), static_cast<int>(down));
    return negative_ ? -value : value;
}

std::size_t BigInt::bits() const {
    return digits_.empty() ? 0 : digits_.size() * 32 - static_cast<std::size_t>(std::countl_zero(digits_.back()));
}

BigInt BigInt::operator-() const { return of(!negative_, digits_); }

int BigInt::compare_digits(const Digits& a, const Digits& b) {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    for (std::size_t k = a.size(); k-- > 0;)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

int BigInt::compare(const BigInt& a, const BigInt& b) {
    if (a.negative_ != b.negative_) return a.negative_ ? -1 : 1;
    const int order = compare_digits(a.digits_, b.digits_);
    return a.negative_ ? -order : order;
}

BigInt::Digits BigInt::add(const Digits& a, const Digits& b) {
    Digits sum(std::max(a.size(), b.size()) + 1);
    std::uint64_t carry = 0;
    for (std::size_t k = 0; k < sum.size(); ++k) {
        carry += (k < a.size() ? a[k] : 0ULL) + (k < b.size() ? b[k] : 0ULL);
        sum[k] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    return sum;
}

BigInt::Digits BigInt::subtract(const Digits& a, const Digits& b) {
    Digits difference(a.size());
    std::int64_t borrow = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        borrow += static_cast<std::int64_t>(a[k]) - (k < b.size() ? static_cast<std::int64_t>(b[k]) : 0);
        difference[k] = static_cast<std::uint32_t>(borrow);
        borrow >>= 32;
    }
    return difference;
}

BigInt operator+(const BigInt& a, const BigInt& b) {
    if (a.negative_ == b.negative_) return BigInt::of(a.negative_, BigInt::add(a.digits_, b.digits_));
    if (BigInt::compare_digits(a.digits_, b.digits_) >= 0)
        return BigInt::of(a.negative_, BigInt::subtract(a.digits_, b.digits_));
    return BigInt::of(b.negative_, BigInt::subtract(b.digits_, a.digits_));
}

BigInt operator*(const BigInt& a, const BigInt& b) {
    BigInt::Digits product(a.digits_.size() + b.digits_.size());
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
        std::uint64_t carry = 0;
        for (std::size_t j = 0; j < b.digits_.size() || carry != 0; ++j) {
            carry +=
                product[i + j] + static_cast<std::uint64_t>(a.digits_[i]) * (j < b.digits_.size() ? b.digits_[j] : 0);
            product[i + j] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
    }
    return BigInt::of(a.negative_ != b.negative_, std::move(product));
}

std::uint32_t BigInt::divide_by(Digits& a, std::uint32_t by) {
    std::uint64_t rest = 0;
    for (std::size_t k = a.size(); k-- > 0;) {
        rest = rest << 32 | a[k];
        a[k] = static_cast<std::uint32_t>(rest / by);
        rest %= by;
    }
    return static_cast<std::uint32_t>(rest);
}

void BigInt::divide(const BigInt& a, const BigInt& b, BigInt& quotient, BigInt& remainder) {
    Digits found(a.digits_.size());
    if (b.digits_.size() == 1) {
        found = a.digits_;
        remainder = of(a.negative_, {divide_by(found, b.digits_[0])});
    } else {
        // Bit by bit.
        Digits rest;
        for (std::size_t bit = a.bits(); bit-- > 0;) {
            rest = add(rest, rest);
            if (((a.digits_[bit / 32] >> (bit % 32)) & 1U) != 0) rest[0] |= 1U;
            trim(rest);
            if (compare_digits(rest, b.digits_) < 0) continue;
            rest = subtract(rest, b.digits_);
            trim(rest);
            found[bit / 32] |= 1U << (bit % 32);
        }
        remainder = of(a.negative_, std::move(rest));
    }
    quotient = of(a.negative_ != b.negative_, std::move(found));
}

// So many digits of the number in two's complement.
BigInt::Digits BigInt::complement(std::size_t size) const {
    Digits digits = digits_;
    digits.resize(size);
    if (!negative_) return digits;
    std::uint64_t carry = 1;
    for (std::uint32_t& digit : digits) {
        carry += static_cast<std::uint32_t>(~digit);
        digit = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    return digits;
}

BigInt BigInt::bitwise(Bitwise operation, const BigInt& a, const BigInt& b) {
    const std::size_t size = std::max(a.digits_.size(), b.digits_.size()) + 1;
    const Digits left = a.complement(size);
    Digits digits = b.complement(size);
    for (std::size_t k = 0; k < size; ++k) {
        switch (operation) {
            case Bitwise::And: digits[k] &= left[k]; break;
            case Bitwise::Or: digits[k] |= left[k]; break;
            case Bitwise::Xor: digits[k] ^= left[k]; break;
        }
    }
    const bool negative = (digits.back() >> 31) != 0;
    if (!negative) return of(false, std::move(digits));
    BigInt twin;
    twin.negative_ = true;
    twin.digits_ = std::move(digits);
    return of(true, twin.complement(size));
}

BigInt BigInt::shifted_left(std::size_t by) const {
    Digits digits(digits_.size() + by / 32 + 1);
    for (std::size_t k = 0; k < digits_.size(); ++k) {
        const std::uint64_t moved = static_cast<std::uint64_t>(digits_[k]) << (by % 32);
        digits[k + by / 32] |= static_cast<std::uint32_t>(moved);
        digits[k + by / 32 + 1] |= static_cast<std::uint32_t>(moved >> 32);
    }
    return of(negative_, std::move(digits));
}

BigInt BigInt::shifted_right(std::size_t by) const {
    const std::size_t whole = by / 32;
    Digits digits;
    bool lost = false;
    for (std::size_t k = 0; k < std::min(whole, digits_.size()); ++k) lost = lost || digits_[k] != 0;
    for (std::size_t k = whole; k < digits_.size(); ++k) {
        const std::uint64_t high = k + 1 < digits_.size() ? digits_[k + 1] : 0;
        digits.push_back(static_cast<std::uint32_t>((high << 32 | digits_[k]) >> (by % 32)));
        if (k == whole) lost = lost || (digits_[k] & ((1ULL << (by % 32)) - 1)) != 0;
    }
    const BigInt shifted = of(negative_, std::move(digits));
    return negative_ && lost ? shifted - BigInt(1) : shifted;
}

}  // namespace mopsus
