#include "loops.hpp"

#include <algorithm>

#include "classes.hpp"
#include "iterate.hpp"

namespace mopsus::python {

namespace {

// Types of the interpreter stay as they are; of others, the version says whether they did.
bool is_lasting(const PyTypeObject* type) { return type->tp_version_tag != 0 || (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) != 0; }
bool is_same(const PyTypeObject* type, unsigned version) { return type->tp_version_tag == version || (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) != 0; }

// Does the type of the object alone decide whether these are about it?
bool is_settled_for(const Taps& taps, PyObject* object) {
    const auto settled = [&](const Owned& classes) { return !classes || (is_instance_of(classes.get(), object), is_settled(classes.get(), object)); };
    return taps.all_of([&](const Tap& tap) {
        return settled(tap.target) && std::all_of(tap.sources.begin(), tap.sources.end(), [&](const Tap::Source& source) {
                   return source.kind != Tap::From::Target || settled(source.types);
               });
    });
}

// The only one of some taps that is about the object; `several` if there are more.
const Tap* only_one(const std::vector<const Tap*>& taps, PyObject* object, bool& several) {
    const Tap* found = nullptr;
    for (const Tap* tap : taps) {
        if (!tap->concerns(object)) continue;
        several = several || found != nullptr;
        found = tap;
    }
    return found;
}

// Does a tap tell a monitor of a collection and its iterator, whenever those are of the right types?
bool tells_both(const Tap& tap, PyObject* iterator) {
    if (tap.emission.monitor == nullptr || tap.admits || tap.entry || tap.exact || tap.at_most == 0 || tap.at_least > 1 || tap.sources.size() != 2) return false;
    const bool reversed = tap.sources[0].kind == Tap::From::Result;
    const Tap::Source& made = tap.sources[reversed ? 0 : 1];
    const Tap::Source& given = tap.sources[reversed ? 1 : 0];
    if (made.kind != Tap::From::Result || given.kind != Tap::From::Target) return false;
    return !made.types || (is_instance_of(made.types.get(), iterator) && is_settled(made.types.get(), iterator));
}

// The iterators of these keep what they go over until they have come to its end, and run no code of the program.
bool is_kept_by_its_iterator(PyObject* given) {
    const getiterfunc iterate = Py_TYPE(given)->tp_iter;
    return iterate == PyList_Type.tp_iter || iterate == PyDict_Type.tp_iter || iterate == PySet_Type.tp_iter;
}

bool is_object(PyObject* value) { return has_identity(Py_TYPE(value)) && !is_permanent(value); }

void decide(LoopPlan& plan, const Taps* first, const Taps* second, PyObject* given, PyObject* iterator) {
    plan.kind = LoopPlan::Kind::Usual;
    if ((first != nullptr && !is_settled_for(*first, given)) || (second != nullptr && !is_settled_for(*second, iterator))) return;
    bool several = false;
    const Tap* creates = nullptr;
    if (first != nullptr) {
        if (only_one(first->around, given, several) != nullptr || only_one(first->before, given, several) != nullptr) return;
        creates = only_one(first->returning, given, several);
        if (only_one(first->raising, given, several) != nullptr || several) return;
    }
    const Tap *before = nullptr, *after = nullptr, *end = nullptr;
    if (second != nullptr) {
        if (only_one(second->around, iterator, several) != nullptr) return;
        before = only_one(second->before, iterator, several);
        after = only_one(second->returning, iterator, several);
        end = only_one(second->raising, iterator, several);
        if (several || (before != nullptr && after != nullptr)) return;
    }
    const Tap* step = before != nullptr ? before : after;
    if (step == nullptr && end == nullptr && creates == nullptr) {
        if (Py_TYPE(iterator)->tp_iter == PyObject_SelfIter) plan.kind = LoopPlan::Kind::Idle;
        return;
    }
    if (step == nullptr || !step->simple || step->entry || !is_object(iterator)) return;
    plan.after = after != nullptr;
    plan.step = step->emission.event;
    plan.monitor = step->emission.monitor;
    plan.has_end = end != nullptr;
    if (end != nullptr && (!end->simple || end->entry || end->emission.monitor != plan.monitor)) return;
    if (end != nullptr) plan.end = end->emission.event;
    if (creates == nullptr) {
        plan.iterator_first = true;
        plan.creates = plan.step;
        const bool alone = plan.monitor->core().program().parameters == 1;
        if (alone && plan.monitor->defers(plan.step) && (end == nullptr || plan.monitor->defers(plan.end))) plan.kind = LoopPlan::Kind::Stepped;
        return;
    }
    if (end != nullptr || creates->emission.monitor != plan.monitor || !tells_both(*creates, iterator) || !is_kept_by_its_iterator(given) || !is_object(given))
        return;
    plan.creates = creates->emission.event;
    plan.iterator_first = creates->sources[0].kind == Tap::From::Result;
    if (plan.monitor->defers(plan.creates)) plan.kind = LoopPlan::Kind::Created;
}

}  // namespace

const LoopPlan* LoopPlans::find(const Site* site, PyObject* given) const {
    PyTypeObject* type = Py_TYPE(given);
    const LoopPlan& plan = plans_[place_of(type)];
    if (plan.type != type || plan.taps != site->taps || plan.classes != classes_added || !is_same(type, plan.version)) return nullptr;
    return is_same(plan.iterator, plan.iterator_version) ? &plan : nullptr;
}

void LoopPlans::learn(const Site* site, PyObject* given, PyObject* iterator) {
    PyTypeObject *type = Py_TYPE(given), *made = Py_TYPE(iterator);
    if (!is_lasting(type) || !is_lasting(made)) return;
    LoopPlan plan{};
    plan.taps = site->taps;
    plan.classes = classes_added;
    // Code of a metaclass may take them away.
    Taps *first = site->first, *second = site->second;
    for (Taps* taps : {first, second})
        if (taps != nullptr) taps->hold();
    decide(plan, first, second, given, iterator);
    for (Taps* taps : {first, second})
        if (taps != nullptr) taps->drop();
    plan.type = type;
    plan.iterator = made;
    plan.version = type->tp_version_tag;
    plan.iterator_version = made->tp_version_tag;
    plans_[place_of(type)] = plan;
}

}  // namespace mopsus::python
