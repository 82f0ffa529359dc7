// `Carried`, a ring of what the last events carried, by their numbers, and `Carrier`, which fills it with events of one
// kind. An event costs a tuple: what can change or must not be kept alive is left out, and nothing is looked at before
// somebody reads a witness.
#include "carried.hpp"
#include "bind/saved_error.hpp"

#include <structmember.h>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "weave/taps.hpp"

namespace mopsus::python {

namespace {

struct Carried {
    PyObject_HEAD
    unsigned long long count;  // of events so far: the number of the last one
    std::vector<Owned> last;   // a ring: the record of an event lies at its number
};

struct Carrier {
    PyObject_HEAD
    PyObject *carried, *kind, *address;
    Py_ssize_t parameters;
    unsigned long long addresses;  // a bit for each parameter that was one in some event
};

PyTypeObject* carrier_type = nullptr;

Carried* as_carried(PyObject* object) { return reinterpret_cast<Carried*>(object); }
Carrier* as_carrier(PyObject* object) { return reinterpret_cast<Carrier*>(object); }

std::int64_t keep(Carried* carried, Owned record) {
    carried->last[++carried->count % carried->last.size()] = std::move(record);
    return static_cast<std::int64_t>(carried->count);
}

bool is_scalar(PyObject* value) {
    return PyLong_Check(value) || PyUnicode_Check(value) || PyFloat_Check(value) || PyBytes_Check(value) ||
           value == Py_None;
}

// The kind, then for each parameter whether it was an address, then the fields, `...` for those that are left out.
Owned record_of(Carrier* carrier, PyObject* const* values, Py_ssize_t count) {
    Owned record(PyTuple_New(count + 1));
    if (!record) return {};
    PyTuple_SET_ITEM(record.get(), 0, Py_NewRef(carrier->kind));
    for (Py_ssize_t k = 0; k < count; ++k) {
        PyObject* kept = is_scalar(values[k]) ? values[k] : Py_Ellipsis;
        if (k < carrier->parameters) {
            const bool is_address = reinterpret_cast<PyObject*>(Py_TYPE(values[k])) == carrier->address;
            if (is_address) carrier->addresses |= 1ull << k;
            kept = is_address ? Py_True : Py_False;
        }
        PyTuple_SET_ITEM(record.get(), k + 1, Py_NewRef(kept));
    }
    PyObject_GC_UnTrack(record.get());  // nothing in it leads anywhere
    return record;
}

// ---- Carried ----

PyObject* make_carried(PyTypeObject* type, PyObject* args, PyObject*) {
    Py_ssize_t limit = 0;
    if (!PyArg_ParseTuple(args, "n", &limit)) return nullptr;
    if (limit < 1) return PyErr_Format(PyExc_ValueError, "at least one event is kept");
    PyObject* object = type->tp_alloc(type, 0);
    if (object == nullptr) return nullptr;
    new (&as_carried(object)->last) std::vector<Owned>(static_cast<std::size_t>(limit));
    return object;
}

void drop_carried(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    std::destroy_at(&as_carried(object)->last);
    type->tp_free(object);
    Py_DECREF(type);
}

PyObject* add(PyObject* object, PyObject* record) {
    return PyLong_FromLongLong(keep(as_carried(object), Owned(Py_NewRef(record))));
}

PyObject* skip(PyObject* object, PyObject* count) {
    const unsigned long long more = PyLong_AsUnsignedLongLong(count);
    if (PyErr_Occurred() != nullptr) return nullptr;
    Carried* carried = as_carried(object);
    if (more != 0)
        for (Owned& each : carried->last) each = Owned();
    carried->count += more;
    Py_RETURN_NONE;
}

PyObject* at(PyObject* object, PyObject* number) {
    const unsigned long long wanted = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() != nullptr) return nullptr;
    Carried* carried = as_carried(object);
    const bool there = wanted != 0 && wanted <= carried->count && carried->count - wanted < carried->last.size();
    PyObject* record = there ? carried->last[wanted % carried->last.size()].get() : nullptr;
    return Py_NewRef(record != nullptr ? record : Py_None);
}

PyMethodDef carried_methods[] = {
    {"add", add, METH_O, "Keep a record of one more event; its number."},
    {"skip", skip, METH_O, "So many more events, of which nothing is kept, nor of those before."},
    {"at", at, METH_O, "The record of the event with a number; None if it is not kept any more."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef carried_members[] = {
    {"count", T_ULONGLONG, offsetof(Carried, count), READONLY, "How many events there were."},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot carried_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make_carried)},
    {Py_tp_dealloc, reinterpret_cast<void*>(drop_carried)},
    {Py_tp_methods, carried_methods},
    {Py_tp_members, carried_members},
    {Py_tp_doc, const_cast<char*>("What the last events carried, by their numbers.")},
    {0, nullptr},
};

PyType_Spec carried_spec = {"mopsus._core.Carried", sizeof(Carried), 0, Py_TPFLAGS_DEFAULT, carried_slots};

// ---- Carrier ----

PyObject* make_carrier(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *carried = nullptr, *kind = nullptr, *address = nullptr;
    Py_ssize_t parameters = 0;
    if (!PyArg_ParseTuple(args, "OOnO", &carried, &kind, &parameters, &address)) return nullptr;
    if (Py_TYPE(carried)->tp_dealloc != drop_carried)
        return PyErr_Format(PyExc_TypeError, "events are kept by a Carried");
    PyObject* object = type->tp_alloc(type, 0);
    if (object == nullptr) return nullptr;
    Carrier* carrier = as_carrier(object);
    carrier->carried = Py_NewRef(carried);
    carrier->kind = Py_NewRef(kind);
    carrier->address = Py_NewRef(address);
    carrier->parameters = parameters;
    return object;
}

void drop_carrier(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    const Carrier* carrier = as_carrier(object);
    for (PyObject* each : {carrier->carried, carrier->kind, carrier->address}) Py_XDECREF(each);
    type->tp_free(object);
    Py_DECREF(type);
}

PyObject* call(PyObject* object, PyObject* values, PyObject*) {
    return PyLong_FromLongLong(
        carry(object, &PyTuple_GET_ITEM(values, 0), static_cast<std::size_t>(PyTuple_GET_SIZE(values))));
}

PyMemberDef carrier_members[] = {
    {"addresses", T_ULONGLONG, offsetof(Carrier, addresses), READONLY,
     "A bit for each parameter that was an address in some event."},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot carrier_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make_carrier)},
    {Py_tp_dealloc, reinterpret_cast<void*>(drop_carrier)},
    {Py_tp_call, reinterpret_cast<void*>(call)},
    {Py_tp_members, carrier_members},
    {Py_tp_doc,
     const_cast<char*>(
         "Keeps what events of one kind carry; called with their values, it gives the number of the event.")},
    {0, nullptr},
};

PyType_Spec carrier_spec = {"mopsus._core.Carrier", sizeof(Carrier), 0, Py_TPFLAGS_DEFAULT, carrier_slots};

}  // namespace

bool is_carrier(const PyObject* object) { return object != nullptr && Py_TYPE(object) == carrier_type; }

std::int64_t carry(PyObject* carrier, PyObject* const* values, std::size_t count) {
    Owned record = record_of(as_carrier(carrier), values, static_cast<Py_ssize_t>(count));
    if (!record) {
        forget_error();
        return 0;
    }
    return keep(as_carried(as_carrier(carrier)->carried), std::move(record));
}

bool prepare_carried(PyObject* module) {
    const Owned ring(PyType_FromSpec(&carried_spec)), carrier(PyType_FromSpec(&carrier_spec));
    if (!ring || !carrier) return false;
    carrier_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(carrier.get()));
    return PyModule_AddObjectRef(module, "Carried", ring.get()) == 0 &&
           PyModule_AddObjectRef(module, "Carrier", carrier.get()) == 0;
}

}  // namespace mopsus::python
