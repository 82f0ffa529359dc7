#include "noted.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "../agent/agent.hpp"
#include "coded.hpp"
#include "engine/flat.hpp"
#include "engine/last_steps.hpp"
#include "bind/monitor.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

// What the records of a number are: an event of this monitor, what its words are - `b`, a truth value; `s`, a number
// with a sign; `u`, one without - and where it happens, if that is always the same place.
struct Kind {
    EventId event;
    std::string words;
    std::optional<std::uint32_t> location;
    bool keyed;  // the first of them says which instance it is about

    bool is_truth() const { return words[0] == 'b'; }
};

using Described = std::optional<std::tuple<std::size_t, std::string, std::optional<std::string>>>;

// What the processor's clock shows at some moment, how many seconds after the start of the program that is, and how
// long a tick takes.
using Clock = std::tuple<std::uint64_t, double, double>;

// The cells and the code of a machine that the agent has, as bytes, and the names of its variables.
using Tables = std::tuple<nb::bytes, nb::bytes, nb::tuple>;

// A record of which there may be only the first words.
struct View {
    const std::uint64_t* words;
    std::uint64_t event() const { return words[offsetof(agent::Record, event) / sizeof *words]; }
    std::uint64_t caller() const { return words[offsetof(agent::Record, caller) / sizeof *words]; }
    std::uint64_t time() const { return words[offsetof(agent::Record, time) / sizeof *words]; }
    const std::uint64_t* values() const { return words + kHead; }

    static constexpr std::size_t kHead = offsetof(agent::Record, values) / sizeof *words;
};

// Records as the agent has them, one behind the other; of each, the first so many words.
class Records {
public:
    Records(const nb::bytes& data, std::size_t width)
        : data_(static_cast<const std::uint64_t*>(data.data())), width_(width) {
        const std::size_t bytes = width * sizeof *data_;
        if (width < View::kHead || bytes > sizeof(agent::Record) || data.size() % bytes != 0)
            throw nb::value_error("these are no records");
        count_ = data.size() / bytes;
    }
    std::size_t count() const { return count_; }
    std::size_t values() const { return width_ - View::kHead; }
    View operator[](std::size_t at) const { return {data_ + at * width_}; }

private:
    const std::uint64_t* data_;
    std::size_t width_;
    std::size_t count_ = 0;
};

nb::object to_python(char kind, std::uint64_t word) {
    if (kind == 'b') return nb::bool_(word != 0);
    if (kind == 's') return nb::int_(static_cast<std::int64_t>(word));
    return nb::int_(word);
}

// A record as an event. Its values are made only if code asks for them.
class Recorded final : public Origin {
public:
    Recorded(const Kind& kind, View record, const Stamp& stamp) : kind_(kind), record_(record), stamp_(stamp) {}
    Stamp stamp() override { return stamp_; }
    const void* const* values() override {
        if (!made_) {
            for (std::size_t k = 0; k < kind_.words.size(); ++k) {
                objects_[k] = to_python(kind_.words[k], record_.values()[k]);
                values_[k] = objects_[k].ptr();
            }
            made_ = true;
        }
        return values_.data();
    }

private:
    const Kind& kind_;
    View record_;
    Stamp stamp_;
    bool made_ = false;
    std::array<nb::object, agent::kMostValues> objects_;
    std::array<const void*, agent::kMostValues> values_{};
};

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

// How an engine makes steps that nobody hears of. Each has `take`, which says whether it has made one, and which
// instance has moved by it; and `stop`, before anybody else makes a step.
struct ByTable {
    FlatEngine& engine;

    CodedSteps::Taken take(const Kind& kind, Slot slot, View /*record*/) {
        if (!kind.keyed) slot = kOnlySlot;
        if (slot == kNil) return {};
        const auto [taken, moved] = engine.take_quietly(kind.event, slot);
        return {taken, moved ? slot : kNil};
    }
    void stop() {}

    static constexpr Slot kOnlySlot = 1;  // of an instance without a value
};

struct ByCode {
    ByCode(const Coded& coded, InheritEngine& inherit) : engine(inherit), steps(coded, inherit) {}

    CodedSteps::Taken take(const Kind& kind, Slot slot, View record) {
        CodedSteps::Values values{record.values(), 0, 0};
        for (std::size_t k = 0; k < kind.words.size(); ++k) {
            if (kind.words[k] == 'u') values.unfit |= (record.values()[k] >> 63) << k;
            if (kind.words[k] == 'b') values.truths |= std::uint64_t{1} << k;
        }
        return steps.take(kind.event, slot, values);
    }
    void stop() { steps.give_back(); }

    InheritEngine& engine;
    CodedSteps steps;
};

// A monitor takes what was noted of it.
class Taking {
public:
    // The numbers of rows go on from `first`. `describe` gives the line of an address.
    Taking(PyMonitor& monitor, const Records& records, const std::vector<Described>& described, nb::callable describe,
           const Clock& clock, std::int64_t first)
        : monitor_(monitor),
          core_(monitor.core()),
          records_(records),
          describe_(std::move(describe)),
          clock_(clock),
          first_(first) {
        for (const Described& each : described) kinds_.push_back(each ? std::optional(kind_of(*each)) : std::nullopt);
    }

