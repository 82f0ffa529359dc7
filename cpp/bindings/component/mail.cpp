// `_core.Mail`: tells listeners of messages that are put into queues and taken from them. Whoever nobody wants to hear
// of costs next to nothing; everything that is not of every day is left to Python.
#include "mail.hpp"

#include <structmember.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "component.hpp"
#include "bind/saved_error.hpp"
#include "weave/taps.hpp"

namespace mopsus::python {

namespace {

struct Mail {
    PyObject_HEAD
    PyObject* listeners;  // list of pairs: a listener, and a dict with the components that it hears of (None: all)
    PyObject* known;      // dict of mailboxes by the identity of their queues, each after a weak reference to it
    PyObject* mailbox;    // finds, or makes, the mailbox of a queue
    PyObject* adopt;      // makes a component for a thread that nobody knows
    PyObject* nobody;     // the component whose events are nobody's
    PyObject* told;       // a message as listeners see it
    PyObject* plain;      // frozenset of types whose values they see as they are
    PyObject* resolvers;  // dict: by type, what says which address an object stands for; None: it stands for none
    PyObject* libraries;  // tuple of packages whose own messages are nobody's; empty: there are none
    PyObject* fault;      // takes an error of a listener
    PyObject *send, *recv;
};

PyTypeObject* mail_type = nullptr;

struct Names {
    PyObject *pid, *to, *address, *consumer, *taken_by, *name;
} names;

Mail* as_mail(PyObject* object) { return reinterpret_cast<Mail*>(object); }

// Does what is called now belong to a library that does it on its own account?
bool of_library(const Mail* self) {
    const Py_ssize_t count = PyTuple_GET_SIZE(self->libraries);
    if (count == 0) return false;
    PyObject* globals = PyEval_GetGlobals();
    PyObject* module = globals != nullptr ? PyDict_GetItemWithError(globals, names.name) : nullptr;
    if (module == nullptr || !PyUnicode_CheckExact(module) || !PyUnicode_IS_COMPACT_ASCII(module)) return false;
    const std::string_view text(static_cast<const char*>(PyUnicode_DATA(module)),
                                static_cast<std::size_t>(PyUnicode_GET_LENGTH(module)));
    for (Py_ssize_t k = 0; k < count; ++k) {
        Py_ssize_t size = 0;
        const char* library = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(self->libraries, k), &size);
        const auto length = static_cast<std::size_t>(size);
        if (text.starts_with(std::string_view(library, length)) && (text.size() == length || text[length] == '.'))
            return true;
    }
    return false;
}

// The identifier of the component that does it; nothing, with or without an exception set, if it is nobody.
Owned subject(const Mail* self) {
    Owned component(Py_XNewRef(current_component()));
    if (!component) component = Owned(PyObject_CallNoArgs(self->adopt));
    if (!component || component.get() == self->nobody) return Owned();
    return Owned(PyObject_GetAttr(component.get(), names.pid));
}

Owned mailbox_of(const Mail* self, PyObject* queue) {
    const Owned key(PyLong_FromVoidPtr(queue));
    if (!key) return Owned();
    PyObject* found = PyDict_GetItemWithError(self->known, key.get());
    if (found != nullptr && PyTuple_CheckExact(found) && PyTuple_GET_SIZE(found) == 2)
        return Owned(Py_NewRef(PyTuple_GET_ITEM(found, 1)));
    return PyErr_Occurred() == nullptr ? Owned(PyObject_CallOneArg(self->mailbox, queue)) : Owned();
}

// To whom a message goes that is put into this queue now.
Owned address_of(const Mail* self, PyObject* queue) {
    const Owned box = mailbox_of(self, queue);
    if (!box) return Owned();
    Owned to(PyObject_GetAttr(box.get(), names.to));
    return !to || to.get() != Py_None ? std::move(to) : Owned(PyObject_CallMethodNoArgs(box.get(), names.address));
}

bool is_plain(const Mail* self, PyObject* value) {
    return PySet_Contains(self->plain, reinterpret_cast<PyObject*>(Py_TYPE(value))) == 1;
}

// What a part of a message is seen as; nothing if that is not known here.
Owned shown_part(const Mail* self, PyObject* value) {
    if (is_plain(self, value)) return Owned(Py_NewRef(value));
    PyObject* resolver = PyDict_GetItemWithError(self->resolvers, reinterpret_cast<PyObject*>(Py_TYPE(value)));
    if (resolver == nullptr) return Owned();
    if (resolver == Py_None) return Owned(Py_NewRef(value));
    const Owned key(PyLong_FromVoidPtr(value));
    PyObject* found = key ? PyDict_GetItemWithError(self->known, key.get()) : nullptr;
    if (found == nullptr) return Owned();
    Owned to(PyObject_GetAttr(PyTuple_GET_ITEM(found, 1), names.to));
    return to && to.get() != Py_None ? std::move(to) : Owned();
}

Owned shown(const Mail* self, PyObject* message) {
    if (is_plain(self, message)) return Owned(Py_NewRef(message));
    if (PyTuple_CheckExact(message)) {
        const Py_ssize_t count = PyTuple_GET_SIZE(message);
        Owned made(PyTuple_New(count));
        bool same = true, done = static_cast<bool>(made);
        for (Py_ssize_t k = 0; done && k < count; ++k) {
            Owned part = shown_part(self, PyTuple_GET_ITEM(message, k));
            done = static_cast<bool>(part);
            same = same && part.get() == PyTuple_GET_ITEM(message, k);
            if (done) PyTuple_SET_ITEM(made.get(), k, part.release());
        }
        if (done) return same ? Owned(Py_NewRef(message)) : std::move(made);
        forget_error();
    }
    return Owned(PyObject_CallOneArg(self->told, message));
}

// Errors of listeners are told and forgotten; a wish that the program stop is not.
bool forgiven(const Mail* self) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != nullptr) PyException_SetTraceback(value, trace);
    const Owned done(PyObject_CallOneArg(self->fault, value));
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return static_cast<bool>(done);
}

