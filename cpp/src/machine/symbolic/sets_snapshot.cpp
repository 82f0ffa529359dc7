// States of a `SetRunner` in snapshots.
#include <algorithm>
#include <functional>

#include "sets.hpp"

namespace mopsus {

void SetRunner::transfer(Archive& archive, Word word) {
    const auto running = static_cast<std::uint64_t>(Phase::Running);
    const Phase now = word == kDecided ? Phase::Decided : states_[word].phase;
    const auto phase =
        static_cast<Phase>(archive.number(static_cast<std::uint64_t>(now), static_cast<std::uint64_t>(Phase::First),
                                          static_cast<std::uint64_t>(Phase::Decided)));
    if (archive.reading()) {
        if (phase == Phase::First && now == Phase::Running)
            throw BadSnapshot("an instance in the snapshot has not begun");
        clear(states_[word]);
        states_[word].phase = phase;
    }
    if (static_cast<std::uint64_t>(phase) != running) return;
    State& state = states_[word];
    const std::uint64_t blocks = archive.number(state.blocks, 1, machine_.limit);
    if (archive.reading()) {
        for (std::uint64_t k = 0; k < blocks; ++k) read_blocks(archive, state);
        return;
    }
    each_block(state.words, [&](std::uint64_t head, const std::uint64_t* values, std::size_t count) {
        const std::vector<Number>& nodes = sets_[set_of(head)].nodes;
        archive.number(nodes.size());
        for (const Number node : nodes) archive.number(node);
        for (std::size_t k = 0; k < count; ++k) transfer_term(archive, term_of(values[k]));
        chains_.transfer(archive, chain_of(head));
    });
}

void SetRunner::read_blocks(Archive& archive, State& state) {
    const std::uint64_t size = archive.number(0, 1, machine_.nodes.size());
    std::vector<Number> nodes;
    std::vector<Number> live;
    for (std::uint64_t k = 0; k < size; ++k) {
        nodes.push_back(static_cast<Number>(archive.number(0, 0, machine_.nodes.size() - 1)));
        const Node& node = machine_.nodes[nodes.back()];
        if (node.kind != Node::Kind::Modality) throw BadSnapshot("an obligation in the snapshot is no modality");
        live.insert(live.end(), node.live.begin(), node.live.end());
    }
    std::sort(live.begin(), live.end());
    live.erase(std::unique(live.begin(), live.end()), live.end());
    const FrameId frame = this->frame(live);
    SetId set = 0;
    const bool sorted =
        machine_.first_match || std::adjacent_find(nodes.begin(), nodes.end(), std::greater_equal<>()) == nodes.end();
    if (!sorted || !try_set(frame, nodes, set)) throw BadSnapshot("the obligations in the snapshot are damaged");
    std::vector<std::uint64_t> block{header(set, 0)};
    try {
        for (std::size_t k = 0; k < live.size(); ++k) {
            const Term term = transfer_term(archive, Term());
            kept_ += kept_size(term);
            block.push_back(bits_of(term));
        }
    } catch (...) {
        for (std::size_t k = 1; k < block.size(); ++k) let_go(block[k]);
        throw;
    }
    const std::size_t at = state.words.size();
    state.words.insert(state.words.end(), block.begin(), block.end());
    ++state.blocks;
    state.words[at] = header(set, chains_.transfer(archive, 0));
}

}  // namespace mopsus
