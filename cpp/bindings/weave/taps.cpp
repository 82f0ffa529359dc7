#include "taps.hpp"

#include <algorithm>
#include <array>

#include "classes.hpp"
#include "bind/saved_error.hpp"
#include "bind/unobserved.hpp"

namespace mopsus::python {

namespace {

Owned attribute(PyObject* object, const char* name) { return Owned(PyObject_GetAttrString(object, name)); }

Owned optional_attribute(PyObject* object, const char* name) {
    Owned value = attribute(object, name);
    return value.get() == Py_None ? Owned() : std::move(value);
}

// -1 with an exception set if it is no number.
Py_ssize_t number(const Owned& value) { return value ? PyLong_AsSsize_t(value.get()) : -1; }

// What a class and static method stand for.
bool stands_for(PyObject* found, PyObject* place) {
    if (found == place) return true;
    if (found == nullptr ||
        (!PyObject_TypeCheck(found, &PyStaticMethod_Type) && !PyObject_TypeCheck(found, &PyClassMethod_Type)))
        return false;
    const Owned inner = attribute(found, "__func__");
    if (!inner) PyErr_Clear();
    return inner.get() == place;
}

// Is the callable what the target's type has under its name, or, for a class, what that class itself has?
bool is_entry(const Occasion& at) {
    if (at.target == nullptr || at.name == nullptr) return true;
    if (stands_for(_PyType_Lookup(Py_TYPE(at.target), at.name), at.place)) return true;
    return PyType_Check(at.target) &&
           stands_for(_PyType_Lookup(reinterpret_cast<PyTypeObject*>(at.target), at.name), at.place);
}

PyObject* named_argument(const Occasion& at, PyObject* name) {
    const Py_ssize_t count = at.names != nullptr ? PyTuple_GET_SIZE(at.names) : 0;
    for (Py_ssize_t k = 0; k < count; ++k) {
        PyObject* given = PyTuple_GET_ITEM(at.names, k);
        if (given == name || PyUnicode_Compare(given, name) == 0) return at.arguments[at.positional + k];
    }
    return nullptr;
}

// A function of a module that is there only if the program has imported it.
Owned call_imported(const char* module, const char* function) {
    PyObject* loaded = PyDict_GetItemString(PyImport_GetModuleDict(), module);
    if (loaded == nullptr) return Owned();
    const Unobserved unobserved;
    Owned value(PyObject_CallMethod(loaded, function, nullptr));
    if (!value) forget_error();  // no event loop runs here
    return value.get() == Py_None ? Owned() : std::move(value);
}

Owned current_thread() {
    static PyObject* function = nullptr;
    const Unobserved unobserved;
    if (function == nullptr) {
        const Owned module(PyImport_ImportModule("threading"));
        if (module) function = PyObject_GetAttrString(module.get(), "current_thread");
    }
    Owned value(function != nullptr ? PyObject_CallNoArgs(function) : nullptr);
    if (!value) forget_error();
    return value;
}

}  // namespace

// ---- serving ----

bool Tap::applies(const Occasion& at) const {
    if (target && (at.target == nullptr || !(exact ? is_exactly_of : is_instance_of)(target.get(), at.target)))
        return false;
    return !entry || is_entry(at);
}

bool Tap::counts(const Occasion& at) const {
    const Py_ssize_t given = at.positional + (at.names != nullptr ? PyTuple_GET_SIZE(at.names) : 0);
    return given >= at_least && (at_most < 0 || given <= at_most);
}

bool Tap::concerns(PyObject* object) const {
    if (target && !(exact ? is_exactly_of : is_instance_of)(target.get(), object)) return false;
    return std::all_of(sources.begin(), sources.end(), [&](const Source& source) {
        return source.kind != From::Target || !source.types || is_instance_of(source.types.get(), object);
    });
}

bool Taps::concern(PyObject* object) const {
    return std::any_of(all_.begin(), all_.end(), [&](const auto& tap) { return tap->concerns(object); });
}

bool Tap::find_out(const Occasion& at) const {
    PyTypeObject* type = Py_TYPE(at.target);
    const bool yes = applies(at);
    // A version of 0 is none; the next look-up gives the type one. Of classes, each may have an entry of its own.
    const bool lasting = !PyType_Check(at.target) && (!target || exact || is_settled(target.get(), at.target));
    if (const unsigned version = type->tp_version_tag; version != 0 && lasting) known_of(type) = {type, version, yes};
    return yes;
}

bool Tap::admitted(const Occasion& at) const {
    const Unobserved unobserved;
    const Untraced untraced;
    const Py_ssize_t before = at.target != nullptr ? 1 : 0;
    const Owned positional(PyTuple_New(before + at.positional));
    const Owned named(PyDict_New());
    if (!positional || !named) return forgiven();
    if (before != 0) PyTuple_SET_ITEM(positional.get(), 0, Py_NewRef(at.target));
    for (Py_ssize_t k = 0; k < at.positional; ++k)
        PyTuple_SET_ITEM(positional.get(), before + k, Py_NewRef(at.arguments[k]));
    const Py_ssize_t count = at.names != nullptr ? PyTuple_GET_SIZE(at.names) : 0;
    for (Py_ssize_t k = 0; k < count; ++k)
        if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(at.names, k), at.arguments[at.positional + k]) < 0)
            PyErr_Clear();
    const Owned verdict(PyObject_CallFunctionObjArgs(admits.get(), positional.get(), named.get(), nullptr));
    return verdict && PyObject_IsTrue(verdict.get()) == 1;
}

