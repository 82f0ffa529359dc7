// Blocks of CSV: what is read has as many rows as it says, and can be lent as Arrow data and read back.
#include "mopsus/trace/csv.hpp"

#include "support/bytes.hpp"
#include "support/rows.hpp"
#include "support/target.hpp"

namespace {

using namespace mopsus;

FUZZ_TARGET(csv) {
    fuzz::Bytes bytes(data, size);
    const std::size_t width = 1 + bytes.below(4);
    std::vector<Field> fields;
    std::vector<std::size_t> positions;
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < width; ++k) {
        const std::uint8_t kind = bytes.byte();
        all.push_back(k);
        if ((kind & 0x80U) != 0) continue;
        positions.push_back(k);
        fields.push_back(fuzz::field_of(kind, std::string(1, static_cast<char>('a' + k))));
    }
    const std::string text(bytes.rest());
    const auto seen = infer_csv(text, width, all);
    EXPECT(!seen || seen->size() == width);
    for (std::size_t k = 0; seen && k < fields.size(); ++k)
        if (const auto& type = (*seen)[positions[k]]; type && (data[0] & 0x80U) != 0 && !fields[k].dictionary)
            fields[k].type = *type;
    bool plain = true;
    const RowsRead found = read_csv(text, width, fields, positions,
                                    [&](std::size_t at, std::int64_t, std::vector<Cell>&, std::size_t& end) {
                                        plain = false;
                                        EXPECT(at < text.size());
                                        end = fuzz::next_line(text, at);
                                        return false;
                                    });
    EXPECT(seen.has_value() || !plain);
    EXPECT(found.columns->columns.size() >= fields.size());
    EXPECT(!plain || found.columns->rows == found.count);
    fuzz::look(found);
}

}  // namespace
