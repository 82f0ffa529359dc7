// How obligations came to be: steps, each with the one before it, shared by all obligations that have it in common.
//
// When a fixed point is entered again, all is as it was when it began, and what happened since is forgotten. So no
// chain is longer than the formula is deep, and what bound the values that are still known is in it.
#pragma once

#include <cstdint>
#include <vector>

#include "mopsus/machine/explanation.hpp"
#include "form.hpp"
#include "match.hpp"

namespace mopsus {

class Chains {
public:
    using Id = std::uint32_t;  // 0: nothing happened yet
    using Number = SymbolicMachine::Number;

    Chains(const SymbolicMachine& machine, const Forms& forms) : machine_(machine), forms_(forms) {}

    ~Chains() {
        finish();
        for (const Step& step : steps_) drop(step.data);
    }
    Chains(const Chains&) = delete;
    Chains& operator=(const Chains&) = delete;

    void turn_on() { on_ = true; }
    bool on() const { return on_; }

    // A new event; what `extend` adds is about it.
    void begin(EventId letter, Origin& origin, const EventData& data) {
        letter_ = letter;
        origin_ = &origin;
        fields_ = &data;
    }
    void finish() {
        if (!data_.is_nothing()) {
            drop(data_);
            data_ = Term();
        }
        stamped_ = false;
    }
    // A chain with one step more, which its receiver owns; if a fixed point was entered again, the one at its begin.
    Id extend(Id before, Number modality, bool fitted, std::uint32_t unfolded, bool again);
    void share(Id id) {
        if (id != 0) ++steps_[id - 1].owners;
    }
    void release(Id id);
    // All steps, with what their modalities bound.
    Explanation read(Id id, Matcher& matcher) const;
    // Writes a chain, or reads one that its receiver owns.
    Id transfer(Archive& archive, Id id);
    std::size_t bytes() const { return steps_.capacity() * sizeof(Step) + kept_; }

private:
    struct Step {
        std::uint32_t owners = 0;
        Id before = 0;  // or the next one that is free
        Number modality = 0;
        EventId letter = 0;
        bool fitted = true;
        Term data;  // a tuple of the fields
        Stamp stamp;
        std::uint32_t unfolded = 0;  // by the number of the forms
    };

    Id take();
    Term current_data();
    Id begun(Id id, std::uint32_t unfolded) const;

    const SymbolicMachine& machine_;
    const Forms& forms_;
    bool on_ = false;
    EventId letter_ = 0;
    Origin* origin_ = nullptr;
    const EventData* fields_ = nullptr;
    Term data_;  // of the event, once somebody needs it
    Stamp stamp_;
    bool stamped_ = false;
    std::vector<Step> steps_;
    Id free_ = 0;
    std::size_t kept_ = 0;  // bytes of data
};

}  // namespace mopsus
