#include "classes.hpp"
#include "bind/saved_error.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <unordered_map>
#include <vector>

#include "steps.hpp"
#include "bind/unobserved.hpp"

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
    // Answers that hold as long as a type stays as it is and no class is added.
    struct Answer {
        PyTypeObject* type = nullptr;
        unsigned version = 0;
        bool yes = false;
        bool is_about(const PyTypeObject* one) const { return type == one && version == one->tp_version_tag; }
    };
    std::array<Answer, 4> answers;

    Answer& answer_of(const PyTypeObject* type) {
        return answers[(reinterpret_cast<std::uintptr_t>(type) >> 5) % answers.size()];
    }
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
PyObject* abstract_meta = nullptr;  // abc.ABCMeta
PyObject* class_name = nullptr;     // "__class__"

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
    members.answers = {};
    for (const Tap* tap : members.users) tap->forget();
    ++classes_added;
    Steps::look_again();
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
        if (list != nullptr && members_of(self).has(type) && PyList_Append(list, reinterpret_cast<PyObject*>(type)) < 0)
            Py_CLEAR(list);
    return list;
}

PyObject* iterate(PyObject* self) {
    const Owned list(alive(self));
    return list ? PyObject_GetIter(list.get()) : nullptr;
}

int contains(PyObject* self, PyObject* cls) {
    return PyType_Check(cls) && members_of(self).has(reinterpret_cast<PyTypeObject*>(cls)) ? 1 : 0;
}

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
    const Owned abc(PyImport_ImportModule("abc"));
    abstract_meta = abc ? PyObject_GetAttrString(abc.get(), "ABCMeta") : nullptr;
    class_name = PyUnicode_InternFromString("__class__");
    if (abstract_meta == nullptr || class_name == nullptr) return false;
    classes_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    return classes_type != nullptr &&
           PyModule_AddObjectRef(module, "Classes", reinterpret_cast<PyObject*>(classes_type)) == 0;
}

Owned make_classes(PyObject* tuple) {
    return Owned(PyObject_Call(reinterpret_cast<PyObject*>(classes_type), tuple, nullptr));
}

bool are_classes(PyObject* object) { return Py_TYPE(object) == classes_type; }

bool is_instance_of(PyObject* classes, PyObject* value) {
    Members& members = members_of(classes);
    PyTypeObject* type_of_value = Py_TYPE(value);
    if (const Members::Answer& known = members.answer_of(type_of_value); known.is_about(type_of_value))
        return known.yes;
    // Looking anything up gives the type a version, if it has none; 0 stands for none.
    const bool is_honest = _PyType_Lookup(type_of_value, class_name) == _PyType_Lookup(&PyBaseObject_Type, class_name);
    const auto settled = [&](bool yes) {
        if (type_of_value->tp_version_tag != 0)
            members.answer_of(type_of_value) = {type_of_value, type_of_value->tp_version_tag, yes};
        return yes;
    };
    PyObject* bases = type_of_value->tp_mro;
    for (Py_ssize_t k = 0; bases != nullptr && k < PyTuple_GET_SIZE(bases); ++k)
        if (members.has(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, k)))) return settled(true);
    if (members.peculiar.empty()) return settled(false);
    const Unobserved unobserved;
    for (PyTypeObject* type : std::vector(members.peculiar)) {
        if (!members.has(type)) continue;
        const Owned held(Py_NewRef(reinterpret_cast<PyObject*>(type)));
        const int yes = PyObject_IsInstance(value, held.get());
        // What is registered with an abstract class stays so.
        if (yes == 1)
            return is_honest && reinterpret_cast<PyObject*>(Py_TYPE(held.get())) == abstract_meta ? settled(true)
                                                                                                  : true;
        if (yes < 0) forget_error();
    }
    return false;
}

bool is_exactly_of(PyObject* classes, PyObject* value) { return members_of(classes).has(Py_TYPE(value)); }

bool is_settled(PyObject* classes, PyObject* value) {
    return members_of(classes).answer_of(Py_TYPE(value)).is_about(Py_TYPE(value));
}

void add_user(PyObject* classes, const Tap* tap) { members_of(classes).users.push_back(tap); }

void remove_user(PyObject* classes, const Tap* tap) { std::erase(members_of(classes).users, tap); }

}  // namespace mopsus::python
