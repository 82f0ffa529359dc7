#include "mopsus/trace/recognise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <unordered_map>

namespace mopsus {

namespace {

using Values = OwnedColumns::Column;

constexpr const char* kCarried[] = {"time", "thread", "location"};

enum Order : std::uint8_t { kLess, kEqual, kGreater, kUnordered, kForeign };

struct Text {
    std::string_view bytes;
};
struct Binary {
    std::string_view bytes;
};

template <class T>
Order order_of(T one, T other) {
    return one < other ? kLess : other < one ? kGreater : kEqual;
}

Order reversed(Order order) { return order == kLess ? kGreater : order == kGreater ? kLess : order; }

// Values of different kinds have no order.
template <class One, class Other>
Order order(const One&, const Other&) {
    return kForeign;
}
Order order(std::int64_t one, std::int64_t other) { return order_of(one, other); }
Order order(bool one, bool other) { return order_of(one, other); }
Order order(const Text& one, const Text& other) { return order_of(one.bytes, other.bytes); }
Order order(const Text& one, const std::string& other) { return order_of<std::string_view>(one.bytes, other); }
Order order(const Binary& one, const Binary& other) { return order_of(one.bytes, other.bytes); }
Order order(const Real& one, const Real& other) {
    if (std::isnan(one.value) || std::isnan(other.value)) return kUnordered;
    return one.value == other.value ? order_of(one.beyond, other.beyond) : order_of(one.value, other.value);
}
// No number of either is rounded.
Order order(std::int64_t one, const Real& other) {
    constexpr double kLimit = 9223372036854775808.0;
    if (std::isnan(other.value)) return kUnordered;
    if (other.value >= kLimit) return kLess;
    if (other.value < -kLimit) return kGreater;
    const double whole = std::trunc(other.value);
    const auto number = static_cast<std::int64_t>(whole);
    if (one != number) return order_of(one, number);
    return other.value == whole ? order_of(0, other.beyond) : order_of(0.0, other.value - whole);
}
Order order(const Real& one, std::int64_t other) { return reversed(order(other, one)); }

// Whether a relation holds between values, by their order.
std::array<std::uint8_t, 5> accepted(Test::Relation relation) {
    switch (relation) {
        case Test::Relation::Equal: return {0, 1, 0, 0, 0};
        case Test::Relation::Unequal: return {1, 0, 1, 1, 1};
        case Test::Relation::Less: return {1, 0, 0, 0, 0};
        case Test::Relation::LessOrEqual: return {1, 1, 0, 0, 0};
        case Test::Relation::Greater: return {0, 0, 1, 0, 0};
        case Test::Relation::GreaterOrEqual: return {0, 1, 1, 0, 0};
    }
    return {};
}

// A point in time as the definition sees it: seconds, from whole microseconds.
double seconds(const Values& column, std::size_t row) {
    const std::int64_t word = column.words[row];
    switch (column.timestamp[2]) {
        case 's': return static_cast<double>(word);
        case 'm': return static_cast<double>(word * 1'000) / 1e6;
        case 'u': return static_cast<double>(word) / 1e6;
        default: return static_cast<double>(word / 1'000) / 1e6;
    }
}

// Calls `use` with a function that gives the value of a row.
template <class Use>
void with_values(const Values& column, Use&& use) {
    switch (column.type) {
        case CellType::Int:
            if (!column.timestamp.empty()) return use([&](std::size_t row) { return Real{seconds(column, row)}; });
            return use([&](std::size_t row) { return column.words[row]; });
        case CellType::Float: return use([&](std::size_t row) { return Real{column.real(row)}; });
        case CellType::Bool: return use([&](std::size_t row) { return column.truth(row); });
        case CellType::Text: return use([&](std::size_t row) { return Text{column.text_of(row)}; });
        case CellType::Bytes: return use([&](std::size_t row) { return Binary{column.text_of(row)}; });
    }
}

Marks constant(const OwnedColumns& columns, bool value) {
    return Marks(static_cast<std::size_t>(columns.rows), value ? 1 : 0);
}

// The rows in which the column has a value for which `holds` gives true.
template <class Holds>
Marks where(const OwnedColumns& columns, const Values* column, Holds&& holds) {
    Marks marks = constant(columns, false);
    for (std::size_t row = 0; column != nullptr && row < marks.size(); ++row)
        if (column->valid(row)) marks[row] = holds(row) ? 1 : 0;
    return marks;
}

template <class Holds>
Marks where_text(const OwnedColumns& columns, const Values* column, Holds&& holds) {
    if (column == nullptr || column->type != CellType::Text) return constant(columns, false);
    return where(columns, column, [&](std::size_t row) { return holds(column->text_of(row)); });
}

Marks compare(const OwnedColumns& columns, const Values* column, const Test::Constant& constant_value,
              Test::Relation relation) {
    if (column == nullptr) return constant(columns, false);
    const auto holds = accepted(relation);
    Marks marks;
    std::visit(
        [&](const auto& other) {
            with_values(*column, [&](auto&& value) {
                marks = where(columns, column, [&](std::size_t row) { return holds[order(value(row), other)] != 0; });
            });
        },
        constant_value);
    return marks;
}

Marks compare(const OwnedColumns& columns, const Values* one, const Values* other, Test::Relation relation) {
    if (one == nullptr || other == nullptr) return constant(columns, false);
    const auto holds = accepted(relation);
    Marks marks;
    with_values(*one, [&](auto&& first) {
        with_values(*other, [&](auto&& second) {
            marks = where(columns, one, [&](std::size_t row) {
                return other->valid(row) && holds[order(first(row), second(row))] != 0;
            });
        });
    });
    return marks;
}

// What is asked of each of few texts is asked once.
Marks matching(const OwnedColumns& columns, const Values* column, const std::function<bool(std::string_view)>& search) {
    std::unordered_map<std::string_view, bool> known;
    return where_text(columns, column, [&](std::string_view text) {
        const auto [entry, fresh] = known.try_emplace(text, false);
        if (fresh) entry->second = search(text);
        return entry->second;
    });
}

Marks named(const OwnedColumns& columns, const std::vector<std::string>& names) {
    return where_text(columns, columns.find("event"), [&](std::string_view text) {
        return std::find(names.begin(), names.end(), text) != names.end();
    });
}

Marks joined(const OwnedColumns& columns, const std::vector<Test>& operands, bool all) {
    Marks marks = constant(columns, all);
    for (const Test& operand : operands) {
        const Marks more = operand.of(columns);
        for (std::size_t row = 0; row < marks.size(); ++row)
            marks[row] = all ? marks[row] & more[row] : marks[row] | more[row];
    }
    return marks;
}

// What a column of the output is made of, if its sources are not all alike.
void widen(Values& target, const Values& source) {
    if (target.type == source.type && target.timestamp == source.timestamp) return;
    const auto is_number = [](const Values& column) {
        return column.type == CellType::Int || column.type == CellType::Float;
    };
    if (!is_number(target) || !is_number(source)) return;
    target.type = CellType::Float;
    target.timestamp.clear();
}

Cell converted(const Values& source, std::size_t row, const Values& target) {
    const Cell cell = source.cell(row);
    if (cell.null || (source.type == target.type && source.timestamp == target.timestamp)) return cell;
    if (target.type != CellType::Float) throw std::logic_error("the columns of one parameter are of different types");
    if (!source.timestamp.empty()) return Cell::of_real(seconds(source, row));
    return source.type == CellType::Int ? Cell::of_real(static_cast<double>(cell.word)) : cell;
}

}  // namespace

Marks Test::of(const OwnedColumns& columns) const {
    const Values* column = columns.find(field);
    switch (kind) {
        case Kind::Constant: return constant(columns, truth);
        case Kind::All: return joined(columns, operands, true);
        case Kind::Any: return joined(columns, operands, false);
        case Kind::None: {
            Marks marks = operands.front().of(columns);
            for (std::uint8_t& mark : marks) mark ^= 1U;
            return marks;
        }
        case Kind::Named: return named(columns, names);
        case Kind::True:
            if (column == nullptr || column->type != CellType::Bool) return constant(columns, false);
            return where(columns, column, [&](std::size_t row) { return column->truth(row); });
        case Kind::Null: {
            Marks marks = where(columns, column, [](std::size_t) { return true; });
            for (std::uint8_t& mark : marks) mark ^= 1U;
            return marks;
        }
        case Kind::Compare:
            return constants.empty() ? compare(columns, column, columns.find(other), relation)
                                     : compare(columns, column, constants.front(), relation);
        case Kind::In: {
            Marks marks = constant(columns, false);
            for (const Constant& each : constants) {
                const Marks equal = compare(columns, column, each, Relation::Equal);
                for (std::size_t row = 0; row < marks.size(); ++row) marks[row] |= equal[row];
            }
            if (!truth) return marks;
            return where(columns, column, [&](std::size_t row) { return marks[row] == 0; });
        }
        case Kind::Starts:
            return where_text(columns, column, [&](std::string_view value) { return value.starts_with(text); });
        case Kind::Ends:
            return where_text(columns, column, [&](std::string_view value) { return value.ends_with(text); });
        case Kind::Contains:
            return where_text(columns, column,
                              [&](std::string_view value) { return value.find(text) != std::string_view::npos; });
        case Kind::Matches: return matching(columns, column, search);
    }
    return {};
}

Recogniser::Recogniser(std::vector<RowRule> rules, std::vector<std::string> values,
                       std::vector<std::pair<std::string, std::vector<std::string>>> releasable)
    : rules_(std::move(rules)), values_(std::move(values)), releasable_(std::move(releasable)) {}

std::vector<Marks> Recogniser::find(const OwnedColumns& columns) const {
    std::vector<Marks> found;
    for (const RowRule& rule : rules_) found.push_back(rule.test.of(columns));
    found.push_back(named(columns, {kRelease}));
    return found;
}

std::vector<const Values*> Recogniser::sources(const OwnedColumns& columns, std::size_t rule,
                                               const std::string& value) const {
    std::vector<const Values*> found;
    const auto add = [&](const std::string& name) {
        if (const Values* column = columns.find(name); column != nullptr) found.push_back(column);
    };
    if (rule < rules_.size()) {
        for (const auto& [name, column] : rules_[rule].columns)
            if (name == value) add(column);
    } else {
        for (const auto& [name, all] : releasable_)
            if (name == value) std::for_each(all.begin(), all.end(), add);
    }
    return found;
}

std::shared_ptr<OwnedColumns> Recogniser::events(const OwnedColumns& columns, const std::vector<Marks>& found) const {
    std::vector<std::pair<std::size_t, std::size_t>> events;  // row, rule
    for (std::size_t row = 0; row < static_cast<std::size_t>(columns.rows); ++row)
        for (std::size_t rule = 0; rule < found.size(); ++rule)
            if (found[rule][row] != 0) events.emplace_back(row, rule);

    auto out = std::make_shared<OwnedColumns>();
    out->rows = static_cast<std::int64_t>(events.size());
    out->first_row = columns.first_row;
    const auto add = [&](const std::string& name, const Values& like, bool dictionary, auto&& cell_of) {
        ColumnBuilder builder(name, like.type, dictionary, events.size());
        for (const auto& [row, rule] : events) builder.add(cell_of(row, rule));
        builder.column.timestamp = like.timestamp;
        out->columns.push_back(std::move(builder.column));
    };
    Values names;
    Values numbers;
    numbers.type = CellType::Int;
    add("event", names, true, [&](std::size_t, std::size_t rule) {
        return Cell::of_text(rule < rules_.size() ? std::string_view(rules_[rule].event) : kRelease);
    });
    add(OwnedColumns::kNumber, numbers, false,
        [&](std::size_t row, std::size_t) { return Cell::of_word(columns.number(static_cast<std::int64_t>(row))); });
    for (const char* name : kCarried)
        if (const Values* column = columns.find(name); column != nullptr)
            add(name, *column, column->dictionary, [&](std::size_t row, std::size_t) { return column->cell(row); });
    for (const std::string& value : values_) {
        if (out->find(value) != nullptr) continue;
        std::vector<std::vector<const Values*>> from;
        Values like;
        bool any = false;
        for (std::size_t rule = 0; rule < found.size(); ++rule) {
            from.push_back(sources(columns, rule, value));
            for (const Values* source : from.back()) {
                if (!any) like.type = source->type, like.timestamp = source->timestamp;
                widen(like, *source);
                any = true;
            }
        }
        if (!any) continue;
        add(value, like, false, [&](std::size_t row, std::size_t rule) {
            for (const Values* source : from[rule])
                if (source->valid(row)) return converted(*source, row, like);
            return Cell{};
        });
    }
    return out;
}

std::vector<Lack> find_lacking(const OwnedColumns& columns, const EventNeeds& needs, bool only_first) {
    struct Need {
        std::size_t event;
        std::size_t parameter;
        const Values* column;
    };
    std::vector<Lack> found;
    const Values* events = columns.find("event");
    if (events == nullptr || !events->dictionary) return found;
    std::vector<std::vector<Need>> by_code(events->counts.size());
    bool any = false;
    for (std::size_t event = 0; event < needs.size(); ++event)
        for (std::size_t code = 0; code < by_code.size(); ++code) {
            if (events->text_at(code) != needs[event].first) continue;
            for (std::size_t parameter = 0; parameter < needs[event].second.size(); ++parameter) {
                const Values* column = columns.find(needs[event].second[parameter]);
                if (column != nullptr && column->nulls == 0) continue;
                by_code[code].push_back({event, parameter, column});
                any = true;
            }
        }
    for (std::size_t row = 0; any && row < static_cast<std::size_t>(columns.rows); ++row) {
        if (!events->valid(row)) continue;
        for (const Need& need : by_code[static_cast<std::size_t>(events->codes[row])]) {
            if (need.column != nullptr && need.column->valid(row)) continue;
            found.push_back({static_cast<std::int64_t>(row), need.event, need.parameter});
            if (only_first) return found;
            break;
        }
    }
    return found;
}

}  // namespace mopsus
