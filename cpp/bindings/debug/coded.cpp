#include "coded.hpp"

#include <stdexcept>

namespace mopsus::python {

// Which words on the stack are truth values, as Python tells them from numbers, and what is assigned; that can be
// undone.
class CodedSteps::Tags {
public:
    Tags(std::uint64_t values, Variables& variables)
        : values_(values),
          variables_(variables),
          known_(variables.words[0]),
          truths_(variables.truths),
          assigned_(variables.assigned) {}

    void push(std::int64_t place, bool truth) { set(stack_, place, truth); }
    void push_value(std::int64_t place, std::int64_t value) { push(place, (values_ >> value & 1) != 0); }
    void push_variable(std::int64_t place, std::int64_t variable) {
        push(place, (variables_.truths >> variable & 1) != 0);
    }
    void assign(std::int64_t place, std::int64_t variable) {
        if ((changed_ >> variable & 1) == 0) before_[variable] = variables_.words[variable + 1];
        set(changed_, variable, true);
        set(variables_.truths, variable, (stack_ >> place & 1) != 0);
        set(variables_.assigned, variable, true);
    }
    void undo() {
        for (std::size_t variable = 0; variable < agent::kMostVariables; ++variable)
            if ((changed_ >> variable & 1) != 0) variables_.words[variable + 1] = before_[variable];
        variables_.words[0] = known_;
        variables_.truths = truths_;
        variables_.assigned = assigned_;
    }

private:
    static void set(std::uint64_t& bits, std::int64_t at, bool value) {
        bits = (bits & ~(std::uint64_t{1} << at)) | std::uint64_t{value} << at;
    }

    std::uint64_t values_;
    std::uint64_t stack_ = 0;
    Variables& variables_;
    std::uint64_t known_;
    std::uint64_t truths_;
    std::uint64_t assigned_;
    std::uint64_t changed_ = 0;
    std::uint64_t before_[agent::kMostVariables];  // of those
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

CodedSteps::Taken CodedSteps::take(EventId event, Slot slot, const Values& values) {
    constexpr Taken by_python{false, kNil};
    engine_.begin();
    const Id exact = engine_.exact(slot);
    const Id parent = exact != kNil ? exact : engine_.exact(kNil);
    if (parent == kNil) return by_python;
    const std::size_t row = exact != kNil ? engine_.state_of(exact) + 1 : 0;
    std::uint32_t cell = coded_.cells[row * coded_.letters + event];
    Variables fresh;  // of a slice that begins as a copy
    Variables* variables = nullptr;
    if ((cell & agent::kCode) != 0) {
        const std::size_t begin = cell & agent::kRow;
        if (begin >= coded_.code.size()) return by_python;
        variables = of(parent);
        if (exact == kNil) variables = &(fresh = *variables);
        Tags tags(values.truths, *variables);
        cell = agent::compute(coded_.code.data() + begin, {values.words, values.unfit, variables->words}, agent::kStop,
                              tags);
        if ((cell & (agent::kStop | agent::kKeep)) != agent::kKeep) tags.undo();
    }
    if ((cell & agent::kStop) != 0) return by_python;
    if ((cell & agent::kKeep) == 0) return {};
    Id slice = exact;
    if (slice == kNil) {
        slice = engine_.make_copy(slot);
        fresh.owner = slice;
        if (variables != nullptr) *of(slice) = fresh;
    }
    if ((cell & agent::kOnlyBegins) != 0) return {};
    engine_.follow(slice, static_cast<InheritEngine::State>((cell & agent::kRow) / coded_.letters - 1));
    return {true, slice};
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
