#include "replay.hpp"

#include <nanobind/stl/vector.h>

#include "monitor.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

class Prepared {
public:
    Prepared(PyMonitor& monitor, nb::list events) {
        Arena arena;
        for (const nb::handle item : events) {
            const auto pair = nb::cast<nb::tuple>(item);
            const auto number = nb::cast<std::size_t>(pair[0]);
            if (number >= monitor.core().program().events.size()) throw nb::index_error("no such event");
            const EventDecl& declared = monitor.core().program().events[number];
            const auto values = nb::cast<nb::tuple>(pair[1]);
            if (values.size() != declared.values()) throw nb::type_error("wrong number of values");
            Entry& entry = entries_.emplace_back();
            entry.event = static_cast<EventId>(number);
            entry.first = terms_.size();
            for (std::size_t k = 0; k < values.size(); ++k) {
                if (k < declared.parameters.size())
                    entry.parameters.push_back(nb::borrow(values[k]));
                else
                    terms_.push_back(keep(to_term(values[k].ptr(), arena), arena));
            }
            entry.count = declared.fields.size();
        }
    }
    Prepared(const Prepared&) = delete;
    Prepared& operator=(const Prepared&) = delete;
    ~Prepared() {
        for (const Term term : terms_) drop(term);
    }

    struct Entry {
        EventId event = 0;
        std::size_t first = 0;  // of its terms
        std::size_t count = 0;
        std::vector<nb::object> parameters;
    };
    const std::vector<Entry>& entries() const { return entries_; }
    Term* terms(const Entry& entry) { return terms_.data() + entry.first; }

    // Looks at every event and does nothing: what a loop costs by itself.
    std::uint64_t scan(std::size_t times) {
        std::uint64_t sum = 0;
        for (std::size_t n = 0; n < times; ++n)
            for (const Entry& entry : entries_) {
                sum += entry.event;
                for (std::size_t k = 0; k < entry.count; ++k) sum ^= terms(entry)[k].bits();
            }
        return sum;
    }

private:
    std::vector<Entry> entries_;
    std::vector<Term> terms_;
};

class Replayed final : public Origin {
public:
    explicit Replayed(Prepared& prepared) : prepared_(prepared) {}
    void begin(const Prepared::Entry& entry) {
        entry_ = &entry;
        ++row_;
        arena_.clear();
    }
    Stamp stamp() override { return {row_, 0, 0, Stamp::Time::None}; }
    EventData data() override { return {prepared_.terms(*entry_), entry_->count, &arena_}; }

private:
    Prepared& prepared_;
    const Prepared::Entry* entry_ = nullptr;
    std::int64_t row_ = 0;
    Arena arena_;
};

void replay(PyMonitor& monitor, Prepared& prepared, std::size_t times) {
    Replayed origin(prepared);
    const bool taken = monitor.take_all([&](auto&& slot_of, Engine& engine) {
        std::vector<Slot> slots;
        std::vector<std::size_t> first;
        for (const Prepared::Entry& entry : prepared.entries()) {
            first.push_back(slots.size());
            const std::vector<std::uint8_t>& parameters = engine.program().events[entry.event].parameters;
            for (std::size_t k = 0; k < parameters.size(); ++k)
                slots.push_back(slot_of(parameters[k], entry.parameters[k].ptr()));
        }
        slots.push_back(kNil);  // for events without parameters
        for (std::size_t n = 0; n < times; ++n) {
            for (std::size_t k = 0; k < first.size(); ++k) {
                const Prepared::Entry& entry = prepared.entries()[k];
                origin.begin(entry);
                engine.step(entry.event, slots.data() + first[k], origin);
            }
            for (const Prepared::Entry& entry : prepared.entries()) ++monitor.core().seen[entry.event];
        }
    });
    if (!taken) throw nb::python_error();
}

}  // namespace

void add_replay(nb::module_& module) {
    nb::class_<Prepared>(module, "Prepared")
        .def(nb::init<PyMonitor&, nb::list>(), nb::arg("monitor"), nb::arg("events"))
        .def("scan", &Prepared::scan, nb::arg("times"));
    module.def("replay", &replay, nb::arg("monitor"), nb::arg("prepared"), nb::arg("times"));
}

}  // namespace mopsus::python
