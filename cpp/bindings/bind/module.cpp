// The extension module `mopsus._core`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "weave/accessor.hpp"
#include "weave/advice.hpp"
#include "debug/carried.hpp"
#include "weave/classes.hpp"
#include "arrow_capsule.hpp"
#include "columns.hpp"
#include "component/component.hpp"
#include "decentral.hpp"
#include "emitter.hpp"
#include "weave/ending_threads.hpp"
#include "weave/exiting.hpp"
#include "debug/gate.hpp"
#include "weave/iterate.hpp"
#include "component/log.hpp"
#include "machines.hpp"
#include "component/mail.hpp"
#include "weave/mainprogram.hpp"
#include "mopsus/engine/archive.hpp"
#include "moment.hpp"
#include "monitor.hpp"
#include "place_name.hpp"
#include "component/ring.hpp"
#include "weave/standin.hpp"
#include "debug/noted.hpp"
#include "replay.hpp"
#include "symbolic.hpp"
#include "weave/twins.hpp"

namespace nb = nanobind;
using namespace mopsus;
using namespace mopsus::python;

namespace {

using EventArgs =
    std::tuple<std::string, std::vector<std::uint8_t>, bool, bool, std::vector<Mask>, std::vector<std::string>>;
using MachineArgs = std::tuple<std::string, nb::tuple>;
using CodeArgs = std::tuple<nb::object, std::uint8_t, nb::dict>;

[[noreturn]] void raise_python() { throw nb::python_error(); }

PyObject* optional(const nb::object& object) { return object.is_none() ? nullptr : object.ptr(); }

void listen(PyMonitor& self, const nb::object& change, const nb::object& unmatched,
            const std::vector<std::tuple<nb::bytes, nb::bytes>>& heeded) {
    std::vector<std::pair<std::string, std::string>> states;
    for (const auto& [left, entered] : heeded)
        states.emplace_back(std::string(left.c_str(), left.size()), std::string(entered.c_str(), entered.size()));
    self.listen(optional(change), optional(unmatched), std::move(states));
}

void construct(PyMonitor* self, const std::vector<std::string>& parameters, const std::vector<std::string>& modes,
               const std::vector<EventArgs>& events, const std::vector<MachineArgs>& machines,
               const std::string& binding, bool connected, bool immediate, bool variables, std::uint32_t history,
               std::uint64_t max_live, bool per_thread, bool synchronized_, bool decentralized,
               const nb::object& report, const nb::object& admit, const nb::object& fork, const nb::object& save,
               const nb::object& load, const nb::object& fault, const std::vector<CodeArgs>& codes, nb::dict names) {
    Program program;
    program.parameters = static_cast<unsigned>(parameters.size());
    for (const auto& [name, names, creation, guarded, enable, fields] : events)
        program.events.push_back({name, names, creation, guarded, enable, fields});
    for (const auto& [kind, arguments] : machines) program.machines.push_back(make_machine(kind, arguments));
    program.binding = binding == "full-binding"      ? Binding::Full
                      : binding == "maximal-binding" ? Binding::Maximal
                                                     : Binding::Any;
    program.connected = connected;
    program.immediate = immediate;
    program.variables = variables;
    program.history = history;
    Options options;
    for (const std::string& mode : modes)
        options.modes.push_back(mode == "identity"   ? KeyMode::Identity
                                : mode == "equality" ? KeyMode::Equality
                                                     : KeyMode::ByKind);
    options.modes.resize(parameters.size(), KeyMode::ByKind);
    options.per_thread = per_thread;
    options.synchronized_ = synchronized_;
    options.decentralized = decentralized;
    options.max_live = max_live;
    new (self)
        PyMonitor(std::move(program), parameters, std::move(options),
                  {optional(report), optional(admit), optional(fork), optional(save), optional(load), optional(fault)});
    for (const auto& machine : self->core().program().machines) keep_predicates(*machine, *self);
    for (const auto& [code, role, states] : codes)
        self->add_code(SpecCode(code.ptr(), static_cast<SpecCode::Role>(role), states.ptr()));
    self->use_names(names.ptr());
}

EventId checked(PyMonitor& monitor, std::size_t event) {
    if (event >= monitor.core().program().events.size()) throw nb::index_error("no such event");
    return static_cast<EventId>(event);
}

nb::object emitter(nb::handle self, std::size_t event) {
    auto& monitor = nb::cast<PyMonitor&>(self);
    PyObject* made = make_emitter(self.ptr(), monitor, checked(monitor, event));
    if (made == nullptr) raise_python();
    return nb::steal(made);
}

std::vector<PyObject*> borrowed(nb::tuple values, std::size_t count) {
    if (values.size() != count) throw nb::type_error("wrong number of values");
    std::vector<PyObject*> pointers;
    for (nb::handle value : values) pointers.push_back(value.ptr());
    return pointers;
}

void emit(PyMonitor& self, std::size_t event, nb::tuple values) {
    const EventId id = checked(self, event);
    if (!self.emit(id, borrowed(values, self.core().program().events[id].values()).data())) raise_python();
}

void row(PyMonitor& self, std::size_t event, nb::tuple values, const nb::object& time, const nb::object& thread,
         const nb::str& location, bool is_source, std::int64_t number) {
    const EventId id = checked(self, event);
    const std::vector<PyObject*> pointers = borrowed(values, self.core().program().events[id].values());
    if (!self.emit_row(id, pointers.data(), {time.ptr(), thread.ptr(), place_name(location), is_source, number}))
        raise_python();
}

void release(PyMonitor& self, nb::dict values, const nb::object& thread) {
    std::vector<std::pair<unsigned, PyObject*>> ended;
    for (auto [p, value] : values) {
        const auto parameter = nb::cast<unsigned>(p);
        if (parameter >= self.core().program().parameters) throw nb::index_error("no such parameter");
        ended.emplace_back(parameter, value.ptr());
    }
    if (!self.release(ended, thread.ptr())) raise_python();
}

// A batch by itself, seen as a stream of one.
struct OneBatch {
    ArrowSchema schema;
    ArrowArray array;
};

ArrowArrayStream stream_of(const OneBatch& batch) {
    ArrowArrayStream stream{};
    stream.private_data = new OneBatch(batch);
    stream.get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
        auto* one = static_cast<OneBatch*>(self->private_data);
        *out = one->schema;
        one->schema.release = nullptr;
        return 0;
    };
    stream.get_next = [](ArrowArrayStream* self, ArrowArray* out) {
        auto* one = static_cast<OneBatch*>(self->private_data);
        *out = one->array;
        one->array = {};
        return 0;
    };
    stream.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
    stream.release = [](ArrowArrayStream* self) {
        auto* one = static_cast<OneBatch*>(self->private_data);
        if (one->schema.release != nullptr) one->schema.release(&one->schema);
        if (one->array.release != nullptr) one->array.release(&one->array);
        delete one;
        self->release = nullptr;
    };
    return stream;
}

