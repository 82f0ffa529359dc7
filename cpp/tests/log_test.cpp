#include "mopsus/component/log.hpp"

#include <random>
#include <string>

#include "check.hpp"
#include "programs.hpp"

namespace mopsus {

namespace {

// Reports whoever sends twice without having received something between. Event 0 is a send, event 1 a receipt, event 2
// an init.
Program twice() {
    Program program;
    program.parameters = 1;
    program.events = {
        {"send", {0}, true, false, {}, {}}, {"recv", {0}, true, false, {}, {}}, {"init", {0}, true, false, {}, {}}};
    auto machine = std::make_shared<TableMachine>();
    machine->states = 3;
    machine->initial = 0;
    machine->next = {1, 0, 0, 2, 0, 0, 2, 0, 0};
    machine->categories = {{}, {}, {0}};
    program.machines.push_back(machine);
    test::assume_anything(program);
    return program;
}

// An event as a line of a log, or what the line is instead.
std::string shown(std::string_view line) {
    Arena arena;
    LogLines lines;
    LogEvent event;
    switch (lines.read(line, arena, event)) {
        case LineKind::Blank: return "blank";
        case LineKind::Odd: return "odd";
        case LineKind::Event: break;
    }
    const char* const names[] = {"fork", "init", "exit", "send", "recv"};
    std::string text = names[static_cast<int>(event.kind)];
    text += "(" + to_text(event.subject);
    if (event.kind == Happening::Fork || event.kind == Happening::Init)
        text += "," + to_text(event.other) + ",{" + to_text(event.module) + "," + to_text(event.function) + "," +
                to_text(event.arguments) + "}";
    if (event.kind == Happening::Send) text += "," + to_text(event.other);
    if (event.kind == Happening::Send || event.kind == Happening::Recv || event.kind == Happening::Exit)
        text += "," + to_text(event.data);
    text += ")";
    return event.delay_ms == 0 ? text : text + " delayed by " + std::to_string(event.delay_ms);
}

}  // namespace

TEST(plain_lines_of_logs_are_read) {
    for (const char* line :
         {"fork(<0.1.0>,<0.2.0>,{m,f,[]})", "init(<0.2.0>,<0.1.0>,{m,f,[1,<0.1.0>,true]})",
          "send(<0.1.0>,<0.2.0>,{a,[1,2.5],-3})", "recv(<0.2.0>,hello) delayed by 250", "exit(<0.2.0>,{error,x})",
          "recv(<0.2.0>,{\"a\",\"b\"})", "recv(<0.2.0>,[])", "recv(<0.2.0>,{})", "recv(<0.2.0>,-0.5)",
          "recv(<0.2.0>,\"50% off\")", "recv(<0.2.0>,send)", "recv(<0.2.0>,#Ref<0.1.2.3>)",
          "recv(<0.2.0>,a_rather_long_atom@home)"})
        REQUIRE(shown(line) == line);
}

TEST(blanks_and_comments_are_free) {
    REQUIRE(shown("  send (\t<0.1.0> , <0.2.0> , { a , [ 1 , 2 ] } )   delayed  by 7 % x") ==
            "send(<0.1.0>,<0.2.0>,{a,[1,2]}) delayed by 7");
    for (const char* line : {"", " \t", "% only", "  %"}) REQUIRE(shown(line) == "blank");
}

TEST(what_is_not_plainly_an_event_is_left_to_the_definition) {
    for (const char* line : {"recv(<0.2.0>,Hello)",
                             "recv(0.2.0,hello)",
                             "recv(<0.2.0>,hello) junk",
                             "spawn(<0.1.0>)",
                             "fork(<0.1.0>,<0.2.0>,m)",
                             "recv(<0.2.0>,hello).",
                             "recv(<0.2.0>",
                             "recv",
                             "recv(<0.2.0>,\"a)",
                             "recv(<0.2.0>,\"a\\n\")",
                             "recv(<0.2.0>,#{a => 1})",
                             "recv(<0.2.0>,[a|b])",
                             "recv(<0.2.0>,<<256>>)",
                             "recv(<0.2.0>,1.)",
                             "recv(<0.2.0>,1e)",
                             "recv(<00.2.0>,a)",
                             "recv(<0.2.0>,9999999999999999999)",
                             "recv(<0.2.0>,\"\xff\")",
                             "recv(<0.2.0>,1e999)",
                             "recv(<0.2.0>,a) delayed by",
                             "recv(<0.2.0>,a) delayed by 5x",
                             "recvx(<0.2.0>,a)",
                             "fork(<0.1.0>,<0.2.0>,{m,1,[]})"})
        REQUIRE(shown(line) == "odd");
}

TEST(damaged_lines_do_no_harm) {
    std::mt19937 random(7);
    const std::string good =
        "send(<0.1.0>,<0.2.0>,{done,[1,2.5,\"text\",'q'],<<1,2>>,~\"t\",~none,#Ref<0.1.2.3>}) delayed by 3 % end";
    for (int k = 0; k < 20000; ++k) {
        std::string line = good;
        for (unsigned cut = random() % 4; cut > 0; --cut) {
            const std::size_t at = random() % line.size();
            if (random() % 2 == 0)
                line.erase(at, 1 + random() % 3);
            else
                line[at] = static_cast<char>(random());
            if (line.empty()) break;
        }
        shown(std::string(line.c_str(), line.size()));
    }
}

TEST(messages_of_settled_components_are_delivered) {
    const Program program = twice();
    test::Collector collector;
    const auto engine = Engine::make(program, collector);
    const Slot slot = engine->domain(0).insert(Key::of_blob(KeyKind::Text, "<0.2.0>"));
    DirectLog log({{engine.get(), {0, 1, 2}, 7, {}}});
    log.settle("<0.2.0>", {slot}, true);
    log.settle("<0.3.0>", {0}, true);
    const std::string text =
        "send(<0.2.0>,<0.1.0>,a)\r\n\ninit(<0.2.0>,<0.1.0>,{m,f,[]})\nrecv(<0.2.0>,b)\nsend(<0.3.0>,<0.1.0>,a)\nsend(<"
        "0.2.0>,<0.1.0>,c)\n"
        "send(<0.2.0>,<0.1.0>,d)\nrecv(<0.9.0>,e)\nrecv(<0.2.0>,f)";
    std::size_t at = 0;
    std::int64_t line = 1;
    const auto reported = [&] { return !collector.reports.empty(); };
    REQUIRE(log.run(text, at, line, reported) == DirectLog::Stop::Delivered);
    REQUIRE(line == 8 && collector.reports.size() == 1);
    REQUIRE(collector.reports[0].stamp.row == 7 && collector.reports[0].stamp.location == 7);
    collector.reports.clear();
    REQUIRE(log.run(text, at, line, reported) == DirectLog::Stop::Line);  // nobody knows 9
    REQUIRE(line == 8 && text.substr(at).starts_with("recv(<0.9.0>"));
    at = text.find('\n', at) + 1;
    ++line;
    REQUIRE(log.run(text, at, line, reported) == DirectLog::Stop::End);
    REQUIRE(at == text.size() && log.delivered == 7 && log.heard == 6);
    REQUIRE((log.targets()[0].seen == DirectLog::Counts{3, 2, 1}));
    REQUIRE((log.unsettle("<0.2.0>") == DirectLog::Counts{3, 2, 1}));
    at = 0;
    REQUIRE(log.run(text, at, line, reported) == DirectLog::Stop::Line && at == 0);
}

TEST(what_changes_who_is_known_is_for_the_dispatcher) {
    DirectLog log({});
    log.settle("<0.2.0>", {}, false);
    log.settle("<123456789012.7.0>", {}, true);
    std::int64_t line = 1;
    for (const char* text : {"fork(<0.2.0>,<0.3.0>,{m,f,[]})", "init(<0.2.0>,<0.1.0>,{m,f,[]})", "exit(<0.2.0>,x)",
                             "recv(<0.2.0>,X)", "recv(<0.2.0>,a) delayed by 5"}) {
        std::size_t at = 0;
        REQUIRE(log.run(text, at, line, [] { return false; }) == DirectLog::Stop::Line && at == 0);
    }
    std::size_t at = 0;
    REQUIRE(log.run("recv(<123456789012.7.0>,a)", at, line, [] { return false; }) == DirectLog::Stop::End);
    REQUIRE(log.unsettle("<123456789012.7.0>")[DirectLog::kRecv] == 1);
}

TEST(components_that_are_introduced_are_found) {
    Introduced introduced;
    REQUIRE(
        introduced.add("fork(<0.1.0>,<0.2.0>,{m,f,[<0.9.0>]})\nrecv(<0.5.0>,x)\n  init(<0.3.0>, <0.1.0>, {m,f,[]})\n% "
                       "fork(<0.1.0>,<0.8.0>,x)\n"));
    REQUIRE(introduced.has("<0.2.0>") && introduced.has("<0.3.0>"));
    for (const char* other : {"<0.1.0>", "<0.5.0>", "<0.8.0>", "<0.9.0>"}) REQUIRE(!introduced.has(other));
    REQUIRE(!introduced.add("fork(<0.1.0>)\n"));
}

}  // namespace mopsus
