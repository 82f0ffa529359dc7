#include "accessor.hpp"

#include "depth.hpp"
#include "iterate.hpp"
#include "standin.hpp"
#include "taps.hpp"

namespace mopsus::python {

namespace {

struct Accessor {
    StandIn base;
    Taps *getting, *setting, *deleting;  // may be null
};

PyTypeObject* accessor_type = nullptr;

Accessor* as_accessor(PyObject* object) { return reinterpret_cast<Accessor*>(object); }

Occasion occasion_of(PyObject* object, PyObject* instance) {
    Occasion at;
    at.target = instance;
    at.place = object;
    at.name = as_stand_in(object)->name;
    return at;
}

PyObject* get(PyObject* object, PyObject* instance, PyObject* type) {
    PyObject* original = as_stand_in(object)->original;
    const auto read = [&]() -> PyObject* {
        const Depth depth;
        if (depth.refused()) return nullptr;
        return Py_TYPE(original)->tp_descr_get(original, instance, type);
    };
    PyObject* value =
        instance == nullptr ? read() : perform(as_accessor(object)->getting, occasion_of(object, instance), read);
    if (value != original) return value;
    Py_DECREF(value);
    return Py_NewRef(object);
}

int set(PyObject* object, PyObject* instance, PyObject* value) {
    const Accessor* self = as_accessor(object);
    PyObject* original = self->base.original;
    const auto assign = [&]() -> PyObject* {
        const Depth depth;
        if (depth.refused() || Py_TYPE(original)->tp_descr_set(original, instance, value) < 0) return nullptr;
        return Py_NewRef(Py_None);
    };
    Occasion at = occasion_of(object, instance);
    if (value != nullptr) {
        at.arguments = &value;
        at.positional = 1;
    }
    const Owned done(perform(value != nullptr ? self->setting : self->deleting, at, assign));
    return done ? 0 : -1;
}

// In another class too it may stand, which the original is told.
PyObject* set_name(PyObject* object, PyObject* args) {
    const Owned name(PyUnicode_FromString("__set_name__"));
    PyObject* original = as_stand_in(object)->original;
    if (!name || _PyType_Lookup(Py_TYPE(original), name.get()) == nullptr)
        return PyErr_Occurred() == nullptr ? Py_NewRef(Py_None) : nullptr;
    const Owned told(PyObject_GetAttr(original, name.get()));
    return told ? PyObject_Call(told.get(), args, nullptr) : nullptr;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *original = nullptr, *before = nullptr, *name = nullptr;
    if (!PyArg_ParseTuple(args, "OOU", &original, &before, &name)) return nullptr;
    if (Py_TYPE(original)->tp_descr_get == nullptr || Py_TYPE(original)->tp_descr_set == nullptr)
        return PyErr_Format(PyExc_TypeError, "%R is no descriptor of data", original);
    PyObject* self = type->tp_alloc(type, 0);
    if (self != nullptr) begin_stand_in(as_stand_in(self), original, before, name);
    return self;
}

Taps** lists(Accessor* self, int k) { return k == 0 ? &self->getting : k == 1 ? &self->setting : &self->deleting; }

int traverse(PyObject* object, visitproc visit, void* arg) {
    for (int k = 0; k < 3; ++k)
        if (const Taps* taps = *lists(as_accessor(object), k); taps != nullptr)
            if (const int stop = taps->traverse(visit, arg); stop != 0) return stop;
    return traverse_stand_in(object, visit, arg);
}

int clear(PyObject* object) {
    for (int k = 0; k < 3; ++k)
        if (Taps* taps = std::exchange(*lists(as_accessor(object), k), nullptr); taps != nullptr) taps->drop();
    return 0;
}

void dealloc(PyObject* object) {
    PyObject_GC_UnTrack(object);
    clear(object);
    end_stand_in(object);
}

PyMethodDef methods[] = {
    {"__set_name__", set_name, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

template <class Function>
void* slot(Function function) {
    return reinterpret_cast<void*>(function);
}

PyType_Slot slots[] = {
    {Py_tp_new, slot(make)},        {Py_tp_descr_get, slot(get)},        {Py_tp_descr_set, slot(set)},
    {Py_tp_dealloc, slot(dealloc)}, {Py_tp_traverse, slot(traverse)},    {Py_tp_clear, slot(clear)},
    {Py_tp_methods, methods},       {Py_tp_getset, stand_in_attributes}, {0, nullptr},
};

PyType_Spec spec = {"mopsus._core.Accessor", sizeof(Accessor), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE, slots};

// ---- what is done with one ----

PyObject* serve(PyObject*, PyObject* args) {
    PyObject* object = nullptr;
    PyObject* given[3] = {nullptr, nullptr, nullptr};
    if (!PyArg_ParseTuple(args, "O!OOO", accessor_type, &object, &given[0], &given[1], &given[2])) return nullptr;
    for (int k = 0; k < 3; ++k) {
        Taps* made = Taps::make(given[k], nullptr, true);
        if (made == nullptr) return nullptr;
        if (Taps* before = std::exchange(*lists(as_accessor(object), k), made); before != nullptr) before->drop();
    }
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"serve_accessor", serve, METH_VARARGS, "Give an accessor other taps: on what is read, assigned and deleted."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool prepare_accessors(PyObject* module) {
    accessor_type =
        reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(stand_in_type)));
    return accessor_type != nullptr &&
           PyModule_AddObjectRef(module, "Accessor", reinterpret_cast<PyObject*>(accessor_type)) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace mopsus::python
