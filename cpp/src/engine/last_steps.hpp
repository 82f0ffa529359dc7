// Steps of many instances, one after the other. Only the last ones of each go to its history, so those are found first:
// what a step costs that a history would soon forget is a word or three.
#pragma once

#include <cstdint>
#include <vector>

namespace mopsus {

class LastSteps {
public:
    // What is known of a step: which event it was, and its number among those of the monitor.
    struct Step {
        std::uint32_t event;
        std::uint32_t number;
    };

    void add(std::uint32_t instance, Step step) {
        if (instance >= last_.size()) last_.resize(2 * std::size_t{instance} + 16);
        std::uint32_t& last = last_[instance];
        if (last == 0) instances_.push_back(instance);
        steps_.push_back({step, last});
        last = static_cast<std::uint32_t>(steps_.size());
    }

    // Calls `use(instance, step)` for the last `limit` of each, in order, and forgets all.
    template <class Use>
    void take(std::size_t limit, Use&& use) {
        std::vector<Step> found;
        for (const std::uint32_t instance : instances_) {
            found.clear();
            for (std::uint32_t at = last_[instance]; at != 0 && found.size() < limit; at = steps_[at - 1].before)
                found.push_back(steps_[at - 1].step);
            for (std::size_t k = found.size(); k-- > 0;) use(instance, found[k]);
            last_[instance] = 0;
        }
        instances_.clear();
        steps_.clear();
    }

private:
    struct Linked {
        Step step;
        std::uint32_t before;  // of the same instance, and 1; 0: none
    };
    std::vector<Linked> steps_;
    std::vector<std::uint32_t> last_;       // by instance, its last step, and 1
    std::vector<std::uint32_t> instances_;  // that have any
};

}  // namespace mopsus
