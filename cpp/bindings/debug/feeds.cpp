#define Py_BUILD_CORE 1  // see feeds.hpp
#include "feeds.hpp"

namespace mopsus::python {

namespace {

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
        feed.chosen =
            !feed.needs.empty() && feed.monitor != nullptr && std::count_if(feeds.begin(), feeds.end(), same) > 1;
    }
}

}  // namespace

Owned Values::list(const std::vector<Feed>& feeds) const {
    Owned found(PyList_New(0));
    std::size_t at = 0;
    for (const Feed& feed : feeds) {
        Owned values(PyTuple_New(static_cast<Py_ssize_t>(feed.sources.size())));
        if (!found || !values) return {};
        for (std::size_t k = 0; k < feed.sources.size(); ++k, ++at)
            PyTuple_SET_ITEM(values.get(), static_cast<Py_ssize_t>(k),
                             Py_NewRef(values_[at] != nullptr ? values_[at] : Py_None));
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
        if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(items.get(), k), "OO!OOO", &emit, &PyTuple_Type, &sources, &name,
                              &remember, &needs))
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
            if (!PyArg_ParseTuple(PyTuple_GET_ITEM(sources, n), "iO!Op", &source.argument, &PyTuple_Type, &names, &type,
                                  &source.shared))
                return false;
            for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names); ++k)
                source.attributes.emplace_back(Py_NewRef(PyTuple_GET_ITEM(names, k)));
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