// None, or what is wrong with which row: (why, row, column, event, type).
nb::object run(PyMonitor& self, const nb::object& data, const nb::str& source, std::int64_t first_row,
               bool skip_bad_rows) {
    const std::string name = place_name(source);
    ArrowArrayStream stream{};
    if (nb::hasattr(data, "__arrow_c_stream__")) {
        stream = taken<ArrowArrayStream>(data.attr("__arrow_c_stream__")(), "arrow_array_stream");
    } else if (nb::hasattr(data, "__arrow_c_array__")) {
        const nb::tuple pair = nb::cast<nb::tuple>(data.attr("__arrow_c_array__")());
        stream = stream_of({taken<ArrowSchema>(pair[0], "arrow_schema"), taken<ArrowArray>(pair[1], "arrow_array")});
    } else {
        throw nb::type_error("not Arrow data: it has neither __arrow_c_stream__ nor __arrow_c_array__");
    }
    BatchOptions options;
    options.first_row = first_row;
    options.skip_bad_rows = skip_bad_rows;
    const std::optional<BadRow> bad = self.run(stream, name, options);
    if (stream.release != nullptr) stream.release(&stream);
    if (PyErr_Occurred() != nullptr) raise_python();
    if (!bad) return nb::none();
    static const char* const reasons[] = {"null", "missing", "type", "no-event", "dictionary"};
    return nb::make_tuple(reasons[static_cast<std::size_t>(bad->why)], bad->row, bad->column, bad->event, bad->type);
}

