#include "standin.hpp"
#include "bind/saved_error.hpp"

#include <structmember.h>

#include <cstddef>

#include "taps.hpp"

namespace mopsus::python {

PyTypeObject* stand_in_type = nullptr;

namespace {

PyObject* original_of(PyObject* object) { return as_stand_in(object)->original; }

// Special methods that are not the original's, if the type of the stand-in has them.
bool is_own(PyObject* object, PyObject* name) {
    for (const char* own : {"__call__", "__get__", "__set__", "__delete__", "__set_name__", "__reduce__",
                            "__reduce_ex__", "__copy__", "__deepcopy__"})
        if (PyUnicode_CompareWithASCIIString(name, own) == 0) return _PyType_Lookup(Py_TYPE(object), name) != nullptr;
    return false;
}

PyObject* get_attribute(PyObject* object, PyObject* name) {
    return is_own(object, name) ? PyObject_GenericGetAttr(object, name) : PyObject_GetAttr(original_of(object), name);
}

int set_attribute(PyObject* object, PyObject* name, PyObject* value) {
    return PyObject_SetAttr(original_of(object), name, value);
}

PyObject* represent(PyObject* object) { return PyObject_Repr(original_of(object)); }

Py_hash_t hash(PyObject* object) { return PyObject_Hash(original_of(object)); }

PyObject* bare(PyObject* object) { return is_stand_in(object) ? original_of(object) : object; }

PyObject* compare(PyObject* left, PyObject* right, int how) {
    return PyObject_RichCompare(bare(left), bare(right), how);
}

// What the name stands for that an object says to have: whether it is this one.
bool is_found(PyObject* object, PyObject* name) {
    const Owned module_name(PyObject_GetAttrString(object, "__module__"));
    const Owned dot(PyUnicode_FromString("."));
    const Owned parts(dot ? PyUnicode_Split(name, dot.get(), -1) : nullptr);
    Owned found(module_name && parts ? Py_XNewRef(PyDict_GetItemWithError(PyImport_GetModuleDict(), module_name.get()))
                                     : nullptr);
    for (Py_ssize_t k = 0; found && k < PyList_GET_SIZE(parts.get()); ++k)
        found = Owned(PyObject_GetAttr(found.get(), PyList_GET_ITEM(parts.get(), k)));
    forget_error();
    return found.get() == object;
}

// What is pickled by its name is so still, if it is found there. Of what a pickler must know by its type, such as a
// property, it pickles the original.
PyObject* reduce(PyObject* object, PyObject* protocol) {
    PyObject* original = original_of(object);
    const Owned reduced(PyFunction_Check(original) ? PyObject_GetAttrString(original, "__qualname__")
                                                   : PyObject_CallMethod(original, "__reduce_ex__", "O", protocol));
    if (reduced && (!PyUnicode_Check(reduced.get()) || is_found(object, reduced.get())))
        return Py_NewRef(reduced.get());
    forget_error();
    const Owned module(PyImport_ImportModule("operator"));
    const Owned item(module ? PyObject_GetAttrString(module.get(), "getitem") : nullptr);
    return item ? Py_BuildValue("O((O)i)", item.get(), original, 0) : nullptr;
}

PyObject* reduce_plainly(PyObject* object, PyObject*) {
    const Owned protocol(PyLong_FromLong(2));
    return protocol ? reduce(object, protocol.get()) : nullptr;
}

// A copy of what is not really copied is the stand-in again.
PyObject* copied(PyObject* object, const char* how, PyObject* memo) {
    const Owned module(PyImport_ImportModule("copy"));
    if (!module) return nullptr;
    Owned made(memo != nullptr ? PyObject_CallMethod(module.get(), how, "OO", original_of(object), memo)
                               : PyObject_CallMethod(module.get(), how, "O", original_of(object)));
    return made.get() == original_of(object) ? Py_NewRef(object) : made.release();
}

PyObject* copy(PyObject* object, PyObject*) { return copied(object, "copy", nullptr); }

PyObject* copy_deeply(PyObject* object, PyObject* memo) { return copied(object, "deepcopy", memo); }

PyMethodDef methods[] = {
    {"__reduce_ex__", reduce, METH_O, nullptr},
    {"__reduce__", reduce_plainly, METH_NOARGS, nullptr},
    {"__copy__", copy, METH_NOARGS, nullptr},
    {"__deepcopy__", copy_deeply, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(StandIn, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyObject* documentation(PyObject* object, void*) { return PyObject_GetAttrString(original_of(object), "__doc__"); }

void dealloc(PyObject* object) { end_stand_in(object); }

// ---- what is asked of one ----

StandIn* checked(PyObject* object) {
    if (is_stand_in(object)) return as_stand_in(object);
    PyErr_Format(PyExc_TypeError, "this is no advice: %R", object);
    return nullptr;
}

PyObject* advised(PyObject*, PyObject* object) {
    const StandIn* self = checked(object);
    return self != nullptr ? Py_NewRef(self->original) : nullptr;
}

PyObject* stood_before(PyObject*, PyObject* object) {
    const StandIn* self = checked(object);
    return self != nullptr ? Py_NewRef(self->before) : nullptr;
}

PyMethodDef functions[] = {
    {"advised", advised, METH_O, "What an advice stands for."},
    {"stood_before", stood_before, METH_O, "What stood where an advice stands."},
    {nullptr, nullptr, 0, nullptr},
};

template <class Function>
void* slot(Function function) {
    return reinterpret_cast<void*>(function);
}

PyType_Slot slots[] = {
    {Py_tp_dealloc, slot(dealloc)},
    {Py_tp_traverse, slot(traverse_stand_in)},
    {Py_tp_getattro, slot(get_attribute)},
    {Py_tp_setattro, slot(set_attribute)},
    {Py_tp_repr, slot(represent)},
    {Py_tp_hash, slot(hash)},
    {Py_tp_richcompare, slot(compare)},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_getset, stand_in_attributes},
    {0, nullptr},
};

PyType_Spec spec = {"mopsus._core.StandIn", sizeof(StandIn), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE |
                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

}  // namespace

PyGetSetDef stand_in_attributes[] = {
    {"__doc__", documentation, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

bool is_stand_in(PyObject* object) { return PyObject_TypeCheck(object, stand_in_type); }

void begin_stand_in(StandIn* self, PyObject* original, PyObject* before, PyObject* name) {
    self->original = Py_NewRef(original);
    self->before = Py_NewRef(before != nullptr ? before : original);
    self->name = name != nullptr ? Py_NewRef(name) : PyObject_GetAttrString(original, "__name__");
    if (self->name == nullptr) PyErr_Clear();
    if (self->name != nullptr && PyUnicode_CheckExact(self->name)) PyUnicode_InternInPlace(&self->name);
}

int traverse_stand_in(PyObject* object, visitproc visit, void* arg) {
    const StandIn* self = as_stand_in(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->original);
    Py_VISIT(self->before);
    return 0;
}

void end_stand_in(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    StandIn* self = as_stand_in(object);
    PyObject_GC_UnTrack(object);
    if (self->weak_references != nullptr) PyObject_ClearWeakRefs(object);
    Py_CLEAR(self->original);
    Py_CLEAR(self->before);
    Py_CLEAR(self->name);
    type->tp_free(object);
    Py_DECREF(type);
}

bool prepare_stand_ins(PyObject* module) {
    stand_in_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return stand_in_type != nullptr &&
           PyModule_AddObjectRef(module, "StandIn", reinterpret_cast<PyObject*>(stand_in_type)) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace mopsus::python
