// Values of events: made from bytes, kept, compared, written and read back as items of a snapshot; and items that are
// made up.
#include "mopsus/engine/archive.hpp"
#include "mopsus/machine/term.hpp"
#include "support/bytes.hpp"
#include "support/target.hpp"

namespace {

using namespace mopsus;
using fuzz::Bytes;

Term made(Bytes& bytes, Arena& arena, int depth) {
    const std::uint8_t kind = bytes.byte();
    const auto text = [&] { return arena.copy(bytes.text(bytes.below(20))); };
    const auto parts = [&](std::size_t count) {
        Term* items = arena.terms(count);
        for (std::size_t k = 0; k < count; ++k) items[k] = made(bytes, arena, depth + 1);
        return items;
    };
    const std::size_t count = depth < 70 && !bytes.empty() ? bytes.below(4) : 0;
    switch (kind % 14) {
        case 0: return Term::small(static_cast<std::int8_t>(bytes.byte()));
        case 1: return arena.integer(static_cast<std::int64_t>(bytes.word()));
        case 2: {
            std::string digits((kind & 0x80U) != 0 ? "-" : "");
            for (std::size_t k = 1 + bytes.below(40); k > 0; --k) digits += static_cast<char>('0' + bytes.below(10));
            return arena.integer(digits);
        }
        case 3: return arena.real(std::bit_cast<double>(bytes.word()));
        case 4: return arena.atom(text());
        case 5: return arena.string(text());
        case 6: return arena.text(text());
        case 7: return arena.binary(text());
        case 8: return arena.pid(text());
        case 9: return arena.reference(text());
        case 10: return Term::none();
        case 11: return arena.tuple(parts(count), count, (kind & 0x80U) != 0 ? arena.text(text()) : Term());
        case 12: return arena.list(parts(count), count);
        default: return arena.map(parts(2 * count), count);
    }
}

// Two ways to compare are two views of one order.
void compared(Term a, Term b, Arena& arena) {
    const bool same = identical(a, b);
    EXPECT(!same || hash(a) == hash(b));
    EXPECT(same == identical(b, a));
    exactly_equal(a, b, arena);
    loosely_equal(a, b, arena);
    const auto order = compare(a, b, arena);
    const auto reverse = compare(b, a, arena);
    EXPECT(order.has_value() && reverse.has_value());
    compare(a, b, arena, true);
    EXPECT(to_text(a) == to_text(a));
}

bool read_back(std::vector<Item> items, Term& term) {
    Archive archive(std::move(items));
    try {
        term = transfer_term(archive, Term());
        return archive.at_end();
    } catch (const BadSnapshot&) {
        term = Term();
        return false;
    }
}

FUZZ_TARGET(terms) {
    Bytes bytes(data, size);
    Arena arena;
    if (bytes.flag()) {
        const Term a = keep(made(bytes, arena, 0), arena);
        const Term b = keep(made(bytes, arena, 0), arena);
        compared(a, b, arena);
        for (const Term term : {a, b}) {
            Archive archive;
            transfer_term(archive, term);
            Term again;
            EXPECT(read_back(archive.items(), again));
            EXPECT(identical(term, again) && hash(term) == hash(again) && to_text(term) == to_text(again));
            drop(again);
        }
        drop(a);
        drop(b);
        return;
    }
    std::vector<Item> items;
    while (!bytes.empty() && items.size() < 300) {
        const std::uint8_t kind = bytes.byte();
        if (kind < 200)
            items.emplace_back(static_cast<std::int64_t>(kind % 20));
        else if (kind < 210)
            items.emplace_back(static_cast<std::int64_t>(bytes.word()));
        else
            items.emplace_back(std::string(bytes.text(kind % 16)));
    }
    Term a;
    read_back(items, a);
    if (a.is_nothing()) return;
    const Term b = keep(a, arena);
    compared(a, b, arena);
    drop(a);
    drop(b);
}

}  // namespace
