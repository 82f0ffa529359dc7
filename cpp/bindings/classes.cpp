#include "classes.hpp"

#include <algorithm>
#include <new>
#include <unordered_map>
#include <vector>

#include "unobserved.hpp"

namespace mopsus::python {

namespace {

// Borrowed; None when it is dead.
PyObject* referent(const Owned& weak) { return reinterpret_cast<PyWeakReference*>(weak.get())->wr_object; }

struct Members {
    // By address, each with a weak reference: another class may have come to the same address.
    std::unordered_map<PyTypeObject*, Owned> by_address;
    std::vector<PyTypeObject*> peculiar;  // those whose metaclass is not plain
    std::vector<const Tap*> users;
    std::size_t pruned_at = 16;

    bool has(PyTypeObject* type) const {
        const auto found = by_address.find(type);
        return found != by_address.end() && referent(found->second) == reinterpret_cast<PyObject*>(type);
    }
    void prune() {
        std::erase_if(peculiar, [&](PyTypeObject* type) { return !has(type); });
        std::erase_if(by_address, [](const auto& each) { return referent(each.second) == Py_None; });
        pruned_at = std::max<std::size_t>(16, 2 * by_address.size());
    }
};

struct Classes {
    PyObject_HEAD
    Members members;
};

PyTypeObject* classes_type = nullptr;

Members& members_of(PyObject* object) { return reinterpret_cast<Classes*>(object)->members; }

PyObject* add(PyObject* self, PyObject* cls) {
    if (!PyType_Check(cls)) return PyErr_Format(PyExc_TypeError, "this is no class: %R", cls);
    Members& members = members_of(self);
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    if (members.has(type)) Py_RETURN_FALSE;
    Owned weak(PyWeakref_NewRef(cls, nullptr));
    if (!weak) return nullptr;
    if (members.by_address.size() >= members.pruned_at) members.prune();
    members.by_address.insert_or_assign(type, std::move(weak));
    if (!PyType_CheckExact(cls)) members.peculiar.push_back(type);
    for (const Tap* tap : members.users) tap->forget();
    ++classes_added;
    Py_RETURN_TRUE;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject* self = type->tp_alloc(type, 0);
    if (self == nullptr) return nullptr;
    new (&members_of(self)) Members();
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) {
        const Owned added(add(self, PyTuple_GET_ITEM(args, k)));
        if (!added) {
            Py_DECREF(self);
            return nullptr;
        }
    }
    return self;
}

void dealloc(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    members_of(self).~Members();
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* holds(PyObject* self, PyObject* value) { return PyBool_FromLong(is_instance_of(self, value)); }

PyObject* alive(PyObject* self) {
    PyObject* list = PyList_New(0);
    for (const auto& [type, weak] : members_of(self).by_address)
        if (list != nullptr && members_of(self).has(type) && PyList_Append(list, reinterpret_cast<PyObject*>(type)) < 0) Py_CLEAR(list);
    return list;
}

PyObject* iterate(PyObject* self) {
    const Owned list(alive(self));
    return list ? PyObject_GetIter(list.get()) : nullptr;
}

int contains(PyObject* self, PyObject* cls) { return PyType_Check(cls) && members_of(self).has(reinterpret_cast<PyTypeObject*>(cls)) ? 1 : 0; }

Py_ssize_t count(PyObject* self) {
    members_of(self).prune();
    return static_cast<Py_ssize_t>(members_of(self).by_address.size());
}

PyMethodDef methods[] = {
    {"add", add, METH_O, "Ask for a further class, too; whether it is new."},
    {"holds", holds, METH_O, "Is the value an instance of one of the classes?"},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_sq_length, reinterpret_cast<void*>(count)},
    {Py_sq_contains, reinterpret_cast<void*>(contains)},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>("Classes that a tap asks for.")},
    {0, nullptr},
};

PyType_Spec spec = {"mopsus._core.Classes", sizeof(Classes), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};

}  // namespace

bool prepare_classes(PyObject* module) {
    classes_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return classes_type != nullptr && PyModule_AddObjectRef(module, "Classes", reinterpret_cast<PyObject*>(classes_type)) == 0;
}

Owned make_classes(PyObject* tuple) { return Owned(PyObject_Call(reinterpret_cast<PyObject*>(classes_type), tuple, nullptr)); }

bool are_classes(PyObject* object) { return Py_TYPE(object) == classes_type; }

bool is_instance_of(PyObject* classes, PyObject* value) {
    const Members& members = members_of(classes);
    PyObject* bases = Py_TYPE(value)->tp_mro;
    for (Py_ssize_t k = 0; bases != nullptr && k < PyTuple_GET_SIZE(bases); ++k)
        if (members.has(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, k)))) return true;
    if (members.peculiar.empty()) return false;
    const Unobserved unobserved;
    for (PyTypeObject* type : std::vector(members.peculiar)) {
        if (!members.has(type)) continue;
        const Owned held(Py_NewRef(reinterpret_cast<PyObject*>(type)));
        const int yes = PyObject_IsInstance(value, held.get());
        if (yes == 1) return true;
        if (yes < 0) PyErr_Clear();
    }
    return false;
}

bool is_exactly_of(PyObject* classes, PyObject* value) { return members_of(classes).has(Py_TYPE(value)); }

bool are_plain_classes(PyObject* classes) { return members_of(classes).peculiar.empty(); }

void add_user(PyObject* classes, const Tap* tap) { members_of(classes).users.push_back(tap); }

void remove_user(PyObject* classes, const Tap* tap) { std::erase(members_of(classes).users, tap); }

}  // namespace mopsus::python
