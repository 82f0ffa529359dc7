#include "chain.hpp"

#include <algorithm>

#include "mopsus/engine/archive.hpp"
#include "engine/transfer.hpp"

namespace mopsus {

Chains::Id Chains::take() {
    if (free_ != 0) {
        const Id id = free_;
        free_ = steps_[id - 1].before;
        return id;
    }
    steps_.emplace_back();
    return static_cast<Id>(steps_.size());
}

// One copy for all steps of the event.
Term Chains::current_data() {
    if (data_.is_nothing()) {
        Term event = fields_->arena != nullptr ? fields_->arena->tuple(fields_->fields, fields_->count) : Term::none();
        if (fields_->arena != nullptr) event = keep_likeness(event, *fields_->arena);
        data_ = event;
    }
    mopsus::share(data_);
    return data_;
}

// The step after which the fixed point began that is now the first to be entered again; nothing if that was before all
// steps.
Chains::Id Chains::begun(Id id, std::uint32_t unfolded) const {
    const auto& nodes = machine_.nodes;
    const auto& entered = forms_.unfoldings()[unfolded];
    const auto again = std::find_if(entered.begin(), entered.end(), [&](Number node) { return !nodes[node].flag; });
    // A variable leads to the mark of the beginning, or to what follows that.
    const Number target = nodes[*again].then;
    const auto begins = [&](Number node) { return nodes[node].flag && (node == target || nodes[node].then == target); };
    for (; id != 0; id = steps_[id - 1].before) {
        const auto& before = forms_.unfoldings()[steps_[id - 1].unfolded];
        if (std::any_of(before.begin(), before.end(), begins)) return id;
    }
    return 0;
}

Chains::Id Chains::extend(Id before, Number modality, bool fitted, std::uint32_t unfolded, bool again) {
    if (!on_) return 0;
    if (again) {
        const Id begin = begun(before, unfolded);
        share(begin);
        return begin;
    }
    if (!stamped_) stamp_ = origin_->stamp();
    stamped_ = true;
    share(before);
    const Id id = take();
    Step& step = steps_[id - 1];
    step.owners = 1;
    step.before = before;
    step.modality = modality;
    step.letter = letter_;
    step.fitted = fitted;
    step.data = current_data();
    step.stamp = stamp_;
    step.unfolded = unfolded;
    kept_ += kept_size(step.data);
    return id;
}

void Chains::release(Id id) {
    while (id != 0) {
        Step& step = steps_[id - 1];
        if (--step.owners != 0) return;
        kept_ -= kept_size(step.data);
        drop(step.data);
        step.data = Term();
        const Id before = step.before;
        step.before = free_;
        free_ = id;
        id = before;
    }
}

Explanation Chains::read(Id id, Matcher& matcher) const {
    std::vector<const Step*> steps;
    for (; id != 0; id = steps_[id - 1].before) steps.push_back(&steps_[id - 1]);
    std::reverse(steps.begin(), steps.end());
    Explanation found;
    Arena arena;
    for (const Step* step : steps) {
        ExplainedStep& made = found.emplace_back();
        made.modality = step->modality;
        made.event = step->letter;
        made.fitted = step->fitted;
        made.stamp = step->stamp;
        made.unfolded = forms_.unfoldings()[step->unfolded];
        const bool has_data = step->data.type() == TermType::Tuple;
        for (std::size_t k = 0; has_data && k < step->data.size(); ++k)
            made.data.push_back(keep_likeness(step->data.items()[k], arena));
        if (!step->fitted) continue;
        matcher.bind(step->modality, step->letter, step->data.items(), has_data ? step->data.size() : 0, arena);
        for (const Number slot : matcher.binds(step->modality))
            made.bindings.emplace_back(slot, keep_likeness(matcher.slots()[slot], arena));
    }
    return found;
}

Chains::Id Chains::transfer(Archive& archive, Id id) {
    std::vector<Id> steps;  // the first first
    for (; id != 0; id = steps_[id - 1].before) steps.insert(steps.begin(), id);
    const std::uint64_t count = archive.number(steps.size(), 0, on_ ? ~0ULL : 0);
    Id last = 0;
    for (std::uint64_t k = 0; k < count; ++k) {
        Step step;
        if (!archive.reading()) step = steps_[steps[k] - 1];
        archive.field(step.modality, 0, machine_.nodes.size() - 1);
        archive.field(step.letter, 0, machine_.fields.size() - 1);
        archive.field(step.fitted, 0, 1);
        archive.field(step.unfolded, 0, forms_.unfoldings().size() - 1);
        transfer_stamp(archive, step.stamp);
        using Node = SymbolicMachine::Node;
        const Node::Kind kind = machine_.nodes[step.modality].kind;
        if (kind != Node::Kind::Modality && kind != Node::Kind::Selection)
            throw BadSnapshot("a step in the snapshot is of no modality");
        step.data = transfer_term(archive, step.data, true);
        if (!archive.reading()) continue;
        step.owners = 1;
        step.before = last;
        kept_ += kept_size(step.data);
        last = take();
        steps_[last - 1] = step;
    }
    return last;
}

}  // namespace mopsus
