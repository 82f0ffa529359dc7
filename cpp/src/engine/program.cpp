#include "mopsus/engine/program.hpp"

#include <stdexcept>

namespace mopsus {

void Program::check() const {
    const auto require = [](bool ok, const char* what) {
        if (!ok) throw std::invalid_argument(what);
    };
    require(parameters <= kMaxParameters, "a specification has at most 16 parameters");
    require(!events.empty() && events.size() < 0xFFFF, "a specification has 1 to 65534 events");
    require(machines.size() < 0xFFFF, "too many properties");
    for (const EventDecl& event : events) {
        Mask seen = 0;
        for (const std::uint8_t p : event.parameters) {
            require(p < parameters && ((seen >> p) & 1U) == 0, "an event binds a parameter at most once");
            seen |= 1U << p;
        }
        require(event.fields.size() <= kMaxFields, "an event has at most 32 fields");
        for (const Mask mask : event.enable) require((mask & ~all()) == 0, "enable set outside of the parameters");
    }
    for (const auto& machine : machines) machine->check(events.size());
}

}  // namespace mopsus
