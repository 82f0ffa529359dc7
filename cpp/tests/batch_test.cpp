#include <array>
#include <memory>

#include "check.hpp"
#include "mopsus/engine/monitor.hpp"
#include "programs.hpp"

namespace mopsus::test {

namespace {

// Arrow columns of our own, as another library would hand them over.
struct Table_ {
    std::vector<std::int8_t> events;
    std::vector<std::int32_t> c, i;
    std::vector<std::uint8_t> c_valid;  // a bitmap
    std::vector<std::int64_t> c_values{100, 200, 300};
    std::string names = "createupdatenextother#release";
    std::vector<std::int32_t> name_ends{0, 6, 12, 16, 21, 29};
};

struct Holder {
    std::vector<const void*> buffers[6];
    ArrowArray arrays[6]{};
    ArrowArray* children[3];
    ArrowSchema schemas[6]{};
    ArrowSchema* schema_children[3];

    explicit Holder(const Table_& t) {
        const auto array = [&](int k, std::int64_t length, std::vector<const void*> memory) {
            buffers[k] = std::move(memory);
            arrays[k].length = length;
            arrays[k].null_count = buffers[k].empty() || buffers[k][0] == nullptr ? 0 : -1;
            arrays[k].n_buffers = static_cast<std::int64_t>(buffers[k].size());
            arrays[k].buffers = buffers[k].data();
        };
        const auto rows = static_cast<std::int64_t>(t.events.size());
        array(0, rows, {nullptr});
        array(1, rows, {nullptr, t.events.data()});
        array(2, rows, {t.c_valid.empty() ? nullptr : t.c_valid.data(), t.c.data()});
        array(3, rows, {nullptr, t.i.data()});
        array(4, 5, {nullptr, t.name_ends.data(), t.names.data()});
        array(5, 3, {nullptr, t.c_values.data()});
        arrays[1].dictionary = &arrays[4];
        arrays[2].dictionary = &arrays[5];
        const char* formats[] = {"+s", "c", "i", "i", "u", "l"};
        const char* labels[] = {"", "event", "c", "i", "", ""};
        for (int k = 0; k < 6; ++k) {
            schemas[k].format = formats[k];
            schemas[k].name = labels[k];
        }
        schemas[1].dictionary = &schemas[4];
        schemas[2].dictionary = &schemas[5];
        for (int k = 0; k < 3; ++k) {
            children[k] = &arrays[k + 1];
            schema_children[k] = &schemas[k + 1];
        }
        arrays[0].n_children = schemas[0].n_children = 3;
        arrays[0].children = children;
        schemas[0].children = schema_children;
    }
    std::shared_ptr<ArrowArray> batch() {
        return {&arrays[0], [](ArrowArray*) {}};
    }
};

}  // namespace

TEST(a_batch_gives_the_reports_of_its_rows) {
    Table_ t;
    t.events = {0, 2, 1, 3, 2, 0, 1, 2};
    t.c = {0, 0, 0, 0, 0, 1, 1, 0};
    t.i = {7, 7, 7, 7, 7, 8, 8, 8};
    Holder holder(t);
    Collector collector;
    Monitor monitor(unsafe_iter(), false, {"c", "i"}, collector);
    BatchOptions options;
    options.first_row = 10;
    REQUIRE(!monitor.run(holder.schemas[0], holder.batch(), options));
    REQUIRE(collector.reports.size() == 2);
    REQUIRE(collector.reports[0].stamp.row == 14 && collector.reports[0].values[0].bits == 100);
    REQUIRE(collector.reports[1].stamp.row == 17 && collector.reports[1].values[0].bits == 200);
    REQUIRE(monitor.ignored == 1 && monitor.seen[2] == 3);
}

TEST(a_row_without_its_value_ends_the_batch_or_is_counted) {
    Table_ t;
    t.events = {0, 1, 0};
    t.c = {0, 0, 1};
    t.i = {1, 1, 2};
    t.c_valid = {0b101};
    Holder holder(t);
    Collector collector;
    Monitor monitor(unsafe_iter(), false, {"c", "i"}, collector);
    const auto bad = monitor.run(holder.schemas[0], holder.batch(), {});
    REQUIRE(bad && bad->row == 2 && bad->column == "c" && bad->why == BadRow::Why::NullParameter &&
            bad->event == "update");
    REQUIRE(monitor.counts().created == 1);
    Monitor skipping(unsafe_iter(), false, {"c", "i"}, collector);
    BatchOptions skip;
    skip.skip_bad_rows = true;
    REQUIRE(!skipping.run(holder.schemas[0], holder.batch(), skip));
    REQUIRE(skipping.bad_rows == 1 && skipping.counts().created == 2);
}

TEST(numbers_outside_of_a_dictionary_are_seen) {
    for (const std::int32_t wrong : {3, -1, 1 << 30}) {
        Table_ t;
        t.events = {0};
        t.c = {wrong};
        t.i = {1};
        Holder holder(t);
        Collector collector;
        Monitor monitor(unsafe_iter(), false, {"c", "i"}, collector);
        const auto bad = monitor.run(holder.schemas[0], holder.batch(), {});
        REQUIRE(bad && bad->why == BadRow::Why::BadDictionary);
    }
}

TEST(a_release_row_ends_its_values) {
    Table_ t;
    t.events = {0, 4, 1, 2, 0};
    t.c = {0, 0, 0, 0, 0};
    t.i = {1, 1, 1, 1, 1};
    Holder holder(t);
    Collector collector;
    Monitor monitor(unsafe_iter(), false, {"c", "i"}, collector);
    REQUIRE(!monitor.run(holder.schemas[0], holder.batch(), {}));
    REQUIRE(collector.reports.empty());
    REQUIRE(monitor.counts().created == 2 && monitor.counts().alive() == 1);
}

// Such columns come from any library, and a negative width would be read from before their beginning.
TEST(a_column_of_bytes_has_a_width_that_is_a_number) {
    const std::array<char, 8> bytes{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
    std::array<const void*, 2> buffers{nullptr, bytes.data()};
    ArrowArray array{};
    array.length = 2;
    array.n_buffers = 2;
    array.buffers = buffers.data();
    ArrowSchema schema{};
    schema.format = "w:4";
    const Column column(schema, array, 0);
    REQUIRE(column.type() == Column::Type::FixedBytes && column.text(1) == "efgh");
    for (const char* damaged : {"w:", "w:x", "w:-4", "w:4x", "w:99999999999999999999"}) {
        schema.format = damaged;
        REQUIRE(Column(schema, array, 0).type() == Column::Type::Unsupported);
    }
}

}  // namespace mopsus::test
