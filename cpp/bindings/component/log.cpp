#include "log.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bind/monitor.hpp"
#include "mopsus/component/log.hpp"
#include "bind/place_name.hpp"
#include "bind/terms.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

std::string_view view(nb::bytes text) { return {text.c_str(), text.size()}; }

nb::object python_of(Term term) {
    PyObject* made = from_term(term);
    if (made == nullptr) throw nb::python_error();
    return nb::steal(made);
}

// `(kind, subject, other, data, delay)` of a line that is plainly an event, where `data` of a fork or init is
// `(module, function, arguments)`; False if there is no event on it; None if it is odd.
nb::object read_line(nb::bytes line) {
    static thread_local Arena arena;
    static thread_local LogLines lines;
    arena.clear();
    LogEvent event;
    switch (lines.read(view(line), arena, event)) {
        case LineKind::Odd: return nb::none();
        case LineKind::Blank: return nb::bool_(false);
        case LineKind::Event: break;
    }
    const nb::object other = event.other.is_nothing() ? nb::none() : python_of(event.other);
    nb::object data;
    if (event.kind == Happening::Fork || event.kind == Happening::Init) {
        data = nb::make_tuple(python_of(event.module), python_of(event.function), python_of(event.arguments));
    } else {
        data = python_of(event.data);
    }
    return nb::make_tuple(static_cast<int>(event.kind), python_of(event.subject), other, data, event.delay_ms);
}

using Numbers = std::tuple<EventId, EventId, EventId>;  // of the events send, recv and init

// Keeps the monitors of a log, and delivers to them.
class PyLog {
public:
    PyLog(nb::list monitors, const std::vector<Numbers>& events) : kept_(monitors), log_(targets(monitors, events)) {
        for (nb::handle monitor : monitors) monitors_.push_back(&nb::cast<PyMonitor&>(monitor));
    }

    void begin(const nb::str& source) {
        const std::string name = place_name(source);
        for (std::size_t k = 0; k < monitors_.size(); ++k)
            log_.targets()[k].source = monitors_[k]->core().location(name, true);
    }

    void settle(const std::string& component, const std::vector<std::optional<std::string>>& leaders, bool named) {
        std::vector<Slot> slots;
        for (std::size_t k = 0; k < monitors_.size(); ++k) {
            const auto& leader = leaders.at(k);
            slots.push_back(leader ? monitors_[k]->core().engine().domain(0).find(Key::of_blob(KeyKind::Text, *leader))
                                   : 0);
        }
        log_.settle(component, std::move(slots), named);
    }

    // How many sends, receipts and inits of it were delivered.
    std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> unsettle(const std::string& component) {
        const auto [sends, receipts, inits] = log_.unsettle(component);
        return {sends, receipts, inits};
    }

    // Where it stopped, at which line, and whether that line is for the dispatcher. Reports are out when it returns.
    std::tuple<std::size_t, std::int64_t, bool> run(nb::bytes block, std::size_t at, std::int64_t line) {
        std::size_t entered = 0;
        while (entered < monitors_.size() && monitors_[entered]->begin_rows()) ++entered;
        const bool all = entered == monitors_.size();
        DirectLog::Stop stop = DirectLog::Stop::End;
        if (all) {
            const auto reported = [&] {
                for (const PyMonitor* monitor : monitors_)
                    if (monitor->has_reports()) return true;
                return false;
            };
            stop = log_.run(view(block), at, line, reported);
        }
        for (std::size_t k = 0; k < entered; ++k) {
            DirectLog::Target& target = log_.targets()[k];
            for (std::size_t kind = 0; kind < target.seen.size(); ++kind)
                monitors_[k]->core().seen[target.events[kind]] += target.seen[kind];
            target.seen = {};
        }
        bool granted = all;
        for (std::size_t k = 0; k < entered; ++k) granted = monitors_[k]->end_rows() && granted;
        if (!granted) throw nb::python_error();
        return {at, line, stop == DirectLog::Stop::Line};
    }

    DirectLog& log() { return log_; }
    PyObject* kept() const { return kept_.ptr(); }
    void clear() {
        monitors_.clear();
        log_.targets().clear();
        kept_.reset();
    }

private:
    static std::vector<DirectLog::Target> targets(nb::list monitors, const std::vector<Numbers>& events) {
        std::vector<DirectLog::Target> made;
        if (nb::len(monitors) != events.size()) throw nb::value_error("as many events as monitors");
        for (std::size_t k = 0; k < events.size(); ++k) {
            auto& monitor = nb::cast<PyMonitor&>(monitors[k]);
            const auto [send, recv, init] = events[k];
            const Program& program = monitor.core().program();
            if (monitor.core().per_thread() || program.parameters != 1 ||
                std::max({send, recv, init}) >= program.events.size())
                throw nb::value_error("a monitor of components has one parameter, and these events");
            made.push_back({&monitor.core().engine(), {send, recv, init}, 0, {}});
        }
        return made;
    }

    nb::list kept_;
    std::vector<PyMonitor*> monitors_;
    DirectLog log_;
};

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<PyLog>(self)->kept());
    return 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<PyLog>(self)->clear();
    return 0;
}

PyType_Slot log_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {0, nullptr},
};

}  // namespace

void add_log(nb::module_& module) {
    module.def("read_log_line", &read_line);
    nb::class_<PyLog>(module, "DirectLog", nb::type_slots(log_slots))
        .def(nb::init<nb::list, const std::vector<Numbers>&>())
        .def("begin", &PyLog::begin)
        .def("settle", &PyLog::settle)
        .def("unsettle", &PyLog::unsettle)
        .def("run", &PyLog::run)
        .def_prop_ro("delivered", [](PyLog& self) { return self.log().delivered; })
        .def_prop_ro("heard", [](PyLog& self) { return self.log().heard; });
    nb::class_<Introduced>(module, "Introduced")
        .def(nb::init<>())
        .def("add", [](Introduced& self, nb::bytes text) { return self.add(view(text)); })
        .def("has", [](const Introduced& self, const std::string& component) { return self.has(component); });
}

}  // namespace mopsus::python
