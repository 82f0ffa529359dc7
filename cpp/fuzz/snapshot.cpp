// Snapshots that were damaged or made up: refused, or the state of a monitor that takes any events.
#include <array>
#include <set>

#include "mopsus/engine/archive.hpp"
#include "mopsus/engine/monitor.hpp"
#include "support/bytes.hpp"
#include "support/programs.hpp"
#include "support/target.hpp"

namespace {

using namespace mopsus;
using mopsus::fuzz::Bytes;

// Its words are numbers; each is given back once.
class Words final : public Listener {
public:
    void report(Report&& report) override {
        seen_ += report.values.size() + report.witness.size() + report.explanation.size();
    }
    bool admit(EventId, InstanceRef, std::uint64_t, const std::vector<Value>&, Origin&) override {
        return ++asked_ % 4 != 0;
    }
    std::uint64_t fork(std::uint64_t parent) override {
        EXPECT(parent == 0 || live_.contains(parent));
        live_.insert(++last_);
        return last_;
    }
    void drop(std::uint64_t user) override { EXPECT(user == 0 || live_.erase(user) == 1); }
    std::int32_t call(std::uint32_t code, std::uint64_t user, const Occasion*) override {
        EXPECT(user == 0 || live_.contains(user));
        return code == 0 ? -1 : static_cast<std::int32_t>(++asked_ % 2);
    }
    std::string save(std::uint64_t user) override {
        EXPECT(user == 0 || live_.contains(user));
        return "word";
    }
    std::uint64_t load(const std::string& text) override {
        if (text != "word") throw BadSnapshot("this is no word");
        return fork(0);
    }
    bool empty() const { return live_.empty(); }

private:
    std::set<std::uint64_t> live_;
    std::uint64_t last_ = 0;
    std::uint64_t asked_ = 0;
    std::uint64_t seen_ = 0;
};

class Row final : public Origin {
public:
    Row(std::int64_t row, std::uint64_t time, std::uint8_t kind, std::uint32_t location) {
        stamp_.row = row;
        stamp_.location = location;
        stamp_.time_kind = static_cast<Stamp::Time>(kind % 3);
        stamp_.time =
            stamp_.time_kind == Stamp::Time::Float ? std::bit_cast<std::uint64_t>(static_cast<double>(time) / 2) : time;
    }
    Stamp stamp() override { return stamp_; }
    EventData data() override { return {&value_, 1, &arena_}; }
    void carry(std::uint8_t which) {
        value_ = Term::small(which % 4);
        if ((which & 0x10U) == 0) return;
        Term* parts = arena_.terms(2);
        parts[0] = Term::small(which % 4);
        parts[1] = arena_.text("a longer text than a word");
        value_ = arena_.tuple(parts, 2, (which & 0x20U) != 0 ? arena_.text("Pair") : Term());
    }

private:
    Stamp stamp_;
    Term value_ = Term::none();
    Arena arena_;
};

Key key_of(std::uint8_t which) {
    switch (which % 6) {
        case 4: return Key::of_blob(KeyKind::Text, "x");
        case 5: return Key::of_blob(KeyKind::Tuple, "C1:1E1:1");
        default: return Key::of_int(which % 6);
    }
}

void feed(Monitor& monitor, Bytes& bytes, std::size_t rows) {
    std::uint64_t time = 0;
    for (std::size_t row = 1; row <= rows && !bytes.empty(); ++row) {
        const std::uint8_t what = bytes.byte();
        const std::uint8_t values = bytes.byte();
        const auto event = static_cast<EventId>(what % monitor.program().events.size());
        Engine& engine = monitor.engine(Key::of_int(what >> 6U));
        if ((what & 0x1CU) == 0x1C && monitor.program().parameters != 0) {
            monitor.release(engine, what % monitor.program().parameters, key_of(values));
            continue;
        }
        time += values >> 5U;
        const std::uint32_t location = monitor.location((what & 0x20U) != 0 ? "one" : "other", true);
        Row origin(static_cast<std::int64_t>(row), time, static_cast<std::uint8_t>((what >> 2U) % 8), location);
        origin.carry(values);
        std::vector<Slot> slots;
        std::uint8_t left = values;
        for (const std::uint8_t p : monitor.program().events[event].parameters) {
            const Key key = key_of(left);
            left = static_cast<std::uint8_t>(left / 6);
            Slot slot = engine.domain(p).find(key);
            if (slot == kNil && engine.inserts(event)) slot = engine.domain(p).insert(key);
            slots.push_back(slot);
        }
        slots.resize(std::max<std::size_t>(slots.size(), 1));
        ++monitor.seen[event];
        engine.step(event, slots.data(), origin);
    }
}

// Everything that may be asked of a monitor.
void look(Monitor& monitor) {
    std::size_t instances = 0;
    std::size_t seen = monitor.bytes();
    monitor.each_engine([&](Engine& engine) {
        engine.each_instance([&](const std::vector<Value>& values, const std::vector<Engine::Standing>& standings,
                                 const Engine::Recall& recall) {
            ++instances;
            seen += values.size() + standings.size() + recall().size();
        });
        engine.each_slice([&](const Engine::Slice& slice) { seen += slice.values.size(); });
        seen += engine.occupied().size();
    });
    EXPECT(instances == monitor.counts().alive() && (instances == 0 || seen != 0));
}

Item any_item(Bytes& bytes) {
    const std::uint8_t kind = bytes.byte();
    if (kind < 160) return static_cast<std::int64_t>(kind % 32);
    if (kind < 200) return static_cast<std::int64_t>(bytes.word(1 + kind % 8));
    if (kind < 220) return -static_cast<std::int64_t>(bytes.byte());
    if (kind < 240) return std::string(bytes.text(kind % 12));
    constexpr std::string_view kTexts[] = {"word",    "x",   "", "0", "-7", "C1:1", "J4:C1:1", "0x8000000000000000",
                                           "<0.1.2>", "Pair"};
    return std::string(kTexts[bytes.below(std::size(kTexts))]);
}

void damage(std::vector<Item>& items, Bytes& bytes, std::size_t changes) {
    for (; changes > 0 && !items.empty(); --changes) {
        const std::uint8_t kind = bytes.byte();
        const std::size_t at = bytes.below(items.size());
        const auto place = items.begin() + static_cast<std::ptrdiff_t>(at);
        switch (kind % 7) {
            case 0: *place = any_item(bytes); break;
            case 1:
                if (auto* number = std::get_if<std::int64_t>(&*place))
                    *number = static_cast<std::int64_t>(static_cast<std::uint64_t>(*number) +
                                                        ((kind & 0x80U) != 0 ? 1 : ~0ULL));
                break;
            case 2: *place = Item(items[bytes.below(items.size())]); break;
            case 3:
                items.erase(place, place + static_cast<std::ptrdiff_t>(
                                               std::min<std::size_t>(1 + (kind >> 5U), items.size() - at)));
                break;
            case 4: items.insert(place, any_item(bytes)); break;
            case 5: std::swap(*place, items[bytes.below(items.size())]); break;
            default: {
                const std::size_t from = bytes.below(items.size());
                const std::vector<Item> copied(items.begin() + static_cast<std::ptrdiff_t>(from),
                                               items.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                                                   from + 1 + (kind >> 5U), items.size())));
                items.insert(place, copied.begin(), copied.end());
            }
        }
    }
}

