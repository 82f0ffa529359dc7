#include "support/rows.hpp"

#include <algorithm>

#include "support/target.hpp"

namespace mopsus::fuzz {

namespace {

void look_at(const OwnedColumns& columns, const ArrowSchema& schema, const ArrowArray& array) {
    EXPECT(schema.n_children == array.n_children && array.length == columns.rows);
    for (std::int64_t k = 0; k < array.n_children; ++k) {
        const Column column(*schema.children[k], *array.children[k], 0);
        const OwnedColumns::Column& owned = columns.columns[static_cast<std::size_t>(k)];
        EXPECT(column.length() == array.length);
        std::int64_t nulls = 0;
        for (std::int64_t row = 0; row < array.length; ++row) {
            const Cell cell = owned.cell(static_cast<std::size_t>(row));
            EXPECT(cell.null == !column.valid(row));
            nulls += cell.null ? 1 : 0;
            if (cell.null) continue;
            std::string scratch;
            Arena arena;
            const Key key = column.key(row, scratch);
            EXPECT(key.kind != KeyKind::None);
            EXPECT(key.blob == cell.text);
            EXPECT(!to_text(column.term(row, arena)).empty());
        }
        EXPECT(nulls == owned.nulls);
    }
}

}  // namespace

Field field_of(std::uint8_t kind, std::string name) {
    const auto type = static_cast<CellType>(kind % 5);
    return {std::move(name), type, (kind & 0x40U) != 0 && type >= CellType::Text, (kind & 0x20U) != 0};
}

std::size_t next_line(std::string_view text, std::size_t at) {
    return std::min(text.find('\n', at), text.size() - 1) + 1;
}

void look(const RowsRead& found) {
    EXPECT(found.columns->rows <= found.count);
    EXPECT((found.columns->rows == found.count) || found.columns->rows == 0 ||
           found.columns->number(found.columns->rows - 1) <= found.count);
    ArrowSchema schema;
    ArrowArray array;
    OwnedColumns::lend(found.columns, &schema, &array);
    look_at(*found.columns, schema, array);
    std::vector<Field> fields;
    for (const OwnedColumns::Column& column : found.columns->columns)
        fields.push_back({column.name, column.type, column.dictionary, false});
    const RowsRead again = read_arrow(
        schema, array, fields, [](std::size_t, std::int64_t, std::vector<Cell>&, std::size_t&) { return false; });
    EXPECT(again.count == found.columns->rows && again.columns->rows == again.count);
    for (std::size_t k = 0; k < fields.size(); ++k) {
        const OwnedColumns::Column& one = found.columns->columns[k];
        const OwnedColumns::Column& other = again.columns->columns[k];
        EXPECT(one.words == other.words && one.bits == other.bits && one.offsets == other.offsets &&
               one.text == other.text && one.codes == other.codes);
    }
    array.release(&array);
    schema.release(&schema);
}

}  // namespace mopsus::fuzz
