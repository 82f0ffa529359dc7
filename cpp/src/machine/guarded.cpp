#include "mopsus/machine/guarded.hpp"

#include <stdexcept>

namespace mopsus {

void GuardedMachine::check(std::size_t events) const {
    const auto require = [](bool ok) {
        if (!ok) throw std::invalid_argument("a guarded machine refers outside of its states or events");
    };
    require(initial < states.size() && states.size() < kStay);
    for (const Place& place : states) {
        require(place.category >= -1 && place.category < 0xFFFF);
        for (const Transition& transition : place.transitions) {
            require(transition.event < events);
            for (const auto& end : {transition.success, transition.failure})
                require(!end || end->target == kStay || end->target < states.size());
        }
    }
}

bool GuardedMachine::reads_data() const {
    for (const Place& place : states)
        for (const Transition& transition : place.transitions) {
            if (transition.guard != kNoCode) return true;
            for (const auto& end : {transition.success, transition.failure})
                if (end && end->block != kNoCode) return true;
        }
    return false;
}

bool GuardedMachine::calls_out() const {
    if (variables || reads_data()) return true;
    for (const Place& place : states) {
        if (place.action != kNoCode) return true;
        for (const Transition& transition : place.transitions)
            for (const auto& end : {transition.success, transition.failure})
                if (end && end->action != kNoCode) return true;
    }
    return false;
}

}  // namespace mopsus