struct Watched {
    Watched(const Program& program, bool per_thread) : monitor(program, per_thread, {}, words) {}
    bool restore(std::vector<Item> items) {
        Archive archive(std::move(items));
        try {
            monitor.restore(archive);
            return true;
        } catch (const BadSnapshot&) {
            EXPECT(monitor.counts().created == 0 && words.empty());
            return false;
        }
    }
    std::vector<Item> snapshot() {
        Archive archive;
        monitor.transfer(archive);
        return std::move(archive.items());
    }
    Words words;
    Monitor monitor;
};

// Rows that are always the same, of all kinds.
void feed_others(Monitor& monitor, std::uint32_t state) {
    std::array<std::uint8_t, 120> rows;
    for (std::uint8_t& byte : rows) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24U);
    Bytes bytes(rows.data(), rows.size());
    feed(monitor, bytes, rows.size());
}

void restored(const Program& program, std::uint8_t options, const std::vector<Item>& items, bool damaged) {
    const bool per_thread = (options & 3U) == 0;
    Watched second(program, per_thread);
    if ((options & 4U) != 0) second.monitor.location("another", false);
    const bool taken = second.restore(items);
    EXPECT(taken || damaged);
    if (!taken && (options & 8U) != 0) return;  // most are refused: once in a while it has to be as new
    look(second.monitor);
    feed_others(second.monitor, options);
    look(second.monitor);
    // What it says of itself is taken over, and then stays the same.
    const std::vector<Item> told = second.snapshot();
    const auto near_the_end = [](const Item& item) {
        const auto* number = std::get_if<std::int64_t>(&item);
        return number != nullptr && *number > (std::int64_t{1} << 61U);  // of what can be counted
    };
    if (std::any_of(told.begin(), told.end(), near_the_end)) return;
    Watched third(program, per_thread);
    EXPECT(third.restore(told));
    const std::vector<Item> once = third.snapshot();
    Watched fourth(program, per_thread);
    EXPECT(fourth.restore(once));
    EXPECT(fourth.snapshot() == once);
}

FUZZ_TARGET(snapshot) {
    Bytes bytes(data, size);
    const std::uint8_t options = bytes.byte();
    const std::size_t changes = 1 + bytes.below(4);
    const std::size_t rows = bytes.below(40);
    const Program program = fuzz::any_program(bytes);
    Watched first(program, (options & 3U) == 0);
    feed(first.monitor, bytes, rows);
    look(first.monitor);
    const std::vector<Item> items = first.snapshot();
    restored(program, options, items, false);
    // The same snapshot is damaged in many ways: to get there is what takes the time.
    constexpr int kTries = 24;
    for (int tries = 0; tries < kTries && !bytes.empty(); ++tries) {
        std::vector<Item> worse = items;
        damage(worse, bytes, changes);
        restored(program, options, worse, true);
    }
}

}  // namespace
