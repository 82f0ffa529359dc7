// The engine for programs whose events all bind the same, at most one, parameter: an instance
// is a slot, and slicing needs no joins. States lie densely, one vector per property.
#pragma once

#include "mopsus/engine.hpp"
#include "mopsus/history.hpp"

namespace mopsus {

class FlatEngine final : public Engine {
public:
    static bool fits(const Program& program);
    FlatEngine(const Program& program, Listener& listener);
    ~FlatEngine() override;

    void step(EventId event, const Slot* slots, Origin& origin) override;
    bool inserts(EventId event) const override { return program_.events[event].creation; }
    void forget(unsigned p, Slot slot) override;
    bool reset(InstanceRef instance) override;
    std::size_t bytes() const override;
    void transfer(Archive& archive) override;
    void prefetch(unsigned, Slot slot) const override {
        if (slot < states_[0].size()) __builtin_prefetch(&states_[0][slot]);
    }

    // For the bulk loop, which steps a single property without history: the state of every slot.
    bool bulk() const { return tables_.size() == 1 && !history_.on() && !guarded_ && !program_.variables; }
    const Table& table() const { return tables_[0]; }
    Table::Row* rows() { return states_[0].data(); }
    // Make room for a new slot and start its instance.
    void begin(Slot slot);
    // What a notable step of the bulk loop still has to do.
    void note(Slot slot, EventId event, Table::Row before, Origin& origin);

private:
    bool started(Slot slot) const { return slot < live_.size() && live_[slot] != kAbsent; }
    void retire(Slot slot);
    void report(Slot slot, unsigned property, EventId event, Table::Row before, const Stamp& stamp);
    bool any_alive(Slot slot) const;
    std::vector<Value> values(Slot slot) const;

    enum : std::uint8_t { kAbsent, kLive, kDone };
    bool guarded_ = false;
    History history_;
    std::vector<std::vector<Table::Row>> states_;  // [property][slot]
    std::vector<std::uint8_t> live_;
    std::vector<std::uint32_t> past_;   // history handles, with history
    std::vector<std::uint64_t> users_;  // the listener's words, with variables
};

}  // namespace mopsus
