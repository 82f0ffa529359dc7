#include <charconv>
#include <cstring>
#include <vector>

#include "mopsus/component/log.hpp"
#include "machine/utf8.hpp"

namespace mopsus {

namespace {

constexpr int kDeepest = 100;  // the definition refuses what is nested deeper

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_name(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '@'; }

// Reads one line. Every function gives false at whatever is not plain.
class LineReader {
public:
    // `parts` is empty, and may keep its memory from line to line.
    LineReader(std::string_view line, Arena& arena, std::vector<Term>& parts)
        : at_(line.data()), end_(line.data() + line.size()), arena_(arena), parts_(parts) {}

    LineKind read(LogEvent& event) {
        skip();
        if (at_ == end_ || *at_ == '%') return LineKind::Blank;
        return name(event.kind) && arguments(event) && rest(event) ? LineKind::Event : LineKind::Odd;
    }

private:
    void skip() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
    }
    bool take(char mark) {
        skip();
        if (at_ == end_ || *at_ != mark) return false;
        ++at_;
        return true;
    }
    bool at(char mark) const { return at_ < end_ && *at_ == mark; }
    std::string_view since(const char* start) const { return {start, static_cast<std::size_t>(at_ - start)}; }

    bool name(Happening& kind) {
        if (end_ - at_ < 5) return false;
        std::uint32_t word = 0;
        std::memcpy(&word, at_, 4);
        const auto spells = [&](const char (&text)[5]) {
            std::uint32_t other = 0;
            std::memcpy(&other, text, 4);
            return word == other;
        };
        if (spells("recv")) {
            kind = Happening::Recv;
        } else if (spells("send")) {
            kind = Happening::Send;
        } else if (spells("fork")) {
            kind = Happening::Fork;
        } else if (spells("init")) {
            kind = Happening::Init;
        } else if (spells("exit")) {
            kind = Happening::Exit;
        } else {
            return false;
        }
        at_ += 4;
        return take('(');
    }

    bool arguments(LogEvent& event) {
        skip();
        if (!pid(event.subject) || !take(',')) return false;
        switch (event.kind) {
            case Happening::Fork:
            case Happening::Init: skip(); return pid(event.other) && take(',') && function(event) && take(')');
            case Happening::Send:
                skip();
                if (!pid(event.other) || !take(',')) return false;
                [[fallthrough]];
            case Happening::Exit:
            case Happening::Recv: return value(event.data) && take(')');
        }
        return false;
    }

    bool function(LogEvent& event) {
        if (!take('{') || !value(event.module) || !take(',') || !value(event.function) || !take(',') ||
            !value(event.arguments))
            return false;
        return event.module.type() == TermType::Atom && event.function.type() == TermType::Atom &&
               event.arguments.type() == TermType::List && take('}');
    }

    bool rest(LogEvent& event) {
        event.delay_ms = 0;
        skip();
        if (at_ == end_ || *at_ == '%') return true;
        if (!word("delayed") || !word("by")) return false;
        const char* start = at_;
        while (at_ < end_ && is_digit(*at_))
            event.delay_ms = event.delay_ms * 10 + static_cast<std::uint64_t>(*at_++ - '0');
        if (at_ == start || at_ - start > 18 || (at_ < end_ && is_name(*at_))) return false;
        skip();
        return at_ == end_ || *at_ == '%';
    }
    bool word(std::string_view text) {
        if (static_cast<std::size_t>(end_ - at_) <= text.size() || std::string_view(at_, text.size()) != text)
            return false;
        at_ += text.size();
        if (*at_ != ' ' && *at_ != '\t') return false;
        skip();
        return true;
    }

    // Digits of a number that fits; a leading zero could be told from its absence in an identifier.
    bool part(std::uint64_t& number) {
        if (at_ == end_ || !is_digit(*at_)) return false;
        const char* start = at_;
        number = 0;
        while (at_ < end_ && is_digit(*at_)) number = number * 10 + static_cast<std::uint64_t>(*at_++ - '0');
        return at_ - start <= 18 && (*start != '0' || at_ - start == 1);
    }
    bool pid(Term& term) {
        if (!at('<')) return false;
        const char* start = at_++;
        std::uint64_t node = 0;
        std::uint64_t serial = 0;
        std::uint64_t incarnation = 0;
        if (!part(node) || !at('.')) return false;
        ++at_;
        if (!part(serial) || !at('.')) return false;
        ++at_;
        if (!part(incarnation) || !at('>')) return false;
        ++at_;
        term =
            Term::fits_pid(node, serial, incarnation) ? Term::pid(node, serial, incarnation) : arena_.pid(since(start));
        return true;
    }

    bool value(Term& term) {
        skip();
        if (at_ == end_) return false;
        const char c = *at_;
        if (is_lower(c)) {
            const char* start = at_;
            while (at_ < end_ && is_name(*at_)) ++at_;
            term = arena_.atom(since(start));
            return true;
        }
        if (is_digit(c) || c == '-') return number(term);
        switch (c) {
            case '{': return sequence('}', term);
            case '[': return sequence(']', term);
            case '<': return at_ + 1 < end_ && at_[1] == '<' ? binary(term) : pid(term);
            case '"': {
                std::string_view text;
                if (!quoted(text)) return false;
                term = arena_.string(text);
                return true;
            }
            case '\'': {
                std::string_view text;
                if (!quoted(text)) return false;
                term = arena_.atom(text);
                return true;
            }
            case '~': return pythonic(term);
            case '#': return reference(term);
            default: return false;
        }
    }