// The values of the sources, and what keeps them alive that nobody else does.
struct Tap::Chosen {
    std::array<PyObject*, kMaxParameters> values;
    Owned thread, task;
};

// False if there is no value for a source, or none that suits.
bool Tap::choose(const Occasion& at, Chosen& chosen) const {
    for (std::size_t k = 0; k < sources.size(); ++k) {
        const Source& source = sources[k];
        PyObject* value = nullptr;
        switch (source.kind) {
            case From::Target: value = at.target; break;
            case From::Result: value = at.result; break;
            case From::Exception: value = at.exception; break;
            case From::Argument:
                if (source.index >= 0 && source.index < at.positional) value = at.arguments[source.index];
                if (value == nullptr && source.name) value = named_argument(at, source.name.get());
                if (value == nullptr) value = source.fallback.get();
                break;
            case From::Thread:
                chosen.thread = current_thread();
                value = chosen.thread.get();
                break;
            case From::Task:
                chosen.task = call_imported("asyncio", "current_task");
                value = chosen.task.get();
                break;
        }
        if (value == nullptr || (source.types && !is_instance_of(source.types.get(), value))) return false;
        chosen.values[k] = value;
    }
    return true;
}

bool Tap::serve_slowly(const Occasion& at) const {
    if (emission.monitor != nullptr && emission.monitor->closed()) return true;
    Chosen chosen;
    if (!(at.target != nullptr ? suits(at) : applies(at)) || !counts(at) || !choose(at, chosen)) return true;
    if (admits && !admitted(at)) return PyErr_Occurred() == nullptr || forgiven();
    return send(chosen.values.data());
}

Owned Tap::exchanged(const Occasion& at) const {
    Chosen chosen;
    if (!applies(at) || !counts(at) || !choose(at, chosen)) return Owned();
    const Unobserved unobserved;
    Owned made(PyObject_Vectorcall(emit.get(), chosen.values.data(), sources.size(), nullptr));
    if (!made) forgiven();
    return made;
}

bool Tap::send(PyObject* const* values) const {
    if (emission.monitor != nullptr) {
        if (bare) {
            const PyMonitor::Quiet quiet = emission.monitor->emit_quietly(emission.event, values[0]);
            if (quiet != PyMonitor::Quiet::No) return quiet == PyMonitor::Quiet::Done || forgiven();
        }
        const auto wait = moment == Moment::Around ? PyMonitor::Wait::Always : PyMonitor::Wait::IfAsked;
        return emission.monitor->emit(emission.event, values, wait) || forgiven();
    }
    const Unobserved unobserved;
    const Owned done(PyObject_Vectorcall(emit.get(), values, sources.size(), nullptr));
    return done || forgiven();
}

// What went wrong is told and forgotten; only what is for the program is left to be raised.
bool Tap::forgiven() const {
    if (!PyErr_ExceptionMatches(PyExc_Exception) || (emission.monitor != nullptr && emission.monitor->grants()))
        return false;
    if (emission.monitor == nullptr) {
        const Unobserved unobserved;
        PyErr_WriteUnraisable(emit.get());
    } else if (PyErr_ExceptionMatches(errors.closed)) {
        PyErr_Clear();
    } else {
        emission.monitor->fault({-1, static_cast<std::int32_t>(emission.event), nullptr});
    }
    return true;
}

