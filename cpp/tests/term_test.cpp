#include "machine/bigint.hpp"
#include "check.hpp"
#include "mopsus/engine/archive.hpp"
#include "mopsus/machine/term.hpp"

namespace mopsus::test {

namespace {

Term tuple(Arena& arena, std::vector<Term> items) {
    Term* placed = arena.terms(items.size());
    std::copy(items.begin(), items.end(), placed);
    return arena.tuple(placed, items.size());
}

Term list(Arena& arena, std::vector<Term> items) {
    Term* placed = arena.terms(items.size());
    std::copy(items.begin(), items.end(), placed);
    return arena.list(placed, items.size());
}

// A world of objects: those with even numbers are tuples of the number and the next object, the others opaque.
class Numbers final : public Foreign {
public:
    static std::uint64_t address(std::uint64_t number) { return (number + 1) * 8; }
    Term open(Term foreign, Arena& arena) override {
        const std::uint64_t number = foreign.address() / 8 - 1;
        if (number % 2 == 1) return Term::object(foreign.address());
        Term* items = arena.terms(2);
        items[0] = Term::small(static_cast<std::int64_t>(number));
        items[1] = Term::foreign(address(number + 1));
        return arena.tuple(items, 2);
    }
    void keep(std::uint64_t) override { ++kept; }
    void drop(std::uint64_t) override { --kept; }
    std::string name(std::uint64_t) override { return "Thing"; }
    int kept = 0;
};

struct Owned {
    explicit Owned(Foreign& owner) { use_foreign(&owner); }
    ~Owned() { use_foreign(nullptr); }
};

}  // namespace

TEST(terms_know_their_types_and_contents) {
    Arena arena;
    REQUIRE(Term::small(-5).small() == -5);
    REQUIRE(Term::small(-5).type() == TermType::Integer);
    REQUIRE(arena.atom("ok").type() == TermType::Atom && arena.atom("ok").bytes() == "ok");
    REQUIRE(arena.atom("undefined").is_boxed() && arena.atom("undefined").bytes() == "undefined");
    REQUIRE(arena.string("").type() == TermType::String && arena.string("").bytes().empty());
    REQUIRE(arena.text("1234567").is_brief() && arena.text("12345678").is_boxed());
    REQUIRE(arena.binary(std::string_view("\0\1", 2)).bytes().size() == 2);
    REQUIRE(Term::nil().type() == TermType::List && Term::nil().size() == 0);
    REQUIRE(arena.tuple(nullptr, 0).type() == TermType::Tuple);
    REQUIRE(arena.real(0.5).real() == 0.5);
    REQUIRE(Term().is_nothing() && !Term().is_boxed());
}

TEST(identifiers_lie_in_their_word_only_if_nothing_is_lost) {
    Arena arena;
    REQUIRE(arena.pid("<0.20.0>") == Term::pid(0, 20, 0));
    REQUIRE((arena.pid("<0.20.0>").pid() == std::array<std::uint32_t, 3>{0, 20, 0}));
    REQUIRE(to_text(arena.pid("<2047.4294967295.262143>")) == "<2047.4294967295.262143>");
    for (const char* text :
         {"<0.020.0>", "<2048.1.1>", "<0.1>", "<0.1.2", "<0.1.2>x", "queue", "", "<>", "<0.99999999999999999999.0>"}) {
        REQUIRE(arena.pid(text).is_boxed());
        REQUIRE(arena.pid(text).type() == TermType::Pid && to_text(arena.pid(text)) == text);
    }
}

TEST(integers_of_any_size) {
    Arena arena;
    for (const char* text :
         {"0", "-1", "1152921504606846975", "-1152921504606846976", "1152921504606846976", "9223372036854775807",
          "-9223372036854775808", "123456789012345678901234567890", "-4294967296000000000000000000001"})
        REQUIRE(to_text(arena.integer(text)) == text);
    REQUIRE(arena.integer("1152921504606846975").is_small() && !arena.integer("1152921504606846976").is_small());
    REQUIRE(arena.integer("+7") == Term::small(7));
    const BigInt a = BigInt::from_decimal("123456789012345678901234567890");
    const BigInt b = BigInt::from_decimal("-987654321098765432109");
    REQUIRE((a + b).to_decimal() == "123456788024691357802469135781");
    BigInt quotient;
    BigInt remainder;
    BigInt::divide(a, b, quotient, remainder);
    REQUIRE((quotient * b + remainder).to_decimal() == a.to_decimal());
    REQUIRE(!remainder.negative());
    REQUIRE(BigInt::compare(quotient, BigInt(-124999998)) == 0);
    REQUIRE(BigInt(-7).shifted_right(1).to_decimal() == "-4");
    REQUIRE(BigInt(-1).shifted_right(100).to_decimal() == "-1");
    REQUIRE(BigInt::bitwise(BigInt::Bitwise::And, BigInt(-7), BigInt(3)).to_decimal() == "1");
    REQUIRE(BigInt::bitwise(BigInt::Bitwise::Or, BigInt(-8), BigInt(3)).to_decimal() == "-5");
    REQUIRE(BigInt::bitwise(BigInt::Bitwise::Xor, b, b).is_zero());
    REQUIRE(BigInt::from_whole(-1e20).to_decimal() == "-100000000000000000000");
    REQUIRE(a.to_double() == 123456789012345678901234567890.0);
}

TEST(texts_equal_atoms_and_strings_which_differ) {
    Arena arena;
    for (const char* name : {"ok", "a longer name"}) {
        REQUIRE(exactly_equal(arena.text(name), arena.atom(name), arena));
        REQUIRE(exactly_equal(arena.string(name), arena.text(name), arena));
        REQUIRE(!exactly_equal(arena.string(name), arena.atom(name), arena));
        REQUIRE(!identical(arena.text(name), arena.atom(name)));
        REQUIRE(identical(arena.text(name), arena.text(name)));
    }
    REQUIRE(!exactly_equal(arena.binary("ok"), arena.text("ok"), arena));
    REQUIRE(exactly_equal(Term::none(), arena.atom("undefined"), arena) &&
            exactly_equal(arena.atom("none"), Term::none(), arena));
    REQUIRE(!exactly_equal(Term::none(), arena.atom("no"), arena));
}

TEST(numbers_are_equal_exactly_or_by_value) {
    Arena arena;
    REQUIRE(!exactly_equal(Term::small(1), arena.real(1.0), arena) &&
            loosely_equal(Term::small(1), arena.real(1.0), arena));
    REQUIRE(loosely_equal(tuple(arena, {Term::small(1)}), tuple(arena, {arena.real(1.0)}), arena));
    REQUIRE(!exactly_equal(tuple(arena, {Term::small(1)}), tuple(arena, {arena.real(1.0)}), arena));
    REQUIRE(exactly_equal(arena.integer("99999999999999999999"), arena.integer("99999999999999999999"), arena));
    // Beyond what a float can say exactly.
    REQUIRE(*compare(arena.integer("9007199254740993"), arena.real(9007199254740992.0), arena) > 0);
    REQUIRE(*compare(arena.real(1e300), arena.integer("99999999999999999999"), arena) > 0);
    REQUIRE(*compare(Term::small(3), arena.real(3.5), arena) < 0);
}

TEST(values_of_all_types_are_ordered) {
    Arena arena;
    Term* pair = arena.terms(2);
    pair[0] = Term::small(1);
    pair[1] = Term::small(2);
    const std::vector<Term> rising = {arena.real(-1.5),
                                      Term::small(0),
                                      arena.real(0.5),
                                      arena.integer("99999999999999999999"),
                                      arena.atom("a"),
                                      arena.atom("b"),
                                      arena.reference("#Ref<0.0.0.9>"),
                                      arena.reference("#Ref<0.0.0.10>"),
                                      arena.pid("<0.9.0>"),
                                      arena.pid("<0.10.0>"),
                                      arena.pid("other"),
                                      tuple(arena, {Term::small(9)}),
                                      tuple(arena, {Term::small(1), Term::small(1)}),
                                      arena.map(pair, 1),
                                      Term::nil(),
                                      list(arena, {Term::small(1)}),
                                      list(arena, {Term::small(1), Term::small(0)}),
                                      list(arena, {Term::small(2)}),
                                      arena.string("a"),
                                      arena.string("ab"),
                                      arena.binary("a")};
    for (std::size_t i = 0; i < rising.size(); ++i)
        for (std::size_t j = 0; j < rising.size(); ++j) {
            const int order = *compare(rising[i], rising[j], arena);
            REQUIRE((order < 0) == (i < j) && (order > 0) == (i > j));
        }
    REQUIRE(!compare(arena.atom("low"), Term::small(10), arena, true));
    REQUIRE(!compare(tuple(arena, {arena.atom("low")}), tuple(arena, {Term::small(10)}), arena, true));
    REQUIRE(*compare(Term::small(1), arena.real(2), arena, true) < 0);
}

TEST(terms_print_as_a_log_has_them) {
    Arena arena;
    Term* pair = arena.terms(2);
    pair[0] = arena.atom("k");
    pair[1] = arena.binary("hi");
    const Term all = tuple(arena, {arena.atom("job"), arena.atom("Hello world"), arena.string("50% \"off\""),
                                   list(arena, {arena.real(2.5), Term::small(-3)}), arena.real(1e30), arena.real(2),
                                   Term::nil(), arena.map(pair, 1), Term::none(), arena.tuple(nullptr, 0)});
    REQUIRE(to_text(all) ==
            "{job,'Hello world',\"50% \\\"off\\\"\",[2.5,-3],1.0e+30,2.0,[],#{k => <<104,105>>},none,{}}");
}

TEST(no_terms_at_all_take_their_room_in_an_arena) {
    // Where an arena was just full, they were written over what lay behind it.
    for (const std::size_t full : {std::size_t{4096}, std::size_t{4096 + 16384}}) {
        Arena arena;
        for (std::size_t taken = 0; taken < full; taken += 64) arena.take(64);
        const Term empty = arena.tuple(arena.terms(0), 0);
        REQUIRE(to_text(tuple(arena, {empty, Term::small(1)})) == "{{},1}");
    }
}

TEST(damaged_terms_are_refused) {
    const auto refused = [](std::vector<Item> items) {
        Archive archive(std::move(items));
        try {
            drop(transfer_term(archive, Term()));
        } catch (const BadSnapshot&) {
            return true;
        }
        return false;
    };
    const auto type = [](TermType of) { return Item(static_cast<std::int64_t>(of)); };
    const std::int64_t tagged = 1;
    const std::string name = "Pair";
    REQUIRE(!refused({type(TermType::Tuple), std::int64_t{0}, tagged, type(TermType::Text), name}));
    // The class of a tuple was read as if it had a name.
    REQUIRE(refused({type(TermType::Tuple), std::int64_t{0}, tagged, type(TermType::Integer), std::string("7")}));
    REQUIRE(refused({type(TermType::Object), std::string("Thing")}));
    REQUIRE(refused({type(TermType::Foreign), name}));
    REQUIRE(refused({type(TermType::List), std::int64_t{1} << 40}));
}

TEST(kept_terms_outlive_their_arena) {
    Term kept;
    Term twin;
    {
        Arena arena;
        std::string name = "a rather long name";
        const Term term =
            tuple(arena, {arena.atom(name), list(arena, {arena.integer("99999999999999999999"), arena.real(1.5)}),
                          arena.string(name)});
        kept = keep(term, arena);
        twin = keep(term, arena);
        name.assign(name.size(), 'x');
        arena.clear();
    }
    REQUIRE(to_text(kept) == "{'a rather long name',[99999999999999999999,1.5],\"a rather long name\"}");
    REQUIRE(identical(kept, twin) && hash(kept) == hash(twin));
    REQUIRE(kept_size(kept) > 0 && kept_size(Term::small(1)) == 0);
    share(kept);
    drop(kept);
    drop(kept);
    drop(twin);
}

TEST(foreign_terms_are_opened_when_somebody_looks) {
    Numbers numbers;
    const Owned owned(numbers);
    Arena arena;
    Term even = Term::foreign(Numbers::address(4));
    REQUIRE(even.type() == TermType::Foreign);
    REQUIRE(exactly_equal(even, Term::foreign(Numbers::address(4)), arena));
    REQUIRE(opened(even, arena).type() == TermType::Tuple && even.items()[1].is_foreign());
    const Term kept = keep(Term::foreign(Numbers::address(4)), arena);
    REQUIRE(kept.items()[1].is_object() && numbers.kept == 1 && holds_objects(kept));
    share(kept);
    drop(kept);
    REQUIRE(numbers.kept == 1);
    drop(kept);
    REQUIRE(numbers.kept == 0);
    const Term likeness = keep_likeness(Term::foreign(Numbers::address(4)), arena);
    REQUIRE(numbers.kept == 0 && to_text(likeness) == "{4,Thing}");
    drop(likeness);
    Archive archive;
    const Term object = keep(Term::foreign(Numbers::address(4)), arena);
    bool refused = false;
    try {
        transfer_term(archive, object);
    } catch (const BadSnapshot&) {
        refused = true;
    }
    drop(object);
    REQUIRE(refused);
}

TEST(snapshots_of_terms) {
    Arena arena;
    Term* pair = arena.terms(2);
    pair[0] = arena.text("k");
    pair[1] = arena.reference("#Ref<0.1.2.3>");
    const Term term = keep(tuple(arena, {arena.atom("job"), arena.real(-0.5), arena.integer("-99999999999999999999"),
                                         arena.map(pair, 1), arena.pid("<0.1.2>"), arena.pid("odd"),
                                         list(arena, {Term::none()}), arena.binary("x"), arena.string("y")}),
                           arena);
    Archive archive;
    transfer_term(archive, term);
    const std::vector<Item> items = archive.items();
    Archive whole(items);
    const Term read = transfer_term(whole, Term());
    REQUIRE(whole.at_end() && identical(read, term));
    drop(read);
    for (std::size_t k = 0; k < items.size(); ++k) {
        Archive shorter(std::vector<Item>(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(k)));
        bool refused = false;
        try {
            drop(transfer_term(shorter, Term()));
        } catch (const BadSnapshot&) {
            refused = true;
        }
        REQUIRE(refused);
    }
    drop(term);
}

}  // namespace mopsus::test
