#include "mopsus/component/shared.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>

namespace mopsus {

namespace {

[[noreturn]] void fail(const std::string& what) { throw SharedError(what + ": " + std::strerror(errno)); }

struct flock whole_file(short type) {
    struct flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

}  // namespace

SharedFile::SharedFile(int file, std::size_t size) : file_(file), data_(nullptr), size_(size) {
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        ::close(file);
        fail("a file cannot be mapped");
    }
    data_ = static_cast<std::byte*>(at);
}

SharedFile SharedFile::create(const std::string& path, std::size_t size) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) fail(path);
    // The room is reserved now: a write into a mapping of a full file system would end the process.
    if (const int error = ::posix_fallocate(file, 0, static_cast<off_t>(size)); error != 0) {
        ::close(file);
        ::unlink(path.c_str());
        errno = error;
        fail(path);
    }
    return {file, size};
}

SharedFile SharedFile::open(const std::string& path, std::size_t least) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) fail(path);
    struct stat about{};
    if (::fstat(file, &about) != 0 || static_cast<std::size_t>(about.st_size) < least) {
        ::close(file);
        throw SharedError(path + ": the file is too short");
    }
    return {file, static_cast<std::size_t>(about.st_size)};
}

SharedFile::SharedFile(SharedFile&& other) noexcept : file_(other.file_), data_(other.data_), size_(other.size_) {
    other.file_ = -1;
    other.data_ = nullptr;
}

SharedFile::~SharedFile() {
    if (data_ != nullptr) ::munmap(data_, size_);
    if (file_ >= 0) ::close(file_);
}

bool SharedFile::mark() const {
    struct flock lock = whole_file(F_WRLCK);
    return ::fcntl(file_, F_SETLK, &lock) == 0;
}

void SharedFile::unmark() const {
    struct flock lock = whole_file(F_UNLCK);
    ::fcntl(file_, F_SETLK, &lock);
}

std::optional<pid_t> SharedFile::marked() const {
    struct flock lock = whole_file(F_WRLCK);
    if (::fcntl(file_, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
    return lock.l_pid;
}

void wait_on(SharedWord& word, std::uint32_t value, std::chrono::microseconds limit) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    timespec time{};
    time.tv_sec = static_cast<time_t>(seconds.count());
    time.tv_nsec = static_cast<long>((limit - seconds).count() * 1000);
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, &time, nullptr, 0);
}

void wake(SharedWord& word) {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace mopsus
