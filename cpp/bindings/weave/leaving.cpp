// What gives code to the program, or takes it from there: getters, slots and functions of the interpreter, each of
// which we take the place of where the interpreter itself keeps it, so that no object of the program becomes another.
#include <Python.h>
#include <structmember.h>

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "taps.hpp"
#include "bind/saved_error.hpp"
#include "twins.hpp"

namespace mopsus::python {

namespace {

PyObject* attribute_of(PyTypeObject* type, const char* name) {
    const Owned key(PyUnicode_InternFromString(name));
    return key ? _PyType_Lookup(type, key.get()) : nullptr;
}

// ---- reading and assigning code ----

getter own_function_code = nullptr;
setter own_set_function_code = nullptr;

// Takes the code.
PyObject* given_out(PyObject* code) {
    const Owned taken(code);
    return taken && PyCode_Check(taken.get()) ? original_of(taken.get()) : Py_XNewRef(taken.get());
}

PyObject* function_code(PyObject* function, void* closure) { return given_out(own_function_code(function, closure)); }

int set_function_code(PyObject* function, PyObject* value, void* closure) {
    if (value == nullptr || !PyCode_Check(value)) return own_set_function_code(function, value, closure);
    const Owned runs(running_of(value));
    return runs ? own_set_function_code(function, runs.get(), closure) : -1;
}

newfunc own_new_function = nullptr;

// A function made of an original is watched as the function was that had it.
PyObject* new_function(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    Owned function(own_new_function(type, args, keywords));
    if (!function) return nullptr;
    const Owned runs(running_of(PyFunction_GET_CODE(function.get())));
    if (!runs) return nullptr;
    // It has not been called yet: nobody knows what it runs.
    Py_SETREF(reinterpret_cast<PyFunctionObject*>(function.get())->func_code, Py_NewRef(runs.get()));
    return function.release();
}

// Of generators and the like, by their types.
#if PY_VERSION_HEX >= 0x030C0000
std::unordered_map<PyTypeObject*, getter> own_generator_code;

PyObject* generator_code(PyObject* generator, void* closure) {
    return given_out(own_generator_code.at(Py_TYPE(generator))(generator, closure));
}

bool take_generator_code(PyTypeObject* type, const char* name) {
    PyObject* descriptor = attribute_of(type, name);
    if (descriptor == nullptr || Py_TYPE(descriptor) != &PyGetSetDescr_Type) return false;
    PyGetSetDef* definition = reinterpret_cast<PyGetSetDescrObject*>(descriptor)->d_getset;
    own_generator_code[type] = std::exchange(definition->get, generator_code);
    return true;
}
#else
// Here these are no getters but members, so that there has to be another descriptor.
PyObject* generator_code(PyObject* generator, void*) {
    return given_out(Py_XNewRef(reinterpret_cast<PyObject*>(reinterpret_cast<PyGenObject*>(generator)->gi_code)));
}

bool take_generator_code(PyTypeObject* type, const char* name) {
    static std::unordered_map<PyTypeObject*, PyGetSetDef> definitions;
    definitions[type] = {name, generator_code, nullptr, nullptr, nullptr};
    const Owned descriptor(PyDescr_NewGetSet(type, &definitions[type]));
    if (!descriptor || PyDict_SetItemString(type->tp_dict, name, descriptor.get()) < 0) return false;
    PyType_Modified(type);
    return true;
}
#endif

bool take_function_code() {
    PyObject* descriptor = attribute_of(&PyFunction_Type, "__code__");
    if (descriptor == nullptr || Py_TYPE(descriptor) != &PyGetSetDescr_Type) return false;
    PyGetSetDef* definition = reinterpret_cast<PyGetSetDescrObject*>(descriptor)->d_getset;
    own_function_code = std::exchange(definition->get, function_code);
    own_set_function_code = std::exchange(definition->set, set_function_code);
    own_new_function = std::exchange(PyFunction_Type.tp_new, new_function);
    return take_generator_code(&PyGen_Type, "gi_code") && take_generator_code(&PyCoro_Type, "cr_code") &&
           take_generator_code(&PyAsyncGen_Type, "ag_code");
}

// ---- code itself: what runs in a frame is equal to the code of its function ----

richcmpfunc own_compare = nullptr;
hashfunc own_hash = nullptr;

PyObject* compare(PyObject* left, PyObject* right, int how) {
    if (!PyCode_Check(left) || !PyCode_Check(right)) return own_compare(left, right, how);
    const Owned one(original_of(left));
    const Owned other(one ? original_of(right) : nullptr);
    return other ? own_compare(one.get(), other.get(), how) : nullptr;
}

Py_hash_t hash(PyObject* code) {
    const Owned original(original_of(code));
    return original ? own_hash(original.get()) : -1;
}

// The methods of a type that are its slots refer to these by themselves.
bool take_slots() {
    own_compare = std::exchange(PyCode_Type.tp_richcompare, compare);
    own_hash = std::exchange(PyCode_Type.tp_hash, hash);
    for (const char* name : {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"}) {
        PyObject* descriptor = attribute_of(&PyCode_Type, name);
        if (descriptor == nullptr || Py_TYPE(descriptor) != &PyWrapperDescr_Type) return false;
        void*& wrapped = reinterpret_cast<PyWrapperDescrObject*>(descriptor)->d_wrapped;
        if (wrapped == reinterpret_cast<void*>(own_compare)) wrapped = reinterpret_cast<void*>(compare);
        if (wrapped == reinterpret_cast<void*>(own_hash)) wrapped = reinterpret_cast<void*>(hash);
    }
    return true;
}

// ---- functions of the interpreter that take code ----

using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
using FastNamed = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

// A function of the interpreter, whatever way it takes its arguments, that we come before.
class Taken {
public:
    // Ours takes arguments by position and name. False, perhaps without an exception, if it is not as expected.
    bool take(PyMethodDef* definition, FastNamed ours, Fast ours_unnamed) {
        const int how = definition->ml_flags & (METH_FASTCALL | METH_KEYWORDS | METH_VARARGS | METH_O | METH_NOARGS);
        named_ = how == (METH_FASTCALL | METH_KEYWORDS);
        if (!named_ && how != METH_FASTCALL) return false;
        own_ = definition->ml_meth;
        definition->ml_meth = named_ ? reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(ours))
                                     : reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(ours_unnamed));
        return true;
    }
    PyObject* call(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) const {
        const auto function = reinterpret_cast<void (*)()>(own_);
        return named_ ? reinterpret_cast<FastNamed>(function)(self, args, count, names)
                      : reinterpret_cast<Fast>(function)(self, args, count);
    }
    // With another argument in the place of one, which is taken.
    PyObject* call_with(Py_ssize_t place, PyObject* other, PyObject* self, PyObject* const* args, Py_ssize_t count,
                        PyObject* names) const {
        const Owned given(other);
        if (!given) return nullptr;
        std::vector<PyObject*> all(args, args + count + (names != nullptr ? PyTuple_GET_SIZE(names) : 0));
        all[static_cast<std::size_t>(place)] = given.get();
        return call(self, all.data(), count, names);
    }

private:
    PyCFunction own_ = nullptr;
    bool named_ = false;
};

Taken replace_code, marshal_dumps, marshal_dump;

PyMethodDef* definition_of(PyObject* function) {
    if (function != nullptr && PyCFunction_Check(function)) return reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
    if (function != nullptr && Py_TYPE(function) == &PyMethodDescr_Type)
        return reinterpret_cast<PyMethodDescrObject*>(function)->d_method;
    return nullptr;
}

PyObject* replace_by_keywords(PyObject* code, PyObject* keywords) {
    const Py_ssize_t count = PyDict_GET_SIZE(keywords);
    const Owned names(PyTuple_New(count));
    if (!names) return nullptr;
    std::vector<PyObject*> values;
    PyObject *name = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &name, &value) != 0;) {
        PyTuple_SET_ITEM(names.get(), static_cast<Py_ssize_t>(values.size()), Py_NewRef(name));
        values.push_back(value);
    }
    return replace_code.call(code, values.data(), 0, names.get());
}

