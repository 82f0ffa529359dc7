#include "mopsus/trace/json_lines.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "trace/cells.hpp"
#include "machine/utf8.hpp"

namespace mopsus {

namespace {

constexpr unsigned kNoHex = ~0U;

// The first byte from here on that ends a run of plain characters of a string: a quote, a backslash or a control
// character.
const char* plain_end(const char* at, const char* end) {
    if constexpr (std::endian::native == std::endian::little) {
        constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
        constexpr std::uint64_t kTops = 0x8080808080808080ULL;
        while (end - at >= 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, at, 8);
            const std::uint64_t quotes = word ^ (kOnes * '"');
            const std::uint64_t slashes = word ^ (kOnes * '\\');
            // Of these, the lowest bit is right; higher ones may be carried.
            const std::uint64_t found =
                (((quotes - kOnes) & ~quotes) | ((slashes - kOnes) & ~slashes) | ((word - kOnes * 0x20) & ~word)) &
                kTops;
            if (found != 0) return at + std::countr_zero(found) / 8;
            at += 8;
        }
    }
    while (at < end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
    return at;
}

unsigned hex(const char* at, const char* end) {
    if (end - at < 4) return kNoHex;
    unsigned value = 0;
    const auto [stop, fault] = std::from_chars(at, at + 4, value, 16);
    return fault == std::errc() && stop == at + 4 ? value : kNoHex;
}

void append_utf8(std::string& text, unsigned code) {
    const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return add(code);
    if (code < 0x800) {
        add(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            add(0xE0 | code >> 12);
        } else {
            add(0xF0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3F));
        }
        add(0x80 | (code >> 6 & 0x3F));
    }
    add(0x80 | (code & 0x3F));
}

// The text of a string whose escapes are known to be right; false if it has half a surrogate pair, which is no text.
bool unescape(std::string_view raw, std::string& text) {
    text.clear();
    const char* const end = raw.data() + raw.size();
    for (const char* at = raw.data(); at < end;) {
        const char* stop = std::find(at, end, '\\');
        text.append(at, stop);
        if (stop == end) break;
        at = stop + 2;
        switch (stop[1]) {
            case 'b': text += '\b'; continue;
            case 'f': text += '\f'; continue;
            case 'n': text += '\n'; continue;
            case 'r': text += '\r'; continue;
            case 't': text += '\t'; continue;
            case 'u': break;
            default: text += stop[1]; continue;
        }
        unsigned code = hex(at, end);
        at += 4;
        if (code >= 0xD800 && code < 0xE000) {
            const unsigned low = end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? hex(at + 2, end) : kNoHex;
            if (code >= 0xDC00 || low < 0xDC00 || low >= 0xE000) return false;
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            at += 6;
        }
        append_utf8(text, code);
    }
    return true;
}

// A value as it is written.
struct Written {
    enum class Kind : std::uint8_t { None, True, False, Int, Float, Plain, Escaped, Composed };
    Kind kind = Kind::None;
    std::string_view text;  // of a number or, between the quotes, of a string
};

using Kind = Written::Kind;

// What is looked for in an object: which keys lead where.
struct Wanted {
    struct Key {
        std::string name;
        int slot = -1;           // where its value goes
        int inside = -1;         // what is looked for in the object that it may hold
        std::vector<int> below;  // the slots of that
    };
    std::vector<Key> keys;
    std::vector<std::pair<std::string, int>>
        last;  // the keys of the last such object as they were written, and their places in `keys`
};

// The values of some fields in one object after the other. A field `a.b` has two slots: of the key `a.b`, and of `b` in
// `a`.
class Objects {
public:
    Objects(std::string_view block, const std::vector<std::string>& names)
        : begin_(block.data()),
          at_(block.data()),
          end_(block.data() + block.size()),
          count_(names.size()),
          slots_(2 * names.size()),
          wanted_(1) {
        for (std::size_t k = 0; k < names.size(); ++k) {
            key(0, names[k]).slot = static_cast<int>(k);
            if (names[k].find('.') != std::string::npos) add_path(names[k], static_cast<int>(k + count_));
        }
    }

    // Calls `on_row` for each object and `on_odd(place)` for each line that has none; lines with nothing on them are
    // left out. `on_row` gives false if its values are odd; `on_odd` gives the place of the next line.
    template <class OnRow, class OnOdd>
    void walk(OnRow&& on_row, OnOdd&& on_odd) {
        while (at_ < end_) {
            const char* const start = at_;
            while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\v' || *at_ == '\f') ++at_;
            if (at_ == end_) return;
            if (*at_ == '\n') {
                ++at_;
                continue;
            }
            at_ = start;
            if (line() && on_row()) {
                if (at_ < end_) ++at_;
            } else {
                at_ = begin_ + std::min(on_odd(static_cast<std::size_t>(start - begin_)),
                                        static_cast<std::size_t>(end_ - begin_));
            }
        }
    }

