// The engine for programs whose events all bind the same, at most one, parameter: an instance
// is a slot, and slicing needs no joins. What a step touches lies densely by slot.
#pragma once

#include "mopsus/engine/engine.hpp"
#include "mopsus/engine/history.hpp"

namespace mopsus {

class FlatEngine final : public Engine {
public:
    static bool fits(const Program& program);
    FlatEngine(const Program& program, Listener& listener);
    ~FlatEngine() override;

    void step(EventId event, const Slot* slots, Origin& origin) override;
    bool inserts(EventId event) const override { return program_.events[event].creation; }
    void forget(unsigned p, Slot slot) override;
    bool reset(InstanceRef instance, bool reported) override;
    std::size_t bytes() const override;
    void each_instance(const Visit& visit) override;
    std::vector<std::vector<bool>> occupied() override;
    void transfer(Archive& archive) override;
    bool defers(EventId event) const override {
        return bulk() && program_.parameters == 1 && program_.events[event].creation;
    }
    Deferred defer() override {
        counts_.create();
        return {0, table_->initial(), false, {}};
    }
    void adopt(EventId event, const Slot* slots, const Deferred& deferred) override;
    void prefetch(unsigned, Slot slot) const override {
        if (slot < slots_) __builtin_prefetch(&words_[static_cast<std::size_t>(slot) * stride_]);
    }

    // For the bulk loop over one property: its table, and the words of every slot: the row of the
    // table and, with history, the head of the past.
    bool bulk() const { return table_ != nullptr && quiet(); }
    const Table& table() const { return *table_; }
    std::uint32_t* words() { return words_.data(); }
    History& history() { return history_; }
    void compact_history();
    // One property, with nothing to be asked before a step.
    bool quiet() const { return properties_.size() == 1 && !guarded_ && !program_.variables && !program_.immediate; }
    // Can an instance take a step without history, and is it there?
    bool ready(Slot slot) { return !history_.on() && present(slot) && !done_[slot]; }
    // The step of an instance that is ready. Gives the flags of the state after it; if it is notable, `note` must
    // follow.
    Word step_ready(EventId event, Slot slot, Origin& origin) {
        Word& word = at(slot)[0];
        const Word after = properties_[0].step(word, event, origin);
        word = plain(after);
        return after;
    }
    // The same for a table, if the step has no consequences beyond its state; else nothing is done.
    bool step_quietly(EventId event, Slot slot) {
        if (!present(slot)) return false;
        Word* words = at(slot);
        const Word cell = table_->step(words[0], event);
        if (cell == words[0]) return true;  // mostly it is
        if ((cell & kNotable) != 0 || history_.on()) return false;
        words[0] = cell;
        return true;
    }
    // A step of which nobody hears, of a `bulk` engine: does the instance take it? What it may have to remember of the
    // step is up to the caller.
    struct Quiet {
        bool taken = true;
        bool moved = false;
    };
    Quiet take_quietly(EventId event, Slot slot) {
        if (!present(slot)) {
            if (!program_.events[event].creation) return {};
            begin(slot);
        }
        Word* words = at(slot);
        const Word cell = table_->step(words[0], event);
        if (done_[slot] || cell == words[0]) return {};
        if ((cell & kNotable) != 0) return {false, false};
        words[0] = cell;
        return {true, true};
    }
    void remember(Slot slot, EventId event, const Stamp& stamp) {
        at(slot)[past()] = history_.add(at(slot)[past()], event, stamp);
        if (history_.full()) compact_history();
    }
    // What a notable step of the bulk loop still has to do.
    void note(Slot slot, EventId event, Word before, const Stamp& stamp);

    static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;  // for a row: no instance (yet)
    static constexpr std::uint32_t kDone = 0xFFFFFFFF;    // for a head: the instance will never report again

private:
    std::uint32_t* at(Slot slot) { return &words_[static_cast<std::size_t>(slot) * stride_]; }
    bool present(Slot slot) { return slot < slots_ && at(slot)[0] != kAbsent; }
    void make_room(Slot slot);
    void begin(Slot slot);
    std::size_t past() const { return properties_.size(); }  // where the head of the past stands
    void retire(Slot slot);
    void report(Slot slot, unsigned property, EventId event, Word before, const Stamp& stamp);
    bool any_alive(Slot slot);
    std::vector<Value> values(Slot slot) const;

    bool guarded_ = false;
    const Table* table_ = nullptr;  // of the only property, if it has one
    History history_;
    std::uint32_t stride_;     // a row per property, and the head of the past with history
    std::uint32_t slots_ = 0;  // room for so many
    LargeVector<std::uint32_t> words_;
    std::vector<bool> done_;
    std::vector<std::uint64_t> users_;  // the listener's words, with variables
};

}  // namespace mopsus
