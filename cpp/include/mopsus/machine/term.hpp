// Values that events carry: numbers, names, texts, tuples, lists, mappings, identifiers of components.
//
// A term is one word. What is small lies in it: most integers, names and texts of up to seven bytes, identifiers of
// components, the empty list. Everything else is a box in an arena that lives as long as its event; a term that has to
// live longer is copied (`keep`) and counted. Terms never change, except that a foreign one may be replaced, where it
// stands, by what it is when it is opened.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mopsus {

class Archive;

enum class TermType : std::uint8_t {
    Integer,
    Float,
    Atom,
    String,
    Text,  // of a language that has no atoms: equal to an atom and to a string of the same spelling
    Binary,
    Tuple,
    List,
    Map,
    Pid,
    Reference,
    None,     // equal to the atoms `none` and `undefined`
    Enum,     // equal to its name as an atom, and to its value
    Object,   // known by identity only
    Foreign,  // not looked into yet; see `Foreign`
};

struct Box;

class Term {
public:
    constexpr Term() = default;  // nothing: fits no pattern but `_`

    static constexpr Term none() { return Term(kNone << 3 | kSpecial); }
    static constexpr Term nil() { return Term(kNil << 3 | kSpecial); }
    static constexpr bool fits_integer(std::int64_t value) {
        return value >= -(std::int64_t{1} << 60) && value < (std::int64_t{1} << 60);
    }
    static constexpr Term small(std::int64_t value) { return Term(static_cast<std::uint64_t>(value) << 3 | kSmall); }
    // Bytes of up to seven: an Atom, String, Text or Binary.
    static Term brief(TermType type, std::string_view bytes) {
        std::uint64_t bits = 0;
        std::memcpy(reinterpret_cast<char*>(&bits) + 1, bytes.data(), bytes.size());
        return Term(bits | kBrief | static_cast<std::uint64_t>(spelling(type)) << 3 |
                    static_cast<std::uint64_t>(bytes.size()) << 5);
    }
    static Term boolean(bool value) { return value ? brief(TermType::Atom, "true") : brief(TermType::Atom, "false"); }
    static constexpr bool fits_pid(std::uint64_t node, std::uint64_t serial, std::uint64_t incarnation) {
        return node < (1U << 11) && serial <= 0xFFFFFFFFU && incarnation < (1U << 18);
    }
    static constexpr Term pid(std::uint64_t node, std::uint64_t serial, std::uint64_t incarnation) {
        return Term((node << 50 | serial << 18 | incarnation) << 3 | kPid);
    }
    // An object of whoever runs the core; its address is a multiple of eight.
    static constexpr Term object(std::uint64_t address) { return Term(address | kObject); }
    static constexpr Term foreign(std::uint64_t address) { return Term(address | kForeign); }
    static Term boxed(const Box* box) { return Term(reinterpret_cast<std::uintptr_t>(box)); }

    constexpr std::uint64_t bits() const { return bits_; }
    constexpr bool operator==(const Term&) const = default;  // the same word
    constexpr bool is_nothing() const { return bits_ == 0; }
    constexpr bool is_boxed() const { return (bits_ & kTags) == kBoxed && bits_ != 0; }
    constexpr bool is_small() const { return (bits_ & kTags) == kSmall; }
    constexpr bool is_brief() const { return (bits_ & kTags) == kBrief; }
    constexpr bool is_pid() const { return (bits_ & kTags) == kPid; }  // one that lies in its word
    constexpr bool is_object() const { return (bits_ & kTags) == kObject; }
    constexpr bool is_foreign() const { return (bits_ & kTags) == kForeign; }