    const Written& value(std::size_t field) const {
        const Written& own = slots_[field];
        return own.kind == Kind::None ? slots_[field + count_] : own;
    }

private:
    Wanted::Key& key(int node, std::string_view name) {
        std::vector<Wanted::Key>& keys = wanted_[static_cast<std::size_t>(node)].keys;
        for (Wanted::Key& each : keys)
            if (each.name == name) return each;
        return keys.emplace_back(Wanted::Key{std::string(name), -1, -1, {}});
    }
    void add_path(std::string_view path, int slot) {
        int node = 0;
        for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
            if (key(node, path.substr(0, dot)).inside < 0) {
                key(node, path.substr(0, dot)).inside = static_cast<int>(wanted_.size());
                wanted_.emplace_back();
            }
            Wanted::Key& outer = key(node, path.substr(0, dot));
            outer.below.push_back(slot);
            node = outer.inside;
            path.remove_prefix(dot + 1);
        }
        key(node, path).slot = slot;
    }

    // Everything below gives false at what is no JSON.

    bool line() {
        std::fill(slots_.begin(), slots_.end(), Written{});
        space();
        if (*at_ != '{' || !object(0, 1)) return false;
        space();
        return at_ == end_ || *at_ == '\n';
    }
    void space() {
        while (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') ++at_;
    }
    bool word(std::string_view text) {
        if (static_cast<std::size_t>(end_ - at_) < text.size() || std::memcmp(at_, text.data(), text.size()) != 0)
            return false;
        at_ += text.size();
        return true;
    }

    // An object; `node` is what is looked for in it, if something is.
    bool object(int node, int depth) {
        if (depth > kMostNested) return false;
        ++at_;
        space();
        if (*at_ == '}') return ++at_, true;
        for (std::size_t place = 0;; ++place) {
            if (*at_ != '"') return false;
            const int found = node >= 0 ? find(node, place) : string(unused_) ? kOther : kBroken;
            if (found == kBroken) return false;
            space();
            if (*at_ != ':') return false;
            ++at_;
            space();
            if (!(found < 0 ? skip(depth) : member(node, found, depth))) return false;
            space();
            if (*at_ == '}') return ++at_, true;
            if (*at_ != ',') return false;
            ++at_;
            space();
        }
    }

    static constexpr int kOther = -1;
    static constexpr int kBroken = -2;

    // Reads a key and gives its place among those that are wanted. Objects mostly have the same keys in the same order.
    int find(int node, std::size_t place) {
        Wanted& wanted = wanted_[static_cast<std::size_t>(node)];
        const char* const start = at_ + 1;
        if (place < wanted.last.size()) {
            const auto& [raw, known] = wanted.last[place];
            if (static_cast<std::size_t>(end_ - start) > raw.size() && start[raw.size()] == '"' &&
                std::memcmp(start, raw.data(), raw.size()) == 0) {
                at_ = start + raw.size() + 1;
                return known;
            }
        }
        Written written;
        if (!string(written)) return kBroken;
        const bool is_text = written.kind == Kind::Plain || unescape(written.text, scratch_);
        const std::string_view name = written.kind == Kind::Plain ? written.text : scratch_;
        int found = kOther;
        for (std::size_t k = 0; is_text && k < wanted.keys.size(); ++k)
            if (wanted.keys[k].name == name) found = static_cast<int>(k);
        if (place < kMostRemembered) {
            if (place >= wanted.last.size()) wanted.last.resize(place + 1);
            wanted.last[place] = {std::string(written.text), found};
        }
        return found;
    }
    static constexpr std::size_t kMostRemembered = 64;

    bool member(int node, int place, int depth) {
        const Wanted::Key& key = wanted_[static_cast<std::size_t>(node)].keys[static_cast<std::size_t>(place)];
        for (const int slot : key.below) slots_[static_cast<std::size_t>(slot)] = {};
        Written& target = key.slot < 0 ? unused_ : slots_[static_cast<std::size_t>(key.slot)];
        target = {};
        switch (*at_) {
            case '{': target.kind = Kind::Composed; return object(key.inside, depth + 1);
            case '[': target.kind = Kind::Composed; return array(depth + 1);
            case '"': return string(target);
            case 't': target.kind = Kind::True; return word("true");
            case 'f': target.kind = Kind::False; return word("false");
            case 'n': return word("null");
            default: return number(target);
        }
    }

    bool skip(int depth) {
        switch (*at_) {
            case '{': return object(-1, depth + 1);
            case '[': return array(depth + 1);
            case '"': return string(unused_);
            case 't': return word("true");
            case 'f': return word("false");
            case 'n': return word("null");
            default: return number(unused_);
        }
    }

    bool array(int depth) {
        if (depth > kMostNested) return false;
        ++at_;
        space();
        if (*at_ == ']') return ++at_, true;
        while (skip(depth)) {
            space();
            if (*at_ == ']') return ++at_, true;
            if (*at_ != ',') return false;
            ++at_;
            space();
        }
        return false;
    }

    bool string(Written& written) {
        const char* const start = ++at_;
        written.kind = Kind::Plain;
        for (;;) {
            at_ = plain_end(at_, end_);
            if (at_ == end_) return false;
            if (*at_ == '"') break;
            if (*at_ != '\\' || !escape()) return false;
            written.kind = Kind::Escaped;
        }
        written.text = {start, static_cast<std::size_t>(at_ - start)};
        ++at_;
        return true;
    }

    bool escape() {
        if (end_ - at_ < 2) return false;
        const char sign = at_[1];
        at_ += 2;
        if (sign != 'u') return std::strchr("\"\\/bfnrt", sign) != nullptr && sign != '\0';
        if (hex(at_, end_) == kNoHex) return false;
        at_ += 4;
        return true;
    }

    bool number(Written& written) {
        const char* const start = at_;
        written.kind = Kind::Int;
        if (*at_ == '-') ++at_;
        if (*at_ == 'I' || (*at_ == 'N' && at_ == start)) {
            if (!word(*at_ == 'I' ? "Infinity" : "NaN")) return false;
            written.kind = Kind::Float;
        } else {
            const char* const first = at_;
            if (!digits() || (*first == '0' && at_ != first + 1)) return false;
            if (*at_ == '.') {
                ++at_;
                written.kind = Kind::Float;
                if (!digits()) return false;
            }
            if (*at_ == 'e' || *at_ == 'E') {
                ++at_;
                written.kind = Kind::Float;
                if (*at_ == '+' || *at_ == '-') ++at_;
                if (!digits()) return false;
            }
            if (written.kind == Kind::Int && at_ - first > static_cast<std::ptrdiff_t>(kMostDigits)) return false;
        }
        written.text = {start, static_cast<std::size_t>(at_ - start)};
        return true;
    }
    bool digits() {
        const char* const start = at_;
        while (is_digit(*at_)) ++at_;
        return at_ != start;
    }

    const char* begin_;
    const char* at_;
    const char* end_;
    std::size_t count_;
    std::vector<Written> slots_;
    std::vector<Wanted> wanted_;  // the first: in the row itself
    Written unused_;              // of values that nobody asks for
    std::string scratch_;
};

// Whether a value is plainly one of its column.
bool read_value(const Written& written, CellType type, bool ascii, Cell& cell, std::string& scratch) {
    cell = {};
    const bool is_text = type == CellType::Text || type == CellType::Bytes;
    std::string_view text = written.text;
    switch (written.kind) {
        case Kind::None: return true;
        case Kind::True:
        case Kind::False:
            cell = Cell::of_word(written.kind == Kind::True ? 1 : 0);
            if (is_text) cell.text = written.kind == Kind::True ? "true" : "false";
            return is_text || type == CellType::Bool;
        case Kind::Int:
            cell.null = false;
            if (text == "-0") text = "0";
            if (is_text) return cell.text = text, true;
            return type == CellType::Int ? read_int(text, cell.word)
                                         : type == CellType::Float && read_real(text, cell.word);
        case Kind::Float: cell.null = false; return type == CellType::Float && read_real(text, cell.word);
        case Kind::Escaped:
            if (!unescape(text, scratch)) return false;
            text = scratch;
            [[fallthrough]];
        case Kind::Plain:
            cell = Cell::of_text(text);
            if (is_text) return ascii || type == CellType::Bytes || is_utf8(text);
            return !text.empty() && read_cell(text, type, cell);
        case Kind::Composed: return false;
    }
    return false;
}

std::optional<CellType> kind_of(const Written& written) {
    std::int64_t number = 0;
    switch (written.kind) {
        case Kind::None:
        case Kind::Composed: return {};
        case Kind::True:
        case Kind::False: return CellType::Bool;
        case Kind::Int: return read_int(written.text, number) ? CellType::Int : CellType::Text;
        case Kind::Float: return CellType::Float;
        case Kind::Plain:
        case Kind::Escaped: return CellType::Text;
    }
    return {};
}

}  // namespace

