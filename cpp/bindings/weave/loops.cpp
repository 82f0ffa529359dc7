#include "loops.hpp"

#include <algorithm>

#include "classes.hpp"
#include "iterate.hpp"

namespace mopsus::python {

namespace {

// Types of the interpreter stay as they are; of others, the version says whether they did.
bool is_lasting(const PyTypeObject* type) {
    return type->tp_version_tag != 0 || (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) != 0;
}
bool is_same(const PyTypeObject* type, unsigned version) {
    return type->tp_version_tag == version || (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) != 0;
}

// Does the type of the object alone decide whether these are about it?
bool is_settled_for(const Taps& taps, PyObject* object) {
    const auto settled = [&](const Owned& classes) {
        return !classes || (is_instance_of(classes.get(), object), is_settled(classes.get(), object));
    };
    return taps.all_of([&](const Tap& tap) {
        return settled(tap.target) &&
               std::all_of(tap.sources.begin(), tap.sources.end(), [&](const Tap::Source& source) {
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
    if (tap.emission.monitor == nullptr || tap.admits || tap.entry || tap.exact || tap.at_most == 0 ||
        tap.at_least > 1 || tap.sources.size() != 2)
        return false;
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

// The taps that a loop meets, none or one of each. What a loop does for `for x in given`:
//
//     iter(given)      -> iterator    creates: told of both when it returns
//     next(iterator)   -> x           before or after: told of each step
//     next(iterator)   raises         end: told that there are no more
struct LoopTaps {
    const Tap *creates = nullptr, *before = nullptr, *after = nullptr, *end = nullptr;

    const Tap* step() const { return before != nullptr ? before : after; }
    bool none() const { return step() == nullptr && end == nullptr && creates == nullptr; }

    // False: there are others, or several of one. `first` are those of the collection, `second` of the iterator.
    bool find(const Taps* first, const Taps* second, PyObject* given, PyObject* iterator) {
        bool several = false;
        if (first != nullptr) {
            if (only_one(first->around, given, several) != nullptr ||
                only_one(first->before, given, several) != nullptr)
                return false;
            creates = only_one(first->returning, given, several);
            if (only_one(first->raising, given, several) != nullptr || several) return false;
        }
        if (second != nullptr) {
            if (only_one(second->around, iterator, several) != nullptr) return false;
            before = only_one(second->before, iterator, several);
            after = only_one(second->returning, iterator, several);
            end = only_one(second->raising, iterator, several);
        }
        return !several && (before == nullptr || after == nullptr);
    }
};

// A tap that only tells a monitor of the iterator.
bool is_plain(const Tap& tap) { return tap.simple && !tap.entry; }

// An event about the iterator alone creates an instance if it is the first that tells of it, so both steps and ends
// have to allow that it is pending.
bool may_be_stepped(const LoopPlan& plan) {
    return plan.monitor->core().program().parameters == 1 && plan.monitor->defers(plan.step) &&
           (!plan.has_end || plan.monitor->defers(plan.end));
}

// The instance of the collection and its iterator may be pending only as long as nobody else can get hold of the
// iterator, and the collection lives at least as long.
bool may_be_created(const LoopPlan& plan, const Tap& creates, PyObject* given, PyObject* iterator) {
    if (plan.has_end || creates.emission.monitor != plan.monitor || !tells_both(creates, iterator)) return false;
    return is_kept_by_its_iterator(given) && is_object(given) && plan.monitor->defers(creates.emission.event);
}

// What every loop over objects of these types will do. A loop that does anything unusual asks its taps at each step;
// that is always right, so in doubt the plan stays `Usual`. The quick kinds hold for one monitor, which is told of the
// iterator by each step and perhaps of the end; the order of the checks is from the cheap and general to the special.
void decide(LoopPlan& plan, const Taps* first, const Taps* second, PyObject* given, PyObject* iterator) {
    plan.kind = LoopPlan::Kind::Usual;
    if ((first != nullptr && !is_settled_for(*first, given)) ||
        (second != nullptr && !is_settled_for(*second, iterator)))
        return;
    LoopTaps taps;
    if (!taps.find(first, second, given, iterator)) return;
    if (taps.none()) {
        if (Py_TYPE(iterator)->tp_iter == PyObject_SelfIter) plan.kind = LoopPlan::Kind::Idle;
        return;
    }
    const Tap* step = taps.step();
    if (step == nullptr || !is_plain(*step) || !is_object(iterator)) return;
    plan.after = taps.after != nullptr;
    plan.step = step->emission.event;
    plan.monitor = step->emission.monitor;
    plan.has_end = taps.end != nullptr;
    if (taps.end != nullptr) {
        if (!is_plain(*taps.end) || taps.end->emission.monitor != plan.monitor) return;
        plan.end = taps.end->emission.event;
    }
    if (taps.creates == nullptr) {
        plan.creates = plan.step;
        plan.iterator_first = true;
        if (may_be_stepped(plan)) plan.kind = LoopPlan::Kind::Stepped;
    } else if (may_be_created(plan, *taps.creates, given, iterator)) {
        plan.creates = taps.creates->emission.event;
        plan.iterator_first = taps.creates->sources[0].kind == Tap::From::Result;
        plan.kind = LoopPlan::Kind::Created;
    }
}

}  // namespace

const LoopPlan* LoopPlans::find(const Site* site, PyObject* given) const {
    PyTypeObject* type = Py_TYPE(given);
    const LoopPlan& plan = plans_[place_of(type)];
    if (plan.type != type || plan.taps != site->taps || plan.classes != classes_added || !is_same(type, plan.version))
        return nullptr;
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
