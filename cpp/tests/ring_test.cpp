#include "mopsus/component/ring.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>

#include "check.hpp"

using namespace mopsus;
using namespace std::chrono_literals;

namespace {

struct Folder {
    Folder() {
        path = std::filesystem::temp_directory_path() / "mopsus-ring-XXXXXX";
        REQUIRE(::mkdtemp(path.data()) != nullptr);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string operator/(const char* name) const { return path + "/" + name; }
    std::string path;
};

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }
std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

constexpr Board::Terms kSmall{4096, WhenFull::Block};

// A process that does something and ends with its result.
pid_t start(const std::function<bool()>& work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work() ? 0 : 1);
    return child;
}

bool went_well(pid_t child) {
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The bytes of a file changed from outside, as a fault in the other process would.
void overwrite(const std::string& path, off_t at, const std::string& with) {
    const int file = ::open(path.c_str(), O_WRONLY);
    REQUIRE(::pwrite(file, with.data(), with.size(), at) == static_cast<ssize_t>(with.size()));
    ::close(file);
}

}  // namespace

TEST(ring_gives_back_frames_in_order_across_its_end) {
    Folder folder;
    RingWriter writer(folder / "a", kSmall, "");
    RingReader reader(folder / "a", "");
    std::mt19937 random(7);
    std::uniform_int_distribution<std::size_t> length(0, 900);
    for (int round = 0; round < 2000; ++round) {
        const std::string text(length(random), static_cast<char>('a' + round % 26));
        REQUIRE(writer.put(bytes_of(text)) == RingWriter::Put::Done);
        REQUIRE(reader.pending());
        const auto frame = reader.next();
        REQUIRE(frame && text_of(*frame) == text);
        reader.release();
        REQUIRE(!reader.pending() && !reader.next());
    }
}

TEST(ring_holds_a_frame_of_its_whole_size_and_no_larger) {
    Folder folder;
    RingWriter writer(folder / "a", kSmall, "");
    RingReader reader(folder / "a", "");
    const std::string largest(4096 - 8, 'x');
    REQUIRE(writer.put(bytes_of(largest + "x")) == RingWriter::Put::TooLarge);
    REQUIRE(writer.put(bytes_of(largest)) == RingWriter::Put::Done);
    REQUIRE(writer.put(bytes_of("")) == RingWriter::Put::Full);
    REQUIRE(!writer.wait_for_room(0, 100us));
    REQUIRE(text_of(*reader.next()) == largest);
    REQUIRE(writer.put(bytes_of("")) == RingWriter::Put::Full);
    reader.release();
    REQUIRE(writer.put(bytes_of("")) == RingWriter::Put::Done);
    REQUIRE(reader.next()->empty());
}

TEST(ring_that_is_full_spills_in_order) {
    Folder folder;
    RingWriter writer(folder / "a", {4096, WhenFull::Grow}, folder / "spill");
    RingReader reader(folder / "a", folder / "spill");
    std::mt19937 random(3);
    int put = 0;
    int taken = 0;
    for (int round = 0; round < 300; ++round) {
        const int more = std::uniform_int_distribution<int>(0, 40)(random);
        for (int k = 0; k < more; ++k) {
            const std::string text = std::to_string(put++) + std::string(100, '.');
            REQUIRE(writer.put(bytes_of(text)) == RingWriter::Put::Done);
        }
        const int fewer = std::uniform_int_distribution<int>(0, 44)(random);
        for (int k = 0; k < fewer; ++k) {
            const auto frame = reader.next();
            if (!frame) break;
            REQUIRE(std::stoi(text_of(*frame)) == taken);
            ++taken;
        }
        reader.release();
    }
    while (const auto frame = reader.next()) REQUIRE(std::stoi(text_of(*frame)) == taken++);
    reader.release();
    REQUIRE(taken == put && put > 4096 / 100);
    REQUIRE(writer.put(bytes_of("again")) == RingWriter::Put::Done);
    REQUIRE(text_of(*reader.next()) == "again");
    REQUIRE(reader.damaged() == 0);
}

TEST(ring_passes_over_a_damaged_frame) {
    Folder folder;
    RingWriter writer(folder / "a", kSmall, "");
    RingReader reader(folder / "a", "");
    writer.put(bytes_of("first"));
    writer.put(bytes_of("second"));
    overwrite(folder / "a", 4096 + 8, "F");
    REQUIRE(text_of(*reader.next()) == "second");
    REQUIRE(reader.damaged() == 1);
}

TEST(ring_with_a_damaged_length_gives_up_what_is_there) {
    Folder folder;
    RingWriter writer(folder / "a", kSmall, "");
    RingReader reader(folder / "a", "");
    writer.put(bytes_of("first"));
    writer.put(bytes_of("second"));
    overwrite(folder / "a", 4096, "\xff\xff\xff\x7f");
    REQUIRE(!reader.next());
    REQUIRE(reader.damaged() == 1);
    reader.release();
    writer.put(bytes_of("third"));
    REQUIRE(text_of(*reader.next()) == "third");
}