    // How many records were of this monitor.
    std::uint64_t take(const std::optional<Tables>& tables) {
        std::optional<Coded> coded;  // checked before anything happens
        if (tables && !core_.per_thread())
            if (auto* inherit = dynamic_cast<InheritEngine*>(&core_.engine())) coded = coded_of(*tables, *inherit);
        const bool taken = monitor_.take_all([&](auto&&, Engine& engine) {
            auto* flat = dynamic_cast<FlatEngine*>(&engine);
            if (flat != nullptr && flat->bulk())
                take_by(engine, ByTable{*flat});
            else if (coded)
                take_by(engine, ByCode(*coded, dynamic_cast<InheritEngine&>(engine)));
            else
                each_record(engine, [&](const Kind& kind, Slot slot, View record, std::size_t) {
                    step(engine, kind, slot, record);
                });
        });
        if (!taken) throw nb::python_error();
        return count_;
    }

private:
    Kind kind_of(const Described::value_type& described) {
        const auto& [event, words, location] = described;
        if (event >= core_.program().events.size()) throw nb::index_error("no such event");
        const EventDecl& declared = core_.program().events[event];
        if (words.size() != declared.values() || words.size() > records_.values())
            throw nb::value_error("the event has another number of values");
        Kind kind{static_cast<EventId>(event), words, {}, !declared.parameters.empty()};
        if (location) kind.location = location->empty() ? 0 : core_.location(*location, false);
        return kind;
    }

    static Key key_of(const Kind& kind, std::uint64_t word) {
        return Key::of_bits(kind.is_truth() ? KeyKind::Bool : KeyKind::Int, word);
    }

    // The instances of hot loops are few, and remembered here.
    Slot slot_of(Domain& domain, const Kind& kind, std::uint64_t word) {
        Recent& recent = recent_[(word ^ word >> 4 ^ word >> 10) % recent_.size()];
        if (recent.slot == kNil || recent.word != word || recent.truth != kind.is_truth())
            recent = {word, domain.find(key_of(kind, word)), kind.is_truth()};
        return recent.slot;
    }

    template <class Use>
    void each_record(Engine& engine, Use&& use) {
        for (std::size_t at = 0; at < records_.count(); ++at) {
            const View record = records_[at];
            if (record.event() >= kinds_.size() || !kinds_[record.event()]) continue;
            const Kind& kind = *kinds_[record.event()];
            Slot slot = kNil;
            if (kind.keyed) {
                slot = slot_of(engine.domain(0), kind, record.values()[0]);
                if (slot == kNil && engine.inserts(kind.event))
                    slot = engine.domain(0).insert(key_of(kind, record.values()[0]));
            }
            ++core_.seen[kind.event];
            ++count_;
            use(kind, slot, record, at);
        }
    }

    template <class Steps>
    void take_by(Engine& engine, Steps steps) {
        LastSteps last;
        const std::uint32_t limit = steps.engine.history().limit();
        const auto stop = [&] {
            last.take(limit, [&](std::uint32_t instance, LastSteps::Step step) {
                const View record = records_[step.event];
                const Kind& kind = *kinds_[record.event()];
                steps.engine.remember(instance, kind.event, stamp(kind, record, step.number));
            });
            steps.stop();
        };
        each_record(engine, [&](const Kind& kind, Slot slot, View record, std::size_t at) {
            const auto [taken, moved] = steps.take(kind, slot, record);
            if (!taken) {
                stop();
                step(engine, kind, slot, record);
            } else if (moved != kNil && limit != 0) {
                last.add(moved, {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(count_)});
            }
        });
        stop();
    }

    void step(Engine& engine, const Kind& kind, Slot slot, View record) {
        Recorded origin(kind, record, stamp(kind, record, count_));
        engine.step(kind.event, &slot, origin);
        recent_ = {};
    }

    // Of the event with this number, from 1.
    Stamp stamp(const Kind& kind, View record, std::uint64_t number) {
        Stamp stamp;
        stamp.row = first_ + static_cast<std::int64_t>(number) - 1;
        stamp.location = kind.location ? *kind.location : location_of(record.caller());
        stamp.set_seconds(seconds_at(record.time(), clock_));
        return stamp;
    }

    std::uint32_t location_of(std::uint64_t caller) {
        const auto [found, fresh] = callers_.try_emplace(caller, 0);
        if (fresh) {
            const nb::object text = describe_(caller);
            if (!text.is_none()) found->second = core_.location(nb::cast<std::string>(text), false);
        }
        return found->second;
    }

    PyMonitor& monitor_;
    Monitor& core_;
    const Records& records_;
    std::vector<std::optional<Kind>> kinds_;
    nb::callable describe_;
    Clock clock_;
    std::int64_t first_;
    std::uint64_t count_ = 0;
    struct Recent {
        std::uint64_t word = 0;
        Slot slot = kNil;
        bool truth = false;
    };
    std::array<Recent, 64> recent_{};  // good until somebody else makes a step, who may forget values
    std::unordered_map<std::uint64_t, std::uint32_t> callers_;
};

// How many records were of this monitor.
std::uint64_t take_noted(PyMonitor& self, const nb::bytes& data, std::size_t width,
                         const std::vector<Described>& described, nb::callable describe, const Clock& clock,
                         std::int64_t first, const std::optional<Tables>& tables) {
    const Records records(data, width);
    return Taking(self, records, described, std::move(describe), clock, first).take(tables);
}

// So many events of a kind came and changed nothing.
void pass_over(PyMonitor& self, std::size_t event, std::uint64_t count) {
    if (event >= self.core().program().events.size()) throw nb::index_error("no such event");
    self.core().seen[event] += count;
}

}  // namespace

void add_noted(nb::class_<PyMonitor>& monitor) {
    monitor
        .def("take_noted", &take_noted, nb::arg("records"), nb::arg("width"), nb::arg("kinds"), nb::arg("describe"),
             nb::arg("clock"), nb::arg("first"), nb::arg("tables").none())
        .def_static("ticks", &ticks)
        .def("pass_over", &pass_over, nb::arg("event"), nb::arg("count"));
}

}  // namespace mopsus::python
