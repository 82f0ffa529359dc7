// Which value is which: slots of Python objects, and what becomes of them when the objects die.
#include "monitor.hpp"
#include "weave/steps.hpp"
#include "unobserved.hpp"

namespace mopsus::python {

PyObject* PyMonitor::canonical(unsigned p, PyObject* value) {
    // By equality: the first object seen of those that are equal stands for all, and is kept.
    const Unobserved unobserved;
    PyObject*& known = representatives_[p];
    if (known == nullptr) known = PyDict_New();
    PyObject* key = known != nullptr ? PyTuple_Pack(2, reinterpret_cast<PyObject*>(Py_TYPE(value)), value) : nullptr;
    PyObject* first = key != nullptr ? PyDict_SetDefault(known, key, value) : nullptr;
    Py_XDECREF(key);
    if (first == nullptr) fault();  // not hashable: its identity must do
    return first != nullptr ? first : value;
}

Slot PyMonitor::slot_of(Engine& engine, unsigned p, PyObject* value, bool insert) {
    Domain& domain = engine.domain(p);
    const KeyMode mode = options_.modes[p];
    Key key;
    if (mode == KeyMode::Identity) {
        key = Key::of_bits(KeyKind::Object, reinterpret_cast<std::uintptr_t>(value));
    } else {
        if (options_.decentralized) {
            const Slot slot = slot_by_weak_reference(value, watcher(engine, p));
            if (slot != kNil) return slot;
        }
        key = key_of(value, scratch_);
        if (key.kind == KeyKind::Object && mode == KeyMode::Equality) {
            value = canonical(p, value);
            key = Key::of_bits(KeyKind::Object, reinterpret_cast<std::uintptr_t>(value));
        }
    }
    Slot slot = domain.find(key);
    if (slot != kNil || !insert) return slot;
    slot = domain.insert(key);
    if (key.kind == KeyKind::Object) {
        domain.set_tag(slot, type_name(Py_TYPE(value)));
        watch_object(engine, p, slot, value);
    }
    return slot;
}

// Notices its death, or keeps it if that cannot be seen.
void PyMonitor::watch_object(Engine& engine, unsigned p, Slot slot, PyObject* value) {
    const bool scalar = options_.modes[p] == KeyMode::Identity && key_of(value, scratch_).kind != KeyKind::Object;
    if (scalar || options_.modes[p] == KeyMode::Equality || is_permanent(value)) {
        pinned_.push_back(Py_NewRef(value));
        return;
    }
    engine.domain(p).set_watch(slot, watch(value, watcher(engine, p), slot, options_.decentralized));
    Steps::note(value);
    ++watches_;
    if (tabular_ && options_.modes[p] == KeyMode::ByKind) recent_.remember(p, value, slot);
}

PyMonitor::Watcher& PyMonitor::watcher(Engine& engine, unsigned parameter) {
    if (last_watcher_ != nullptr && &last_watcher_->engine() == &engine && last_watcher_->parameter() == parameter)
        return *last_watcher_;
    std::unique_ptr<Watcher>& known = watchers_[{&engine, parameter}];
    if (known == nullptr) known = std::make_unique<Watcher>(*this, engine, parameter);
    last_watcher_ = known.get();
    return *known;
}

std::uint32_t PyMonitor::type_name(PyTypeObject* type) {
    Named& last = last_named_[(reinterpret_cast<std::uintptr_t>(type) >> 5) % last_named_.size()];
    if (type == last.type && type->tp_version_tag == last.version && last.version != 0) return last.name;
    const Key key = Key::of_blob(KeyKind::Text, type->tp_name);
    const Slot known = type_names_.find(key);
    last = {type, type->tp_version_tag, known != kNil ? known : type_names_.insert(key)};
    return last.name;
}

void PyMonitor::Watcher::died(Slot slot) {
    const std::uint64_t word = domain().watch(slot);
    domain().set_watch(slot, 0);
    domain().bury(slot);
    monitor_.recent_.forget(as_object(domain().bits(slot)));
    monitor_.deaths_.push_back({&engine(), parameter(), slot});
    monitor_.set_quiet();
    if (word > 1) monitor_.trash_.push_back(as_object(word));  // the weak reference itself
    --monitor_.watches_;
}

void PyMonitor::settle() {
    make_all_pending();
    if (inside_ || closed_) return;
    inside_ = true;
    inside_thread_ = std::this_thread::get_id();
    bury();
    core_.each_engine([](Engine& engine) { engine.begin(); });
    inside_ = false;
    set_quiet();
    if (!waiting_.empty()) {  // initializations may send events
        inside_ = true;
        leave();
    }
}

void PyMonitor::bury() {
    while (!deaths_.empty()) {
        std::vector<Death> batch = std::move(buried_);
        batch.swap(deaths_);
        for (const Death& death : batch) death.engine->forget(death.parameter, death.slot);
        batch.clear();
        buried_ = std::move(batch);
    }
    set_quiet();
}

}  // namespace mopsus::python
