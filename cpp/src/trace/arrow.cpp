#include "mopsus/trace/arrow.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace mopsus {

namespace {

using Type = Column::Type;

// Of the types whose format is one letter.
Type type_of_letter(char letter) {
    switch (letter) {
        case 'n': return Type::Null;
        case 'b': return Type::Bool;
        case 'c': return Type::Int8;
        case 'C': return Type::UInt8;
        case 's': return Type::Int16;
        case 'S': return Type::UInt16;
        case 'i': return Type::Int32;
        case 'I': return Type::UInt32;
        case 'l': return Type::Int64;
        case 'L': return Type::UInt64;
        case 'f': return Type::Float;
        case 'g': return Type::Double;
        case 'u': return Type::Text;
        case 'U': return Type::LargeText;
        case 'z': return Type::Bytes;
        case 'Z': return Type::LargeBytes;
        default: return Type::Unsupported;
    }
}

Type type_of(std::string_view format) {
    if (format.size() == 1) return type_of_letter(format[0]);
    if (format == "vu") return Type::TextView;
    if (format == "vz") return Type::BytesView;
    if (format.substr(0, 2) == "w:") return Type::FixedBytes;
    // Dates, times and timestamps count as the integers that they are stored as.
    if (format == "tdD" || format == "tts" || format == "ttm") return Type::Int32;
    if (format == "tdm" || format == "ttu" || format == "ttn" || format.substr(0, 2) == "ts" ||
        format.substr(0, 2) == "tD")
        return Type::Int64;
    return Type::Unsupported;
}

// Of `w:16`, so many bytes each; negative if the format says no such number.
std::int64_t width_of(std::string_view format) {
    std::int64_t width = -1;
    const char* end = format.data() + format.size();
    const auto [read, fault] = std::from_chars(format.data() + 2, end, width);
    return fault == std::errc() && read == end ? width : -1;
}

std::int64_t nanoseconds_of(std::string_view format) {
    if (format.size() < 3 || format.substr(0, 2) != "ts") return 0;
    switch (format[2]) {
        case 's': return 1'000'000'000;
        case 'm': return 1'000'000;
        case 'u': return 1'000;
        default: return 1;
    }
}

}  // namespace

Column::Column(const ArrowSchema& schema, const ArrowArray& array, std::int64_t skip)
    : type_(type_of(schema.format)), format_(schema.format), length_(array.length), offset_(array.offset + skip) {
    nanoseconds_ = nanoseconds_of(format_);
    if (type_ == Type::FixedBytes) width_ = width_of(format_);
    if (width_ < 0) type_ = Type::Unsupported;
    if (array.n_buffers > 0) {
        // A null count of -1 means that nobody has counted: then the bitmap decides.
        if (array.null_count != 0) validity_ = static_cast<const std::uint8_t*>(array.buffers[0]);
        if (array.n_buffers > 1) values_ = array.buffers[1];
        if (array.n_buffers > 2) data_ = array.buffers[2];
        buffers_ = array.buffers;
    }
    if (schema.dictionary != nullptr && array.dictionary != nullptr) {
        dictionary_ = std::make_shared<const Column>(*schema.dictionary, *array.dictionary, 0);
        format_ = schema.dictionary->format;
        nanoseconds_ = dictionary_->nanoseconds_;
    }
}

double Column::real(std::int64_t row) const {
    return type_ == Type::Float ? static_cast<double>(values<float>()[row]) : values<double>()[row];
}

std::string_view Column::text(std::int64_t row) const {
    switch (type_) {
        case Type::Text:
        case Type::Bytes: {
            const std::int32_t* ends = values<std::int32_t>() + row;
            return {static_cast<const char*>(data_) + ends[0], static_cast<std::size_t>(ends[1] - ends[0])};
        }
        case Type::LargeText:
        case Type::LargeBytes: {
            const std::int64_t* ends = values<std::int64_t>() + row;
            return {static_cast<const char*>(data_) + ends[0], static_cast<std::size_t>(ends[1] - ends[0])};
        }
        case Type::TextView:
        case Type::BytesView: {
            struct View {
                std::int32_t length;
                char start[4];
                std::int32_t buffer;
                std::int32_t offset;
            };
            const View& view = values<View>()[row];
            if (view.length <= 12) return {view.start, static_cast<std::size_t>(view.length)};
            return {static_cast<const char*>(buffers_[2 + view.buffer]) + view.offset,
                    static_cast<std::size_t>(view.length)};
        }
        case Type::FixedBytes:
            return {static_cast<const char*>(values_) + (offset_ + row) * width_, static_cast<std::size_t>(width_)};
        default: return {};
    }
}

Key Column::key(std::int64_t row, std::string& scratch) const {
    if (dictionary_ != nullptr) return dictionary_->key(integer(row), scratch);
    switch (type_) {
        case Type::Bool: {
            const std::int64_t at = offset_ + row;
            return Key::of_bits(KeyKind::Bool, (static_cast<const std::uint8_t*>(values_)[at >> 3] >> (at & 7)) & 1U);
        }
        case Type::UInt64: {
            const std::uint64_t value = values<std::uint64_t>()[row];
            if (value <= 0x7FFFFFFFFFFFFFFFULL) return Key::of_int(static_cast<std::int64_t>(value));
            std::array<char, 24> hex{};
            scratch.assign(hex.data(), static_cast<std::size_t>(std::snprintf(hex.data(), hex.size(), "0x%llx",
                                                                              static_cast<unsigned long long>(value))));
            return Key::of_blob(KeyKind::BigInt, scratch);
        }
        case Type::Float:
        case Type::Double: return Key::of_float(real(row));
        case Type::Text:
        case Type::LargeText:
        case Type::TextView: return Key::of_blob(KeyKind::Text, text(row));
        case Type::Bytes:
        case Type::LargeBytes:
        case Type::BytesView:
        case Type::FixedBytes: return Key::of_blob(KeyKind::Bytes, text(row));
        default: return Key::of_int(integer(row));
    }
}

Term Column::term(std::int64_t row, Arena& arena) const {
    if (dictionary_ != nullptr) return dictionary_->term(integer(row), arena);
    switch (type_) {
        case Type::Text:
        case Type::LargeText:
        case Type::TextView: return arena.text(text(row));
        case Type::Bytes:
        case Type::LargeBytes:
        case Type::BytesView:
        case Type::FixedBytes: return arena.binary(text(row));
        case Type::Float:
        case Type::Double: return arena.real(real(row));
        case Type::UInt64: {
            const std::uint64_t value = values<std::uint64_t>()[row];
            const std::array<std::uint32_t, 2> digits{static_cast<std::uint32_t>(value),
                                                      static_cast<std::uint32_t>(value >> 32)};
            return arena.integer(false, digits.data(), digits[1] != 0 ? 2 : digits[0] != 0 ? 1 : 0);
        }
        case Type::Bool: {
            std::string unused;
            return Term::boolean(key(row, unused).bits != 0);
        }
        default: return arena.integer(integer(row));
    }
}

}  // namespace mopsus
