#include "engine/last_steps.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "check.hpp"

using namespace mopsus;

TEST(the_last_steps_of_each_instance_are_found_in_order) {
    std::mt19937 random(5);
    LastSteps steps;
    for (int round = 0; round < 200; ++round) {
        std::map<std::uint32_t, std::vector<std::uint32_t>> all;
        const auto count = static_cast<std::uint32_t>(random() % 100);
        for (std::uint32_t event = 0; event < count; ++event) {
            const auto instance = static_cast<std::uint32_t>(1 + random() % 7);
            steps.add(instance, {event, event + 1});
            all[instance].push_back(event);
        }
        const std::size_t limit = random() % 6;
        std::map<std::uint32_t, std::vector<std::uint32_t>> found;
        steps.take(limit, [&](std::uint32_t instance, LastSteps::Step step) {
            REQUIRE(step.number == step.event + 1);
            found[instance].push_back(step.event);
        });
        for (auto& [instance, events] : all) {
            events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(std::min(limit, events.size())));
            REQUIRE(found[instance] == events);
        }
        REQUIRE(found.size() == all.size() || limit == 0);
    }
}