Tap::~Tap() {
    if (target) remove_user(target.get(), this);
}

int Tap::traverse(visitproc visit, void* arg) const {
    for (const Owned* one : {&emit, &admits}) Py_VISIT(one->get());
    for (const Source& source : sources) Py_VISIT(source.fallback.get());
    return 0;
}

// ---- making ----

namespace {

// The parameters of a callable as `inspect` knows them, without the target; null (and no exception) if it does not.
Owned parameters_of(PyObject* original, bool has_target) {
    const Owned inspect(PyImport_ImportModule("inspect"));
    const Owned signature(inspect ? PyObject_CallMethod(inspect.get(), "signature", "O", original) : nullptr);
    const Owned parameters(signature ? PyObject_GetAttrString(signature.get(), "parameters") : nullptr);
    const Owned values(parameters ? PyObject_CallMethod(parameters.get(), "values", nullptr) : nullptr);
    Owned all(values ? PySequence_List(values.get()) : nullptr);
    if (all && has_target && PyList_GET_SIZE(all.get()) > 0) {
        const Owned first = attribute(PyList_GET_ITEM(all.get(), 0), "kind");
        // A function that takes `*args` takes its target among them.
        if (number(first) < 2 && PyList_SetSlice(all.get(), 0, 1, nullptr) < 0) all = Owned();
    }
    forget_error();
    return all;
}

// Let the signature say what the source leaves open: the name or the position of an argument, and its default value.
void complete(Tap::Source& source, const Owned& parameters) {
    if (!parameters) return;
    bool found = false;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(parameters.get()) && !found; ++k) {
        PyObject* parameter = PyList_GET_ITEM(parameters.get(), k);
        Owned name = attribute(parameter, "name");
        Owned fallback = attribute(parameter, "default");
        const Owned nothing = attribute(parameter, "empty");
        const Py_ssize_t kind =
            number(attribute(parameter, "kind"));  // 0, 1: by position; 1, 3: by name; else: the rest
        if (PyErr_Occurred() != nullptr) break;
        if (kind == 2 || kind == 4) continue;
        found = source.name ? PyUnicode_Compare(name.get(), source.name.get()) == 0 : k == source.index && kind != 3;
        if (!found) continue;
        source.index = kind == 3 ? -1 : k;
        if (kind != 0) source.name = std::move(name);
        if (fallback.get() != nothing.get()) source.fallback = std::move(fallback);
    }
    forget_error();
    if (!found && source.name) source.index = -1;  // one of `**kwargs`
}

// The classes that are asked for: given as such, as a class or as a tuple of some; none for None.
Owned as_classes(PyObject* given) {
    if (given == nullptr || given == Py_None) return Owned();
    if (are_classes(given)) return Owned(Py_NewRef(given));
    const Owned several(PyTuple_Check(given) ? Py_NewRef(given) : PyTuple_Pack(1, given));
    return several ? make_classes(several.get()) : Owned();
}

bool read_source(Tap::Source& source, PyObject* object) {
    const Py_ssize_t kind = number(attribute(object, "kind"));
    source.index = number(attribute(object, "index"));
    source.name = optional_attribute(object, "name");
    if (PyErr_Occurred() != nullptr) return false;
    source.kind = static_cast<Tap::From>(kind);
    if (kind < 0 || kind > static_cast<Py_ssize_t>(Tap::From::Task))
        PyErr_SetString(PyExc_ValueError, "a source of an unknown kind");
    return PyErr_Occurred() == nullptr;
}

