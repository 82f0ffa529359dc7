// How a formula with data came to its verdict.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mopsus/engine/origin.hpp"
#include "mopsus/machine/term.hpp"

namespace mopsus {

// A modality met an event. The terms are kept, and dropped with the step.
struct ExplainedStep {
    std::uint32_t modality = 0;  // the number of its node
    std::uint16_t event = 0;
    bool fitted = true;
    Stamp stamp;
    std::vector<Term> data;                                // the fields of the event
    std::vector<std::pair<std::uint32_t, Term>> bindings;  // slots that it filled
    std::vector<std::uint32_t> unfolded;                   // nodes of fixed points entered after it, or again

    ExplainedStep() = default;
    ExplainedStep(ExplainedStep&&) = default;
    ExplainedStep& operator=(ExplainedStep&&) = default;
    ExplainedStep(const ExplainedStep&) = delete;
    ExplainedStep& operator=(const ExplainedStep&) = delete;
    ~ExplainedStep() {
        for (const Term term : data) drop(term);
        for (const auto& [slot, term] : bindings) drop(term);
    }
};

using Explanation = std::vector<ExplainedStep>;  // the first step first

}  // namespace mopsus
