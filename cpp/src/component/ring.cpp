#include "mopsus/component/ring.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

namespace mopsus {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kBoardMagic = 0x31647262'7370'6d6dU;
constexpr std::uint64_t kRingMagic = 0x31676e72'7370'6d6dU;
constexpr std::uint64_t kSmallest = 4096;
// While frames keep coming the reader only dozes, and no writer has to wake it.
constexpr std::chrono::microseconds kDoze{50};
constexpr std::chrono::milliseconds kBusy{2};

// Before each frame.
struct Header {
    std::uint32_t length;
    std::uint32_t sum;
};

// Not against malice: a frame that was overwritten must not pass for one.
std::uint32_t checksum(Bytes bytes) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    std::uint64_t sum = bytes.size() * odd;
    const auto mix = [&](std::uint64_t word) {
        sum = (sum ^ word) * odd;
        sum ^= sum >> 32;
    };
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes.data() + at, 8);
        mix(word);
    }
    std::uint64_t rest = 0;
    if (at < bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
    mix(rest);
    return static_cast<std::uint32_t>(sum);
}

bool write_all(int file, Bytes first, Bytes second, std::uint64_t at) {
    std::array<iovec, 2> parts{
        {{const_cast<std::byte*>(first.data()), first.size()}, {const_cast<std::byte*>(second.data()), second.size()}}};
    std::size_t part = 0;
    while (part < parts.size()) {
        const ssize_t written =
            ::pwritev(file, &parts[part], static_cast<int>(parts.size() - part), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += static_cast<std::uint64_t>(written);
        auto left = static_cast<std::size_t>(written);
        while (part < parts.size() && left >= parts[part].iov_len) left -= parts[part++].iov_len;
        if (part < parts.size()) {
            parts[part].iov_base = static_cast<std::byte*>(parts[part].iov_base) + left;
            parts[part].iov_len -= left;
        }
    }
    return true;
}

bool read_all(int file, std::byte* to, std::size_t size, std::uint64_t at) {
    while (size > 0) {
        const ssize_t got = ::pread(file, to, size, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        size -= static_cast<std::size_t>(got);
        at += static_cast<std::uint64_t>(got);
    }
    return true;
}

}  // namespace

// ---- the board -------------------------------------------------------------------------------

struct Board::Page {
    std::uint64_t magic;
    std::atomic<std::uint64_t> capacity;
    SharedWord when_full;
    SharedWord generation;
    SharedWord enlisted;
    alignas(64) SharedWord asleep;
};

Board::Page& Board::page() const { return *reinterpret_cast<Page*>(file_.data()); }

Board Board::create(const std::string& path) {
    Board board(SharedFile::create(path, kPage));
    board.page().magic = kBoardMagic;
    return board;
}

Board Board::open(const std::string& path) {
    Board board(SharedFile::open(path, kPage));
    if (board.page().magic != kBoardMagic) throw SharedError(path + ": this is no board");
    return board;
}

std::uint32_t Board::generation() const { return page().generation.load(std::memory_order_acquire); }

bool Board::attend(Terms terms) {
    if (!file_.mark()) return false;
    page().capacity.store(std::max(terms.capacity, kSmallest));
    page().when_full.store(static_cast<std::uint32_t>(terms.when_full));
    // A reader that was killed has left the generation odd.
    const std::uint32_t before = page().generation.load();
    page().generation.store(before + (before % 2 == 0 ? 1 : 2));
    return true;
}

void Board::dismiss() {
    const std::uint32_t before = page().generation.load();
    if (before % 2 == 1) page().generation.store(before + 1);
    file_.unmark();
    ring();
}

Board::Terms Board::terms() const { return {page().capacity.load(), static_cast<WhenFull>(page().when_full.load())}; }

bool Board::attended() const { return file_.marked().has_value(); }

void Board::enlist() {
    page().enlisted.fetch_add(1);
    ring();
}

std::uint32_t Board::enlisted() const { return page().enlisted.load(std::memory_order_acquire); }

void Board::ring() const {
    // What was written must be visible before we look whether the reader sleeps: it looks in the other order.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    SharedWord& asleep = page().asleep;
    if (asleep.load(std::memory_order_relaxed) != 0 && asleep.exchange(0) != 0) wake(asleep);
}

void Board::wait(std::span<RingReader* const> rings, std::uint32_t enlisted, std::uint32_t generation,
                 std::chrono::microseconds limit) {
    using Clock = std::chrono::steady_clock;
    const auto something = [&] {
        if (page().enlisted.load(std::memory_order_acquire) != enlisted || this->generation() != generation)
            return true;
        return std::any_of(rings.begin(), rings.end(), [](const RingReader* ring) { return ring->pending(); });
    };
    const Clock::time_point end = Clock::now() + limit;
    for (Clock::time_point now = Clock::now(); now < end; now = Clock::now()) {
        if (something()) {
            busy_ = now;
            return;
        }
        if (now - busy_ < kBusy) {
            std::this_thread::sleep_for(kDoze);
            continue;
        }
        SharedWord& asleep = page().asleep;
        asleep.store(1);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!something()) wait_on(asleep, 1, std::chrono::duration_cast<std::chrono::microseconds>(end - now));
        asleep.store(0);
    }
}

