// What is known of sets of modalities before any event: where each leads, by letter and by which of its modalities fit.
#include <algorithm>

#include "sets.hpp"

namespace mopsus {

namespace {

constexpr std::size_t kMostNodes = 64;       // of one set: so many bits say which fit
constexpr std::size_t kMostSets = 1U << 14;  // beyond, sets have one node each
constexpr std::size_t kFew = 6;

}  // namespace

SetRunner::SetRunner(const SymbolicMachine& machine)
    : SymbolicRunner(machine), leads_(machine.nodes.size() + 1), states_(1) {
    frame({});
    const Node& root = machine.nodes[machine.root];
    for (Number k = 0; k < machine.nodes.size(); ++k) {
        const Node::Kind kind = machine.nodes[k].kind;
        if (kind == Node::Kind::Modality || kind == Node::Kind::Selection) prepare(k, machine.nodes[k].then);
    }
    if (root.kind != Node::Kind::Selection) prepare(static_cast<Number>(machine.nodes.size()), machine.root);
}

SetRunner::FrameId SetRunner::frame(std::vector<Number> slots) {
    const auto [known, fresh] = frame_numbers_.emplace(slots, static_cast<FrameId>(frames_.size()));
    if (fresh) frames_.push_back(std::move(slots));
    return known->second;
}

// The number of a set; none if there are too many and it is not a single node.
bool SetRunner::try_set(FrameId frame, const std::vector<Number>& nodes, SetId& found) {
    if (!machine_.first_match && nodes.size() > kMostNodes) return false;
    const auto known = set_numbers_.find({frame, nodes});
    if (known != set_numbers_.end()) {
        found = known->second;
        return true;
    }
    if (sets_.size() >= kMostSets && nodes.size() > 1 && !machine_.first_match) return false;
    found = static_cast<SetId>(sets_.size());
    set_numbers_.emplace(std::pair(frame, nodes), found);
    Set& made = sets_.emplace_back();
    made.frame = frame;
    made.nodes = nodes;
    made.rows.resize(machine_.fields.size());
    return true;
}

void SetRunner::add_sets(FrameId frame, const std::vector<Number>& nodes, Output output, std::vector<Output>& outputs) {
    if (try_set(frame, nodes, output.set)) {
        outputs.push_back(output);
        return;
    }
    for (const Number node : nodes) {
        try_set(frame, {node}, output.set);
        outputs.push_back(output);
    }
}

// Where `node` leads, which goes on with `then`.
void SetRunner::prepare(Number node, Number then) {
    const Form& form = forms_.at(then);
    Transition& lead = leads_[node];
    if (form.kind == Form::Kind::True) return;
    if (form.kind == Form::Kind::False) {
        lead.rejects = true;
        lead.rejection = {0, node, form.unfolded, form.again, false, false};
        return;
    }
    std::vector<Form> leaves = form.parts;
    if (form.kind == Form::Kind::Leaf) leaves.push_back(form);
    if (machine_.first_match) {
        std::vector<Number> nodes;
        std::vector<Number> live;
        for (const Form& leaf : leaves) {
            nodes.push_back(leaf.node);
            const std::vector<Number>& needed = machine_.nodes[leaf.node].live;
            live.insert(live.end(), needed.begin(), needed.end());
        }
        std::sort(live.begin(), live.end());
        live.erase(std::unique(live.begin(), live.end()), live.end());
        add_sets(frame(live), nodes, {0, node, leaves[0].unfolded, leaves[0].again, false, false}, lead.outputs);
        return;
    }
    using Group = std::tuple<FrameId, std::uint32_t, bool>;
    std::map<Group, std::vector<Number>> groups;
    for (const Form& leaf : leaves) {
        std::vector<Number> live = machine_.nodes[leaf.node].live;
        std::sort(live.begin(), live.end());
        groups[{frame(std::move(live)), leaf.unfolded, leaf.again}].push_back(leaf.node);
    }
    for (auto& [group, nodes] : groups) {
        std::sort(nodes.begin(), nodes.end());
        add_sets(std::get<0>(group), nodes, {0, node, std::get<1>(group), std::get<2>(group), false, false},
                 lead.outputs);
    }
}

SetRunner::Row& SetRunner::make_row(SetId id, EventId event) {
    std::unique_ptr<Row>& place = sets_[id].rows[event];
    place = std::make_unique<Row>();
    Row& made = *place;
    for (const Number node : sets_[id].nodes) {
        if (meets(node, event)) {
            made.candidates.push_back(node);
        } else if (!machine_.nodes[node].flag && !made.misses) {
            made.misses = true;
            made.missed = node;
        }
    }
    if (!machine_.first_match && made.candidates.size() <= kFew)
        made.few.resize(std::size_t{1} << made.candidates.size());
    return made;
}

// `key` has a bit for each candidate that fits; if only the first match counts it is the number of that, from 1.
SetRunner::Transition SetRunner::make_transition(SetId set, const Row& row, std::uint64_t key) {
    Transition made;
    for (std::size_t k = 0; k < row.candidates.size() && !made.rejects; ++k) {
        const Number node = row.candidates[k];
        const bool fits = machine_.first_match ? key == k + 1 : ((key >> k) & 1U) != 0;
        if (!fits) {
            // A possibility that comes before others that fit is missed only if none of those goes on instead of it.
            if (machine_.nodes[node].flag || machine_.first_match) continue;
            made.rejects = true;
            made.fitted = false;
            made.rejection = {0, node, 0, false, false, false};
        } else if (leads_[node].rejects) {
            made.rejects = true;
            made.rejection = leads_[node].rejection;
        } else {
            for (const Output& output : leads_[node].outputs) add_output(output, sets_[set].frame, made.outputs);
        }
    }
    return made;
}

// Joins what one event leads to from one block, as far as the values are the same whatever they are.
void SetRunner::add_output(const Output& given, FrameId source, std::vector<Output>& outputs) {
    Output output = given;
    const FrameId target = sets_[output.set].frame;
    const std::vector<Number>& bound = matcher_.binds(output.modality);
    for (const Number slot : frames_[target])
        output.fresh = output.fresh || std::find(bound.begin(), bound.end(), slot) != bound.end();
    output.same = target == source && !output.fresh;
    std::vector<Number> nodes = sets_[output.set].nodes;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        const Output& other = outputs[k];
        const bool alike = sets_[other.set].frame == target &&
                           (output.fresh || other.fresh ? other.modality == output.modality : true);
        if (!alike || machine_.first_match) continue;
        const std::vector<Number>& there = sets_[other.set].nodes;
        if (!chains_.on()) {
            std::vector<Number> all;
            std::set_union(nodes.begin(), nodes.end(), there.begin(), there.end(), std::back_inserter(all));
            SetId joined = 0;
            if (try_set(target, all, joined)) {
                outputs[k].set = joined;
                return;
            }
        }
        // Each obligation is explained by what led to it first.
        std::vector<Number> left;
        std::set_difference(nodes.begin(), nodes.end(), there.begin(), there.end(), std::back_inserter(left));
        nodes = std::move(left);
        if (nodes.empty()) return;
    }
    add_sets(target, nodes, output, outputs);
}

}  // namespace mopsus
