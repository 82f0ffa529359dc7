// Blocks of CSV: what is read has as many rows as it says, and can be lent as Arrow data and read back.
#include "mopsus/trace/csv.hpp"

#include "support/bytes.hpp"
#include "support/target.hpp"

namespace {

using namespace mopsus;

void look(const ArrowSchema& schema, const ArrowArray& array) {
    EXPECT(schema.n_children == array.n_children);
    for (std::int64_t k = 0; k < array.n_children; ++k) {
        const Column column(*schema.children[k], *array.children[k], 0);
        EXPECT(column.length() == array.length);
        std::size_t seen = 0;
        for (std::int64_t row = 0; row < array.length; ++row) {
            if (!column.valid(row)) continue;
            std::string scratch;
            Arena arena;
            const Key key = column.key(row, scratch);
            EXPECT(key.kind != KeyKind::None);
            seen += key.blob.size() + to_text(column.term(row, arena)).size();
        }
        EXPECT(seen < std::size_t{1} << 24U);
    }
}

FUZZ_TARGET(csv) {
    fuzz::Bytes bytes(data, size);
    const std::size_t width = 1 + bytes.below(4);
    std::vector<CsvField> fields;
    std::vector<std::size_t> positions;
    for (std::size_t k = 0; k < width; ++k) {
        const std::uint8_t kind = bytes.byte();
        positions.push_back(k);
        if ((kind & 0x80U) == 0) fields.push_back({std::string(1, static_cast<char>('a' + k)), k, static_cast<CellType>(kind % 5), false});
        if (!fields.empty() && fields.back().position == k) fields.back().dictionary = (kind & 0x40U) != 0 && fields.back().type >= CellType::Text;
    }
    const std::string text(bytes.rest());
    const auto seen = infer_csv(text, width, positions);
    EXPECT(!seen || seen->size() == width);
    for (std::size_t k = 0; seen && k < fields.size(); ++k)
        if (const auto& type = (*seen)[fields[k].position]; type && (data[0] & 0x80U) != 0 && !fields[k].dictionary) fields[k].type = *type;
    const auto found = read_csv(text, width, fields);
    if (found == nullptr) return;
    EXPECT(seen.has_value());
    EXPECT(found->columns.size() == fields.size());
    ArrowSchema schema;
    ArrowArray array;
    OwnedColumns::lend(found, &schema, &array);
    EXPECT(array.length == found->rows);
    look(schema, array);
    array.release(&array);
    schema.release(&schema);
}

}  // namespace
