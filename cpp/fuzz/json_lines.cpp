// Blocks of JSON lines: a line means by itself what it means among others, and what is read can be lent as Arrow data
// and read back.
#include "mopsus/trace/json_lines.hpp"

#include <algorithm>

#include "support/bytes.hpp"
#include "support/rows.hpp"
#include "support/target.hpp"

namespace {

using namespace mopsus;

const std::vector<std::string> kNames = {"event", "a", "a.b", "a.b.c", "", "x."};

bool is_blank(std::string_view line) {
    return std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
}

bool same(const Cell& one, const Cell& other) {
    return one.null == other.null && one.word == other.word && one.text == other.text;
}

FUZZ_TARGET(json_lines) {
    fuzz::Bytes bytes(data, size);
    std::vector<Field> fields;
    for (const std::string& name : kNames)
        if (const std::uint8_t kind = bytes.byte(); (kind & 0x80U) == 0) fields.push_back(fuzz::field_of(kind, name));
    const bool inferred = bytes.flag();
    const std::string text(bytes.rest());

    std::vector<std::string> names;
    for (const Field& field : fields) names.push_back(field.name);
    const auto seen = infer_json_lines(text, names);
    EXPECT(seen.size() == names.size());
    for (std::size_t k = 0; inferred && k < fields.size(); ++k)
        if (seen[k] && !fields[k].dictionary) fields[k].type = *seen[k];

    const RowsRead found =
        read_json_lines(text, fields, [&](std::size_t at, std::int64_t, std::vector<Cell>&, std::size_t& end) {
            EXPECT(at < text.size() && (at == 0 || text[at - 1] == '\n'));
            end = fuzz::next_line(text, at);
            return false;
        });
    fuzz::look(found);

    std::int64_t count = 0;
    std::size_t good = 0;
    for (std::size_t at = 0; at < text.size(); at = fuzz::next_line(text, at)) {
        const std::string line = text.substr(at, fuzz::next_line(text, at) - at);
        if (is_blank(line)) continue;
        ++count;
        const RowsRead alone =
            read_json_lines(line, fields, [&](std::size_t, std::int64_t, std::vector<Cell>&, std::size_t& end) {
                end = line.size();
                return false;
            });
        EXPECT(alone.count == 1);
        if (alone.columns->rows == 0) continue;
        EXPECT(found.columns->number(static_cast<std::int64_t>(good)) == count);
        for (std::size_t k = 0; k < fields.size(); ++k)
            EXPECT(same(alone.columns->columns[k].cell(0), found.columns->columns[k].cell(good)));
        ++good;
    }
    EXPECT(count == found.count && static_cast<std::int64_t>(good) == found.columns->rows);
}

}  // namespace
