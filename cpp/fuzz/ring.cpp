// A ring in memory that another process writes to, and may have damaged: frames are whole or passed over.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "mopsus/component/ring.hpp"
#include "support/bytes.hpp"
#include "support/target.hpp"

namespace {

using namespace mopsus;

struct Folder {
    Folder() {
        std::string name = "/dev/shm/mopsus-fuzz-XXXXXX";
        EXPECT(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

void overwrite(const std::string& path, mopsus::fuzz::Bytes& bytes) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    const auto size = static_cast<std::size_t>(std::filesystem::file_size(path));
    for (std::size_t changes = bytes.below(6); changes > 0 && size != 0; --changes) {
        // Mostly in the first page, and in the first frames.
        const std::uint8_t where = bytes.byte();
        const std::size_t at = (where < 128 ? where : where < 200 ? 4096 + where - 128 : bytes.word(3)) % size;
        const std::string_view content = bytes.text(1 + bytes.below(8));
        EXPECT(::pwrite(file, content.data(), std::min(content.size(), size - at), static_cast<off_t>(at)) >= 0);
    }
    ::close(file);
}

FUZZ_TARGET(ring) {
    static Folder folder;
    mopsus::fuzz::Bytes bytes(data, size);
    const std::string path = folder.path / "ring";
    const std::string spill = folder.path / "spill";
    const bool grow = bytes.flag();
    {
        RingWriter writer(path, {1U << 16U, grow ? WhenFull::Grow : WhenFull::Drop}, grow ? spill : "");
        const auto write = [&] {
            for (std::size_t frames = bytes.below(12); frames > 0; --frames) {
                const std::vector<std::byte> frame(bytes.below(8) == 0 ? 30000 : bytes.below(200),
                                                   static_cast<std::byte>(bytes.byte()));
                writer.put(frame);
            }
        };
        write();
        try {
            RingReader early(path, grow ? spill : "");
            overwrite(path, bytes);
            if (grow) overwrite(spill, bytes);
            const auto read = [&](RingReader& reader) {
                for (int frames = 0; frames < 100; ++frames) {
                    const auto frame = reader.next();
                    if (!frame) break;
                    EXPECT(frame->size() <= 1U << 17U);
                }
                reader.release();
                reader.closed();
                reader.pending();
            };
            read(early);
            write();
            read(early);
            RingReader late(path, grow ? spill : "");
            read(late);
        } catch (const SharedError&) {}
    }
    ::unlink(path.c_str());
    ::unlink(spill.c_str());
}

}  // namespace