// Tell of a message by the shortest way: events of monitors, each with the name of the component whose they are.
bool tell_quickly(const Mail* self, PyObject* events, bool sends, PyObject* pid, PyObject* address, PyObject* data) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(events); ++k) {
        PyObject* event = PyTuple_GET_ITEM(events, k);
        const std::array<PyObject*, 4> values{PyTuple_GET_ITEM(event, 2), pid, sends ? address : data, data};
        const Owned done(
            PyObject_Vectorcall(PyTuple_GET_ITEM(event, sends ? 0 : 1), values.data(), sends ? 4 : 3, nullptr));
        if (!done && !forgiven(self)) return false;
    }
    return true;
}

// Tell those who want to hear of the component. `queue` is null if a message was taken. Where a message goes, and what
// the mailboxes in it stand for, is settled by the first one that is sent, whether or not anybody listens.
PyObject* tell(const Mail* self, PyObject* queue, PyObject* message) {
    const Owned pid = subject(self);
    if (!pid) return PyErr_Occurred() == nullptr ? Py_NewRef(Py_None) : nullptr;
    Owned address, data;
    const auto settle = [&] {
        address = queue != nullptr ? address_of(self, queue) : Owned(Py_NewRef(Py_None));
        data = address ? shown(self, message) : Owned();
        return static_cast<bool>(data);
    };
    if (queue != nullptr) {
        if (of_library(self)) Py_RETURN_NONE;
        if (!settle()) return nullptr;
    }
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(self->listeners); ++k) {  // it may change meanwhile
        const Owned pair(Py_NewRef(PyList_GET_ITEM(self->listeners, k)));
        PyObject* components = PyTuple_GET_ITEM(pair.get(), 1);
        const Owned events(components != Py_None ? Py_XNewRef(PyDict_GetItemWithError(components, pid.get()))
                                                 : Py_NewRef(Py_None));
        if (!events) {
            if (PyErr_Occurred() != nullptr) return nullptr;
            continue;
        }
        if (!data) {
            if (of_library(self)) break;
            if (!settle()) return nullptr;
        }
        if (PyTuple_CheckExact(events.get())) {
            if (!tell_quickly(self, events.get(), queue != nullptr, pid.get(), address.get(), data.get()))
                return nullptr;
            continue;
        }
        const std::array<PyObject*, 4> values{queue != nullptr ? self->send : self->recv, pid.get(), address.get(),
                                              data.get()};
        const Owned done(PyObject_Vectorcall(PyTuple_GET_ITEM(pair.get(), 0), values.data(), values.size(), nullptr));
        if (!done && !forgiven(self)) return nullptr;
    }
    Py_RETURN_NONE;
}

