#include "watch.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "weave/steps.hpp"

namespace mopsus::python {

namespace {

// ---- weak references ----

struct WeakWatch {
    PyWeakReference base;
    Mourner* mourner;
    Slot slot;
};

PyTypeObject* weak_type = nullptr;
PyObject* weak_callback = nullptr;

PyObject* on_weak_death(PyObject*, PyObject* reference) {
    const auto* watch = reinterpret_cast<WeakWatch*>(reference);
    if (watch->mourner != nullptr) watch->mourner->died(watch->slot);
    Py_RETURN_NONE;
}

PyMethodDef weak_callback_def = {"_on_death", on_weak_death, METH_O, nullptr};

// ---- deallocation hooks ----

constexpr std::uint64_t kHooked = 1;
std::vector<Mourner*> hooked_mourners;  // those that watch anything by a hook

destructor python_class_dealloc = nullptr;  // what every class written in Python has
std::unordered_map<PyTypeObject*, destructor> originals;

// What a hook calls in the end: the original deallocator of a hooked type, and the next hooked type above that.
struct Original {
    destructor dealloc = nullptr;
    PyTypeObject* above = nullptr;
    PyTypeObject* type = nullptr;  // that this is about
};

PyTypeObject* nearest_hooked(PyTypeObject* type) {
    while (type != nullptr && !originals.contains(type)) type = type->tp_base;
    return type;
}

std::array<Original, 16> recent;  // of no heap types: another one may come to lie where one was

// That of the nearest hooked base. Types that were made after a hook may have inherited it; they are not in the table
// themselves.
Original original_of(PyTypeObject* type) {
    Original& known =
        recent[(reinterpret_cast<std::uintptr_t>(type) >> 5 ^ reinterpret_cast<std::uintptr_t>(type) >> 9) %
               recent.size()];
    if (known.type == type) return known;
    PyTypeObject* hooked = nearest_hooked(type);
    const Original found{originals.at(hooked), nearest_hooked(hooked->tp_base), type};
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) known = found;
    return found;
}

// The deallocators of some types, `OrderedDict` for example, end with a call of that of their base, by way of its hook.
struct Chained {
    PyObject* self;
    PyTypeObject* above;
    Chained* outer;
};
thread_local Chained* chained = nullptr;
int chains = 0;  // of all threads: mostly there are none, and then no thread has to be asked

// No list of watched objects is needed: the engines know them by their addresses.
void bury(PyObject* self) {
    const Key key = Key::of_bits(KeyKind::Object, reinterpret_cast<std::uintptr_t>(self));
    for (std::size_t k = hooked_mourners.size(); k-- > 0;) {
        Mourner& mourner = *hooked_mourners[k];
        const Slot slot = mourner.domain().find(key);
        if (slot == kNil || mourner.domain().watch(slot) != kHooked) continue;
        unwatch(kHooked, mourner, self);
        mourner.died(slot);
    }
}

void hooked_dealloc(PyObject* self) {
    if (chains != 0 && chained != nullptr && chained->self == self) {
        const Original next = original_of(chained->above);
        chained->above = next.above;
        if (next.above == nullptr) chained->self = nullptr;  // once it is freed, another object may lie there
        next.dealloc(self);
        return;
    }
    if (expected_deaths.has(self)) {
        bury(self);
        Steps::forget(self);
    }
    PyTypeObject* type = Py_TYPE(self);
    const auto [original, above, of] = original_of(type);
    if (above != nullptr) {
        Chained one{self, above, chained};
        chained = &one;
        ++chains;
        original(self);
        --chains;
        chained = one.outer;
        return;
    }
    if (type != &PyList_Type && type != &PyDict_Type && type != &PyTuple_Type && type != &PyFilter_Type) {
        original(self);
        return;
    }
    // These limit the depth of nested deallocation only while the deallocator of the type is
    // their own; do it for them.
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, hooked_dealloc) original(self);
    Py_TRASHCAN_END
}

// The type whose deallocator sees the end of every instance of `type`.
PyTypeObject* hookable(PyTypeObject* type) {
    while (type->tp_dealloc == python_class_dealloc) type = type->tp_base;
    return type;
}

}  // namespace

bool prepare_watching() {
    PyType_Slot slots[] = {{0, nullptr}};
    PyType_Spec spec = {"mopsus._core.Watch", sizeof(WeakWatch), 0, Py_TPFLAGS_DEFAULT, slots};
    weak_type = reinterpret_cast<PyTypeObject*>(
        PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(&_PyWeakref_RefType)));
    if (weak_type == nullptr) return false;
    weak_callback = PyCFunction_New(&weak_callback_def, nullptr);
    if (weak_callback == nullptr) return false;
    PyObject* plain = PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(){}", "_Plain");
    if (plain == nullptr) return false;
    python_class_dealloc = reinterpret_cast<PyTypeObject*>(plain)->tp_dealloc;
    Py_DECREF(plain);
    return true;
}

void watch_deaths(PyTypeObject* type) {
    PyTypeObject* base = hookable(type);
    if (base->tp_dealloc == hooked_dealloc) return;
    originals[base] = base->tp_dealloc;
    base->tp_dealloc = hooked_dealloc;
    recent = {};
}

std::uint64_t watch(PyObject* object, Mourner& mourner, Slot slot, bool by_reference) {
    PyTypeObject* type = Py_TYPE(object);
    // Generators come and go: a hook costs less than a weak reference for each.
    if (PyType_SUPPORTS_WEAKREFS(type) && (by_reference || type != &PyGen_Type)) {
        PyObject* arguments[] = {object, weak_callback};
        PyObject* reference = PyObject_Vectorcall(reinterpret_cast<PyObject*>(weak_type), arguments, 2, nullptr);
        if (reference != nullptr) {
            auto* watch = reinterpret_cast<WeakWatch*>(reference);
            watch->mourner = &mourner;
            watch->slot = slot;
            return reinterpret_cast<std::uintptr_t>(reference);
        }
        PyErr_Clear();
    }
    watch_deaths(type);
    if (mourner.hooked_++ == 0) hooked_mourners.push_back(&mourner);
    expected_deaths.add(object);
    return kHooked;
}

void unwatch(std::uint64_t word, Mourner& mourner, PyObject* object) {
    if (word == kHooked) {
        expected_deaths.remove(object);
        if (--mourner.hooked_ == 0) std::erase(hooked_mourners, &mourner);
    } else if (word != 0) {
        auto* reference = reinterpret_cast<PyObject*>(static_cast<std::uintptr_t>(word));
        reinterpret_cast<WeakWatch*>(reference)->mourner = nullptr;
        Py_DECREF(reference);
    }
}

Slot slot_by_weak_reference(PyObject* object, const Mourner& mourner) {
    if (!PyType_SUPPORTS_WEAKREFS(Py_TYPE(object))) return kNil;
    auto* at = *reinterpret_cast<PyWeakReference**>(PyObject_GET_WEAKREFS_LISTPTR(object));
    for (; at != nullptr; at = at->wr_next) {
        if (Py_TYPE(reinterpret_cast<PyObject*>(at)) != weak_type) continue;
        const auto* watch = reinterpret_cast<WeakWatch*>(at);
        if (watch->mourner == &mourner) return watch->slot;
    }
    return kNil;
}

}  // namespace mopsus::python
