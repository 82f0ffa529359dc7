// How knowledge is written to bytes: a version, numbers in as many bytes as they need, and a sum over all of it in the
// end.
//
// What is read may have been damaged on its way, or come from somebody else altogether. It is refused then, and never
// believed in a size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "mopsus/decentral/automaton.hpp"

namespace mopsus::decentral {

// Mixes numbers and texts to one number that is the same in every process.
class Digest {
public:
    void add(std::uint64_t word) {
        sum_ = (sum_ ^ word) * 0x9e3779b97f4a7c15U;
        sum_ ^= sum_ >> 32;
    }
    void add(std::span<const std::uint8_t> bytes) {
        add(bytes.size());
        for (const std::uint8_t byte : bytes) add(std::uint64_t{byte});
    }
    void add(const std::string& text) { add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}); }
    std::uint64_t sum() const { return sum_; }

private:
    std::uint64_t sum_ = 0x6d6f70737573U;
};

class Writer {
public:
    explicit Writer(std::uint8_t version) { byte(version); }

    void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
    void number(std::uint64_t value) {
        for (; value > 0x7f; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80U));
        byte(static_cast<std::uint8_t>(value));
    }
    void fixed(std::uint64_t value, int bytes) {
        for (int at = 0; at < bytes; ++at) byte(static_cast<std::uint8_t>(value >> (8 * at)));
    }
    std::string finish() {
        Digest digest;
        digest.add(bytes_);
        fixed(digest.sum(), 4);
        return std::move(bytes_);
    }

private:
    std::string bytes_;
};

class Reader {
public:
    Reader(std::span<const std::uint8_t> bytes, std::uint8_t version) : bytes_(bytes) {
        if (bytes.size() < 5) throw Error("damaged: too short");
        if (bytes[0] != version) throw Error("of another version of the format, or damaged");
        Digest digest;
        digest.add(bytes.first(bytes.size() - 4));
        bytes_ = bytes.last(4);
        const std::uint64_t sum = fixed(4);
        if (sum != (digest.sum() & 0xffffffffU)) throw Error("damaged: the sum is wrong");
        bytes_ = bytes.subspan(1, bytes.size() - 5);
    }

    std::uint8_t byte() {
        if (bytes_.empty()) throw Error("damaged: it ends too early");
        const std::uint8_t value = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return value;
    }
    // At most `most`.
    std::uint64_t number(std::uint64_t most) {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint64_t part = byte();
            if (shift == 63 && part > 1) break;
            value |= (part & 0x7f) << shift;
            if (part < 0x80) {
                if (value <= most) return value;
                break;
            }
        }
        throw Error("damaged: a number is out of range");
    }
    std::uint64_t fixed(int bytes) {
        std::uint64_t value = 0;
        for (int at = 0; at < bytes; ++at) value |= std::uint64_t{byte()} << (8 * at);
        return value;
    }
    std::size_t left() const { return bytes_.size(); }

private:
    std::span<const std::uint8_t> bytes_;
};

}  // namespace mopsus::decentral