    bool number(Term& term) {
        const char* start = at_;
        if (*at_ == '-') ++at_;
        const char* digits = at_;
        while (at_ < end_ && is_digit(*at_)) ++at_;
        const auto count = at_ - digits;
        if (count == 0) return false;
        if (at_ < end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E')) return real(start, term);
        if (count > 18) return false;
        std::int64_t whole = 0;
        for (const char* digit = digits; digit < at_; ++digit) whole = whole * 10 + (*digit - '0');
        term = arena_.integer(digits == start ? whole : -whole);
        return true;
    }
    bool real(const char* start, Term& term) {
        const auto digits = [&] {
            const char* first = at_;
            while (at_ < end_ && is_digit(*at_)) ++at_;
            return at_ > first;
        };
        if (*at_ == '.') {
            ++at_;
            if (!digits()) return false;
        }
        if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
            ++at_;
            if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
            if (!digits()) return false;
        }
        double found = 0;
        const auto [end, fault] = std::from_chars(start, at_, found);
        if (fault != std::errc() || end != at_) return false;
        term = arena_.real(found);
        return true;
    }

    // The text between two quotes, if there is nothing special in it.
    bool quoted(std::string_view& text) {
        const char mark = *at_++;
        const char* start = at_;
        unsigned char any = 0;
        while (at_ < end_ && *at_ != mark) {
            if (*at_ == '\\') return false;
            any |= static_cast<unsigned char>(*at_++);
        }
        if (at_ == end_) return false;
        text = since(start);
        ++at_;
        return any < 0x80 || is_utf8(text);
    }
    bool pythonic(Term& term) {
        ++at_;
        if (at('"')) {
            std::string_view text;
            if (!quoted(text)) return false;
            term = arena_.text(text);
            return true;
        }
        constexpr std::string_view kNone = "none";
        if (static_cast<std::size_t>(end_ - at_) <= kNone.size() || std::string_view(at_, kNone.size()) != kNone)
            return false;
        at_ += kNone.size();
        if (is_name(*at_)) return false;
        term = Term::none();
        return true;
    }
    bool reference(Term& term) {
        constexpr std::string_view kStart = "#Ref<";
        const char* start = at_;
        if (static_cast<std::size_t>(end_ - at_) <= kStart.size() || std::string_view(at_, kStart.size()) != kStart)
            return false;
        at_ += kStart.size();
        for (int k = 0; k < 4; ++k) {
            if (k > 0) {
                if (!at('.')) return false;
                ++at_;
            }
            if (at_ == end_ || !is_digit(*at_)) return false;
            while (at_ < end_ && is_digit(*at_)) ++at_;
        }
        if (!at('>')) return false;
        ++at_;
        term = arena_.reference(since(start));
        return true;
    }
    // Of numbers or a single string; put together by the definition otherwise.
    bool binary(Term& term) {
        at_ += 2;
        skip();
        std::string_view text = "";
        if (at('"')) {
            if (!quoted(text)) return false;
        } else if (!at('>')) {
            char* bytes = static_cast<char*>(arena_.take(static_cast<std::size_t>(end_ - at_)));
            std::size_t count = 0;
            do {
                skip();
                const char* start = at_;
                unsigned byte = 0;
                while (at_ < end_ && is_digit(*at_)) byte = byte * 10 + static_cast<unsigned>(*at_++ - '0');
                if (at_ == start || at_ - start > 3 || byte > 255) return false;
                bytes[count++] = static_cast<char>(byte);
            } while (take(','));
            text = {bytes, count};
        }
        if (!take('>') || !at('>')) return false;
        ++at_;
        term = arena_.binary(text);
        return true;
    }

    bool sequence(char closing, Term& term) {
        ++at_;
        if (++depth_ > kDeepest) return false;
        const std::size_t first = parts_.size();
        if (!take(closing)) {
            do {
                Term part;
                if (!value(part)) return false;
                parts_.push_back(part);
            } while (take(','));
            if (!take(closing)) return false;
        }
        const std::size_t count = parts_.size() - first;
        Term* items = arena_.terms(count);
        for (std::size_t k = 0; k < count; ++k) items[k] = parts_[first + k];
        parts_.resize(first);
        --depth_;
        term = closing == '}' ? arena_.tuple(items, count) : arena_.list(items, count);
        return true;
    }

    const char* at_;
    const char* end_;
    Arena& arena_;
    int depth_ = 0;
    std::vector<Term>& parts_;  // of the sequences that are open
};

}  // namespace

LineKind LogLines::read(std::string_view line, Arena& arena, LogEvent& event) {
    parts_.clear();
    return LineReader(line, arena, parts_).read(event);
}

}  // namespace mopsus
