#include "watch.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "mopsus/key.hpp"
#include "mopsus/storage.hpp"

namespace mopsus::python {

namespace {

struct Registration {
    Mourner* mourner;
    void* engine;
    unsigned parameter;
    std::uint32_t slot;
};

// ---- weak references ----

struct WeakWatch {
    PyWeakReference base;
    Registration to;
};

PyTypeObject* weak_type = nullptr;
PyObject* weak_callback = nullptr;

PyObject* on_weak_death(PyObject*, PyObject* reference) {
    const Registration to = reinterpret_cast<WeakWatch*>(reference)->to;
    if (to.mourner != nullptr) to.mourner->died(to.engine, to.parameter, to.slot);
    Py_RETURN_NONE;
}

PyMethodDef weak_callback_def = {"_on_death", on_weak_death, METH_O, nullptr};

// ---- deallocation hooks ----

// Watched addresses: an index of entry numbers by address, entries with the same address chained.
struct Watched {
    Index index;
    struct Entry {
        PyObject* address = nullptr;
        std::uint32_t next = kNil;  // also links the free entries
        Registration to{};
    };
    std::vector<Entry> entries{1};
    std::uint32_t free = kNil;

    static std::uint32_t hash(const PyObject* address) {
        return hash_bits(KeyKind::Object, reinterpret_cast<std::uintptr_t>(address));
    }
    std::uint32_t find(const PyObject* address) const {
        return index.find(hash(address), [&](std::uint32_t id) { return entries[id].address == address; });
    }
    void add(PyObject* address, const Registration& to) {
        std::uint32_t id = free;
        if (id != kNil) {
            free = entries[id].next;
        } else {
            id = static_cast<std::uint32_t>(entries.size());
            entries.emplace_back();
        }
        const std::uint32_t head = find(address);
        entries[id] = {address, kNil, to};
        if (head == kNil) {
            index.insert(hash(address), id);
        } else {
            entries[id].next = entries[head].next;
            entries[head].next = id;
        }
    }
    void give_back(std::uint32_t id) {
        entries[id] = {nullptr, free, {}};
        free = id;
    }
    void remove(PyObject* address, const Registration& to) {
        const std::uint32_t head = find(address);
        for (std::uint32_t id = head, before = kNil; id != kNil; before = id, id = entries[id].next) {
            const Registration& one = entries[id].to;
            if (one.mourner != to.mourner || one.engine != to.engine || one.parameter != to.parameter || one.slot != to.slot) continue;
            if (before != kNil) {
                entries[before].next = entries[id].next;
            } else {
                index.erase(hash(address), id);
                if (entries[id].next != kNil) index.insert(hash(address), entries[id].next);
            }
            give_back(id);
            return;
        }
    }
    void bury(PyObject* address) {
        std::uint32_t id = find(address);
        if (id == kNil) return;
        index.erase(hash(address), id);
        while (id != kNil) {
            const std::uint32_t next = entries[id].next;
            const Registration to = entries[id].to;
            give_back(id);
            to.mourner->died(to.engine, to.parameter, to.slot);
            id = next;
        }
    }
};

Watched watched;
destructor python_class_dealloc = nullptr;  // what every class written in Python has
std::unordered_map<PyTypeObject*, destructor> originals;

// The original deallocator of the nearest hooked base. Types that were made after a hook may have
// inherited it; they are not in the table themselves.
destructor original_of(PyTypeObject* type) {
    static PyTypeObject* last_type = nullptr;
    static destructor last_original = nullptr;
    if (type == last_type) return last_original;
    auto found = originals.end();
    for (PyTypeObject* at = type; found == originals.end(); at = at->tp_base) found = originals.find(at);
    last_type = type;
    return last_original = found->second;
}

void hooked_dealloc(PyObject* self) {
    watched.bury(self);
    PyTypeObject* type = Py_TYPE(self);
    const destructor original = original_of(type);
    if (type != &PyList_Type && type != &PyDict_Type && type != &PyTuple_Type) {
        original(self);
        return;
    }
    // These three limit the depth of nested deallocation only while the deallocator of the type is
    // their own; do it for them.
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, hooked_dealloc)
    original(self);
    Py_TRASHCAN_END
}

// The type whose deallocator sees the end of every instance of `type`.
PyTypeObject* hookable(PyTypeObject* type) {
    while (type->tp_dealloc == python_class_dealloc) type = type->tp_base;
    return type;
}

constexpr std::uint64_t kHooked = 1;

}  // namespace

bool prepare_watching() {
    PyType_Slot slots[] = {{0, nullptr}};
    PyType_Spec spec = {"mopsus._core.Watch", sizeof(WeakWatch), 0, Py_TPFLAGS_DEFAULT, slots};
    weak_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(&_PyWeakref_RefType)));
    if (weak_type == nullptr) return false;
    weak_callback = PyCFunction_New(&weak_callback_def, nullptr);
    if (weak_callback == nullptr) return false;
    PyObject* plain = PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(){}", "_Plain");
    if (plain == nullptr) return false;
    python_class_dealloc = reinterpret_cast<PyTypeObject*>(plain)->tp_dealloc;
    Py_DECREF(plain);
    return true;
}

std::uint64_t watch(PyObject* object, Mourner& mourner, void* engine, unsigned parameter, std::uint32_t slot) {
    const Registration to{&mourner, engine, parameter, slot};
    PyTypeObject* type = Py_TYPE(object);
    if (PyType_SUPPORTS_WEAKREFS(type)) {
        PyObject* arguments[] = {object, weak_callback};
        PyObject* reference = PyObject_Vectorcall(reinterpret_cast<PyObject*>(weak_type), arguments, 2, nullptr);
        if (reference != nullptr) {
            reinterpret_cast<WeakWatch*>(reference)->to = to;
            return reinterpret_cast<std::uintptr_t>(reference);
        }
        PyErr_Clear();
    }
    PyTypeObject* base = hookable(type);
    if (base->tp_dealloc != hooked_dealloc) {
        originals[base] = base->tp_dealloc;
        base->tp_dealloc = hooked_dealloc;
    }
    watched.add(object, to);
    return kHooked;
}

void unwatch(std::uint64_t word, PyObject* object, Mourner& mourner, void* engine, unsigned parameter, std::uint32_t slot) {
    if (word == kHooked) {
        watched.remove(object, {&mourner, engine, parameter, slot});
    } else if (word != 0) {
        auto* reference = reinterpret_cast<PyObject*>(static_cast<std::uintptr_t>(word));
        reinterpret_cast<WeakWatch*>(reference)->to.mourner = nullptr;
        Py_DECREF(reference);
    }
}

std::uint32_t slot_by_weak_reference(PyObject* object, void* engine, unsigned parameter) {
    if (!PyType_SUPPORTS_WEAKREFS(Py_TYPE(object))) return kNil;
    auto* at = *reinterpret_cast<PyWeakReference**>(PyObject_GET_WEAKREFS_LISTPTR(object));
    for (; at != nullptr; at = at->wr_next) {
        if (Py_TYPE(reinterpret_cast<PyObject*>(at)) != weak_type) continue;
        const Registration& to = reinterpret_cast<WeakWatch*>(at)->to;
        if (to.engine == engine && to.parameter == parameter) return to.slot;
    }
    return kNil;
}

}  // namespace mopsus::python
