#include <algorithm>

#include "mopsus/decentral/memory.hpp"

namespace mopsus::decentral {

namespace {

bool earlier(const Observation& one, const Atom& atom) { return one.atom < atom; }

}  // namespace

void Memory::add(Observation observation) {
    if (observations_.empty() || observations_.back().atom < observation.atom) {
        observations_.push_back(observation);
        return;
    }
    const auto at = std::lower_bound(observations_.begin(), observations_.end(), observation.atom, earlier);
    if (at->atom == observation.atom)
        at->value |= observation.value;
    else
        observations_.insert(at, observation);
}

std::optional<bool> Memory::get(Atom atom) const {
    const auto at = std::lower_bound(observations_.begin(), observations_.end(), atom, earlier);
    if (at == observations_.end() || at->atom != atom) return std::nullopt;
    return at->value;
}

void Memory::merge(const Memory& other) {
    if (other.empty()) return;
    if (empty() || observations_.back().atom < other.observations_.front().atom) {
        observations_.insert(observations_.end(), other.observations_.begin(), other.observations_.end());
        return;
    }
    std::vector<Observation> joined;
    joined.reserve(observations_.size() + other.observations_.size());
    auto mine = observations_.begin();
    auto its = other.observations_.begin();
    while (mine != observations_.end() && its != other.observations_.end()) {
        if (mine->atom < its->atom) {
            joined.push_back(*mine++);
        } else if (its->atom < mine->atom) {
            joined.push_back(*its++);
        } else {
            joined.push_back({mine->atom, mine->value || its->value});
            ++mine, ++its;
        }
    }
    joined.insert(joined.end(), mine, observations_.end());
    joined.insert(joined.end(), its, other.observations_.end());
    observations_ = std::move(joined);
}

std::span<const Observation> Memory::after(Time time) const {
    const auto at = std::upper_bound(observations_.begin(), observations_.end(), time,
                                     [](Time limit, const Observation& one) { return limit < one.atom.time; });
    return {at, observations_.end()};
}

std::size_t Memory::drop(Time time) {
    const std::size_t dropped = observations_.size() - after(time).size();
    observations_.erase(observations_.begin(), observations_.begin() + static_cast<std::ptrdiff_t>(dropped));
    return dropped;
}

}  // namespace mopsus::decentral