    constexpr std::int64_t small() const { return static_cast<std::int64_t>(bits_) >> 3; }
    constexpr std::uint64_t address() const { return bits_ & ~kTags; }
    const Box& box() const { return *reinterpret_cast<const Box*>(static_cast<std::uintptr_t>(bits_)); }
    std::array<std::uint32_t, 3> pid() const {
        const std::uint64_t packed = bits_ >> 3;
        return {static_cast<std::uint32_t>(packed >> 50), static_cast<std::uint32_t>(packed >> 18),
                static_cast<std::uint32_t>(packed & 0x3FFFF)};
    }
    inline TermType type() const;
    // The bytes of an Atom, String, Text or Binary, and of a Reference or Pid that is a box. A brief one lies in
    // the term, which must outlive them.
    inline std::string_view bytes() const&;
    // The parts of a Tuple or List; keys and values of a Map in turn; name and value of an Enum.
    inline Term* items() const;
    inline std::size_t size() const;  // of a Tuple, List or Map
    inline double real() const;       // of a Float
    inline Term tag() const;          // of a Tuple: its class as a Text, or nothing
    inline Term original() const;     // the object that a Tuple, List, Map or Enum was made from, or nothing
    // Is all of it in the word, so that it equals exactly what is the same word, but for texts?
    constexpr bool is_plain() const { return is_small() || is_pid() || is_brief(); }
    // Of two brief ones: is their spelling the same, and their kind, if a text is of either kind?
    static constexpr bool same_spelling(Term a, Term b) {
        constexpr std::uint64_t kKinds = 3U << 3;
        constexpr std::uint64_t kText = 2U << 3;
        constexpr std::uint64_t kBinary = 3U << 3;
        const std::uint64_t left = a.bits_ & kKinds;
        const std::uint64_t right = b.bits_ & kKinds;
        return ((a.bits_ ^ b.bits_) & ~kKinds) == 0 && (left == kText || right == kText) && left != kBinary &&
               right != kBinary;
    }

private:
    static constexpr std::uint64_t kTags = 7;
    enum Tag : std::uint64_t { kBoxed, kSmall, kBrief, kPid, kSpecial, kForeign, kObject };
    enum Special : std::uint64_t { kNil, kNone };
    static constexpr unsigned spelling(TermType type) {
        return static_cast<unsigned>(type) - static_cast<unsigned>(TermType::Atom);
    }

    static_assert(std::endian::native == std::endian::little);  // brief ones are read where they lie
    explicit constexpr Term(std::uint64_t bits) : bits_(bits) {}
    std::uint64_t bits_ = 0;
};

// What does not fit into a word. `Wide` follows if the flag says so.
struct Box {
    enum Flag : std::uint8_t {
        kNegative = 1,  // of an Integer, which is large
        kWide = 2,
        kKept = 4,     // a copy that is counted; not what is in it
        kObjects = 8,  // kept, and has objects in it
    };
    TermType type = TermType::Tuple;
    std::uint8_t flags = 0;
    std::uint32_t size = 0;  // bytes, digits of 32 bits, parts, or pairs
    union {
        const char* bytes;
        const std::uint32_t* digits;  // the lowest first, and the highest is not 0
        Term* items;
        double real;
    };

    Box() : bytes(nullptr) {}
};

struct WideBox : Box {
    Term tag;
    Term original;
};

inline TermType Term::type() const {
    switch (bits_ & kTags) {
        case kSmall: return TermType::Integer;
        case kBrief: return static_cast<TermType>(static_cast<unsigned>(TermType::Atom) + (bits_ >> 3 & 3U));
        case kPid: return TermType::Pid;
        case kSpecial: return bits_ >> 3 == kNil ? TermType::List : TermType::None;
        case kForeign: return TermType::Foreign;
        case kObject: return TermType::Object;
        default: return is_nothing() ? TermType::Object : box().type;
    }
}

inline std::string_view Term::bytes() const& {
    if (is_brief()) return {reinterpret_cast<const char*>(&bits_) + 1, (bits_ >> 5) & 7U};
    return {box().bytes, box().size};
}

inline Term* Term::items() const { return is_boxed() ? box().items : nullptr; }
inline std::size_t Term::size() const { return is_boxed() ? box().size : 0; }
inline double Term::real() const { return box().real; }
inline Term Term::tag() const {
    return is_boxed() && (box().flags & Box::kWide) != 0 ? static_cast<const WideBox&>(box()).tag : Term();
}
inline Term Term::original() const {
    return is_boxed() && (box().flags & Box::kWide) != 0 ? static_cast<const WideBox&>(box()).original : Term();
}

// Where the terms of an event are made. `clear` ends all of them at once and keeps the memory.
class Arena {
public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() { clear(); }

    void clear() {
        if (chunk_ != 0) forget_chunks();
        if (!held_.empty()) let_go();
        at_ = first_.data();
        end_ = at_ + first_.size();
    }
    void* take(std::size_t bytes) {
        bytes = (bytes + 7) & ~std::size_t{7};
        if (static_cast<std::size_t>(end_ - at_) < bytes) grow(bytes);
        char* const place = at_;
        at_ += bytes;
        return place;
    }
    Term* terms(std::size_t count) {
        const std::size_t made = count == 0 ? 1 : count;
        return new (take(made * sizeof(Term))) Term[made];
    }
    std::string_view copy(std::string_view bytes);
    // An object stays until the arena is cleared.
    void hold(std::uint64_t object);
    std::size_t bytes() const;

