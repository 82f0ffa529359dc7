#include "mopsus/trace/csv.hpp"

#include <random>

#include "check.hpp"

namespace mopsus {

namespace {

const std::vector<CsvField> kFields = {{"event", 0, CellType::Text, true}, {"i", 1, CellType::Int, false}};

std::string_view text_of(const OwnedColumns::Column& column, std::size_t k) {
    const auto from = static_cast<std::size_t>(column.offsets[k]);
    return std::string_view(column.text).substr(from, static_cast<std::size_t>(column.offsets[k + 1]) - from);
}

}  // namespace

TEST(plain_csv_is_read_into_columns) {
    const auto found = read_csv("next,1\r\n\n\"has\"\"next\",-20\nnext,\n", 2, kFields);
    REQUIRE(found != nullptr && found->rows == 3);
    const OwnedColumns::Column& events = *found->find("event");
    REQUIRE(events.codes == (std::vector<std::int32_t>{0, 1, 0}));
    REQUIRE(text_of(events, 0) == "next" && text_of(events, 1) == "has\"next");
    REQUIRE(events.counts == (std::vector<std::int64_t>{2, 1}));
    const OwnedColumns::Column& values = *found->find("i");
    REQUIRE(values.words[0] == 1 && values.words[1] == -20 && values.nulls == 1);
    REQUIRE(values.validity == (std::vector<std::uint8_t>{0b011}));
}

TEST(what_is_not_plainly_csv_is_refused) {
    for (const char* text : {"next\n", "next,1,2\n", "next,x\n", "next,1 \n", "next,0x1\n", "\"next,1\n", "\"next\"x,1\n", "a\rb,1\n",
                             "next,1234567890123456789\n", "\xff,1\n", "\xed\xa0\x80,1\n", "\"a\"\"\n"})
        REQUIRE(read_csv(text, 2, kFields) == nullptr);
}

TEST(types_of_columns_are_inferred) {
    const auto seen = infer_csv("1,1.5,true,007,\n-2,3,FALSE,x,\n", 5, {0, 1, 2, 3, 4});
    REQUIRE(seen.has_value());
    const std::vector<std::optional<CellType>> wanted = {CellType::Int, CellType::Float, CellType::Bool, CellType::Text, {}};
    REQUIRE(*seen == wanted);
}

TEST(columns_outlive_their_maker_while_they_are_lent) {
    ArrowSchema schema;
    ArrowArray array;
    {
        const auto found = read_csv("next,1\nother,2\n", 2, kFields);
        OwnedColumns::lend(found, &schema, &array);
    }
    const Column events(*schema.children[0], *array.children[0], 0);
    const Column values(*schema.children[1], *array.children[1], 0);
    REQUIRE(array.length == 2 && events.dictionary()->text(events.integer(1)) == "other" && values.integer(1) == 2);
    array.release(&array);
    schema.release(&schema);
    REQUIRE(array.release == nullptr && schema.release == nullptr);
}

TEST(no_text_breaks_the_reader) {
    std::mt19937 random(3);
    const std::string letters("a1,\"\n\r-. \0\xc3\xa9", 12);
    for (int round = 0; round < 30000; ++round) {
        std::string text;
        for (auto left = random() % 40; left > 0; --left) text += letters[random() % letters.size()];
        const std::vector<CsvField> fields = {{"a", 0, static_cast<CellType>(random() % 5), false}, {"b", 1, CellType::Text, true}};
        const auto found = read_csv(text, 2, fields);
        const auto seen = infer_csv(text, 2, {0, 1});
        if (found == nullptr) continue;
        REQUIRE(seen.has_value());
        ArrowSchema schema;
        ArrowArray array;
        OwnedColumns::lend(found, &schema, &array);
        array.release(&array);
        schema.release(&schema);
    }
}

}  // namespace mopsus
