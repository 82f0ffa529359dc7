// Machines with a stack: the LR tables of a grammar, read event by event. Every prefix gets a verdict.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mopsus/machine/machine.hpp"

namespace mopsus {

// Letters are the events and, behind them, the end of the trace.
struct StackMachine final : Machine {
    struct Production {
        std::uint32_t head = 0;    // a non-terminal
        std::uint32_t length = 1;  // never 0
    };
    static constexpr std::int32_t kNone = -1;
    static constexpr std::int32_t kAccept = -1;  // the reduction of production 0

    std::uint32_t states = 1;
    std::uint32_t nonterminals = 1;
    std::vector<std::vector<std::int32_t>> actions;  // [state * letters + letter]: states to push; ~p: reduce by p
    std::vector<std::int32_t> gotos;                 // [state * nonterminals + nonterminal]
    std::vector<Production> productions;
    bool guaranteed = true;      // an action at the end means a match; if not, the reductions have to be tried
    bool lazy = false;           // an event that fails is reported and forgotten
    bool suffix = false;         // a match may begin at every event, and nothing fails
    std::int32_t match = kNone;  // the categories' numbers; kNone: not reported
    std::int32_t fail = kNone;
    std::int32_t exhausted = kNone;
    std::uint32_t budget = ~0U;            // the most work for one event, where there are several stacks
    std::vector<std::vector<Mask>> alive;  // of each state on top, parameter sets that lead to a report
    std::vector<Mask> failed;              // the same for a machine that has failed

    void check(std::size_t events) const override;
    std::unique_ptr<Runner> runner(std::size_t events) const override;
};

}  // namespace mopsus
