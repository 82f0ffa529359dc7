// Steps of a guarded machine that an agent has made, made again without any Python: its code is instructions here, too,
// and variables are words as long as one log of the agent's is taken.
#pragma once

#include <Python.h>

#include <vector>

#include "../agent/agent.hpp"
#include "engine/inherit.hpp"

namespace mopsus::python {

// A machine as the agent has it.
struct Coded {
    std::vector<std::uint32_t> cells;
    std::vector<agent::Instruction> code;
    std::vector<PyObject*> variables;  // their names
    std::size_t letters = 0;

    // Throws std::invalid_argument if this is not the machine of the engine.
    void check(const InheritEngine& engine) const;
};

class CodedSteps {
public:
    CodedSteps(const Coded& coded, InheritEngine& engine) : coded_(coded), engine_(engine) {}

    // What is known of the values of an event, a bit for each.
    struct Values {
        const std::uint64_t* words;
        std::uint64_t unfit;   // too large to be a number with a sign
        std::uint64_t truths;  // truth values
    };
    // An event of the slice of a value. `moved` is the slice if it has taken a transition; not `taken`: only Python can
    // tell what becomes of it.
    struct Taken {
        bool taken = true;
        std::uint32_t moved = kNil;
    };
    Taken take(EventId event, Slot slot, const Values& values);
    // Slices get the variables that were assigned.
    void give_back();

private:
    using Id = InheritEngine::Id;
    struct Variables {
        std::uint64_t words[agent::kMostWords];
        std::uint64_t truths = 0;
        std::uint64_t assigned = 0;
        Id owner = kNil;
    };
    class Tags;

    Variables* of(Id slice);
    Variables read(Id slice) const;

    const Coded& coded_;
    InheritEngine& engine_;
    std::vector<Variables> known_;
    std::vector<std::uint32_t> places_;  // by slice, where in `known_` its variables are, and 1; 0: nowhere
};

}  // namespace mopsus::python
