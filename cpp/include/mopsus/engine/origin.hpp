// Where an event came from, and what it carries. Only events that end up in a history or report, or that a machine
// asks the time or the data of, are asked for it.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace mopsus {

class Arena;
class Term;

struct Stamp {
    // Int and Float are numbers of whatever unit the trace has; Instant is nanoseconds since the epoch.
    enum class Time : std::uint8_t { None, Int, Float, Instant };
    std::int64_t row = 0;  // 0: not from a trace
    std::uint64_t time = 0;
    std::uint32_t location = 0;  // a number that the event source gives out; 0: unknown
    Time time_kind = Time::None;

    // Microseconds are told, and nothing below.
    void set_seconds(double seconds) {
        time = std::bit_cast<std::uint64_t>(std::round(seconds * 1e6) / 1e6);
        time_kind = Time::Float;
    }
};

// The values of an event's fields. Who looks at one may replace a foreign term by what it is.
struct EventData {
    Term* fields = nullptr;
    std::size_t count = 0;
    Arena* arena = nullptr;  // for what is made of them while the event is handled
};

class Origin {
public:
    virtual ~Origin() = default;
    virtual Stamp stamp() = 0;
    // A stamp of which only the time is asked for.
    virtual Stamp when() { return stamp(); }
    // Good until the event is done; the same at every call.
    virtual EventData data() { return {}; }
    // All values of the event, parameters first, as who sends it has them; nothing if it has only slots and data.
    virtual const void* const* values() { return nullptr; }
};

}  // namespace mopsus
