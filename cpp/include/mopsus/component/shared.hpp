// What processes share: a file in memory, a mark that somebody is there, and a word to wait on.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace mopsus {

// A file that cannot be shared: missing, too small, or of another make.
class SharedError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A file mapped into memory, seen by every process that maps it.
class SharedFile {
public:
    // A new file of that size, filled with zeros. It must not exist yet.
    static SharedFile create(const std::string& path, std::size_t size);
    // A file that is there, with at least `least` bytes.
    static SharedFile open(const std::string& path, std::size_t least);

    SharedFile(SharedFile&& other) noexcept;
    SharedFile& operator=(SharedFile&&) = delete;
    ~SharedFile();

    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }

    // Leave the mark that this process is there; false if another one has left it. The kernel takes the mark away when
    // the process ends, however it ends. A forked process does not inherit it.
    bool mark() const;
    void unmark() const;
    // The other process that has left the mark.
    std::optional<pid_t> marked() const;

private:
    SharedFile(int file, std::size_t size);
    int file_;
    std::byte* data_;
    std::size_t size_;
};

using SharedWord = std::atomic<std::uint32_t>;
static_assert(SharedWord::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

// Sleep while the word has that value, at most so long. May return early.
void wait_on(SharedWord& word, std::uint32_t value, std::chrono::microseconds limit);
// Wake all that sleep on the word.
void wake(SharedWord& word);

}  // namespace mopsus
