// Frames from one process to another through shared memory, without a system call per frame.
//
// A *ring* is written by one process and read by one other. What is written becomes visible all at once, when the
// position of the writer moves beyond it; so a writer that is killed in the middle of a frame leaves nothing behind.
// All rings of a program share a *board*, which says whether anybody listens and where the one reader is woken.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mopsus/component/shared.hpp"

namespace mopsus {

using Bytes = std::span<const std::byte>;

// What a writer does when its ring is full.
enum class WhenFull : std::uint32_t { Block, Drop, Grow };

class RingReader;

class Board {
public:
    // What all rings of a program are told.
    struct Terms {
        std::uint64_t capacity;
        WhenFull when_full;
    };

    static Board create(const std::string& path);
    static Board open(const std::string& path);

    // Changes whenever a reader comes or goes; writers compare it with what they know. Even: nobody listens.
    std::uint32_t generation() const;
    // Begin to listen. False if somebody else does.
    bool attend(Terms terms);
    // Stop to listen; also for a reader that is another process, which is told so by the generation.
    void dismiss();
    Terms terms() const;
    // Is the reader's process there? Not to be asked by itself.
    bool attended() const;

    // A ring is ready to be read.
    void enlist();
    std::uint32_t enlisted() const;

    // A writer has something to read. Costs a system call only if the reader sleeps deeply.
    void ring() const;
    // Wait until a ring has something to read, another one is ready, the generation changes or the time is over.
    void wait(std::span<RingReader* const> rings, std::uint32_t enlisted, std::uint32_t generation,
              std::chrono::microseconds limit);

private:
    struct Page;
    explicit Board(SharedFile file) : file_(std::move(file)) {}
    Page& page() const;

    SharedFile file_;
    std::chrono::steady_clock::time_point busy_{};
};

class RingWriter {
public:
    enum class Put { Done, Full, TooLarge };

    // A new ring. What does not fit goes to the file `spill` if there is a name for it.
    RingWriter(const std::string& path, const Board::Terms& terms, const std::string& spill);
    ~RingWriter();
    RingWriter(const RingWriter&) = delete;
    RingWriter& operator=(const RingWriter&) = delete;

    // Not to be called by two threads at once.
    Put put(Bytes frame);
    // Sleep until there is room for a frame of that size; false if there is none after that time.
    bool wait_for_room(std::size_t size, std::chrono::microseconds limit);
    void count_lost(std::uint64_t frames);
    // The last frame has been written.
    void close();

private:
    struct Page;
    friend class RingReader;

    bool fits(std::uint64_t size) const;
    void copy_in(std::uint64_t at, Bytes bytes);
    Put spill(Bytes frame);

    SharedFile file_;
    Page& page_;
    std::uint64_t capacity_;
    std::string spill_path_;
    int spill_ = -1;
};

class RingReader {
public:
    explicit RingReader(const std::string& path, const std::string& spill);
    ~RingReader();
    RingReader(const RingReader&) = delete;
    RingReader& operator=(const RingReader&) = delete;

    bool pending() const;
    // The next frame, valid until the next call; none if there is none now. A frame that was damaged is passed over.
    std::optional<Bytes> next();
    // Give the room of all frames read back to the writer.
    void release();

    std::uint32_t writer() const;
    // Has the writer said that it is done?
    bool closed() const;
    // Is the writer's process there? Not to be asked by itself.
    bool writer_alive() const;
    std::uint64_t lost() const;
    std::uint64_t damaged() const { return damaged_; }

private:
    std::optional<Bytes> next_in_ring();
    std::optional<Bytes> next_spilled();
    void copy_out(std::uint64_t at, std::byte* to, std::size_t size) const;
    std::optional<Bytes> checked(std::uint32_t sum);

    SharedFile file_;
    RingWriter::Page& page_;
    std::uint64_t capacity_;
    std::uint64_t tail_;
    std::uint64_t spill_limit_ = 0;
    std::uint64_t spill_read_ = 0;
    std::string spill_path_;
    int spill_ = -1;
    std::vector<std::byte> frame_;
    std::uint64_t damaged_ = 0;
};

}  // namespace mopsus