nb::dict stats(PyMonitor& self) {
    Monitor& core = self.core();
    // Before the first event nothing can have died, and whoever only counts begins nothing.
    if (std::any_of(core.seen.begin(), core.seen.end(), [](std::uint64_t count) { return count != 0; })) self.settle();
    const Counts counts = core.counts();
    nb::dict result;
    nb::list seen;
    for (const std::uint64_t count : core.seen) seen.append(count);
    result["seen"] = seen;
    nb::list reported;
    for (const auto& [which, count] : self.reported())
        reported.append(nb::make_tuple(which.first, which.second, count));
    result["reported"] = reported;
    result["ignored"] = core.ignored;
    result["bad_rows"] = core.bad_rows;
    result["created"] = counts.created;
    result["collected"] = counts.collected;
    result["alive"] = counts.alive();
    result["most"] = counts.most;
    nb::list fallen;
    for (std::size_t k = 0; k < core.seen.size(); ++k) fallen.append(k < counts.fallen.size() ? counts.fallen[k] : 0);
    result["fallen"] = fallen;
    result["bytes"] = core.bytes();
    std::size_t obligations = 0;
    core.each_engine([&](Engine& engine) { obligations = std::max(obligations, engine.largest()); });
    result["obligations"] = obligations;
    return result;
}

// The row of the last event that an instance remembers, where so many instances remember no later one.
std::int64_t last_row_of(PyMonitor& self, std::size_t most) {
    std::vector<std::int64_t> rows;
    self.core().each_engine([&](Engine& engine) {
        engine.each_instance(
            [&](const std::vector<Value>&, const std::vector<Engine::Standing>&, const Engine::Recall& recall) {
                const std::vector<PastEvent> past = recall();
                rows.push_back(past.empty() ? 0 : past.back().stamp.row);
            });
    });
    if (rows.size() <= most) return 0;
    const auto last = rows.end() - static_cast<std::ptrdiff_t>(most);
    std::nth_element(rows.begin(), last, rows.end());
    return *last;
}

// Of each: its values, how to read them (see `PyMonitor::to_python`), their serial numbers, and its states. With
// `recalled` only of so many, those that something happened to last, and with what they remember.
nb::list instances(PyMonitor& self, std::optional<std::size_t> recalled) {
    self.settle();
    const std::int64_t since = recalled ? last_row_of(self, *recalled) : 0;
    nb::list result;
    self.core().each_engine([&](Engine& engine) {
        engine.each_instance([&](const std::vector<Value>& values, const std::vector<Engine::Standing>& standings,
                                 const Engine::Recall& recall) {
            const std::vector<PastEvent> past = recalled ? recall() : std::vector<PastEvent>();
            if (since != 0 && (past.empty() || past.back().stamp.row < since)) return;
            nb::list states;
            for (const Engine::Standing& standing : standings) {
                if (standing.state)
                    states.append(*standing.state);
                else
                    states.append(standing.holds ? nb::cast(*standing.holds) : nb::none());
            }
            nb::list shown;
            nb::list serials;
            std::string kinds(values.size(), 'u');
            for (unsigned p = 0; p < values.size(); ++p) {
                shown.append(nb::steal(self.to_python(engine, p, values[p], kinds[p])));
                serials.append(values[p].serial);
            }
            const nb::object events = nb::steal(self.witness_to_python(past));
            result.append(nb::make_tuple(nb::tuple(shown), kinds, nb::tuple(serials), nb::tuple(states), events));
        });
    });
    return result;
}

using Reference = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>;

Reference reference(const InstanceRef& instance) {
    return {reinterpret_cast<std::uintptr_t>(instance.engine), instance.kind, instance.id, instance.serial};
}

// Of each: its property, state, variables, values, how to read them, their serial numbers, itself and its parent.
nb::list slices(PyMonitor& self) {
    self.settle();
    nb::list result;
    self.core().each_engine([&](Engine& engine) {
        engine.each_slice([&](const Engine::Slice& slice) {
            nb::list values;
            nb::list serials;
            std::string kinds(slice.values.size(), 'u');
            for (unsigned p = 0; p < slice.values.size(); ++p) {
                values.append(nb::steal(self.to_python(engine, p, slice.values[p], kinds[p])));
                serials.append(slice.values[p].serial);
            }
            const nb::object variables = slice.user != 0 ? nb::borrow(as_object(slice.user)) : nb::none();
            const nb::object parent = slice.parent.serial != 0 ? nb::cast(reference(slice.parent)) : nb::none();
            result.append(nb::make_tuple(slice.property, slice.state, variables, nb::tuple(values), kinds,
                                         nb::tuple(serials), reference(slice.self), parent));
        });
    });
    return result;
}