    Term integer(std::int64_t value) { return Term::fits_integer(value) ? Term::small(value) : large(value); }
    // An optional sign and decimal digits. Time is quadratic in their number: refuse more than `kMostDigits`.
    static constexpr std::size_t kMostDigits = 10'000;
    Term integer(std::string_view decimal);
    Term integer(bool negative, const std::uint32_t* digits, std::size_t count);  // normalised; copies
    Term real(double value);
    // These four and the next two borrow bytes of more than seven, which must live as long as the term.
    Term atom(std::string_view name) { return spelled(TermType::Atom, name); }
    Term string(std::string_view text) { return spelled(TermType::String, text); }
    Term text(std::string_view text) { return spelled(TermType::Text, text); }
    Term binary(std::string_view data) { return spelled(TermType::Binary, data); }
    // `<1.2.3>` and `#Ref<1.2.3.4>`; other texts are allowed.
    Term pid(std::string_view text);
    Term reference(std::string_view text) { return boxed_bytes(TermType::Reference, text); }
    Term object_named(std::string_view type) { return boxed_bytes(TermType::Object, type); }
    // These take over `items`, which lie in this arena (or live as long).
    Term tuple(Term* items, std::size_t count, Term tag = {}, Term original = {}) {
        return parts(TermType::Tuple, items, count, tag, original);
    }
    Term list(Term* items, std::size_t count, Term original = {}) {
        return count == 0 ? Term::nil() : parts(TermType::List, items, count, {}, original);
    }
    Term map(Term* pairs, std::size_t count, Term original = {}) {
        return parts(TermType::Map, pairs, count, {}, original);
    }
    Term enumeration(Term* name_and_value, Term original) {
        return parts(TermType::Enum, name_and_value, 2, {}, original);
    }

private:
    void grow(std::size_t bytes);
    void forget_chunks();
    void let_go();
    Term large(std::int64_t value);
    Term spelled(TermType type, std::string_view bytes) {
        return bytes.size() <= 7 ? Term::brief(type, bytes) : boxed_bytes(type, bytes);
    }
    Term boxed_bytes(TermType type, std::string_view bytes);
    Term parts(TermType type, Term* items, std::size_t count, Term tag, Term original);

    std::array<char, 4096> first_;
    char* at_ = first_.data();
    char* end_ = first_.data() + first_.size();
    std::size_t chunk_ = 0;  // the size of the last one
    std::vector<std::unique_ptr<char[]>> chunks_;
    std::size_t total_ = 0;
    std::vector<std::uint64_t> held_;
};

// Whoever owns the objects that terms stand for. There is one for the whole process, or none.
class Foreign {
public:
    virtual ~Foreign() = default;
    // What a foreign term is: a term of another type, whose parts may be foreign again. Never foreign itself.
    virtual Term open(Term foreign, Arena& arena) = 0;
    virtual void keep(std::uint64_t object) = 0;
    virtual void drop(std::uint64_t object) = 0;
    virtual std::string name(std::uint64_t object) = 0;  // of its type
};
void use_foreign(Foreign* owner);
Term open_foreign(Term term, Arena& arena);
// The same where the term stands, so that it is opened once.
inline Term opened(Term& place, Arena& arena) {
    if (place.is_foreign()) place = open_foreign(place, arena);
    return place;
}

// `=:=`: 1 is not 1.0, an atom is not a string.
bool exactly_equal_at_length(Term a, Term b, Arena& arena);
inline bool exactly_equal(Term a, Term b, Arena& arena) {
    if (a == b) return !a.is_nothing();
    if (a.is_plain() && b.is_plain()) return a.is_brief() && b.is_brief() && Term::same_spelling(a, b);
    return exactly_equal_at_length(a, b, arena);
}
// `==`: numbers by value.
bool loosely_equal(Term a, Term b, Arena& arena);
// Below 0, 0, or above. Numbers, atoms, references, identifiers, tuples, maps, lists, strings, binaries, objects in
// this order. If `strict`, nothing where types differ that have no order among them.
std::optional<int> compare(Term a, Term b, Arena& arena, bool strict = false);
// Can the two not be told apart by anything? Both must be kept, or at least hold nothing foreign.
bool identical(Term a, Term b);
std::uint64_t hash(Term term);  // equal for identical ones

// A copy that lives until it is dropped as often as it was kept and shared. Everything in it is opened, in the arena.
Term keep(Term term, Arena& arena);
// The same, but objects are replaced by the names of their types: for the record, not to be compared.
Term keep_likeness(Term term, Arena& arena);
void share(Term kept);
void drop(Term kept);
std::size_t kept_size(Term kept);  // in bytes; 0 if it lies in its word
bool holds_objects(Term kept);

std::string object_name(Term object);
// As a log has it.
std::string to_text(Term term);
// Writes a kept term, or reads one and keeps it. Objects cannot be written; the names that stand for them in a likeness
// can.
Term transfer_term(Archive& archive, Term term, bool likeness = false);

}  // namespace mopsus
