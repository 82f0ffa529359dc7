#include "coded.hpp"

#include <algorithm>
#include <stdexcept>

namespace mopsus::python {

// Which words on the stack are truth values, as Python tells them from numbers, and what is assigned.
class CodedSteps::Tags {
public:
    Tags(std::uint64_t values, Variables& variables) : values_(values), variables_(variables) {}

    void push(std::int64_t place, bool truth) { set(stack_, place, truth); }
    void push_value(std::int64_t place, std::int64_t value) { push(place, (values_ >> value & 1) != 0); }
    void push_variable(std::int64_t place, std::int64_t variable) { push(place, (variables_.truths >> variable & 1) != 0); }
    void assign(std::int64_t place, std::int64_t variable) {
        set(variables_.truths, variable, (stack_ >> place & 1) != 0);
        set(variables_.assigned, variable, true);
    }

private:
    static void set(std::uint64_t& bits, std::int64_t at, bool value) {
        bits = (bits & ~(std::uint64_t{1} << at)) | std::uint64_t{value} << at;
    }

    std::uint64_t values_;
    std::uint64_t stack_ = 0;
    Variables& variables_;
};

void Coded::check(const InheritEngine& engine) const {
    const bool fits = letters == engine.program().events.size() && cells.size() == letters * (engine.states() + 1) &&
                      variables.size() <= agent::kMostVariables && engine.is_exact();
    if (!fits) throw std::invalid_argument("these tables are of another machine");
}

CodedSteps::Variables CodedSteps::read(Id slice) const {
    Variables found{};
    found.owner = slice;
    auto* variables = reinterpret_cast<PyObject*>(engine_.variables_of(slice));
    for (std::size_t k = 0; k < coded_.variables.size() && variables != nullptr; ++k) {
        PyObject* value = PyDict_GetItemWithError(variables, coded_.variables[k]);
        if (value == nullptr || (!PyLong_CheckExact(value) && !PyBool_Check(value))) continue;
        int overflow = 0;
        const long long word = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow != 0) continue;
        found.words[0] |= std::uint64_t{1} << k;
        found.words[k + 1] = static_cast<std::uint64_t>(word);
        if (PyBool_Check(value)) found.truths |= std::uint64_t{1} << k;
    }
    PyErr_Clear();
    return found;
}

CodedSteps::Variables* CodedSteps::of(Id slice) {
    if (slice >= places_.size()) places_.resize(2 * std::size_t{slice} + 16);
    if (places_[slice] == 0) {
        known_.push_back(read(slice));
        places_[slice] = static_cast<std::uint32_t>(known_.size());
    }
    return &known_[places_[slice] - 1];
}

void CodedSteps::copy(const Variables& from, Variables& to) const {
    std::copy_n(from.words, coded_.variables.size() + 1, to.words);
    to.truths = from.truths;
    to.assigned = from.assigned;
}

bool CodedSteps::take(EventId event, Slot slot, const Values& values, Origin& origin) {
    engine_.begin();
    const Id exact = engine_.exact(slot);
    const Id parent = exact != kNil ? exact : engine_.exact(kNil);
    if (parent == kNil) return false;
    const std::size_t row = exact != kNil ? engine_.state_of(exact) + 1 : 0;
    std::uint32_t cell = coded_.cells[row * coded_.letters + event];
    Variables* variables = nullptr;
    Variables after;  // the code may be given up
    if ((cell & agent::kCode) != 0) {
        const std::size_t begin = cell & agent::kRow;
        if (begin >= coded_.code.size()) return false;
        variables = of(parent);
        copy(*variables, after);
        cell = agent::compute(coded_.code.data() + begin, {values.words, values.unfit, after.words}, agent::kStop, Tags(values.truths, after));
    }
    if ((cell & agent::kStop) != 0) return false;
    if ((cell & agent::kKeep) == 0) return true;
    Id slice = exact;
    if (slice == kNil) {
        slice = engine_.make_copy(slot);
        if (variables != nullptr) variables = of(slice);
    }
    if (variables != nullptr) copy(after, *variables);
    if ((cell & agent::kOnlyBegins) == 0)
        engine_.follow(slice, event, static_cast<InheritEngine::State>((cell & agent::kRow) / coded_.letters - 1), origin);
    return true;
}

void CodedSteps::give_back() {
    for (Variables& each : known_) {
        auto* variables = reinterpret_cast<PyObject*>(engine_.variables_of(each.owner));
        for (std::size_t k = 0; k < coded_.variables.size() && each.assigned != 0; ++k) {
            if ((each.assigned >> k & 1) == 0) continue;
            const auto word = static_cast<std::int64_t>(each.words[k + 1]);
            PyObject* value = (each.truths >> k & 1) != 0 ? PyBool_FromLong(word != 0) : PyLong_FromLongLong(word);
            const int stored = value != nullptr ? PyDict_SetItem(variables, coded_.variables[k], value) : -1;
            Py_XDECREF(value);
            if (stored != 0) PyErr_Clear();  // there is no memory left: whoever needs some next will say so
        }
    }
    known_.clear();
    places_.clear();
}

}  // namespace mopsus::python
