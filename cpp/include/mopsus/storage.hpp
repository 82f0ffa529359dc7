// Two building blocks: records that never move, and a hash index of their numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace mopsus {

constexpr std::uint32_t kNil = 0;

// Records of a fixed number of 32-bit words, numbered from 1, at addresses that stay valid.
// A record's first word belongs to the pool while the record is free.
class Pool {
public:
    explicit Pool(std::uint32_t words = 1) : words_(words == 0 ? 1 : words) {}

    std::uint32_t* at(std::uint32_t id) {
        return chunks_[id >> kShift].get() + static_cast<std::size_t>(id & kLow) * words_;
    }
    const std::uint32_t* at(std::uint32_t id) const { return const_cast<Pool*>(this)->at(id); }

    // A zeroed record.
    std::uint32_t take() {
        std::uint32_t id = free_;
        if (id != kNil) {
            free_ = *at(id);
        } else {
            id = ++last_;
            if ((id >> kShift) >= chunks_.size())
                chunks_.emplace_back(new std::uint32_t[static_cast<std::size_t>(kLow + 1) * words_]);
        }
        std::uint32_t* record = at(id);
        for (std::uint32_t k = 0; k < words_; ++k) record[k] = 0;
        ++used_;
        return id;
    }
    void give_back(std::uint32_t id) {
        *at(id) = free_;
        free_ = id;
        --used_;
    }
    std::uint32_t used() const { return used_; }
    std::uint32_t last() const { return last_; }  // no record has a higher number
    std::uint32_t words() const { return words_; }
    std::size_t bytes() const { return chunks_.size() * (kLow + 1) * words_ * sizeof(std::uint32_t); }

private:
    static constexpr std::uint32_t kShift = 10;
    static constexpr std::uint32_t kLow = (1U << kShift) - 1;
    std::uint32_t words_;
    std::uint32_t last_ = 0;
    std::uint32_t free_ = kNil;
    std::uint32_t used_ = 0;
    std::vector<std::unique_ptr<std::uint32_t[]>> chunks_;
};

// Open addressing over (hash, id) pairs; the caller compares what the ids stand for.
class Index {
public:
    template <class Same>
    std::uint32_t find(std::uint32_t hash, Same&& same) const {
        if (cells_.empty()) return kNil;
        for (std::size_t k = hash & low_;; k = (k + 1) & low_) {
            const Cell& cell = cells_[k];
            if (cell.id == kNil) return kNil;
            if (cell.hash == hash && same(cell.id)) return cell.id;
        }
    }
    void prefetch(std::uint32_t hash) const {
        if (!cells_.empty()) __builtin_prefetch(&cells_[hash & low_]);
    }
    void insert(std::uint32_t hash, std::uint32_t id) {
        if ((count_ + 1) * 3 > cells_.size() * 2) grow();
        place({hash, id});
        ++count_;
    }
    bool erase(std::uint32_t hash, std::uint32_t id) {
        if (cells_.empty()) return false;
        std::size_t k = hash & low_;
        for (; cells_[k].id != id; k = (k + 1) & low_)
            if (cells_[k].id == kNil) return false;
        // Close the gap, so that probes need no tombstones.
        for (std::size_t next = (k + 1) & low_; cells_[next].id != kNil; next = (next + 1) & low_) {
            if (((next - (cells_[next].hash & low_)) & low_) >= ((next - k) & low_)) {
                cells_[k] = cells_[next];
                k = next;
            }
        }
        cells_[k] = {};
        --count_;
        return true;
    }
    std::size_t size() const { return count_; }
    std::size_t bytes() const { return cells_.capacity() * sizeof(Cell); }

private:
    struct Cell {
        std::uint32_t hash = 0;
        std::uint32_t id = kNil;
    };
    void place(Cell cell) {
        std::size_t k = cell.hash & low_;
        while (cells_[k].id != kNil) k = (k + 1) & low_;
        cells_[k] = cell;
    }
    void grow() {
        std::vector<Cell> old = std::move(cells_);
        cells_.assign(old.empty() ? 16 : old.size() * 2, Cell{});
        low_ = cells_.size() - 1;
        for (const Cell& cell : old)
            if (cell.id != kNil) place(cell);
    }
    std::vector<Cell> cells_;
    std::size_t low_ = 0;
    std::size_t count_ = 0;
};

}  // namespace mopsus