PyObject* replace(PyObject* code, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    if (count != 0) return replace_code.call(code, args, count, names);
    const Owned keywords(PyDict_New());
    if (!keywords) return nullptr;
    for (Py_ssize_t k = 0; names != nullptr && k < PyTuple_GET_SIZE(names); ++k)
        if (PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, k), args[k]) < 0) return nullptr;
    return replaced(code, keywords.get(), replace_by_keywords);
}

// ---- marshal: code may be deep in what is written ----

// Finds rewritten code in what marshal can write, and makes the same with originals in its place.
class Search {
public:
    bool has_rewritten(PyObject* object, int depth = 0) {
        if (depth > kDeepest) return false;  // which marshal refuses
        if (PyCode_Check(object))
            return is_rewritten(object) || has_rewritten(reinterpret_cast<PyCodeObject*>(object)->co_consts, depth + 1);
        const bool items = PyTuple_CheckExact(object) || PyList_CheckExact(object);
        const bool set = PyAnySet_CheckExact(object);
        if ((!items && !set && !PyDict_CheckExact(object)) || !seen_.insert(object).second) return false;
        if (items) {
            for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k)
                if (has_rewritten(PySequence_Fast_GET_ITEM(object, k), depth + 1)) return true;
        } else if (set) {
            const Owned members(PySequence_List(object));
            if (!members) return failed();
            for (Py_ssize_t k = 0; k < PyList_GET_SIZE(members.get()); ++k)
                if (has_rewritten(PyList_GET_ITEM(members.get(), k), depth + 1)) return true;
        } else {
            PyObject *key = nullptr, *value = nullptr;
            for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value) != 0;)
                if (has_rewritten(key, depth + 1) || has_rewritten(value, depth + 1)) return true;
        }
        return false;
    }

    // New reference.
    PyObject* with_originals(PyObject* object) {
        if (PyCode_Check(object)) return code_with_originals(object);
        if (const auto made = made_.find(object); made != made_.end()) return Py_NewRef(made->second.get());
        if (PyTuple_CheckExact(object)) return remember(object, items(object, PyTuple_New(PyTuple_GET_SIZE(object))));
        if (PyList_CheckExact(object)) {
            PyObject* list = PyList_New(PyList_GET_SIZE(object));
            return list != nullptr && remember(object, Py_NewRef(list)) != nullptr
                       ? (Py_DECREF(list), items(object, list))
                       : nullptr;
        }
        if (PyAnySet_CheckExact(object)) {
            const Owned members(PySequence_List(object));
            const Owned list(members ? items(members.get(), PyList_New(PyList_GET_SIZE(members.get()))) : nullptr);
            return list
                       ? remember(object, PyObject_CallOneArg(reinterpret_cast<PyObject*>(Py_TYPE(object)), list.get()))
                       : nullptr;
        }
        if (PyDict_CheckExact(object)) {
            const Owned dict(PyDict_New());
            if (!dict || remember(object, Py_NewRef(dict.get())) == nullptr) return nullptr;
            PyObject *key = nullptr, *value = nullptr;
            for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value) != 0;) {
                const Owned new_key(with_originals(key));
                const Owned new_value(new_key ? with_originals(value) : nullptr);
                if (!new_value || PyDict_SetItem(dict.get(), new_key.get(), new_value.get()) < 0) return nullptr;
            }
            return Py_NewRef(dict.get());
        }
        return Py_NewRef(object);
    }