PyObject* sent(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    if (count != 2) return PyErr_Format(PyExc_TypeError, "sent takes a queue and a message");
    return tell(as_mail(object), args[0], args[1]);
}

PyObject* received(PyObject* object, PyObject* message) { return tell(as_mail(object), nullptr, message); }

PyObject* awaited(PyObject* object, PyObject* queue) {
    const Mail* self = as_mail(object);
    const Owned pid = subject(self);
    if (!pid || of_library(self)) return PyErr_Occurred() == nullptr ? Py_NewRef(Py_None) : nullptr;
    const Owned box = mailbox_of(self, queue);
    const Owned consumer(box ? PyObject_GetAttr(box.get(), names.consumer) : nullptr);
    if (!consumer) return nullptr;
    if (consumer.get() == pid.get()) Py_RETURN_NONE;
    return PyObject_CallMethodOneArg(box.get(), names.taken_by, pid.get());
}

// ---- making ----

constexpr std::array kFields = {&Mail::listeners, &Mail::known, &Mail::mailbox, &Mail::adopt,
                                &Mail::nobody,    &Mail::told,  &Mail::plain,   &Mail::resolvers,
                                &Mail::libraries, &Mail::fault, &Mail::send,    &Mail::recv};

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* named) {
    static const char* keywords[] = {"listeners", "known",     "mailbox", "adopt", "nobody", "told", "plain",
                                     "resolvers", "libraries", "fault",   "send",  "recv",   nullptr};
    std::array<PyObject*, kFields.size()> given{};
    if (!PyArg_ParseTupleAndKeywords(args, named, "$O!O!OOOOO!O!O!OOO", const_cast<char**>(keywords), &PyList_Type,
                                     &given[0], &PyDict_Type, &given[1], &given[2], &given[3], &given[4], &given[5],
                                     &PyFrozenSet_Type, &given[6], &PyDict_Type, &given[7], &PyTuple_Type, &given[8],
                                     &given[9], &given[10], &given[11]))
        return nullptr;
    auto* self = as_mail(type->tp_alloc(type, 0));
    if (self == nullptr) return nullptr;
    for (std::size_t k = 0; k < given.size(); ++k) self->*kFields[k] = Py_NewRef(given[k]);
    return reinterpret_cast<PyObject*>(self);
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(object));
    for (auto field : kFields) Py_VISIT(as_mail(object)->*field);
    return 0;
}

void dealloc(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    for (auto field : kFields) Py_XDECREF(as_mail(object)->*field);
    type->tp_free(object);
    Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"sent", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(sent)), METH_FASTCALL,
     "Something was put into a queue."},
    {"awaited", awaited, METH_O, "Something is about to be taken from a queue."},
    {"received", received, METH_O, "Something was taken from a queue."},
    {nullptr, nullptr, 0, nullptr},
};

template <class Function>
void* slot(Function function) {
    return reinterpret_cast<void*>(function);
}

PyType_Slot slots[] = {
    {Py_tp_new, slot(make)},
    {Py_tp_dealloc, slot(dealloc)},
    {Py_tp_traverse, slot(traverse)},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>("Tells listeners of what goes through queues.")},
    {0, nullptr},
};

PyType_Spec spec = {"mopsus._core.Mail", sizeof(Mail), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, slots};

}  // namespace

bool prepare_mail(PyObject* module) {
    names = {PyUnicode_InternFromString("pid"),      PyUnicode_InternFromString("to"),
             PyUnicode_InternFromString("address"),  PyUnicode_InternFromString("consumer"),
             PyUnicode_InternFromString("taken_by"), PyUnicode_InternFromString("__name__")};
    mail_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return names.name != nullptr && mail_type != nullptr &&
           PyModule_AddObjectRef(module, "Mail", reinterpret_cast<PyObject*>(mail_type)) == 0;
}

}  // namespace mopsus::python
