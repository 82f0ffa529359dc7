// Equality and order of terms.
#include <algorithm>
#include <cmath>
#include <vector>

#include "bigint.hpp"
#include "mopsus/engine/key.hpp"
#include "mopsus/machine/term.hpp"

namespace mopsus {

namespace {

constexpr int kDeepest = 128;  // what contains itself equals nothing

bool is_spelled(TermType type) { return type == TermType::Atom || type == TermType::String || type == TermType::Text; }

bool is_number(TermType type) { return type == TermType::Integer || type == TermType::Float; }

// Of an integer and a number that is none; NaN is above all.
int compare_mixed(Term integer, double real) {
    if (std::isnan(real)) return -1;
    if (std::isinf(real)) return real > 0 ? -1 : 1;
    const double whole = std::floor(real);
    const BigInt other = BigInt::from_whole(whole);
    const int order = BigInt::compare(BigInt(integer), other);
    return order != 0 ? order : whole < real ? -1 : 0;
}

int compare_reals(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
    return a < b ? -1 : a > b ? 1 : 0;
}

int compare_numbers(Term a, Term b) {
    if (a.is_small() && b.is_small()) return a.small() < b.small() ? -1 : a.small() > b.small() ? 1 : 0;
    const bool real_a = a.type() == TermType::Float;
    const bool real_b = b.type() == TermType::Float;
    if (real_a && real_b) return compare_reals(a.real(), b.real());
    if (real_a) return -compare_mixed(b, a.real());
    if (real_b) return compare_mixed(a, b.real());
    return BigInt::compare(BigInt(a), BigInt(b));
}

bool equals_none(Term term) {
    return term == Term::none() ||
           (term.type() == TermType::Atom && (term.bytes() == "none" || term.bytes() == "undefined"));
}

class Equality {
public:
    Equality(Arena& arena, bool loose) : arena_(arena), loose_(loose) {}

    bool same(Term& a, Term& b, int depth) {
        if (a == b) return !a.is_nothing();
        if (depth > kDeepest) return false;
        opened(a, arena_);
        opened(b, arena_);
        if (a == b) return true;
        const TermType type = a.type();
        const TermType other = b.type();
        if (type == TermType::Enum || other == TermType::Enum) return same_enum(a, b, depth);
        if (is_spelled(type) && is_spelled(other))
            return (type == other || type == TermType::Text || other == TermType::Text) && a.bytes() == b.bytes();
        if (type == TermType::None || other == TermType::None) return equals_none(a) && equals_none(b);
        if (is_number(type) && is_number(other)) return (loose_ || type == other) && compare_numbers(a, b) == 0;
        if (type != other || !a.is_boxed() || !b.is_boxed()) return false;
        if (type == TermType::Tuple || type == TermType::List) return same_items(a, b, depth);
        return type == TermType::Map ? same_map(a, b, depth) : a.bytes() == b.bytes();
    }

private:
    bool same_items(Term a, Term b, int depth) {
        if (a.size() != b.size()) return false;
        for (std::size_t k = 0; k < a.size(); ++k)
            if (!same(a.items()[k], b.items()[k], depth + 1)) return false;
        return true;
    }
    bool same_enum(Term& a, Term& b, int depth) {
        if (a.type() == TermType::Enum && b.type() == TermType::Enum) return a.original() == b.original();
        Term& member = a.type() == TermType::Enum ? a : b;
        Term& value = a.type() == TermType::Enum ? b : a;
        return same(member.items()[0], value, depth + 1) || same(member.items()[1], value, depth + 1);
    }
    bool same_map(Term a, Term b, int depth) {
        if (a.size() != b.size()) return false;
        for (std::size_t k = 0; k < a.size(); ++k) {
            bool found = false;
            for (std::size_t n = 0; n < b.size() && !found; ++n)
                found = same(a.items()[2 * k], b.items()[2 * n], depth + 1) &&
                        same(a.items()[2 * k + 1], b.items()[2 * n + 1], depth + 1);
            if (!found) return false;
        }
        return true;
    }

