#include "mopsus/trace/csv.hpp"

#include <algorithm>
#include <random>

#include "check.hpp"

namespace mopsus {

namespace {

const std::vector<Field> kFields = {{"event", CellType::Text, true, true}, {"i", CellType::Int, false, false}};

// The rows of a text, without the lines that are not plainly rows, and the places of those.
RowsRead read(const std::string& text, const std::vector<Field>& fields, std::vector<std::size_t>* odd = nullptr) {
    return read_csv(text, 2, fields, {0, 1}, [&](std::size_t at, std::int64_t, std::vector<Cell>&, std::size_t& end) {
        if (odd != nullptr) odd->push_back(at);
        end = std::min(text.find('\n', at), text.size());
        return false;
    });
}

}  // namespace

TEST(plain_csv_is_read_into_columns) {
    const RowsRead found = read("next,1\r\n\n\"has\"\"next\",-20\nnext,\nnext,1234567890123456789\n", kFields);
    REQUIRE(found.count == 4 && found.columns->rows == 4);
    const OwnedColumns::Column& events = *found.columns->find("event");
    REQUIRE(events.codes == (std::vector<std::int32_t>{0, 1, 0, 0}));
    REQUIRE(events.text_at(0) == "next" && events.text_at(1) == "has\"next");
    REQUIRE(events.counts == (std::vector<std::int64_t>{3, 1}));
    const OwnedColumns::Column& values = *found.columns->find("i");
    REQUIRE(values.words[0] == 1 && values.words[1] == -20 && values.nulls == 1 &&
            values.words[3] == 1234567890123456789);
    REQUIRE(values.validity == (std::vector<std::uint8_t>{0b1011}));
}

TEST(what_is_not_plainly_csv_is_left_to_the_definition) {
    for (const char* text : {"next\n", "next,1,2\n", "next,x\n", "next,1 \n", "next,0x1\n", "\"next\"x,1\n", "a\rb,1\n",
                             "next,12345678901234567890\n", "\xff,1\n", "\xed\xa0\x80,1\n", ",1\n"}) {
        std::vector<std::size_t> odd;
        const RowsRead found = read(std::string("next,1\n") + text + "next,2\n", kFields, &odd);
        REQUIRE(odd == std::vector<std::size_t>{7});
        REQUIRE(found.count == 3 && found.columns->rows == 2);
        REQUIRE(found.columns->number(0) == 1 && found.columns->number(1) == 3);
        REQUIRE(found.columns->rows_before(3) == 1 && found.columns->rows_before(2) == 1 &&
                found.columns->rows_before(9) == 2);
    }
    for (const char* text : {"\"next,1\n", "\"a\"\"\n"}) {
        std::vector<std::size_t> odd;
        REQUIRE(read(text, kFields, &odd).count == 1 && odd == std::vector<std::size_t>{0});
    }
}

TEST(the_definition_gives_the_values_of_an_odd_row) {
    const std::string text = "next,1\nnext,0x10\nnext,3\n";
    const RowsRead found = read_csv(
        text, 2, kFields, {0, 1}, [&](std::size_t at, std::int64_t offset, std::vector<Cell>& cells, std::size_t& end) {
            REQUIRE(at == 7 && offset == 1);
            cells[0] = Cell::of_text("next");
            cells[1] = Cell::of_word(16);
            end = text.find('\n', at) + 1;
            return true;
        });
    REQUIRE(found.columns->find("i")->words == (std::vector<std::int64_t>{1, 16, 3}));
    REQUIRE(found.columns->find(OwnedColumns::kNumber) == nullptr);
}

TEST(rows_can_be_left_out_again) {
    const RowsRead found = read("a,1\nb,2\nc,\na,4\n", kFields);
    const auto first = first_rows(*found.columns, 3);
    REQUIRE(first->rows == 3 && first->find("i")->nulls == 1 && first->find("event")->text_of(2) == "c");
    const auto marked = marked_rows(*found.columns, {0, 1, 0, 1});
    REQUIRE(marked->rows == 2 && marked->number(0) == 2 && marked->number(1) == 4);
    REQUIRE(marked->find("event")->counts == (std::vector<std::int64_t>{1, 1}));
}

TEST(types_of_columns_are_inferred) {
    const auto seen = infer_csv("1,1.5,true,007,\n-2,3,FALSE,x,\n", 5, {0, 1, 2, 3, 4});
    REQUIRE(seen.has_value());
    const std::vector<std::optional<CellType>> wanted = {
        CellType::Int, CellType::Float, CellType::Bool, CellType::Text, {}};
    REQUIRE(*seen == wanted);
}

TEST(columns_outlive_their_maker_while_they_are_lent) {
    ArrowSchema schema;
    ArrowArray array;
    {
        const auto found = read("next,1\nother,2\n", kFields).columns;
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
        const std::vector<Field> fields = {{"a", static_cast<CellType>(random() % 5), false, false},
                                           {"b", CellType::Text, true, false}};
        std::vector<std::size_t> odd;
        const auto found = read(text, fields, &odd).columns;
        REQUIRE(infer_csv(text, 2, {0, 1}).has_value() || !odd.empty());
        ArrowSchema schema;
        ArrowArray array;
        OwnedColumns::lend(found, &schema, &array);
        array.release(&array);
        schema.release(&schema);
    }
}

}  // namespace mopsus
