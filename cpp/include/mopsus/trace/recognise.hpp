// Which rows of a trace are which events of a spec, and the events that they are.
//
// The meaning of a test is `mopsus.spec.predicate.evaluate`; here it is found for all rows of some columns at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mopsus/trace/columns.hpp"

namespace mopsus {

using Marks = std::vector<std::uint8_t>;  // 1 for the rows that are meant

// A number that a double may only come close to: `beyond` is the sign of what is missing.
struct Real {
    double value = 0;
    int beyond = 0;
};

struct Test {
    enum class Kind : std::uint8_t {
        Constant,
        All,
        Any,
        None,
        Named,
        True,
        Null,
        Compare,
        In,
        Starts,
        Ends,
        Contains,
        Matches
    };
    enum class Relation : std::uint8_t { Equal, Unequal, Less, LessOrEqual, Greater, GreaterOrEqual };
    using Constant = std::variant<bool, std::int64_t, Real, std::string>;

    Kind kind = Kind::Constant;
    bool truth = false;              // of a constant; of `In`: none of the values
    std::vector<Test> operands;      // of `All` and `Any`, and one of `None`
    std::vector<std::string> names;  // of events
    std::string field;
    std::string other;  // the second field of a comparison, if there is no constant
    Relation relation = Relation::Equal;
    std::vector<Constant> constants;  // one of a comparison, all of `In`
    std::string text;                 // that is searched for
    std::function<bool(std::string_view)> search;

    Marks of(const OwnedColumns& columns) const;
};

// An event, the rows that are it, and the column that each of its values is in.
struct RowRule {
    std::string event;
    Test test;
    std::vector<std::pair<std::string, std::string>> columns;
};

class Recogniser {
public:
    static constexpr const char* kRelease = "#release";

    // `values` are the names of all parameters and fields, `releasable` the columns in which a released parameter may
    // stand.
    Recogniser(std::vector<RowRule> rules, std::vector<std::string> values,
               std::vector<std::pair<std::string, std::vector<std::string>>> releasable);

    // The rows of each event, and last those that release something.
    std::vector<Marks> find(const OwnedColumns& columns) const;
    // The events in the order of their rows, and of the rules; each has the number of its row.
    std::shared_ptr<OwnedColumns> events(const OwnedColumns& columns, const std::vector<Marks>& found) const;

private:
    // Where a value of an event comes from: the first of these columns that has one.
    std::vector<const OwnedColumns::Column*> sources(const OwnedColumns& columns, std::size_t rule,
                                                     const std::string& value) const;

    std::vector<RowRule> rules_;
    std::vector<std::string> values_;
    std::vector<std::pair<std::string, std::vector<std::string>>> releasable_;
};

// The parameters that each event needs.
using EventNeeds = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The rows of which an event lacks something, each with the places of event and parameter among the needs.
struct Lack {
    std::int64_t row = 0;
    std::size_t event = 0;
    std::size_t parameter = 0;
};
std::vector<Lack> find_lacking(const OwnedColumns& columns, const EventNeeds& needs, bool only_first);

}  // namespace mopsus
