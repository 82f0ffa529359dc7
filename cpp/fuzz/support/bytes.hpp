// The input of a fuzzer, read as choices. At its end everything is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mopsus::fuzz {

class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    std::uint8_t byte() {
        if (size_ == 0) return 0;
        --size_;
        return *data_++;
    }
    std::size_t below(std::size_t limit) {
        return limit == 0 ? 0 : (limit > 256 ? (byte() << 8U | byte()) : byte()) % limit;
    }
    bool flag() { return (byte() & 1U) != 0; }
    std::uint64_t word(unsigned bytes = 8) {
        std::uint64_t value = 0;
        for (unsigned k = 0; k < bytes; ++k) value |= std::uint64_t{byte()} << (8 * k);
        return value;
    }
    std::string_view text(std::size_t length) {
        if (length > size_) length = size_;
        const std::string_view found(reinterpret_cast<const char*>(data_), length);
        data_ += length;
        size_ -= length;
        return found;
    }
    std::string_view rest() { return text(size_); }

private:
    const std::uint8_t* data_;
    std::size_t size_;
};

}  // namespace mopsus::fuzz