bool read(Tap& tap, PyObject* object) {
    const Py_ssize_t moment = number(attribute(object, "moment"));
    tap.emit = attribute(object, "emit");
    tap.admits = optional_attribute(object, "admits");
    tap.target = as_classes(attribute(object, "target").get());
    const Owned exact = attribute(object, "exact");
    const Owned entry = attribute(object, "entry");
    const Owned at_most = optional_attribute(object, "at_most");
    const Py_ssize_t at_least = number(attribute(object, "at_least"));
    const Owned sources(PySequence_Fast(attribute(object, "sources").get(), "the sources of a tap are a tuple"));
    const Owned types(PySequence_Fast(attribute(object, "types").get(), "the types of a tap are a tuple"));
    if (PyErr_Occurred() != nullptr) return false;
    tap.moment = static_cast<Tap::Moment>(moment);
    tap.exact = PyObject_IsTrue(exact.get()) == 1;
    tap.entry = PyObject_IsTrue(entry.get()) == 1;
    tap.at_most = at_most ? number(at_most) : -1;
    tap.at_least = at_least;
    tap.emission = emission_of(tap.emit.get());
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(sources.get());
    const Py_ssize_t typed = PySequence_Fast_GET_SIZE(types.get());
    const EventDecl* event =
        tap.emission.monitor == nullptr ? nullptr : &tap.emission.monitor->core().program().events[tap.emission.event];
    const Py_ssize_t arity = event == nullptr ? count : static_cast<Py_ssize_t>(event->values());
    tap.bare = event != nullptr && event->parameters.size() == 1 && event->fields.empty();
    if (moment < 0 || moment > static_cast<Py_ssize_t>(Tap::Moment::Getting))
        PyErr_SetString(PyExc_ValueError, "a tap of an unknown moment");
    if (count != arity || count > static_cast<Py_ssize_t>(kMaxParameters))
        PyErr_SetString(PyExc_ValueError, "a tap has as many sources as its event has values");
    if (typed > count) PyErr_SetString(PyExc_ValueError, "a tap has more types than sources");
    tap.sources.resize(static_cast<std::size_t>(count));
    for (Py_ssize_t k = 0; k < count && PyErr_Occurred() == nullptr; ++k) {
        Tap::Source& source = tap.sources[static_cast<std::size_t>(k)];
        if (!read_source(source, PySequence_Fast_GET_ITEM(sources.get(), k))) break;
        source.types = as_classes(k < typed ? PySequence_Fast_GET_ITEM(types.get(), k) : Py_None);
    }
    return PyErr_Occurred() == nullptr;
}

bool is_simple(const Tap& tap) {
    return tap.bare && tap.sources[0].kind == Tap::From::Target && !tap.sources[0].types && !tap.admits &&
           tap.at_most < 0 && tap.at_least == 0;
}

}  // namespace

Taps* Taps::make(PyObject* objects, PyObject* original, bool has_target) {
    auto made = std::make_unique<Taps>();
    made->objects_ = Owned(PySequence_Tuple(objects));
    if (!made->objects_) return nullptr;
    Owned parameters;
    bool asked = original == nullptr;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(made->objects_.get()); ++k) {
        auto tap = std::make_unique<Tap>();
        if (!read(*tap, PyTuple_GET_ITEM(made->objects_.get(), k))) return nullptr;
        for (Tap::Source& source : tap->sources) {
            if (source.kind != Tap::From::Argument) continue;
            if (!std::exchange(asked, true)) parameters = parameters_of(original, has_target);
            complete(source, parameters);
        }
        // A type that the target has to have anyway is asked for once.
        Tap::Source* only = tap->sources.size() == 1 ? tap->sources.data() : nullptr;
        if (only != nullptr && only->kind == Tap::From::Target && !tap->target && !tap->exact)
            tap->target = std::move(only->types);
        tap->by_type = tap->target || tap->entry;
        if (tap->target) add_user(tap->target.get(), tap.get());
        tap->simple = is_simple(*tap);
        switch (tap->moment) {
            case Tap::Moment::Around: made->around.push_back(tap.get()); break;
            case Tap::Moment::Before: made->before.push_back(tap.get()); break;
            case Tap::Moment::Returning: made->returning.push_back(tap.get()); break;
            case Tap::Moment::Raising: made->raising.push_back(tap.get()); break;
            case Tap::Moment::Giving: made->giving.push_back(tap.get()); break;
            case Tap::Moment::Getting: made->getting.push_back(tap.get()); break;
            case Tap::Moment::After:
                made->returning.push_back(tap.get());
                made->raising.push_back(tap.get());
                break;
        }
        made->all_.push_back(std::move(tap));
    }
    return made.release();
}

int Taps::traverse(visitproc visit, void* arg) const {
    Py_VISIT(objects_.get());
    for (const auto& tap : all_)
        if (const int stop = tap->traverse(visit, arg); stop != 0) return stop;
    return 0;
}

// ---- in place of what happens ----

namespace {
thread_local Skippable* innermost = nullptr;
}

Skippable::Skippable() : outer_(std::exchange(innermost, this)) {}
Skippable::~Skippable() { innermost = outer_; }

bool skip(PyObject* result) {
    if (innermost == nullptr) return false;
    innermost->result_ = Owned(Py_NewRef(result));
    return true;
}

}  // namespace mopsus::python
