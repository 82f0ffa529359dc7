#include <cstring>

#include "mopsus/engine/key.hpp"
#include "mopsus/component/log.hpp"

namespace mopsus {

namespace {

// The line that begins at `at`, without what ends it; `at` is then where the next one begins.
std::string_view take_line(std::string_view text, std::size_t& at) {
    const char* start = text.data() + at;
    const auto* end = static_cast<const char*>(std::memchr(start, '\n', text.size() - at));
    const std::size_t length = end != nullptr ? static_cast<std::size_t>(end - start) : text.size() - at;
    at += length + (end != nullptr ? 1 : 0);
    std::string_view line(start, length);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
}

}  // namespace

class DirectLog::LineOrigin final : public Origin {
public:
    LineOrigin(std::int64_t row, std::uint32_t source, EventData data) : data_(data) {
        stamp_.row = row;
        stamp_.location = source;
    }
    Stamp stamp() override { return stamp_; }
    EventData data() override { return data_; }

private:
    Stamp stamp_;
    EventData data_;
};

void DirectLog::settle(std::string_view component, std::vector<Slot> slots, bool named) {
    arena_.clear();
    const Term pid = arena_.pid(component);
    Settled& settled = pid.is_pid() ? packed_[pid.bits()] : others_[std::string(component)];
    settled.named = named;
    settled.monitored = false;
    for (const Slot slot : slots) settled.monitored = settled.monitored || slot != 0;
    settled.slots = std::move(slots);
}

DirectLog::Counts DirectLog::unsettle(std::string_view component) {
    arena_.clear();
    const Term pid = arena_.pid(component);
    Counts counts{};
    if (pid.is_pid()) {
        if (const auto at = packed_.find(pid.bits()); at != packed_.end()) {
            counts = at->second.counts;
            packed_.erase(at);
            recent_[mix(pid.bits(), 0x9E3779B97F4A7C15ULL) % recent_.size()] = {};
        }
    } else if (const auto at = others_.find(std::string(component)); at != others_.end()) {
        counts = at->second.counts;
        others_.erase(at);
    }
    return counts;
}

DirectLog::Settled* DirectLog::find(Term component) {
    if (!component.is_pid()) {
        const auto at = others_.find(std::string(component.bytes()));
        return at != others_.end() ? &at->second : nullptr;
    }
    Recent& recent = recent_[mix(component.bits(), 0x9E3779B97F4A7C15ULL) % recent_.size()];
    if (recent.component != component.bits() || recent.settled == nullptr) {
        const auto at = packed_.find(component.bits());
        if (at == packed_.end()) return nullptr;
        recent = {component.bits(), &at->second};
    }
    return recent.settled;
}

DirectLog::Stop DirectLog::deliver(std::string_view text, std::size_t& at, std::int64_t& line) {
    std::size_t next = at;
    arena_.clear();
    LogEvent event;
    const LineKind kind = lines_.read(take_line(text, next), arena_, event);
    if (kind == LineKind::Blank) {
        ++blank;
        at = next;
        ++line;
        return Stop::End;
    }
    if (kind == LineKind::Odd || event.delay_ms != 0) return Stop::Line;
    std::array<Term, 5> fields;
    Kind which = kSend;
    std::size_t count = 3;
    switch (event.kind) {
        case Happening::Send: fields = {event.subject, event.other, event.data}; break;
        case Happening::Recv:
            fields = {event.subject, event.data};
            which = kRecv;
            count = 2;
            break;
        case Happening::Init:
            fields = {event.other, event.subject, event.module, event.function, event.arguments};
            which = kInit;
            count = 5;
            break;
        case Happening::Fork:
        case Happening::Exit: return Stop::Line;
    }
    Settled* settled = find(event.subject);
    if (settled == nullptr || (which == kInit && !settled->named)) return Stop::Line;
    ++settled->counts[which];
    ++delivered;
    if (settled->monitored) {
        ++heard;
        for (std::size_t k = 0; k < targets_.size(); ++k) {
            if (settled->slots[k] == 0) continue;
            Target& target = targets_[k];
            LineOrigin origin(line, target.source, {fields.data(), count, &arena_});
            ++target.seen[which];
            target.engine->step(target.events[which], &settled->slots[k], origin);
        }
    }
    at = next;
    ++line;
    return settled->monitored ? Stop::Delivered : Stop::End;
}

bool Introduced::add(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::string_view line = take_line(text, at);
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
        const bool fork = line.starts_with("fork");
        if (!fork && !line.starts_with("init")) continue;
        // The identifier wanted is the second of a fork, the first of an init.
        std::size_t place = line.find('<');
        if (fork && place != std::string_view::npos) place = line.find('<', place + 1);
        if (place == std::string_view::npos) return false;
        const std::size_t end = line.find('>', place);
        if (end == std::string_view::npos) return false;
        found_.emplace(line.substr(place, end + 1 - place));
    }
    return true;
}

}  // namespace mopsus
