// Snapshots as a flat list of plain numbers and texts. One `transfer` method both writes and
// reads, so that the two cannot drift apart.
//
// Whoever reads one may have a damaged one, or one that somebody made up. So only what cannot be computed from the rest
// is written: links, lists, indexes and counts of users are built anew, by the functions that build them while events
// come. What is read is checked before it is used. Whatever gets through is the state of a monitor that takes any
// further events; whether events can lead to that state is not asked.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace mopsus {

using Item = std::variant<std::int64_t, std::string>;

struct BadSnapshot : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Archive {
public:
    Archive() = default;
    explicit Archive(std::vector<Item> items) : items_(std::move(items)), reading_(true) {}

    bool reading() const { return reading_; }
    std::vector<Item>& items() { return items_; }
    bool at_end() const { return at_ == items_.size(); }

    // Writes `value`, or reads it and checks `low <= value <= high`.
    std::uint64_t number(std::uint64_t value, std::uint64_t low = 0, std::uint64_t high = ~0ULL) {
        if (!reading_) {
            items_.emplace_back(static_cast<std::int64_t>(value));
            return value;
        }
        const auto* item = std::get_if<std::int64_t>(&take());
        if (item == nullptr) throw BadSnapshot("a number is missing in the snapshot");
        const auto read = static_cast<std::uint64_t>(*item);
        if (read < low || read > high) throw BadSnapshot("a number in the snapshot is out of range");
        return read;
    }
    // The same for a variable that is to hold it.
    template <class Number>
    void field(Number& value, std::uint64_t low = 0, std::uint64_t high = ~0ULL) {
        value = static_cast<Number>(number(static_cast<std::uint64_t>(value), low, high));
    }
    std::string text(std::string value) {
        if (!reading_) {
            items_.emplace_back(std::move(value));
            return std::get<std::string>(items_.back());
        }
        auto* item = std::get_if<std::string>(&take());
        if (item == nullptr) throw BadSnapshot("a text is missing in the snapshot");
        return *item;
    }

    // Is it for the very monitor that writes it? Then it may refer to objects, which somebody keeps, and values keep
    // their numbers.
    bool live = false;
    // Reading: the location of the monitor for each of the snapshot's. No event may be at another.
    std::vector<std::uint32_t> locations;

private:
    Item& take() {
        if (at_ >= items_.size()) throw BadSnapshot("the snapshot ends too early");
        return items_[at_++];
    }
    std::vector<Item> items_;
    std::size_t at_ = 0;
    bool reading_ = false;
};

}  // namespace mopsus
