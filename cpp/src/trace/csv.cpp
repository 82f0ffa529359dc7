#include "mopsus/trace/csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "machine/utf8.hpp"
#include "trace/cells.hpp"

namespace mopsus {

namespace {

// Walks over the records of a block.
class Records {
public:
    Records(std::string_view block, std::size_t width)
        : begin_(block.data()), at_(block.data()), end_(block.data() + block.size()), width_(width), scratch_(width) {
        for (const char c : {',', '\n', '\r', '\0'}) stops_[static_cast<unsigned char>(c)] = true;
    }

    // `on_field(position, cell)` gives false for a field that is not plain. After each record `on_row()`, or, if it is
    // not plainly one, `on_odd(place)`, which gives the place of the next one.
    template <class OnField, class OnRow, class OnOdd>
    void walk(OnField&& on_field, OnRow&& on_row, OnOdd&& on_odd) {
        while (at_ < end_) {
            if (*at_ == '\n') {
                ++at_;
                continue;
            }
            const char* start = at_;
            if (*at_ == '\r' && end_of_row()) continue;  // an empty line, too
            at_ = start;
            if (record(on_field))
                on_row();
            else
                at_ = begin_ + std::min(on_odd(static_cast<std::size_t>(start - begin_)),
                                        static_cast<std::size_t>(end_ - begin_));
        }
    }

private:
    template <class OnField>
    bool record(OnField&& on_field) {
        for (std::size_t position = 0;; ++position) {
            if (position == width_) return false;
            std::string_view cell;
            if (!(at_ < end_ && *at_ == '"' ? quoted(cell, scratch_[position]) : bare(cell)) ||
                !on_field(position, cell))
                return false;
            if (at_ < end_ && *at_ == ',') {
                ++at_;
                continue;
            }
            return position + 1 == width_ && end_of_row();
        }
    }
    bool bare(std::string_view& cell) {
        const char* start = at_;
        while (at_ < end_) {
            while (!stops_[static_cast<unsigned char>(*at_)]) ++at_;  // the byte after a block is a stop
            if (at_ >= end_ || *at_ != '\0') break;
            ++at_;
        }
        cell = {start, static_cast<std::size_t>(at_ - start)};
        return true;
    }
    // A quote within makes that the text must be put together.
    bool quoted(std::string_view& cell, std::string& text) {
        const char* start = ++at_;
        const auto* close = static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
        if (close == nullptr) return false;
        at_ = close + 1;
        if (at_ < end_ && *at_ == '"') {
            text.assign(start, close);
            while (at_ < end_ && *at_ == '"') {
                start = at_;
                close = static_cast<const char*>(std::memchr(at_ + 1, '"', static_cast<std::size_t>(end_ - at_ - 1)));
                if (close == nullptr) return false;
                text.append(start, close);
                at_ = close + 1;
            }
            cell = text;
        } else {
            cell = {start, static_cast<std::size_t>(close - start)};
        }
        return at_ == end_ || *at_ == ',' || *at_ == '\n' || *at_ == '\r';
    }
    bool end_of_row() {
        if (at_ == end_) return true;
        if (*at_ == '\r') {
            ++at_;
            if (at_ == end_) return true;
        }
        return *at_++ == '\n';
    }

    const char* begin_;
    const char* at_;
    const char* end_;
    std::size_t width_;
    std::vector<std::string> scratch_;  // by position
    std::array<bool, 256> stops_{};
};

// Whether a field is plainly a value of its column; an empty one is none.
bool read_field(std::string_view text, CellType type, bool ascii, Cell& cell) {
    cell.null = text.empty();
    cell.text = text;
    if (type == CellType::Text || type == CellType::Bytes) return ascii || type == CellType::Bytes || is_utf8(text);
    if (!cell.null) return read_cell(text, type, cell);
    cell.word = 0;
    return true;
}

// Moves behind digits; false if there is none.
bool skip_digits(std::string_view text, std::size_t& at) {
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > first;
}

// Is this what may follow the whole part of a decimal number, such as `.5e-3`?
bool is_fraction(std::string_view text) {
    std::size_t at = 0;
    if (at < text.size() && text[at] == '.' && !skip_digits(text, ++at)) return false;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        if (!skip_digits(text, at)) return false;
    }
    return at == text.size();
}

// What a field makes a column whose type nobody has said. Narrower than what a column of the type accepts: `007`
// and `+1` are more likely names.
CellType kind_of(std::string_view cell) {
    std::string_view rest = cell;
    if (rest.front() == '-') rest.remove_prefix(1);
    std::size_t whole = 0;
    if (skip_digits(rest, whole) && (whole == 1 || rest[0] != '0')) {
        if (whole == rest.size()) {
            std::int64_t number = 0;
            const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
            return fault == std::errc() ? CellType::Int : CellType::Text;
        }
        if (is_fraction(rest.substr(whole))) return CellType::Float;
    }
    return cell != "0" && cell != "1" && read_bool(cell) ? CellType::Bool : CellType::Text;
}

std::vector<int> places(std::size_t width, const std::vector<std::size_t>& positions) {
    std::vector<int> place(width, -1);
    for (std::size_t k = 0; k < positions.size(); ++k) place[positions[k]] = static_cast<int>(k);
    return place;
}

}  // namespace

RowsRead read_csv(std::string_view block, std::size_t width, const std::vector<Field>& fields,
                  const std::vector<std::size_t>& positions, const ReadOdd& odd) {
    const bool ascii = is_ascii(block);
    const std::vector<int> place = places(width, positions);
    RowBuilder rows(fields, block.size() / (2 * width + 2) + 1);
    std::vector<Cell> cells(fields.size());
    Records records(block, width);
    records.walk(
        [&](std::size_t position, std::string_view text) {
            if (place[position] < 0) return true;
            const auto k = static_cast<std::size_t>(place[position]);
            return read_field(text, fields[k].type, ascii, cells[k]) && !(cells[k].null && fields[k].required);
        },
        [&] { rows.add(cells); }, [&](std::size_t at) { return rows.add_odd(odd, at); });
    return rows.finish();
}

std::optional<std::vector<std::optional<CellType>>> infer_csv(std::string_view block, std::size_t width,
                                                              const std::vector<std::size_t>& positions) {
    std::vector<std::optional<CellType>> seen(positions.size());
    const std::vector<int> place = places(width, positions);
    bool plain = true;
    Records records(block, width);
    records.walk(
        [&](std::size_t position, std::string_view text) {
            if (place[position] < 0 || text.empty()) return true;
            std::optional<CellType>& type = seen[static_cast<std::size_t>(place[position])];
            if (type != CellType::Text) join(type, kind_of(text));
            return true;
        },
        [] {},
        [&](std::size_t) {
            plain = false;
            return block.size();
        });
    if (!plain) return {};
    return seen;
}

}  // namespace mopsus
