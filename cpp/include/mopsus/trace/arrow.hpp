// Columns of the Arrow C data interface, read in place. Nothing of libarrow is needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "mopsus/engine/key.hpp"
#include "mopsus/machine/term.hpp"

extern "C" {
struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};
struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
    int (*get_next)(ArrowArrayStream*, ArrowArray* out);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};
}

namespace mopsus {

class Column {
public:
    enum class Type : std::uint8_t {
        Null,
        Bool,
        Int8,
        UInt8,
        Int16,
        UInt16,
        Int32,
        UInt32,
        Int64,
        UInt64,
        Float,
        Double,
        Text,
        LargeText,
        TextView,
        Bytes,
        LargeBytes,
        BytesView,
        FixedBytes,
        Unsupported,
    };

    Column() = default;
    // `skip` rows of the parent come before the first one of this column.
    Column(const ArrowSchema& schema, const ArrowArray& array, std::int64_t skip);

    Type type() const { return type_; }
    const std::string& format() const { return format_; }
    std::int64_t length() const { return length_; }
    bool may_be_null() const { return validity_ != nullptr || type_ == Type::Null; }
    bool valid(std::int64_t row) const {
        if (type_ == Type::Null) return false;
        if (validity_ == nullptr) return true;
        const std::int64_t at = offset_ + row;
        return ((validity_[at >> 3] >> (at & 7)) & 1) != 0;
    }
    // A dictionary-encoded column has integers (its own values) that number the dictionary's.
    const std::shared_ptr<const Column>& dictionary() const { return dictionary_; }
    // Addresses that tell one dictionary from another for as long as both are kept alive.
    bool same_data(const Column& other) const {
        return values_ == other.values_ && data_ == other.data_ && validity_ == other.validity_ &&
               offset_ == other.offset_ && length_ == other.length_ && type_ == other.type_;
    }

    std::int64_t integer(std::int64_t row) const {
        switch (type_) {
            case Type::Int32: return values<std::int32_t>()[row];
            case Type::Int64: return values<std::int64_t>()[row];
            case Type::Int8: return values<std::int8_t>()[row];
            case Type::UInt8: return values<std::uint8_t>()[row];
            case Type::Int16: return values<std::int16_t>()[row];
            case Type::UInt16: return values<std::uint16_t>()[row];
            case Type::UInt32: return values<std::uint32_t>()[row];
            case Type::UInt64: return static_cast<std::int64_t>(values<std::uint64_t>()[row]);
            default: return 0;
        }
    }
    // How many nanoseconds one step of a column of timestamps is; 0 for other columns.
    std::int64_t nanoseconds() const { return nanoseconds_; }
    double real(std::int64_t row) const;
    std::string_view text(std::int64_t row) const;
    bool is_integer() const { return type_ >= Type::Int8 && type_ <= Type::UInt64; }
    bool is_real() const { return type_ == Type::Float || type_ == Type::Double; }
    bool is_text() const { return type_ >= Type::Text && type_ <= Type::TextView; }
    // The value of a row that is valid, as a key. `scratch` holds what does not lie in the column.
    Key key(std::int64_t row, std::string& scratch) const;
    // The same as a term, which borrows from the column.
    Term term(std::int64_t row, Arena& arena) const;

    template <class T>
    const T* values() const {
        return static_cast<const T*>(values_) + offset_;
    }

private:
    Type type_ = Type::Unsupported;
    std::string format_;
    std::int64_t length_ = 0;
    std::int64_t offset_ = 0;
    std::int64_t width_ = 0;
    std::int64_t nanoseconds_ = 0;
    const std::uint8_t* validity_ = nullptr;
    const void* values_ = nullptr;
    const void* data_ = nullptr;
    const void* const* buffers_ = nullptr;
    std::shared_ptr<const Column> dictionary_;
};

}  // namespace mopsus
