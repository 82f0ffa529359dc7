// Terms as text, for people, and as items of a snapshot.
#include <charconv>

#include "bigint.hpp"
#include "mopsus/engine/archive.hpp"
#include "mopsus/machine/term.hpp"

namespace mopsus {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '@';
}

bool needs_quotes(std::string_view atom) {
    if (atom.empty() || atom[0] < 'a' || atom[0] > 'z') return true;
    for (const char c : atom)
        if (!is_letter(c)) return true;
    return false;
}

void write_quoted(std::string& out, std::string_view text, char quote) {
    out += quote;
    for (const char c : text) {
        if (c == quote || c == '\\') out += '\\';
        if (c == '\n')
            out += "\\n";
        else if (c == '\r')
            out += "\\r";
        else if (c == '\t')
            out += "\\t";
        else
            out += c;
    }
    out += quote;
}

void write_real(std::string& out, double value) {
    std::array<char, 40> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    const std::size_t exponent = text.find('e');
    out += text.substr(0, exponent);
    if (text.find_first_of(".ni") == std::string_view::npos) out += ".0";  // also in front of an exponent
    if (exponent != std::string_view::npos) out += text.substr(exponent);
}

void write_atom(std::string& out, std::string_view name) {
    if (needs_quotes(name))
        write_quoted(out, name, '\'');
    else
        out += name;
}

void write_binary(std::string& out, std::string_view bytes) {
    out += "<<";
    for (std::size_t k = 0; k < bytes.size(); ++k) {
        if (k != 0) out += ',';
        out += std::to_string(static_cast<unsigned char>(bytes[k]));
    }
    out += ">>";
}

// One of Erlang's, <0.9.0>; those of other systems are texts.
void write_pid(std::string& out, Term term) {
    if (!term.is_pid()) {
        out += term.bytes();
        return;
    }
    const char* before = "<..";
    for (const std::uint32_t number : term.pid()) {
        out += *before++;
        out += std::to_string(number);
    }
    out += '>';
}

constexpr int kDeepest = 64;

void write(std::string& out, Term term, int depth) {
    if (depth > kDeepest) {
        out += "...";
        return;
    }
    const auto write_items = [&](const char* open, std::size_t step, const char* close) {
        out += open;
        for (std::size_t k = 0; k < term.size() * step; ++k) {
            if (k != 0) out += step == 2 && k % 2 == 1 ? " => " : ",";
            write(out, term.items()[k], depth + 1);
        }
        out += close;
    };
    switch (term.type()) {
        case TermType::Integer:
            out += term.is_small() ? std::to_string(term.small()) : BigInt(term).to_decimal();
            break;
        case TermType::Float: write_real(out, term.real()); break;
        case TermType::Atom: write_atom(out, term.bytes()); break;
        case TermType::String:
        case TermType::Text: write_quoted(out, term.bytes(), '"'); break;
        case TermType::Binary: write_binary(out, term.bytes()); break;
        case TermType::Tuple: write_items("{", 1, "}"); break;
        case TermType::List: write_items("[", 1, "]"); break;
        case TermType::Map: write_items("#{", 2, "}"); break;
        case TermType::Pid: write_pid(out, term); break;
        case TermType::Reference: out += term.bytes(); break;
        case TermType::None: out += "none"; break;
        case TermType::Enum: write(out, term.items()[0], depth + 1); break;
        case TermType::Object:
        case TermType::Foreign: out += object_name(term); break;
    }
}

// ---- snapshots ----

constexpr std::uint64_t kMost = std::uint64_t{1} << 30;

Term transfer_integer(Archive& archive, Term term, Arena& arena) {
    const std::string digits = archive.text(archive.reading() ? "" : to_text(term));
    const std::size_t sign = !digits.empty() && digits[0] == '-' ? 1 : 0;
    if (digits.size() == sign || digits.size() > Arena::kMostDigits ||
        digits.find_first_not_of("0123456789", sign) != std::string::npos)
        throw BadSnapshot("an integer in the snapshot is damaged");
    return arena.integer(digits);
}