// By property, a byte for each state that tells whether some instance is in it.
nb::tuple occupied(PyMonitor& self) {
    self.settle();
    std::vector<std::string> all;
    self.core().each_engine([&](Engine& engine) {
        const std::vector<std::vector<bool>> found = engine.occupied();
        all.resize(std::max(all.size(), found.size()));
        for (std::size_t k = 0; k < found.size(); ++k) {
            all[k].resize(found[k].size(), 0);
            for (std::size_t state = 0; state < found[k].size(); ++state)
                if (found[k][state]) all[k][state] = 1;
        }
    });
    nb::list result;
    for (const std::string& states : all) result.append(nb::bytes(states.data(), states.size()));
    return nb::tuple(result);
}

struct Checkpoint : PyMonitor::Checkpoint {
    Checkpoint() = default;
    Checkpoint(const Checkpoint&) = delete;
    Checkpoint& operator=(const Checkpoint&) = delete;
    ~Checkpoint() {
        for (PyObject* object : objects) Py_DECREF(object);
    }
};

// Python takes it over.
Checkpoint* checkpoint(PyMonitor& self) {
    auto made = std::make_unique<Checkpoint>();
    try {
        if (!self.checkpoint(*made)) raise_python();
    } catch (const BadSnapshot& error) {
        throw nb::value_error(error.what());
    }
    return made.release();
}

void go_back(PyMonitor& self, const Checkpoint& checkpoint) {
    if (!self.rewind(checkpoint)) raise_python();
}

nb::list snapshot(PyMonitor& self) {
    nb::list result;
    try {
        for (const Item& item : self.snapshot()) {
            if (const auto* number = std::get_if<std::int64_t>(&item)) {
                result.append(*number);
            } else {
                // Every byte is a character: plain data that any format can hold.
                const auto& text = std::get<std::string>(item);
                result.append(
                    nb::steal(PyUnicode_DecodeLatin1(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr)));
            }
        }
    } catch (const BadSnapshot& error) {
        throw nb::value_error(error.what());
    }
    return result;
}

void restore(PyMonitor& self, nb::list items) {
    std::vector<Item> plain;
    plain.reserve(items.size());
    for (nb::handle item : items) {
        if (PyLong_CheckExact(item.ptr())) {
            const long long number = PyLong_AsLongLong(item.ptr());
            if (number == -1 && PyErr_Occurred() != nullptr) {
                PyErr_Clear();
                throw nb::value_error("a number in the snapshot is out of range");
            }
            plain.emplace_back(static_cast<std::int64_t>(number));
        } else if (PyUnicode_CheckExact(item.ptr())) {
            const nb::object bytes = nb::steal(PyUnicode_AsLatin1String(item.ptr()));
            if (!bytes.is_valid()) {
                PyErr_Clear();
                throw nb::value_error("a text in the snapshot is damaged");
            }
            plain.emplace_back(
                std::string(PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))));
        } else {
            throw nb::value_error("a snapshot holds numbers and texts only");
        }
    }
    try {
        self.restore(std::move(plain));
    } catch (const BadSnapshot& error) {
        throw nb::value_error(error.what());
    }
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) return nb::inst_ptr<PyMonitor>(self)->traverse(visit, arg);
    return 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) {
        auto* monitor = nb::inst_ptr<PyMonitor>(self);
        monitor->close();
        monitor->clear();
    }
    return 0;
}

PyType_Slot gc_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {0, nullptr},
};

}  // namespace