private:
    static constexpr int kDeepest = 2000;

    // What cannot be searched is written as it is.
    static bool failed() {
        forget_error();
        return false;
    }

    // Takes what was made; what is the same in the one is the same in the other.
    PyObject* remember(PyObject* object, PyObject* made) {
        if (made != nullptr) made_[object] = Owned(Py_NewRef(made));
        return made;
    }

    // Fills a tuple or a list, which it takes.
    PyObject* items(PyObject* object, PyObject* made) {
        Owned filled(made);
        for (Py_ssize_t k = 0; made != nullptr && k < PySequence_Fast_GET_SIZE(object); ++k) {
            PyObject* item = with_originals(PySequence_Fast_GET_ITEM(object, k));
            if (item == nullptr) return nullptr;
            if (PyTuple_CheckExact(made))
                PyTuple_SET_ITEM(made, k, item);
            else
                PyList_SET_ITEM(made, k, item);
        }
        return filled.release();
    }

    PyObject* code_with_originals(PyObject* code) {
        if (is_rewritten(code)) return original_of(code);
        PyObject* constants = reinterpret_cast<PyCodeObject*>(code)->co_consts;
        if (!Search().has_rewritten(constants)) return Py_NewRef(code);
        const Owned others(with_originals(constants));
        const Owned keywords(others ? Py_BuildValue("{sO}", "co_consts", others.get()) : nullptr);
        return keywords ? replace_by_keywords(code, keywords.get()) : nullptr;
    }

    std::unordered_set<PyObject*> seen_;
    std::unordered_map<PyObject*, Owned> made_;
};