Term transfer_real(Archive& archive, Term term, Arena& arena) {
    std::uint64_t bits = 0;
    if (!archive.reading()) std::memcpy(&bits, &term.box().real, sizeof bits);
    archive.field(bits);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return arena.real(value);
}

Term transfer_items(Archive& archive, Term term, TermType type, Arena& arena, bool likeness, int depth);

// `likeness`: a live object is saved by its name, which reads as an object that is like it. Otherwise it cannot be
// saved.
Term transfer_at(Archive& archive, Term term, Arena& arena, bool likeness, int depth) {
    if (depth > 2 * kDeepest) throw BadSnapshot("a value in the snapshot is too deep");
    const auto type = static_cast<TermType>(
        archive.number(static_cast<std::uint64_t>(term.type()), 0, static_cast<std::uint64_t>(TermType::Object)));
    const auto text = [&](TermType spelled) {
        const bool writing = !archive.reading();
        return writing
                   ? archive.text(spelled == TermType::Pid && term.is_pid() ? to_text(term) : std::string(term.bytes()))
                   : archive.text({});
    };
    switch (type) {
        case TermType::Integer: return transfer_integer(archive, term, arena);
        case TermType::Float: return transfer_real(archive, term, arena);
        case TermType::Atom: return arena.atom(arena.copy(text(type)));
        case TermType::String: return arena.string(arena.copy(text(type)));
        case TermType::Text: return arena.text(arena.copy(text(type)));
        case TermType::Binary: return arena.binary(arena.copy(text(type)));
        case TermType::Pid: return arena.pid(arena.copy(text(type)));
        case TermType::Reference: return arena.reference(arena.copy(text(type)));
        case TermType::None: return Term::none();
        case TermType::Object:
            if (!likeness) throw BadSnapshot("a value in the snapshot is an object");
            return arena.object_named(arena.copy(text(type)));
        case TermType::Tuple:
        case TermType::List:
        case TermType::Map: return transfer_items(archive, term, type, arena, likeness, depth);
        default: throw BadSnapshot("a value in the snapshot is of no known type");
    }
}

// A tuple may be one of a class, whose name is its tag. A map has a key and a value for each item.
Term transfer_items(Archive& archive, Term term, TermType type, Arena& arena, bool likeness, int depth) {
    const std::size_t count = archive.number(term.size(), 0, kMost);
    const std::size_t parts = type == TermType::Map ? 2 * count : count;
    Term tag;
    if (type == TermType::Tuple && archive.number(archive.reading() ? 0 : !term.tag().is_nothing(), 0, 1) != 0)
        tag = transfer_at(archive, term.tag(), arena, likeness, depth + 1);
    if (!tag.is_nothing() && tag.type() != TermType::Text)
        throw BadSnapshot("a value in the snapshot is of a class without a name");
    std::vector<Term> items;  // a count that is too large runs out of snapshot
    for (std::size_t k = 0; k < parts; ++k)
        items.push_back(transfer_at(archive, archive.reading() ? Term() : term.items()[k], arena, likeness, depth + 1));
    Term* placed = arena.terms(parts);
    std::copy(items.begin(), items.end(), placed);
    if (type == TermType::Tuple) return arena.tuple(placed, count, tag);
    return type == TermType::List ? arena.list(placed, count) : arena.map(placed, count);
}

}  // namespace

std::string to_text(Term term) {
    std::string out;
    write(out, term, 0);
    return out;
}

Term transfer_term(Archive& archive, Term term, bool likeness) {
    if (!archive.reading() && holds_objects(term)) throw BadSnapshot("a live object cannot be saved");
    Arena arena;
    const Term found = transfer_at(archive, term, arena, likeness, 0);
    return archive.reading() ? keep(found, arena) : term;
}

}  // namespace mopsus
