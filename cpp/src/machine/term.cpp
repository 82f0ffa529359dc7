#include "mopsus/machine/term.hpp"

#include <algorithm>
#include <charconv>

#include "bigint.hpp"

namespace mopsus {

// ---- arenas ----

namespace {
constexpr std::size_t kSmallestChunk = 16384;
}

void Arena::grow(std::size_t bytes) {
    chunk_ = std::max({bytes, 2 * chunk_, kSmallestChunk});
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk_));
    at_ = chunks_.back().get();
    end_ = at_ + chunk_;
    total_ += chunk_;
}

void Arena::forget_chunks() {
    chunks_.clear();
    chunk_ = 0;
    total_ = 0;
}

std::size_t Arena::bytes() const { return sizeof *this + total_; }

std::string_view Arena::copy(std::string_view bytes) {
    auto* place = static_cast<char*>(take(bytes.size()));
    std::copy(bytes.begin(), bytes.end(), place);
    return {place, bytes.size()};
}

Term Arena::large(std::int64_t value) { return BigInt(value).to_term(*this); }

Term Arena::integer(std::string_view decimal) {
    std::int64_t value = 0;
    const char* start = decimal.data() + (!decimal.empty() && decimal[0] == '+' ? 1 : 0);
    const auto [end, error] = std::from_chars(start, decimal.data() + decimal.size(), value);
    return error == std::errc() && end == decimal.data() + decimal.size()
               ? integer(value)
               : BigInt::from_decimal(decimal).to_term(*this);
}

Term Arena::integer(bool negative, const std::uint32_t* digits, std::size_t count) {
    if (count <= 2) {
        const std::uint64_t magnitude =
            (count > 0 ? digits[0] : 0ULL) | (count > 1 ? static_cast<std::uint64_t>(digits[1]) << 32 : 0);
        if (magnitude <= 1ULL << 60) {
            const std::int64_t value =
                negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
            if (Term::fits_integer(value)) return Term::small(value);
        }
    }
    auto* copy = static_cast<std::uint32_t*>(take(count * sizeof(std::uint32_t)));
    std::copy(digits, digits + count, copy);
    auto* box = new (take(sizeof(Box))) Box;
    box->type = TermType::Integer;
    box->flags = negative ? Box::kNegative : 0;
    box->size = static_cast<std::uint32_t>(count);
    box->digits = copy;
    return Term::boxed(box);
}

Term Arena::real(double value) {
    auto* box = new (take(sizeof(Box))) Box;
    box->type = TermType::Float;
    box->real = value;
    return Term::boxed(box);
}

Term Arena::boxed_bytes(TermType type, std::string_view bytes) {
    auto* box = new (take(sizeof(Box))) Box;
    box->type = type;
    box->size = static_cast<std::uint32_t>(bytes.size());
    box->bytes = bytes.data();
    return Term::boxed(box);
}

Term Arena::pid(std::string_view text) {
    std::array<std::uint64_t, 3> numbers{};
    const char* at = text.data();
    const char* const end = at + text.size();
    const char* before = "<..";
    for (std::uint64_t& number : numbers) {
        if (at == end || *at != *before++) return boxed_bytes(TermType::Pid, text);
        ++at;
        // A leading zero would be lost.
        if (end - at > 1 && at[0] == '0' && at[1] >= '0' && at[1] <= '9') return boxed_bytes(TermType::Pid, text);
        const auto [next, error] = std::from_chars(at, end, number);
        if (error != std::errc()) return boxed_bytes(TermType::Pid, text);
        at = next;
    }
    const bool whole = end - at == 1 && *at == '>' && Term::fits_pid(numbers[0], numbers[1], numbers[2]);
    return whole ? Term::pid(numbers[0], numbers[1], numbers[2]) : boxed_bytes(TermType::Pid, text);
}

Term Arena::parts(TermType type, Term* items, std::size_t count, Term tag, Term original) {
    const bool wide = !tag.is_nothing() || !original.is_nothing();
    Box* box = nullptr;
    if (wide) {
        auto* made = new (take(sizeof(WideBox))) WideBox;
        made->tag = tag;
        made->original = original;
        made->flags = Box::kWide;
        box = made;
    } else {
        box = new (take(sizeof(Box))) Box;
    }
    box->type = type;
    box->size = static_cast<std::uint32_t>(count);
    box->items = items;
    return Term::boxed(box);
}