    Arena& arena_;
    bool loose_;
};

// The place of a type in the order.
int rank(TermType type) {
    switch (type) {
        case TermType::Integer:
        case TermType::Float: return 0;
        case TermType::Atom:
        case TermType::Text:
        case TermType::None: return 1;
        case TermType::Reference: return 2;
        case TermType::Pid: return 3;
        case TermType::Tuple: return 4;
        case TermType::Map: return 5;
        case TermType::List: return 6;
        case TermType::String: return 7;
        case TermType::Binary: return 8;
        default: return 9;
    }
}

int sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

// Texts with numbers in them: `<0.9.0>` is before `<0.10.0>`.
int compare_numbered(std::string_view a, std::string_view b) {
    const auto digits = [](std::string_view text, std::size_t at) {
        std::size_t end = at;
        while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
        return end - at;
    };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        const std::size_t m = digits(a, i);
        const std::size_t n = digits(b, j);
        if (m != 0 && n != 0) {
            if (m != n) return m < n ? -1 : 1;
            if (const int order = a.compare(i, m, b, j, n); order != 0) return sign(order);
            i += m;
            j += n;
        } else {
            if (a[i] != b[j]) return a[i] < b[j] ? -1 : 1;
            ++i;
            ++j;
        }
    }
    return sign(static_cast<int>(a.size() - i) - static_cast<int>(b.size() - j));
}

class Order {
public:
    Order(Arena& arena, bool strict) : arena_(arena), strict_(strict) {}

    // After a mismatch in a strict comparison, what it gives does not matter.
    int compare(Term& place_a, Term& place_b, int depth) {
        const Term a = value_of(place_a);
        const Term b = value_of(place_b);
        if (a == b || depth > kDeepest) return 0;
        const TermType type = a.type();
        const TermType other = b.type();
        if (is_number(type) && is_number(other)) return compare_numbers(a, b);
        if (is_spelled(type) && is_spelled(other) &&
            (type == other || type == TermType::Text || other == TermType::Text))
            return sign(a.bytes().compare(b.bytes()));
        if (rank(type) != rank(other)) {
            mismatch_ = true;
            return rank(type) < rank(other) ? -1 : 1;
        }
        return compare_in_rank(a, b, depth);
    }
    bool failed() const { return strict_ && mismatch_; }

private:
    // Both are of types of one place in the order.
    int compare_in_rank(Term a, Term b, int depth) {
        switch (a.type()) {
            case TermType::Atom:
            case TermType::Text:
            case TermType::None: return sign(name_of(a).bytes().compare(name_of(b).bytes()));
            case TermType::Pid: return compare_pids(a, b);
            case TermType::Reference: return compare_numbered(a.bytes(), b.bytes());
            case TermType::Binary: return sign(a.bytes().compare(b.bytes()));
            case TermType::Tuple:
                if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
                return compare_items(a, b, depth);
            case TermType::List: return compare_items(a, b, depth);
            case TermType::Map: return compare_maps(a, b, depth);
            default: mismatch_ = true; return a.bits() < b.bits() ? -1 : 1;
        }
    }
    static Term name_of(Term term) {
        return term.type() == TermType::None ? Term::brief(TermType::Atom, "none") : term;
    }
    Term value_of(Term& place) {
        const Term term = opened(place, arena_);
        return term.type() == TermType::Enum ? opened(term.items()[1], arena_) : term;
    }
    static int compare_pids(Term a, Term b) {
        if (a.is_pid() != b.is_pid()) return a.is_pid() ? -1 : 1;
        if (!a.is_pid()) return compare_numbered(a.bytes(), b.bytes());
        return a.bits() < b.bits() ? -1 : 1;
    }
    int compare_items(Term a, Term b, int depth) {
        const std::size_t count = std::min(a.size(), b.size());
        for (std::size_t k = 0; k < count; ++k)
            if (const int order = compare(a.items()[k], b.items()[k], depth + 1); order != 0 || failed()) return order;
        return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
    }
    // By size, then by keys in their order, then by the values of those.
    int compare_maps(Term a, Term b, int depth) {
        if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
        const std::vector<Term*> left = sorted(a, depth);
        const std::vector<Term*> right = sorted(b, depth);
        for (const std::size_t part : {0U, 1U})
            for (std::size_t k = 0; k < left.size(); ++k)
                if (const int order = compare(left[k][part], right[k][part], depth + 1); order != 0 || failed())
                    return order;
        return 0;
    }
    std::vector<Term*> sorted(Term map, int depth) {
        std::vector<Term*> pairs;
        for (std::size_t k = 0; k < map.size(); ++k) pairs.push_back(map.items() + 2 * k);
        const bool before = mismatch_;
        std::stable_sort(pairs.begin(), pairs.end(), [&](Term* x, Term* y) { return compare(*x, *y, depth + 1) < 0; });
        mismatch_ = before;  // keys of several types are no reason to give up
        return pairs;
    }