PyObject* write(const Taken& how, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    if (count == 0 || !Search().has_rewritten(args[0])) return how.call(self, args, count, names);
    return how.call_with(0, Search().with_originals(args[0]), self, args, count, names);
}

#if PY_VERSION_HEX >= 0x030C0000
// ---- events of the interpreter in some code ----

Taken set_local_events, get_local_events;

// What is asked of an original is asked of what runs.
PyObject* about_running(const Taken& how, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    if (count < 2 || !PyCode_Check(args[1])) return how.call(self, args, count, names);
    return how.call_with(1, running_of(args[1]), self, args, count, names);
}
#endif

// A function in the place of another, in both ways of calling.
template <Taken& taken, PyObject* (*what)(const Taken&, PyObject*, PyObject* const*, Py_ssize_t, PyObject*)>
bool take(PyMethodDef* definition) {
    return definition != nullptr && taken.take(
                                        definition,
                                        [](PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
                                            return what(taken, self, args, count, names);
                                        },
                                        [](PyObject* self, PyObject* const* args, Py_ssize_t count) {
                                            return what(taken, self, args, count, nullptr);
                                        });
}

bool take_functions() {
    PyMethodDef* definition = definition_of(attribute_of(&PyCode_Type, "replace"));
    if (definition == nullptr || !replace_code.take(definition, replace, nullptr)) return false;
    const Owned marshal(PyImport_ImportModule("marshal"));
    if (!marshal) return false;
    const Owned dumps(PyObject_GetAttrString(marshal.get(), "dumps"));
    const Owned dump(PyObject_GetAttrString(marshal.get(), "dump"));
    if (!take<marshal_dumps, write>(definition_of(dumps.get())) ||
        !take<marshal_dump, write>(definition_of(dump.get())))
        return false;
#if PY_VERSION_HEX >= 0x030C0000
    const Owned monitoring(PySys_GetObject("monitoring") != nullptr ? Py_NewRef(PySys_GetObject("monitoring"))
                                                                    : nullptr);
    if (!monitoring) return false;
    const Owned setting(PyObject_GetAttrString(monitoring.get(), "set_local_events"));
    const Owned getting(PyObject_GetAttrString(monitoring.get(), "get_local_events"));
    return take<set_local_events, about_running>(definition_of(setting.get())) &&
           take<get_local_events, about_running>(definition_of(getting.get()));
#else
    return true;
#endif
}

}  // namespace

bool give_originals() {
    static bool given = false;
    if (given) return true;
    given = take_function_code() && take_slots() && take_functions();
    if (!given && PyErr_Occurred() == nullptr)
        PyErr_SetString(PyExc_RuntimeError, "the interpreter gives code in a way that is not known");
    return given;
}

}  // namespace mopsus::python