TEST(ring_with_random_bytes_never_crashes) {
    Folder folder;
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        const std::string name = folder / std::to_string(round).c_str();
        RingWriter writer(name, kSmall, name + ".spill");
        RingReader reader(name, name + ".spill");
        for (int k = 0; k < 10; ++k) writer.put(bytes_of(std::string(300, 'x')));
        for (int k = 0; k < 3; ++k) {
            std::string noise(1 + random() % 16, '\0');
            for (char& each : noise) each = static_cast<char>(random());
            // Anywhere behind the constants, the positions included.
            overwrite(name, static_cast<off_t>(64 + random() % 8000), noise);
        }
        for (int k = 0; k < 100 && reader.next(); ++k) {}
        reader.release();
    }
}

TEST(ring_of_another_make_is_refused) {
    Folder folder;
    { SharedFile::create(folder / "a", 8192); }
    for (const bool ring : {true, false}) {
        bool refused = false;
        try {
            if (ring)
                RingReader(folder / "a", "");
            else
                Board::open(folder / "a");
        } catch (const SharedError&) {
            refused = true;
        }
        REQUIRE(refused);
    }
}

TEST(ring_between_two_processes_loses_nothing) {
    Folder folder;
    Board board = Board::create(folder / "board");
    REQUIRE(board.attend(kSmall));
    constexpr int frames = 20000;
    const pid_t child = start([&] {
        Board mine = Board::open(folder / "board");
        RingWriter writer(folder / "a", mine.terms(), "");
        mine.enlist();
        for (int k = 0; k < frames; ++k) {
            const std::string text = std::to_string(k) + std::string(static_cast<std::size_t>(k % 50), '.');
            while (writer.put(bytes_of(text)) == RingWriter::Put::Full) {
                mine.ring();
                writer.wait_for_room(text.size(), 10ms);
            }
            mine.ring();
            if (k % 5000 == 0) ::usleep(5000);  // so that the reader sleeps deeply now and then
        }
        writer.close();
        mine.ring();
        return mine.attended();
    });
    while (board.enlisted() == 0) board.wait({}, 0, 1, 100ms);
    RingReader reader(folder / "a", "");
    RingReader* const rings[] = {&reader};
    REQUIRE(reader.writer() == static_cast<std::uint32_t>(child));
    int taken = 0;
    while (taken < frames) {
        while (const auto frame = reader.next()) {
            REQUIRE(std::stoi(text_of(*frame)) == taken);
            ++taken;
        }
        reader.release();
        if (taken < frames) board.wait(rings, 1, 1, 100ms);
    }
    REQUIRE(went_well(child));
    REQUIRE(reader.closed() && !reader.writer_alive() && reader.damaged() == 0);
}

TEST(ring_of_a_killed_writer_keeps_whole_frames) {
    Folder folder;
    for (int round = 0; round < 10; ++round) {
        const std::string name = folder / std::to_string(round).c_str();
        const pid_t child = start([&] {
            RingWriter writer(name, {1 << 20, WhenFull::Drop}, "");
            ::rename(name.c_str(), (name + ".ring").c_str());
            for (int k = 0;; ++k)
                if (writer.put(bytes_of(std::to_string(k) + std::string(2000, '.'))) != RingWriter::Put::Done)
                    ::usleep(100);
            return true;
        });
        while (!std::filesystem::exists(name + ".ring")) ::usleep(100);
        RingReader reader(name + ".ring", "");
        REQUIRE(reader.writer_alive());
        int taken = 0;
        const auto drain = [&] {
            while (const auto frame = reader.next()) {
                REQUIRE(frame->size() >= 2001 && std::stoi(text_of(*frame)) >= taken);
                taken = std::stoi(text_of(*frame)) + 1;
            }
            reader.release();
        };
        for (int k = 0; k < 20 + round || taken == 0; ++k) drain();
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        drain();
        REQUIRE(!reader.writer_alive() && !reader.closed() && reader.damaged() == 0 && taken > 0);
    }
}

TEST(board_tells_of_its_reader) {
    Folder folder;
    Board board = Board::create(folder / "board");
    REQUIRE(board.generation() == 0);
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = start([&] {
        Board mine = Board::open(folder / "board");
        const bool done = mine.attend({1 << 16, WhenFull::Drop});
        if (::write(ready[1], "x", 1) == 1) ::pause();
        return done;
    });
    char got = 0;
    REQUIRE(::read(ready[0], &got, 1) == 1);
    REQUIRE(board.generation() == 1 && board.attended());
    REQUIRE(board.terms().capacity == 1 << 16 && board.terms().when_full == WhenFull::Drop);
    REQUIRE(!board.attend(kSmall));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    REQUIRE(!board.attended());
    REQUIRE(board.attend(kSmall) && board.generation() == 3);
    board.dismiss();
    REQUIRE(board.generation() == 4);
    ::close(ready[0]);
    ::close(ready[1]);
}
