// A state machine whose transitions ask code of the specification, and whose instances begin as copies of others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mopsus/machine/machine.hpp"

namespace mopsus {

struct GuardedMachine final : Machine {
    using State = std::uint32_t;
    using CodeId = std::uint32_t;  // only the listener knows what it stands for
    static constexpr CodeId kNoCode = 0xFFFFFFFF;
    static constexpr State kStay = 0xFFFFFFFF;

    struct End {
        CodeId block = kNoCode;  // may answer with a state, which wins over `target`
        CodeId action = kNoCode;
        State target = kStay;
    };
    struct Transition {
        EventId event = 0;
        CodeId guard = kNoCode;
        std::optional<End> success;
        std::optional<End> failure;
    };
    struct Place {
        std::vector<Transition> transitions;
        bool final = false;          // whoever arrives is forgotten
        CodeId action = kNoCode;     // on arrival
        std::int32_t category = -1;  // reported on arrival; -1: none
    };
    std::vector<Place> states;
    State initial = 0;
    bool variables = false;           // has every instance a word of the listener's?
    CodeId initialization = kNoCode;  // of the first

    void check(std::size_t events) const override;
    // Only guards and blocks look at data.
    bool reads_data() const override;
    bool calls_out() const override;

    // From which states each can be reached by events for which `takes` holds, as a set of states by state.
    template <class Takes>
    std::vector<bool> reachable(State from, Takes&& takes) const {
        std::vector<bool> seen(states.size(), false);
        std::vector<State> waiting{from};
        seen[from] = true;
        const auto reach = [&](State state) {
            if (seen[state]) return;
            seen[state] = true;
            waiting.push_back(state);
        };
        while (!waiting.empty()) {
            const State state = waiting.back();
            waiting.pop_back();
            for (const Transition& transition : states[state].transitions) {
                if (!takes(transition.event)) continue;
                for (const auto& end : {transition.success, transition.failure}) {
                    if (!end) continue;
                    if (end->target != kStay) reach(end->target);
                    if (end->block != kNoCode)  // it may choose any
                        for (State any = 0; any < states.size(); ++any) reach(any);
                }
            }
        }
        return seen;
    }
};

}  // namespace mopsus