    Arena& arena_;
    bool strict_;
    bool mismatch_ = false;
};

}  // namespace

bool exactly_equal_at_length(Term a, Term b, Arena& arena) { return Equality(arena, false).same(a, b, 0); }

bool loosely_equal(Term a, Term b, Arena& arena) { return Equality(arena, true).same(a, b, 0); }

std::optional<int> compare(Term a, Term b, Arena& arena, bool strict) {
    if (a.is_small() && b.is_small()) return a.small() < b.small() ? -1 : a.small() > b.small() ? 1 : 0;
    Order order(arena, strict);
    const int found = order.compare(a, b, 0);
    return order.failed() ? std::nullopt : std::optional<int>(found);
}

bool identical(Term a, Term b) {
    if (a == b) return true;
    if (!a.is_boxed() || !b.is_boxed() || a.box().type != b.box().type || a.box().size != b.box().size) return false;
    const Box& left = a.box();
    const Box& right = b.box();
    switch (left.type) {
        case TermType::Float: return std::memcmp(&left.real, &right.real, sizeof left.real) == 0;
        case TermType::Integer:
            return ((left.flags ^ right.flags) & Box::kNegative) == 0 &&
                   std::equal(left.digits, left.digits + left.size, right.digits);
        case TermType::Enum: return a.original() == b.original();
        case TermType::Tuple:
            if (!identical(a.tag(), b.tag())) return false;
            [[fallthrough]];
        case TermType::List:
            for (std::uint32_t k = 0; k < left.size; ++k)
                if (!identical(left.items[k], right.items[k])) return false;
            return true;
        case TermType::Map:
            for (std::uint32_t k = 0; k < 2 * left.size; ++k)
                if (!identical(left.items[k], right.items[k])) return false;
            return true;
        default: return a.bytes() == b.bytes();
    }
}

std::uint64_t hash(Term term) {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15ULL;
    if (!term.is_boxed()) return mix(term.bits() ^ 0xD6E8FEB86659FD93ULL, kFactor);
    const Box& box = term.box();
    const std::uint64_t start = (static_cast<std::uint64_t>(box.type) << 32 | box.size) * kFactor;
    switch (box.type) {
        case TermType::Float: {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &box.real, sizeof bits);
            return mix(start ^ bits, kFactor);
        }
        case TermType::Integer:
            return start ^ hash_bytes(KeyKind::BigInt,
                                      {reinterpret_cast<const char*>(box.digits), box.size * sizeof(std::uint32_t)});
        case TermType::Enum: return hash(term.original());
        case TermType::Tuple:
        case TermType::List:
        case TermType::Map: {
            std::uint64_t state = start;
            const std::size_t count = box.type == TermType::Map ? 2 * std::size_t{box.size} : box.size;
            for (std::size_t k = 0; k < count; ++k) state = mix(state ^ hash(box.items[k]), kFactor);
            return state;
        }
        default: return start ^ hash_bytes(KeyKind::Text, term.bytes());
    }
}

}  // namespace mopsus