// ---- what others own ----

namespace {
Foreign* foreign_owner = nullptr;
}

void use_foreign(Foreign* owner) { foreign_owner = owner; }

Term open_foreign(Term term, Arena& arena) {
    return foreign_owner != nullptr ? foreign_owner->open(term, arena) : Term::object(term.address());
}

void Arena::hold(std::uint64_t object) {
    foreign_owner->keep(object);
    held_.push_back(object);
}

void Arena::let_go() {
    for (const std::uint64_t object : held_) foreign_owner->drop(object);
    held_.clear();
}

// ---- copies that stay ----

namespace {

// Values that are too deep or too large (a list that contains itself is both) are known by identity beyond this.
constexpr int kDeepest = 64;
constexpr std::size_t kMostParts = std::size_t{1} << 18;

struct KeptHeader {
    std::uint64_t owners = 1;
    std::uint64_t bytes = 0;
};

KeptHeader& header_of(Term kept) { return reinterpret_cast<KeptHeader*>(static_cast<std::uintptr_t>(kept.bits()))[-1]; }

bool has_items(TermType type) {
    return type == TermType::Tuple || type == TermType::List || type == TermType::Map || type == TermType::Enum;
}

std::size_t items_of(const Box& box) { return box.type == TermType::Map ? 2 * std::size_t{box.size} : box.size; }

// Objects of classes are kept with their parts, for those who look at them as objects; plain containers are not.
bool stays_wide(Term term) { return term.type() == TermType::Enum || !term.tag().is_nothing(); }

std::size_t whole_words(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

// What is copied of a term: all of it, or its likeness.
class View {
public:
    View(Arena& arena, bool likeness) : arena_(arena), likeness_(likeness) {}

    // Opens the term where it stands.
    Term of(Term& place, bool too_much) const {
        if (place.is_foreign()) {
            if (too_much) return as_seen(Term::object(place.address()));
            opened(place, arena_);
        }
        return as_seen(place);
    }

private:
    Term as_seen(Term term) const {
        if (!likeness_) return term;
        if (term.is_object()) return arena_.object_named(arena_.copy(object_name(term)));
        if (term.type() == TermType::Enum) return term.items()[0];
        return term.tag().is_nothing() ? term : arena_.tuple(term.items(), term.size(), term.tag());
    }

    Arena& arena_;
    bool likeness_;
};

// Counts what a copy of a term needs.
class Measure {
public:
    explicit Measure(const View& view) : view_(view) {}

    void visit(Term& place, int depth) {
        const Term term = view_.of(place, depth > kDeepest || ++parts_ > kMostParts);
        if (term.is_object()) has_objects_ = true;
        if (!term.is_boxed()) return;
        const Box& box = term.box();
        bytes_ += stays_wide(term) ? sizeof(WideBox) : sizeof(Box);
        if (has_items(box.type)) {
            bytes_ += items_of(box) * sizeof(Term);
            for (std::size_t k = 0; k < items_of(box); ++k) visit(box.items[k], depth + 1);
            if (!stays_wide(term)) return;
            Term tag = term.tag();
            visit(tag, depth + 1);
            has_objects_ = has_objects_ || term.original().is_object();
        } else if (box.type != TermType::Float) {
            bytes_ += whole_words(box.type == TermType::Integer ? box.size * sizeof(std::uint32_t) : box.size);
        }
    }
    std::size_t bytes() const { return bytes_; }
    bool has_objects() const { return has_objects_; }

private:
    const View& view_;
    std::size_t bytes_ = 0;
    std::size_t parts_ = 0;
    bool has_objects_ = false;
};

class Copy {
public:
    Copy(const View& view, char* at) : view_(view), at_(at) {}

    Term visit(Term& place) {
        const Term term = view_.of(place, true);  // what is still foreign was too much
        if (term.is_object() && foreign_owner != nullptr) foreign_owner->keep(term.address());
        if (!term.is_boxed()) return term;
        const Box& box = term.box();
        const bool wide = stays_wide(term);
        Box* copy = wide ? new (take(sizeof(WideBox))) WideBox : new (take(sizeof(Box))) Box;
        *copy = box;
        copy->flags = static_cast<std::uint8_t>((box.flags & Box::kNegative) | (wide ? Box::kWide : 0));
        if (has_items(box.type)) {
            const std::size_t count = items_of(box);
            copy->items = static_cast<Term*>(take(count * sizeof(Term)));
            for (std::size_t k = 0; k < count; ++k) copy->items[k] = visit(box.items[k]);
            if (wide) {
                Term tag = term.tag();
                Term original = term.original();
                static_cast<WideBox*>(copy)->tag = visit(tag);
                static_cast<WideBox*>(copy)->original = visit(original);
            }
        } else if (box.type != TermType::Float) {
            const std::size_t bytes = box.type == TermType::Integer ? box.size * sizeof(std::uint32_t) : box.size;
            auto* content = static_cast<char*>(take(bytes));
            std::memcpy(content, box.bytes, bytes);
            if (box.type == TermType::Integer)
                copy->digits = reinterpret_cast<const std::uint32_t*>(content);
            else
                copy->bytes = content;
        }
        return Term::boxed(copy);
    }

private:
    void* take(std::size_t bytes) {
        char* const place = at_;
        at_ += whole_words(bytes);
        return place;
    }
    const View& view_;
    char* at_;
};

template <class Visit>
void each_object(Term term, Visit&& visit) {
    if (term.is_object()) visit(term.address());
    if (!term.is_boxed()) return;
    const Box& box = term.box();
    if (has_items(box.type))
        for (std::size_t k = 0; k < items_of(box); ++k) each_object(box.items[k], visit);
    if ((box.flags & Box::kWide) != 0) each_object(term.original(), visit);
}

}  // namespace

namespace {

Term keep_as(Term term, const View& view) {
    Measure measure(view);
    measure.visit(term, 0);
    if (!term.is_boxed() && !term.is_object()) return term;
    const std::size_t bytes = sizeof(KeptHeader) + measure.bytes();
    auto* memory = static_cast<char*>(::operator new(bytes));
    new (memory) KeptHeader{1, bytes};
    const Term kept = Copy(view, memory + sizeof(KeptHeader)).visit(term);
    if (kept.is_boxed()) {
        auto* root = reinterpret_cast<Box*>(memory + sizeof(KeptHeader));
        root->flags = static_cast<std::uint8_t>(root->flags | Box::kKept | (measure.has_objects() ? Box::kObjects : 0));
    } else {
        ::operator delete(memory);  // an object, or the name of an Enum
    }
    return kept;
}

}  // namespace

Term keep(Term term, Arena& arena) {
    if (!term.is_boxed() && !term.is_foreign() && !term.is_object()) return term;
    if (term.is_boxed() && (term.box().flags & Box::kKept) != 0) {
        share(term);
        return term;
    }
    return keep_as(term, View(arena, false));
}

Term keep_likeness(Term term, Arena& arena) { return keep_as(term, View(arena, true)); }

void share(Term kept) {
    if (kept.is_boxed()) ++header_of(kept).owners;
    if (kept.is_object() && foreign_owner != nullptr) foreign_owner->keep(kept.address());
}

void drop(Term kept) {
    if (kept.is_object() && foreign_owner != nullptr) foreign_owner->drop(kept.address());
    if (!kept.is_boxed() || --header_of(kept).owners != 0) return;
    if ((kept.box().flags & Box::kObjects) != 0 && foreign_owner != nullptr)
        each_object(kept, [](std::uint64_t object) { foreign_owner->drop(object); });
    ::operator delete(&header_of(kept));
}

std::size_t kept_size(Term kept) { return kept.is_boxed() ? header_of(kept).bytes : 0; }

bool holds_objects(Term kept) {
    return kept.is_object() || (kept.is_boxed() && (kept.box().flags & Box::kObjects) != 0);
}

std::string object_name(Term object) {
    if (object.is_boxed()) return std::string(object.bytes());
    return foreign_owner != nullptr && object.address() != 0 ? foreign_owner->name(object.address()) : "object";
}

}  // namespace mopsus
