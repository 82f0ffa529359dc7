// What the components of a system observe in a run, by time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mopsus/decentral/memory.hpp"

namespace mopsus::decentral {

using Component = std::uint32_t;

class Feed {
public:
    // A proposition, as its component numbers them, at a timestamp; or `kNothing`.
    struct Observed {
        Time time;
        Input proposition;
        bool value;
    };

    // Timestamps are 1 to `length`. `held`: a proposition keeps its value until it is observed again, and is false
    // before.
    Feed(std::vector<Input> propositions, Time length, bool held);

    // In order of time for each component. `Error` if it is not, or nobody has such a proposition.
    void add(Component component, Observed observed);

    Time length() const { return length_; }
    bool held() const { return held_; }
    Component components() const { return static_cast<Component>(propositions_.size()); }
    Input propositions(Component component) const { return propositions_[component]; }

    // Goes through the timestamps at which something is observed.
    class Reader {
    public:
        explicit Reader(const Feed& feed);

        // The next timestamp at which something is observed; 0: none.
        Time next() const { return at_ < order_.size() ? order_[at_].time : 0; }
        // What a component observes at the timestamp of `take`.
        struct Event {
            Component component;
            std::span<const Observed> observed;
        };
        // The events of the next timestamp.
        std::vector<Event> take();

    private:
        struct Entry {
            Time time;
            Component component;
        };
        const Feed& feed_;
        std::vector<Entry> order_;
        std::size_t at_ = 0;
        std::vector<std::size_t> cursors_;
    };

private:
    std::vector<Input> propositions_;
    Time length_;
    bool held_;
    std::vector<std::vector<Observed>> observed_;
};

}  // namespace mopsus::decentral