// ---- writing ---------------------------------------------------------------------------------

struct RingWriter::Page {
    std::uint64_t magic;
    std::uint64_t capacity;
    std::uint32_t writer;
    SharedWord closed;
    std::atomic<std::uint64_t> lost;
    // Positions only ever grow; the place in the ring is the remainder. `spilled` and `despilled` are places in the
    // file beside, of which everything before `spill_base` is gone.
    alignas(64) std::atomic<std::uint64_t> head;
    std::atomic<std::uint64_t> spilled;
    std::atomic<std::uint64_t> spill_base;
    alignas(64) std::atomic<std::uint64_t> tail;
    std::atomic<std::uint64_t> despilled;
    alignas(64) SharedWord starving;
};

RingWriter::RingWriter(const std::string& path, const Board::Terms& terms, const std::string& spill)
    : file_(SharedFile::create(path, kPage + terms.capacity)),
      page_(*reinterpret_cast<Page*>(file_.data())),
      capacity_(terms.capacity),
      spill_path_(spill) {
    file_.mark();
    page_.capacity = capacity_;
    page_.writer = static_cast<std::uint32_t>(::getpid());
    page_.magic = kRingMagic;
}

RingWriter::~RingWriter() {
    if (spill_ >= 0) ::close(spill_);
}

bool RingWriter::fits(std::uint64_t size) const {
    return page_.head.load(std::memory_order_relaxed) + sizeof(Header) + size -
               page_.tail.load(std::memory_order_acquire) <=
           capacity_;
}

void RingWriter::copy_in(std::uint64_t at, Bytes bytes) {
    if (bytes.empty()) return;
    std::byte* ring = file_.data() + kPage;
    const std::uint64_t place = at % capacity_;
    const std::size_t first = std::min<std::size_t>(bytes.size(), capacity_ - place);
    std::memcpy(ring + place, bytes.data(), first);
    if (first < bytes.size()) std::memcpy(ring, bytes.data() + first, bytes.size() - first);
}

RingWriter::Put RingWriter::put(Bytes frame) {
    if (frame.size() + sizeof(Header) > capacity_) return Put::TooLarge;
    // Once something was spilled, everything must be until it has been read: order is order.
    if (!spill_path_.empty() &&
        page_.spilled.load(std::memory_order_relaxed) != page_.despilled.load(std::memory_order_acquire))
        return spill(frame);
    if (!fits(frame.size())) return spill_path_.empty() ? Put::Full : spill(frame);
    const Header header{static_cast<std::uint32_t>(frame.size()), checksum(frame)};
    const std::uint64_t head = page_.head.load(std::memory_order_relaxed);
    copy_in(head, std::as_bytes(std::span(&header, 1)));
    copy_in(head + sizeof header, frame);
    page_.head.store(head + sizeof header + frame.size(), std::memory_order_release);
    return Put::Done;
}

