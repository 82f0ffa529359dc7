#define Py_BUILD_CORE 1  // see feeds.hpp
#include "feeds.hpp"

#include "carried.hpp"
#include "saved_error.hpp"

namespace mopsus::python {

namespace {

std::int64_t remember(const Feed& feed, PyObject* const* values) {
    if (is_carrier(feed.remember.get())) return carry(feed.remember.get(), values, feed.sources.size());
    const SavedError saved;
    const Owned number(PyObject_Vectorcall(feed.remember.get(), values, feed.sources.size(), nullptr));
    const long long found = number ? PyLong_AsLongLong(number.get()) : 0;
    return PyErr_Occurred() == nullptr ? found : 0;
}

// False with an exception set if the program is to stop; errors are told, and change nothing.
bool send(const Feed& feed, PyObject* const* values, double began) {
    const auto call = [&] { return Owned(PyObject_Vectorcall(feed.emit.get(), values, feed.sources.size(), nullptr)); };
    Owned done;
    if (feed.monitor != nullptr) {
        const PyMonitor::Numbers numbers = [&] { return remember(feed, values); };
        const PyMonitor::From from(*feed.monitor, feed.place, feed.remember ? &numbers : nullptr, began);
        done = call();
    } else {
        done = call();
    }
    if (done) return true;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
    if (PyErr_ExceptionMatches(errors.closed))
        PyErr_Clear();
    else
        PyErr_WriteUnraisable(feed.emit.get());
    return true;
}

// By property, a byte for each state: does it need the event?
bool read_needs(Feed& feed, PyObject* given) {
    for (Py_ssize_t k = 0; given != Py_None && k < PyTuple_GET_SIZE(given); ++k) {
        char* states = nullptr;
        Py_ssize_t count = 0;
        if (PyBytes_AsStringAndSize(PyTuple_GET_ITEM(given, k), &states, &count) != 0) return false;
        feed.needs.emplace_back(states, states + count);
    }
    return true;
}

// Of a monitor that has several events here, only those are sent that it needs at that moment.
void choose(std::vector<Feed>& feeds) {
    for (Feed& feed : feeds) {
        const auto same = [&](const Feed& other) { return other.monitor == feed.monitor; };
        feed.chosen = !feed.needs.empty() && feed.monitor != nullptr && std::count_if(feeds.begin(), feeds.end(), same) > 1;
    }
}

}  // namespace

bool Values::send(const std::vector<Feed>& feeds, double began) const {
    PyObject* const* at = values_.data();
    std::uint64_t wanted = wanted_of(feeds);
    for (const Feed& feed : feeds) {
        if ((wanted & 1) != 0 && !python::send(feed, at, began)) return false;
        wanted >>= 1;
        at += feed.sources.size();
    }
    return true;
}

Owned Values::list(const std::vector<Feed>& feeds) const {
    Owned found(PyList_New(0));
    std::size_t at = 0;
    for (const Feed& feed : feeds) {
        Owned values(PyTuple_New(static_cast<Py_ssize_t>(feed.sources.size())));
        if (!found || !values) return {};
        for (std::size_t k = 0; k < feed.sources.size(); ++k, ++at)
            PyTuple_SET_ITEM(values.get(), static_cast<Py_ssize_t>(k), Py_NewRef(values_[at] != nullptr ? values_[at] : Py_None));
        const Owned pair(PyTuple_Pack(2, feed.name.get(), values.get()));
        if (!pair || PyList_Append(found.get(), pair.get()) != 0) return {};
    }
    return found;
}

bool read_feeds(std::vector<Feed>& feeds, PyObject* given) {
    const Owned items(PySequence_Fast(given, "events are a sequence"));
    if (!items) return false;
    std::size_t count = 0;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(items.get()); ++k) {
        PyObject *emit = nullptr, *sources = nullptr, *name = nullptr, *remember = nullptr, *needs = nullptr;
        if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(items.get(), k), "OO!OOO", &emit, &PyTuple_Type, &sources, &name, &remember, &needs))
            return false;
        Feed feed;
        if (!read_needs(feed, needs)) return false;
        if (remember != Py_None) feed.remember = Owned(Py_NewRef(remember));
        feed.emit = Owned(Py_NewRef(emit));
        feed.name = Owned(Py_NewRef(name));
        feed.monitor = emission_of(emit).monitor;
        for (Py_ssize_t n = 0; n < PyTuple_GET_SIZE(sources); ++n) {
            PyObject *names = nullptr, *type = nullptr;
            ValueSource source;
            if (!PyArg_ParseTuple(PyTuple_GET_ITEM(sources, n), "iO!Op", &source.argument, &PyTuple_Type, &names, &type, &source.shared)) return false;
            for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names); ++k) source.attributes.emplace_back(Py_NewRef(PyTuple_GET_ITEM(names, k)));
            if (type != Py_None) source.type = Owned(Py_NewRef(type));
            feed.sources.push_back(std::move(source));
        }
        count += feed.sources.size();
        feeds.push_back(std::move(feed));
    }
    choose(feeds);
    if (feeds.size() > kMostEvents) PyErr_Format(PyExc_ValueError, "some code has at most %zu events", kMostEvents);
    if (count > kMostValues) PyErr_Format(PyExc_ValueError, "events of some code have at most %zu values", kMostValues);
    return feeds.size() <= kMostEvents && count <= kMostValues;
}

}  // namespace mopsus::python
