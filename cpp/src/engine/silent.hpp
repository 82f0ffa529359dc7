// The engine of a monitor that has been given up: it takes every event, and does nothing.
#pragma once

#include "mopsus/engine/engine.hpp"

namespace mopsus {

class SilentEngine final : public Engine {
public:
    SilentEngine(const Program& program, Listener& listener) : Engine(program, listener) {
        for (unsigned p = 0; p < std::max(program.parameters, 1U); ++p) domains_.push_back(std::make_unique<Domain>());
    }

    void step(EventId, const Slot*, Origin&) override {}
    bool inserts(EventId) const override { return false; }
    void forget(unsigned, Slot) override {}
    bool reset(InstanceRef, bool) override { return false; }
    std::size_t bytes() const override { return 0; }
    void each_instance(const Visit&) override {}
    void transfer(Archive&) override {}
};

}  // namespace mopsus