RingWriter::Put RingWriter::spill(Bytes frame) {
    if (spill_ < 0) spill_ = ::open(spill_path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::uint64_t end = page_.spilled.load(std::memory_order_relaxed);
    if (end == page_.despilled.load(std::memory_order_acquire)) {
        if (spill_ >= 0 && ::ftruncate(spill_, 0) != 0) return Put::Full;
        page_.spill_base.store(end, std::memory_order_relaxed);
    }
    const Header header{static_cast<std::uint32_t>(frame.size()), checksum(frame)};
    const std::uint64_t place = end - page_.spill_base.load(std::memory_order_relaxed);
    if (spill_ < 0 || !write_all(spill_, std::as_bytes(std::span(&header, 1)), frame, place)) return Put::Full;
    page_.spilled.store(end + sizeof header + frame.size(), std::memory_order_release);
    return Put::Done;
}

bool RingWriter::wait_for_room(std::size_t size, std::chrono::microseconds limit) {
    if (fits(size)) return true;
    page_.starving.store(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!fits(size)) wait_on(page_.starving, 1, limit);
    return fits(size);
}

void RingWriter::count_lost(std::uint64_t frames) { page_.lost.fetch_add(frames); }

void RingWriter::close() { page_.closed.store(1, std::memory_order_release); }

// ---- reading ---------------------------------------------------------------------------------

RingReader::RingReader(const std::string& path, const std::string& spill)
    : file_(SharedFile::open(path, kPage)),
      page_(*reinterpret_cast<RingWriter::Page*>(file_.data())),
      capacity_(page_.capacity),
      tail_(page_.tail.load()),
      spill_read_(page_.despilled.load()),
      spill_path_(spill) {
    if (page_.magic != kRingMagic || capacity_ < kSmallest || capacity_ != file_.size() - kPage)
        throw SharedError(path + ": this is no ring");
}

RingReader::~RingReader() {
    if (spill_ >= 0) ::close(spill_);
}

bool RingReader::pending() const {
    return page_.head.load(std::memory_order_acquire) != tail_ ||
           page_.spilled.load(std::memory_order_acquire) != spill_read_;
}

std::optional<Bytes> RingReader::next() {
    // What was spilled came after what is in the ring, but only what had been spilled when we looked at the ring.
    if (spill_read_ == spill_limit_) spill_limit_ = page_.spilled.load(std::memory_order_acquire);
    if (auto frame = next_in_ring()) return frame;
    if (spill_read_ != spill_limit_) return next_spilled();
    return std::nullopt;
}

std::optional<Bytes> RingReader::next_in_ring() {
    while (true) {
        const std::uint64_t head = page_.head.load(std::memory_order_acquire);
        const std::uint64_t there = head - tail_;
        if (there == 0) return std::nullopt;
        Header header{};
        if (there >= sizeof header && there <= capacity_)
            copy_out(tail_, reinterpret_cast<std::byte*>(&header), sizeof header);
        if (there < sizeof header || there > capacity_ || header.length > there - sizeof header) {
            // Nobody can say where the next frame begins.
            ++damaged_;
            tail_ = head;
            return std::nullopt;
        }
        frame_.resize(header.length);
        copy_out(tail_ + sizeof header, frame_.data(), header.length);
        tail_ += sizeof header + header.length;
        if (auto frame = checked(header.sum)) return frame;
    }
}

std::optional<Bytes> RingReader::next_spilled() {
    if (spill_ < 0) spill_ = ::open(spill_path_.c_str(), O_RDONLY | O_CLOEXEC);
    while (spill_read_ != spill_limit_) {
        const std::uint64_t place = spill_read_ - page_.spill_base.load(std::memory_order_acquire);
        const std::uint64_t there = spill_limit_ - spill_read_;
        Header header{};
        if (spill_ < 0 || there < sizeof header ||
            !read_all(spill_, reinterpret_cast<std::byte*>(&header), sizeof header, place) ||
            header.length > std::min(there, capacity_) - sizeof header) {
            ++damaged_;
            spill_read_ = spill_limit_;
            return std::nullopt;
        }
        frame_.resize(header.length);
        const bool whole = read_all(spill_, frame_.data(), header.length, place + sizeof header);
        spill_read_ += sizeof header + header.length;
        if (!whole)
            ++damaged_;
        else if (auto frame = checked(header.sum))
            return frame;
    }
    return std::nullopt;
}

std::optional<Bytes> RingReader::checked(std::uint32_t sum) {
    if (checksum(frame_) == sum) return Bytes(frame_);
    ++damaged_;
    return std::nullopt;
}

void RingReader::copy_out(std::uint64_t at, std::byte* to, std::size_t size) const {
    if (size == 0) return;
    const std::byte* ring = file_.data() + kPage;
    const std::uint64_t place = at % capacity_;
    const std::size_t first = std::min<std::size_t>(size, capacity_ - place);
    std::memcpy(to, ring + place, first);
    if (first < size) std::memcpy(to + first, ring, size - first);
}

void RingReader::release() {
    page_.tail.store(tail_, std::memory_order_release);
    page_.despilled.store(spill_read_, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (page_.starving.load(std::memory_order_relaxed) != 0 && page_.starving.exchange(0) != 0) wake(page_.starving);
}

std::uint32_t RingReader::writer() const { return page_.writer; }

bool RingReader::closed() const { return page_.closed.load(std::memory_order_acquire) != 0; }

bool RingReader::writer_alive() const { return file_.marked().has_value(); }

std::uint64_t RingReader::lost() const { return page_.lost.load(); }

}  // namespace mopsus