RowsRead read_json_lines(std::string_view block, const std::vector<Field>& fields, const ReadOdd& odd) {
    std::vector<std::string> names;
    for (const Field& field : fields) names.push_back(field.name);
    const bool ascii = is_ascii(block);
    std::vector<Cell> cells(fields.size());
    std::vector<std::string> scratch(fields.size());
    RowBuilder rows(fields, block.size() / 32 + 1);
    Objects objects(block, names);
    objects.walk(
        [&] {
            for (std::size_t k = 0; k < fields.size(); ++k) {
                if (!read_value(objects.value(k), fields[k].type, ascii, cells[k], scratch[k])) return false;
                if (cells[k].null && fields[k].required) return false;
            }
            rows.add(cells);
            return true;
        },
        [&](std::size_t at) { return rows.add_odd(odd, at); });
    return rows.finish();
}

std::vector<std::optional<CellType>> infer_json_lines(std::string_view block, const std::vector<std::string>& names) {
    std::vector<std::optional<CellType>> seen(names.size());
    Objects objects(block, names);
    objects.walk(
        [&] {
            for (std::size_t k = 0; k < names.size(); ++k)
                if (const std::optional<CellType> type = kind_of(objects.value(k))) join(seen[k], *type);
            return true;
        },
        [&](std::size_t at) { return std::min(block.find('\n', at), block.size() - 1) + 1; });
    return seen;
}

}  // namespace mopsus
