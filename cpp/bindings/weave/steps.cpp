#include "steps.hpp"

#include <array>
#include <unordered_map>
#include <utility>

#include "iterate.hpp"
#include "bind/watch.hpp"

namespace mopsus::python {

namespace {

// A type in whose slot our function stands, or stood: types that were made meanwhile may have inherited it.
struct Slotted {
    iternextfunc next;      // its own
    std::size_t alive = 0;  // known iterators; and one for generators that are known by their code
};

std::unordered_map<PyTypeObject*, Slotted> types;
std::unordered_map<PyObject*, PyTypeObject*> known;

// The types that were asked for last.
struct Entry {
    PyTypeObject* type;
    iternextfunc next;
};
std::array<Entry, 16> recent{};

Entry& recent_of(const PyTypeObject* type) {
    return recent[reinterpret_cast<std::uintptr_t>(type) / sizeof(void*) / 4 % recent.size()];
}

Py_ssize_t mark_index = -1;  // of what code objects carry for us
bool generators = false;     // is any code marked?
bool hooked = false;         // for these; not if nobody asks for the steps of generators

#if PY_VERSION_HEX >= 0x030C0000
PyCodeObject* code_of(PyObject* generator) {
    PyCodeObject* code = PyGen_GetCode(reinterpret_cast<PyGenObject*>(generator));
    Py_DECREF(code);  // the generator has it
    return code;
}
constexpr auto request_mark = PyUnstable_Eval_RequestCodeExtraIndex;
constexpr auto get_mark = PyUnstable_Code_GetExtra;
constexpr auto set_mark = PyUnstable_Code_SetExtra;
#else
PyCodeObject* code_of(PyObject* generator) { return reinterpret_cast<PyGenObject*>(generator)->gi_code; }
constexpr auto request_mark = _PyEval_RequestCodeExtraIndex;
constexpr auto get_mark = _PyCode_GetExtra;
constexpr auto set_mark = _PyCode_SetExtra;
#endif

bool is_marked(PyObject* generator) {
    PyCodeObject* code = code_of(generator);
    void* mark = nullptr;
    // Most code carries nothing for anybody.
    return code->co_extra != nullptr && get_mark(reinterpret_cast<PyObject*>(code), mark_index, &mark) == 0 &&
           mark != nullptr;
}

}  // namespace

bool Steps::is_known(PyObject* iterator) {
    if (expected_deaths.has(iterator) && known.contains(iterator)) return true;
    return PyGen_CheckExact(iterator) && is_marked(iterator);
}

PyObject* Steps::told_next(PyObject* iterator) {
    const iternextfunc next = own_of(Py_TYPE(iterator));
    if (told == iterator) {
        told = nullptr;
        return next(iterator);
    }
    if (site_ == nullptr || !is_known(iterator)) return next(iterator);
    if (!PyGen_CheckExact(iterator) || !idle(site_, iterator)) return step(site_, iterator, next);
    hook_generators(false);
    return next(iterator);
}

void Steps::hook_generators(bool wanted) {
    if (hooked == wanted) return;
    hooked = wanted;
    wanted ? hook(&PyGen_Type) : unhook(&PyGen_Type);
}

void Steps::look_again() { hook_generators(generators && site_ != nullptr); }

iternextfunc Steps::own_of(PyTypeObject* type) {
    Entry& entry = recent_of(type);
    if (entry.type == type) return entry.next;
    auto found = types.find(type);
    for (PyTypeObject* base = type; found == types.end(); base = base->tp_base) found = types.find(base);
    entry = {type, found->second.next};
    return entry.next;
}

void Steps::hook(PyTypeObject* type) {
    Slotted& slotted = types[type];
    ++slotted.alive;
    if (type->tp_iternext == told_next) return;
    slotted.next = type->tp_iternext;
    recent = {};
    type->tp_iternext = told_next;
}

void Steps::unhook(PyTypeObject* type) {
    Slotted& slotted = types[type];
    if (--slotted.alive == 0 && type->tp_iternext == told_next) type->tp_iternext = slotted.next;
}

void Steps::add(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    if ((PyGen_CheckExact(object) && is_marked(object)) || !known.emplace(object, type).second) return;
    expected_deaths.add(object);
    watch_deaths(type);
    hook(type);
}

void Steps::forget(PyObject* object) {
    const auto found = known.find(object);
    if (found == known.end()) return;
    expected_deaths.remove(object);
    unhook(found->second);
    known.erase(found);
}

void Steps::follow(Site* site) {
    if (site->second == nullptr && site_ != site) return;
    site_ = site->second != nullptr ? site : nullptr;
    look_again();
    if (site_ == nullptr) {
        for (const auto& [object, type] : known) {
            expected_deaths.remove(object);
            unhook(type);
        }
        known.clear();
    }
}

bool Steps::mark(PyObject* object) {
    const auto* code = reinterpret_cast<PyCodeObject*>(object);
    if ((code->co_flags & CO_GENERATOR) != 0) {
        if (set_mark(object, mark_index, &mark_index) < 0) return false;
        if (!std::exchange(generators, true)) look_again();
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(code->co_consts); ++k) {
        PyObject* constant = PyTuple_GET_ITEM(code->co_consts, k);
        if (PyCode_Check(constant) && !mark(constant)) return false;
    }
    return true;
}

bool prepare_steps() {
    mark_index = request_mark(nullptr);
    if (mark_index < 0) PyErr_SetString(PyExc_RuntimeError, "code objects have no room left for marks");
    return mark_index >= 0;
}

}  // namespace mopsus::python
