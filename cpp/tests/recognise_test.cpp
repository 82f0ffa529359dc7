#include "mopsus/trace/recognise.hpp"

#include <cmath>

#include "check.hpp"
#include "mopsus/trace/csv.hpp"

namespace mopsus {

namespace {

std::shared_ptr<OwnedColumns> rows(const std::string& text) {
    const std::vector<Field> fields = {{"event", CellType::Text, true, false},
                                       {"n", CellType::Int, false, false},
                                       {"s", CellType::Text, false, false}};
    const RowsRead found =
        read_csv(text, 3, fields, {0, 1, 2}, [&](std::size_t, std::int64_t, std::vector<Cell>&, std::size_t& end) {
            end = text.size();
            return false;
        });
    return found.columns;
}

Test of_kind(Test::Kind kind, std::string field) {
    Test made;
    made.kind = kind;
    made.field = std::move(field);
    return made;
}

Test compared(std::string field, Test::Relation relation, Test::Constant constant) {
    Test made = of_kind(Test::Kind::Compare, std::move(field));
    made.relation = relation;
    made.constants.push_back(std::move(constant));
    return made;
}

const std::string kText = "open,1,x\nopen,,y\n#release,3,xy\n,4,\n";

}  // namespace

TEST(tests_hold_where_the_definition_says) {
    const auto columns = rows(kText);
    using Relation = Test::Relation;
    REQUIRE(compared("n", Relation::Greater, std::int64_t{1}).of(*columns) == (Marks{0, 0, 1, 1}));
    REQUIRE(compared("n", Relation::Unequal, std::string("1")).of(*columns) == (Marks{1, 0, 1, 1}));
    REQUIRE(compared("n", Relation::LessOrEqual, Real{3.5, 0}).of(*columns) == (Marks{1, 0, 1, 0}));
    REQUIRE(compared("n", Relation::Unequal, Real{std::nan(""), 0}).of(*columns) == (Marks{1, 0, 1, 1}));
    REQUIRE(compared("s", Relation::Less, std::string("xy")).of(*columns) == (Marks{1, 0, 0, 0}));
    REQUIRE(compared("missing", Relation::Unequal, std::int64_t{1}).of(*columns) == (Marks{0, 0, 0, 0}));
    REQUIRE(of_kind(Test::Kind::Null, "n").of(*columns) == (Marks{0, 1, 0, 0}));
    REQUIRE(of_kind(Test::Kind::Null, "missing").of(*columns) == (Marks{1, 1, 1, 1}));
    Test starts = of_kind(Test::Kind::Starts, "s");
    starts.text = "x";
    REQUIRE(starts.of(*columns) == (Marks{1, 0, 1, 0}));
    Test none;
    none.kind = Test::Kind::None;
    none.operands.push_back(starts);
    REQUIRE(none.of(*columns) == (Marks{0, 1, 0, 1}));
}

TEST(each_distinct_text_is_searched_once) {
    int asked = 0;
    Test matches = of_kind(Test::Kind::Matches, "event");
    matches.search = [&](std::string_view text) { return ++asked, text == "open"; };
    REQUIRE(matches.of(*rows(kText)) == (Marks{1, 1, 0, 0}) && asked == 2);
}

TEST(events_come_in_the_order_of_rows_and_rules) {
    const auto columns = rows(kText);
    const Recogniser recogniser({{"small", compared("n", Test::Relation::Less, std::int64_t{4}), {{"v", "s"}}},
                                 {"any", of_kind(Test::Kind::Null, "missing"), {}}},
                                {"v"}, {{"v", {"s"}}});
    const auto events = recogniser.events(*columns, recogniser.find(*columns));
    std::string seen;
    for (std::size_t row = 0; row < static_cast<std::size_t>(events->rows); ++row)
        seen += std::string(events->find("event")->text_of(row)) +
                std::to_string(events->number(static_cast<std::int64_t>(row))) +
                std::string(events->find("v")->cell(row).text) + " ";
    REQUIRE(seen == "small1x any1 any2 small3xy any3 #release3xy any4 ");
    const std::vector<Lack> lacking = find_lacking(*events, {{"any", {"v"}}, {"small", {"v"}}}, false);
    REQUIRE(lacking.size() == 4 && lacking.front().row == 1 && lacking.front().event == 0);
}

}  // namespace mopsus