NB_MODULE(_core, module) {
    module.doc() = "The C++ core: parametric slicing, machines, the death of objects.";
    // What a watched program still holds of ours at its end is no news for its standard error.
    nb::set_leak_warnings(false);
    if (!prepare_conversion() || !prepare_terms() || !prepare_watching()) raise_python();
    for (const auto prepare : {prepare_emitters, prepare_classes, prepare_stand_ins, prepare_advice, prepare_exiting,
                               prepare_accessors, prepare_sites, prepare_twins, prepare_main, prepare_components,
                               prepare_mail, prepare_carried, prepare_gates, prepare_moments})
        if (!prepare(module.ptr())) raise_python();
    let_ended_threads_wait();
    module.def(
        "use_errors",
        [](nb::handle closed, nb::handle values, nb::handle limit) {
            errors = {closed.inc_ref().ptr(), values.inc_ref().ptr(), limit.inc_ref().ptr()};
        },
        nb::arg("closed"), nb::arg("values"), nb::arg("limit"));
    module.def(
        "use_terms",
        [](nb::handle atom, nb::handle string, nb::handle pid, nb::handle reference, nb::handle object) {
            term_types = {atom.inc_ref().ptr(), string.inc_ref().ptr(), pid.inc_ref().ptr(), reference.inc_ref().ptr(),
                          object.inc_ref().ptr()};
        },
        nb::arg("atom"), nb::arg("string"), nb::arg("pid"), nb::arg("reference"), nb::arg("object"));
    module.def(
        "hide", [](nb::handle code, bool placeless) { hide(code.ptr(), placeless); }, nb::arg("code"),
        nb::arg("placeless") = false);
    module.def(
        "copy_variables", [](nb::dict variables) { return nb::steal<nb::dict>(copy_of_variables(variables.ptr())); },
        nb::arg("variables"));
    add_log(module);
    add_columns(module);
    add_recogniser(module);
    add_rings(module);
    add_decentral(module);
    nb::class_<Checkpoint>(module, "Checkpoint");
    nb::class_<Part>(module, "Part").def(nb::init<>()).def("begin", &Part::begin, nb::arg("number"));
    nb::class_<PyMonitor> monitor(module, "Monitor", nb::type_slots(gc_slots));
    add_noted(monitor);
    monitor
        .def("__init__", &construct, nb::kw_only(), nb::arg("parameters"), nb::arg("modes"), nb::arg("events"),
             nb::arg("machines"), nb::arg("binding"), nb::arg("connected"), nb::arg("immediate"), nb::arg("variables"),
             nb::arg("history"), nb::arg("max_live"), nb::arg("per_thread"), nb::arg("synchronized"),
             nb::arg("decentralized"), nb::arg("report").none(), nb::arg("admit").none(), nb::arg("fork").none(),
             nb::arg("save").none(), nb::arg("load").none(), nb::arg("fault").none(), nb::arg("codes"),
             nb::arg("names"))
        .def("emitter", &emitter, nb::arg("event"))
        .def("emit", &emit, nb::arg("event"), nb::arg("values"))
        .def("row", &row, nb::arg("event"), nb::arg("values"), nb::arg("time").none(), nb::arg("thread").none(),
             nb::arg("location"), nb::arg("is_source"), nb::arg("number"))
        .def("release", &release, nb::arg("values"), nb::arg("thread").none())
        .def("run", &run, nb::arg("data"), nb::arg("source"), nb::arg("first_row"), nb::arg("skip_bad_rows"))
        .def(
            "reset",
            [](PyMonitor& self, Reference instance, bool reported) {
                const auto& [engine, kind, id, serial] = instance;
                return self.reset(engine, {nullptr, kind, id, serial}, reported);
            },
            nb::arg("instance"), nb::arg("reported"))
        .def("look_beyond", &PyMonitor::look_beyond, nb::arg("folder"), nb::arg("but") = std::vector<std::string>())
        .def("number_by", &PyMonitor::number_by, nb::arg("part"))
        .def_prop_rw("caching", &PyMonitor::caching, &PyMonitor::set_caching)
        .def("slices", &slices)
        .def(
            "put",
            [](PyMonitor& self, Reference instance, std::uint32_t state) {
                const auto& [engine, kind, id, serial] = instance;
                const bool done = self.put(engine, {nullptr, kind, id, serial}, state);
                if (PyErr_Occurred() != nullptr) raise_python();
                return done;
            },
            nb::arg("slice"), nb::arg("state"))
        .def("occupied", &occupied)
        .def(
            "use_names", [](PyMonitor& self, nb::dict names) { self.use_names(names.ptr()); }, nb::arg("names"))
        .def("listen", &listen, nb::arg("change").none(), nb::arg("unmatched").none(), nb::arg("heeded"))
        .def("checkpoint", &checkpoint)
        .def("rewind", &go_back, nb::arg("checkpoint"))
        .def("ignore", [](PyMonitor& self) { ++self.core().ignored; })
        .def("stats", &stats)
        .def("instances", &instances, nb::arg("recalled") = nb::none())
        .def("snapshot", &snapshot)
        .def("restore", &restore, nb::arg("items"))
        .def("close", &PyMonitor::close)
        .def_prop_ro("closed", &PyMonitor::closed)
        .def("wish", [](PyMonitor& self, const nb::object& error) {
            PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
            self.fault();
        });
    module.def("is_wish", [](const nb::object& error) { return is_wish(error.ptr()); }, nb::arg("error"));
    add_replay(module);
}
