// Logs of components in text. A line that is read means the same when it is written and read again.
#include "mopsus/component/log.hpp"

#include "mopsus/machine/table.hpp"
#include "support/bytes.hpp"
#include "support/target.hpp"

namespace {

using namespace mopsus;

class Deaf final : public Listener {
public:
    void report(Report&& report) override { heard += report.values.size(); }
    std::size_t heard = 0;
};

// A send after a send.
Program twice() {
    Program program;
    program.parameters = 1;
    for (const char* name : {"send", "recv", "init"}) program.events.push_back({name, {0}, true, false, {0, 1}, {}});
    auto machine = std::make_shared<TableMachine>();
    machine->states = 3;
    machine->next = {1, 0, 0, 2, 0, 0, 2, 0, 0};
    machine->categories = {{}, {}, {0}};
    machine->final.assign(3, {});
    machine->alive.assign(3, {0});
    program.machines = {machine};
    return program;
}

std::string written(const LogEvent& event) {
    const char* const names[] = {"fork", "init", "exit", "send", "recv"};
    const bool begins = event.kind == Happening::Fork || event.kind == Happening::Init;
    std::string text = names[static_cast<int>(event.kind)];
    text += "(" + to_text(event.subject);
    if (begins)
        text += "," + to_text(event.other) + ",{" + to_text(event.module) + "," + to_text(event.function) + "," +
                to_text(event.arguments) + "}";
    if (event.kind == Happening::Send) text += "," + to_text(event.other);
    if (!begins) text += "," + to_text(event.data);
    text += ")";
    return event.delay_ms == 0 ? text : text + " delayed by " + std::to_string(event.delay_ms);
}

void read_line(std::string_view line) {
    LogLines lines;
    Arena arena;
    LogEvent event;
    if (lines.read(line, arena, event) != LineKind::Event) return;
    const std::string text = written(event);
    Arena other;
    LogEvent again;
    const LineKind kind = lines.read(text, other, again);
    // What is written with `...`, because it is too deep, or with quotes is not plain.
    if (kind != LineKind::Event) return;
    EXPECT(written(again) == text);
}

FUZZ_TARGET(log) {
    fuzz::Bytes bytes(data, size);
    const std::uint8_t options = bytes.byte();
    const std::string text(bytes.rest());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        read_line(std::string_view(text).substr(at, end - at));
        at = end + 1;
    }
    Introduced introduced;
    introduced.add(text);

    const Program program = twice();
    Deaf listener;
    const auto engine = Engine::make(program, listener);
    const Slot slot = engine->domain(0).insert(Key::of_blob(KeyKind::Text, "<0.2.0>"));
    DirectLog log({{engine.get(), {0, 1, 2}, 1, {}}});
    log.settle("<0.2.0>", {slot}, (options & 1U) != 0);
    log.settle("<0.1.0>", {0}, (options & 2U) != 0);
    log.settle("<123456789012.7.0>", {slot}, true);
    std::size_t at = 0;
    std::int64_t line = 1;
    while (at < text.size()) {
        const std::size_t before = at;
        const std::size_t heard = listener.heard;
        const DirectLog::Stop stop = log.run(text, at, line, [&] { return listener.heard != heard; });
        if (stop == DirectLog::Stop::End) break;
        EXPECT(at >= before);
        if (stop == DirectLog::Stop::Line) {
            const std::size_t end = text.find('\n', at);
            if (end == std::string::npos) break;
            at = end + 1;
            ++line;
        }
    }
    EXPECT(at <= text.size());
    log.unsettle("<0.2.0>");
}

}  // namespace
