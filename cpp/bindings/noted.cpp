#include "noted.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "../agent/agent.hpp"
#include "coded.hpp"
#include "monitor.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

// What the records of a number are: an event of this monitor, what its words are - `b`, a truth value; `s`, a number with a sign; `u`, one
// without - and where it happens, if that is always the same place.
struct Kind {
    EventId event;
    std::string words;
    std::optional<std::uint32_t> location;
};

using Described = std::optional<std::tuple<std::size_t, std::string, std::optional<std::string>>>;

nb::object to_python(char kind, std::uint64_t word) {
    if (kind == 'b') return nb::bool_(word != 0);
    if (kind == 's') return nb::int_(static_cast<std::int64_t>(word));
    return nb::int_(word);
}

// A record as an event. Its values are made only if code asks for them.
class Recorded final : public Origin {
public:
    Recorded(const Kind& kind, const agent::Record& record, const Stamp& stamp) : kind_(kind), record_(record), stamp_(stamp) {}
    Stamp stamp() override { return stamp_; }
    const void* const* values() override {
        if (!made_) {
            for (std::size_t k = 0; k < kind_.words.size(); ++k) {
                objects_[k] = to_python(kind_.words[k], record_.values[k]);
                values_[k] = objects_[k].ptr();
            }
            made_ = true;
        }
        return values_.data();
    }

private:
    const Kind& kind_;
    const agent::Record& record_;
    Stamp stamp_;
    bool made_ = false;
    std::array<nb::object, agent::kMostValues> objects_;
    std::array<const void*, agent::kMostValues> values_{};
};

// What the processor's clock shows at some moment, how many seconds after the start of the program that is, and how long a tick takes.
using Clock = std::tuple<std::uint64_t, double, double>;

std::uint64_t ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

double seconds_at(std::uint64_t time, const Clock& clock) {
    const auto& [shown, seconds, tick] = clock;
    return seconds - static_cast<double>(static_cast<std::int64_t>(shown - time)) * tick;
}

// The words of an event, and what they are.
CodedSteps::Values values_of(const Kind& kind, const agent::Record& record) {
    CodedSteps::Values values{record.values, 0, 0};
    for (std::size_t k = 0; k < kind.words.size(); ++k) {
        if (kind.words[k] == 'u') values.unfit |= (record.values[k] >> 63) << k;
        if (kind.words[k] == 'b') values.truths |= std::uint64_t{1} << k;
    }
    return values;
}

// The cells and the code of a machine that the agent has, as bytes, and the names of its variables.
using Tables = std::tuple<nb::bytes, nb::bytes, nb::tuple>;

template <class Item>
std::vector<Item> items_of(const nb::bytes& data) {
    std::vector<Item> items(data.size() / sizeof(Item));
    std::memcpy(items.data(), data.data(), items.size() * sizeof(Item));
    return items;
}

Coded coded_of(const Tables& tables, const InheritEngine& engine) {
    const auto& [cells, code, names] = tables;
    Coded coded{items_of<std::uint32_t>(cells), items_of<agent::Instruction>(code), {}, engine.program().events.size()};
    for (const nb::handle name : names) coded.variables.push_back(name.ptr());
    coded.check(engine);
    return coded;
}

// The numbers of rows go on from `first`. `describe` gives the line of an address. How many records were of this monitor.
std::uint64_t take_noted(PyMonitor& self, nb::bytes data, const std::vector<Described>& described, nb::callable describe, const Clock& clock,
                         std::int64_t first, const std::optional<Tables>& tables) {
    std::vector<std::optional<Kind>> kinds;
    for (const Described& each : described) {
        if (!each) {
            kinds.emplace_back();
            continue;
        }
        const auto& [event, words, location] = *each;
        if (event >= self.core().program().events.size()) throw nb::index_error("no such event");
        if (words.size() != self.core().program().events[event].values() || words.size() > agent::kMostValues)
            throw nb::value_error("the event has another number of values");
        kinds.push_back(Kind{static_cast<EventId>(event), words, {}});
        if (location) kinds.back()->location = location->empty() ? 0 : self.core().location(*location, false);
    }
    std::unordered_map<std::uint64_t, std::uint32_t> callers;
    const auto location_of = [&](std::uint64_t caller) {
        const auto [found, fresh] = callers.try_emplace(caller, 0);
        if (fresh) {
            const nb::object text = describe(caller);
            if (!text.is_none()) found->second = self.core().location(nb::cast<std::string>(text), false);
        }
        return found->second;
    };
    auto* inherit = tables && !self.core().per_thread() ? dynamic_cast<InheritEngine*>(&self.core().engine()) : nullptr;
    const Coded coded = inherit != nullptr ? coded_of(*tables, *inherit) : Coded{};
    std::optional<CodedSteps> steps;
    if (inherit != nullptr) steps.emplace(coded, *inherit);
    std::uint64_t count = 0;
    const bool taken = self.take_all([&](auto&&, Engine& engine) {
        agent::Record record;
        const char* at = static_cast<const char*>(data.data());
        for (std::size_t left = data.size() / sizeof record; left > 0; --left, at += sizeof record) {
            std::memcpy(&record, at, sizeof record);
            if (record.event >= kinds.size() || !kinds[record.event]) continue;
            const Kind& kind = *kinds[record.event];
            Slot slot = kNil;
            if (!self.core().program().events[kind.event].parameters.empty()) {
                const Key key = Key::of_bits(kind.words[0] == 'b' ? KeyKind::Bool : KeyKind::Int, record.values[0]);
                slot = engine.domain(0).find(key);
                if (slot == kNil && engine.inserts(kind.event)) slot = engine.domain(0).insert(key);
            }
            Stamp stamp;
            stamp.row = first + static_cast<std::int64_t>(count);
            stamp.location = kind.location ? *kind.location : location_of(record.caller);
            stamp.set_seconds(seconds_at(record.time, clock));
            Recorded origin(kind, record, stamp);
            ++self.core().seen[kind.event];
            ++count;
            if (steps && steps->take(kind.event, slot, values_of(kind, record), origin)) continue;
            if (steps) steps->give_back();
            engine.step(kind.event, &slot, origin);
        }
        if (steps) steps->give_back();
    });
    if (!taken) throw nb::python_error();
    return count;
}

// So many events of a kind came and changed nothing.
void pass_over(PyMonitor& self, std::size_t event, std::uint64_t count) {
    if (event >= self.core().program().events.size()) throw nb::index_error("no such event");
    self.core().seen[event] += count;
}

}  // namespace

void add_noted(nb::class_<PyMonitor>& monitor) {
    monitor.def("take_noted", &take_noted, nb::arg("records"), nb::arg("kinds"), nb::arg("describe"), nb::arg("clock"), nb::arg("first"),
                nb::arg("tables").none())
        .def_static("ticks", &ticks)
        .def("pass_over", &pass_over, nb::arg("event"), nb::arg("count"));
}

}  // namespace mopsus::python
