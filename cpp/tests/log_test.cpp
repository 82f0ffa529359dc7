#include "mopsus/log.hpp"

#include <random>
#include <string>

#include "check.hpp"

namespace mopsus {

namespace {

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
        text += "," + to_text(event.other) + ",{" + to_text(event.module) + "," + to_text(event.function) + "," + to_text(event.arguments) + "}";
    if (event.kind == Happening::Send) text += "," + to_text(event.other);
    if (event.kind == Happening::Send || event.kind == Happening::Recv || event.kind == Happening::Exit) text += "," + to_text(event.data);
    text += ")";
    return event.delay_ms == 0 ? text : text + " delayed by " + std::to_string(event.delay_ms);
}

}  // namespace

TEST(plain_lines_of_logs_are_read) {
    for (const char* line : {"fork(<0.1.0>,<0.2.0>,{m,f,[]})", "init(<0.2.0>,<0.1.0>,{m,f,[1,<0.1.0>,true]})",
                             "send(<0.1.0>,<0.2.0>,{a,[1,2.5],-3})", "recv(<0.2.0>,hello) delayed by 250", "exit(<0.2.0>,{error,x})",
                             "recv(<0.2.0>,{\"a\",\"b\"})", "recv(<0.2.0>,[])", "recv(<0.2.0>,{})", "recv(<0.2.0>,-0.5)",
                             "recv(<0.2.0>,\"50% off\")", "recv(<0.2.0>,send)", "recv(<0.2.0>,#Ref<0.1.2.3>)",
                             "recv(<0.2.0>,a_rather_long_atom@home)"})
        REQUIRE(shown(line) == line);
}

TEST(blanks_and_comments_are_free) {
    REQUIRE(shown("  send (\t<0.1.0> , <0.2.0> , { a , [ 1 , 2 ] } )   delayed  by 7 % x") == "send(<0.1.0>,<0.2.0>,{a,[1,2]}) delayed by 7");
    for (const char* line : {"", " \t", "% only", "  %"}) REQUIRE(shown(line) == "blank");
}

TEST(what_is_not_plainly_an_event_is_left_to_the_definition) {
    for (const char* line :
         {"recv(<0.2.0>,Hello)", "recv(0.2.0,hello)", "recv(<0.2.0>,hello) junk", "spawn(<0.1.0>)", "fork(<0.1.0>,<0.2.0>,m)", "recv(<0.2.0>,hello).",
          "recv(<0.2.0>", "recv", "recv(<0.2.0>,\"a)", "recv(<0.2.0>,\"a\\n\")", "recv(<0.2.0>,#{a => 1})", "recv(<0.2.0>,[a|b])", "recv(<0.2.0>,<<256>>)",
          "recv(<0.2.0>,1.)", "recv(<0.2.0>,1e)", "recv(<00.2.0>,a)", "recv(<0.2.0>,9999999999999999999)", "recv(<0.2.0>,\"\xff\")", "recv(<0.2.0>,1e999)",
          "recv(<0.2.0>,a) delayed by", "recv(<0.2.0>,a) delayed by 5x", "recvx(<0.2.0>,a)", "fork(<0.1.0>,<0.2.0>,{m,1,[]})"})
        REQUIRE(shown(line) == "odd");
}

TEST(damaged_lines_do_no_harm) {
    std::mt19937 random(7);
    const std::string good = "send(<0.1.0>,<0.2.0>,{done,[1,2.5,\"text\",'q'],<<1,2>>,~\"t\",~none,#Ref<0.1.2.3>}) delayed by 3 % end";
    for (int k = 0; k < 20000; ++k) {
        std::string line = good;
        for (unsigned cut = random() % 4; cut > 0; --cut) {
            const std::size_t at = random() % line.size();
            if (random() % 2 == 0) line.erase(at, 1 + random() % 3);
            else line[at] = static_cast<char>(random());
            if (line.empty()) break;
        }
        shown(std::string(line.c_str(), line.size()));
    }
}

}  // namespace mopsus
