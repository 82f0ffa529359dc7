#include "mopsus/trace/json_lines.hpp"

#include <cmath>

#include "check.hpp"

namespace mopsus {

namespace {

// A column of the lines that are plainly rows; `odd` counts the others.
OwnedColumns::Column column(const std::string& text, CellType type, const std::string& name = "x", int* odd = nullptr) {
    const RowsRead found = read_json_lines(text, {{name, type, false, false}},
                                           [&](std::size_t at, std::int64_t, std::vector<Cell>&, std::size_t& end) {
                                               if (odd != nullptr) ++*odd;
                                               end = text.find('\n', at);
                                               end = end == std::string::npos ? text.size() : end + 1;
                                               return false;
                                           });
    return found.columns->columns.front();
}

bool is_odd(const std::string& line, CellType type = CellType::Text) {
    int odd = 0;
    column(line, type, "x", &odd);
    return odd == 1;
}

std::string text_of(const std::string& line, const std::string& name = "x") {
    const OwnedColumns::Column found = column(line, CellType::Text, name);
    return found.offsets.size() == 1 ? "odd" : !found.valid(0) ? "null" : std::string(found.text_of(0));
}

// An object with so many brackets open at once.
std::string nested(const std::string& key, int depth) {
    const auto brackets = static_cast<std::size_t>(depth - 1);
    return "{\"" + key + "\":" + std::string(brackets, '[') + std::string(brackets, ']') + "}";
}

}  // namespace

TEST(values_of_every_type_are_read) {
    REQUIRE(column("{\"x\":-7}\n{\"x\":\"8\"}\n\n{ \"y\" : [1,{}], \"x\" : 9223372036854775807 }\r\n{}", CellType::Int)
                .words == (std::vector<std::int64_t>{-7, 8, 9223372036854775807, 0}));
    const OwnedColumns::Column reals =
        column("{\"x\":1}\n{\"x\":-0}\n{\"x\":2.5e-1}\n{\"x\":NaN}\n{\"x\":-Infinity}\n", CellType::Float);
    REQUIRE(reals.real(0) == 1 && !std::signbit(reals.real(1)) && reals.real(2) == 0.25 && std::isnan(reals.real(3)) &&
            reals.real(4) == -HUGE_VAL);
    REQUIRE(column("{\"x\":true}\n{\"x\":\"FALSE\"}\n", CellType::Bool).truth(0));
    REQUIRE(text_of("{\"x\":12345678901234567890123}") == "12345678901234567890123");
    REQUIRE(text_of("{\"x\":-0}") == "0" && text_of("{\"x\":true}") == "true" && text_of("{\"x\":\"\"}").empty() &&
            text_of("{\"x\":null}") == "null");
}

TEST(escapes_are_resolved) {
    REQUIRE(text_of(R"({"x":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac"})") == "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac");
    REQUIRE(text_of(R"({"x":"\ud83d\ude00"})") == "\xf0\x9f\x98\x80");
    REQUIRE(text_of(R"({"\u0078":"key"})") == "key");
    for (const char* half :
         {R"({"x":"\ud83d"})", R"({"x":"\ude00\ud83d"})", R"({"x":"\ud83dx\ude00"})", R"({"x":"\ud83d\ud83d"})"})
        REQUIRE(is_odd(half));
    for (const char* wrong :
         {R"({"x":"\u12"})", R"({"x":"\u12g4"})", R"({"x":"\x41"})", R"({"x":"\u+123"})", R"({"x":"\)"})
        REQUIRE(is_odd(wrong));
}

TEST(fields_of_objects_within_are_found) {
    REQUIRE(text_of(R"({"a":{"b":"inner"}})", "a.b") == "inner");
    REQUIRE(text_of(R"({"a":{"b":"inner"},"a.b":"own"})", "a.b") == "own");
    REQUIRE(text_of(R"({"a":{"b":"inner"},"a.b":null})", "a.b") == "inner");
    REQUIRE(text_of(R"({"a":{"b":"inner"},"a":3})", "a.b") == "null");
    REQUIRE(text_of(R"({"a":{"b":1,"b":2,"c":[]},"a":{"b":3,"b":4}})", "a.b") == "4");
    REQUIRE(text_of(R"({"a":{"b":{"c":"deep"}}})", "a.b.c") == "deep");
    REQUIRE(text_of(R"({"a":[{"b":"no"}]})", "a.b") == "null");
    REQUIRE(text_of(R"({"x":1,"x":2})") == "2" && text_of(R"({"x":1,"x":null})") == "null");
}

TEST(keys_in_another_order_are_the_same_keys) {
    const std::string text = R"({"x":1,"y":2}
{"y":3,"x":4}
{"x":5}
{"xx":6,"x":7,"":8}
)";
    REQUIRE(column(text, CellType::Int).words == (std::vector<std::int64_t>{1, 4, 5, 7}));
}

TEST(what_is_no_json_is_left_to_the_definition) {
    for (const char* text : {"[1]",
                             "{",
                             "}",
                             "{\"x\"}",
                             "{\"x\":}",
                             "{\"x\":1,}",
                             "{,}",
                             "{\"x\":01}",
                             "{\"x\":1.}",
                             "{\"x\":.5}",
                             "{\"x\":1e}",
                             "{\"x\":-}",
                             "{\"x\":+1}",
                             "{\"x\":nul}",
                             "{\"x\":nan}",
                             "{\"x\":-NaN}",
                             "{\"x\":1}{\"x\":2}",
                             "{\"x\":1} x",
                             "{'x':1}",
                             "{\"x\":\"a\tb\"}",
                             "{\"x\":\"a",
                             "{\"x\":[1,]}",
                             "{\"x\":[1 2]}",
                             "{\"x\" 1}",
                             "{\"x\":1 \"y\":2}",
                             "{x:1}",
                             "\xef\xbb\xbf{\"x\":1}",
                             "{\"x\":1}\f",
                             "{\"x\":\"\xff\"}",
                             "{\"y\":[}]}"})
        REQUIRE(is_odd(text));
    REQUIRE(!is_odd("{\"y\":\"\xff\"}") && !is_odd("{\"x\":\"\xff\"}", CellType::Bytes));
    REQUIRE(is_odd(std::string("{\"x\":1\0}", 8)));
}

TEST(values_that_their_column_does_not_plainly_take_are_left_to_the_definition) {
    REQUIRE(is_odd("{\"x\":1.0}", CellType::Int) && is_odd("{\"x\":9223372036854775808}", CellType::Int) &&
            is_odd("{\"x\":true}", CellType::Int));
    REQUIRE(is_odd("{\"x\":\"\"}", CellType::Int) && is_odd("{\"x\":\" 1\"}", CellType::Int) &&
            is_odd("{\"x\":1e400}", CellType::Float));
    REQUIRE(is_odd("{\"x\":1}", CellType::Bool) && is_odd("{\"x\":{}}") && is_odd("{\"x\":1.5}"));
}

TEST(brackets_within_brackets_have_a_limit) {
    REQUIRE(is_odd(nested("x", kMostNested)));
    REQUIRE(!is_odd(nested("y", kMostNested)) && is_odd(nested("y", kMostNested + 1)) && is_odd(nested("y", 100000)));
    REQUIRE(!is_odd("{\"y\":" + std::string(kMostDigits, '1') + "}") &&
            is_odd("{\"y\":" + std::string(kMostDigits + 1, '1') + "}"));
}

TEST(types_of_fields_are_inferred) {
    const std::string text = R"({"a":1,"b":1,"c":true,"d":"1","e":[],"f":9223372036854775808}
broken
{"a":2,"b":1.5,"c":null,"d":2,"e":{},"f":1}
)";
    const std::vector<std::optional<CellType>> wanted = {
        CellType::Int, CellType::Float, CellType::Bool, CellType::Text, {}, CellType::Text, {}};
    REQUIRE(infer_json_lines(text, {"a", "b", "c", "d", "e", "f", "g"}) == wanted);
}

}  // namespace mopsus
