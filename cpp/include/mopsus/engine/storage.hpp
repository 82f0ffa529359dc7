// Building blocks: records that never move, a hash index of their numbers, memory in large pages.
#pragma once

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace mopsus {

constexpr std::uint32_t kNil = 0;

// Random access to much memory is bound by address translation; large pages make that cheap.
template <class T>
struct LargePages {
    using value_type = T;
    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = count * sizeof(T);
        if (bytes < kPage) return static_cast<T*>(::operator new(bytes));
        const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
        void* memory = std::aligned_alloc(kPage, whole);
        if (memory == nullptr) throw std::bad_alloc();
        madvise(memory, whole, MADV_HUGEPAGE);  // only a wish
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) {
        if (count * sizeof(T) < kPage)
            ::operator delete(memory);
        else
            std::free(memory);
    }
    template <class U>
    bool operator==(const LargePages<U>&) const {
        return true;
    }

private:
    static constexpr std::size_t kPage = 1U << 21;
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

// Records of a fixed number of 32-bit words, numbered from 1, at addresses that stay valid.
// A record's first word belongs to the pool while the record is free. Chunks double in size.
class Pool {
public:
    explicit Pool(std::uint32_t words = 1) : words_(words == 0 ? 1 : words) {}
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    Pool(Pool&& other) noexcept { *this = std::move(other); }
    Pool& operator=(Pool&& other) noexcept {
        std::swap(words_, other.words_);
        std::swap(last_, other.last_);
        std::swap(free_, other.free_);
        std::swap(used_, other.used_);
        std::swap(chunks_, other.chunks_);
        return *this;
    }
    ~Pool() {
        for (unsigned k = 0; k < chunks_.size(); ++k)
            if (chunks_[k] != nullptr) LargePages<std::uint32_t>().deallocate(chunks_[k], words_in(k));
    }

    std::uint32_t* at(std::uint32_t id) const {
        const std::uint32_t place = id + kFirst;
        const auto chunk = static_cast<unsigned>(std::bit_width(place)) - 1;
        return chunks_[chunk - kFirstBits] + static_cast<std::size_t>(place ^ (1U << chunk)) * words_;
    }

    // A zeroed record.
    std::uint32_t take() {
        std::uint32_t id = free_;
        if (id != kNil) {
            free_ = *at(id);
        } else {
            if (last_ >= kMost) throw std::bad_alloc();
            id = ++last_;
            const auto chunk = static_cast<unsigned>(std::bit_width(id + kFirst)) - 1 - kFirstBits;
            if (chunks_[chunk] == nullptr) chunks_[chunk] = LargePages<std::uint32_t>().allocate(words_in(chunk));
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
    std::size_t bytes() const { return static_cast<std::size_t>(last_) * words_ * sizeof(std::uint32_t); }

private:
    static constexpr unsigned kFirstBits = 8;
    static constexpr std::uint32_t kFirst = 1U << kFirstBits;
    static constexpr std::uint32_t kMost = 0x7FFFFFFF;
    std::size_t words_in(unsigned chunk) const { return (static_cast<std::size_t>(kFirst) << chunk) * words_; }

    std::uint32_t words_ = 1;
    std::uint32_t last_ = 0;
    std::uint32_t free_ = kNil;
    std::uint32_t used_ = 0;
    std::array<std::uint32_t*, 32 - kFirstBits> chunks_{};
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
        LargeVector<Cell> old = std::move(cells_);
        cells_.assign(old.empty() ? 16 : old.size() * 2, Cell{});
        low_ = cells_.size() - 1;
        for (const Cell& cell : old)
            if (cell.id != kNil) place(cell);
    }
    LargeVector<Cell> cells_;
    std::size_t low_ = 0;
    std::size_t count_ = 0;
};

}  // namespace mopsus
