// Many stacks at once: for tables with conflicts, and for matches that may begin at every event.
//
// The stacks of an instance form a graph in which common tails are shared and stacks with the same state on top are
// joined. On an event, all reductions are made that the event allows; what they push are drafts, of which only those
// become nodes that the event is read on top of. Since every production has a body, a draft lies on nodes of earlier
// events. So a new way below a draft matters to that draft only, and cycles such as A -> B, B -> A end because they add
// no way.
#include <algorithm>
#include <utility>

#include "stack_runner.hpp"

namespace mopsus {

namespace {

// A set of pairs that is emptied in no time.
class PairSet {
public:
    void clear() {
        count_ = 0;
        if (++epoch_ == 0) {
            cells_.assign(cells_.size(), Cell{});
            epoch_ = 1;
        }
    }
    // Whether the pair is new.
    bool insert(std::uint32_t one, std::uint32_t other) {
        if ((count_ + 1) * 2 > cells_.size()) grow();
        const std::uint64_t pair = static_cast<std::uint64_t>(one) << 32 | other;
        Cell& cell = find(pair);
        if (cell.epoch == epoch_) return false;
        cell = {pair, epoch_};
        ++count_;
        return true;
    }
    std::size_t bytes() const { return cells_.capacity() * sizeof(Cell); }

private:
    struct Cell {
        std::uint64_t pair = 0;
        std::uint32_t epoch = 0;
    };
    Cell& find(std::uint64_t pair) {
        const std::size_t low = cells_.size() - 1;
        std::size_t at = static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15ULL) >> 32) & low;
        while (cells_[at].epoch == epoch_ && cells_[at].pair != pair) at = (at + 1) & low;
        return cells_[at];
    }
    void grow() {
        std::vector<Cell> old(cells_.empty() ? 64 : cells_.size() * 2);
        old.swap(cells_);
        for (const Cell& cell : old)
            if (cell.epoch == epoch_) find(cell.pair) = cell;
    }
    std::vector<Cell> cells_;
    std::size_t count_ = 0;
    std::uint32_t epoch_ = 1;
};

class ManyStacks final : public StackRunner {
public:
    ManyStacks(const StackMachine& machine, std::size_t events)
        : StackRunner(machine, events),
          draft_of_(machine.states, kNil),
          top_of_(machine.states, kNil),
          budget_(machine.budget) {}

    Word step(Word word, EventId event, Origin& /*origin*/) override {
        outcome_ = &nothing_;
        tops_.clear();
        for_tops(word, [this](std::uint32_t top) { tops_.push_back(top); });
        if (tops_.empty() && !suffix_) return word;  // failed before
        const bool moved = !tops_.empty();
        if (suffix_) tops_.push_back(bottom_);
        left_ = budget_;
        reduce_all(event);
        const Word next = left_ == 0 ? kNil : push_all();
        store_.drop(word);
        if (left_ == 0) return exhausted();
        if (next == kNil) return suffix_ ? next | (moved ? kMoved : 0) : failed();
        const bool going = suffix_ || goes_on();
        const bool matched = matches();
        if (left_ == 0) {
            store_.drop(next);
            return exhausted();
        }
        return next | concluded(matched, going);
    }

    // Of stacks that are joined, because they have the same state on top, all are complete or none; with merged tables
    // they are taken together.
    Word after_report(Word word) override {
        if (!suffix_) return StackRunner::after_report(word);
        std::vector<std::uint32_t> begun;
        for_tops(word, [&begun](std::uint32_t top) { begun.push_back(top); });
        Word list = kNil;
        for (const std::uint32_t top : begun) {
            tops_.assign(1, top);
            left_ = budget_;
            if (!matches()) list = store_.make(kNoState, store_.share(top), list);
        }
        store_.drop(word);
        return list == kNil ? begin() : list;
    }
    bool keeps_others() const override { return suffix_; }

    std::optional<bool> holds(Word word) override {
        tops_.clear();
        for_tops(word, [this](std::uint32_t top) { tops_.push_back(top); });
        left_ = budget_;
        return matches();
    }

    std::size_t bytes() const override {
        return StackRunner::bytes() + drafts_.capacity() * sizeof(Draft) + ways_.bytes() +
               (work_.capacity() + pushes_.capacity()) * sizeof(Push) + marks_.capacity() * sizeof(std::uint32_t);
    }

private:
    struct Draft {
        std::uint32_t state;
        std::vector<std::uint32_t> parents;
        std::uint32_t node;  // once it has become one
    };
    struct Push {
        std::uint32_t state;
        std::uint32_t node;   // on which it lies,
        std::uint32_t draft;  // unless there is a draft, by its number from 1
    };
    struct Way {
        std::uint32_t draft;
        std::uint32_t parent;
        bool first;
    };

    bool many() const override { return true; }

    bool goes_on() const {
        for (const std::uint32_t top : tops_)
            if (leads_on(store_[top].state)) return true;
        return false;
    }

    // Of the new tops.
    bool matches() {
        bool found = false;
        for (const std::uint32_t top : tops_) found = found || ending_[store_[top].state];
        if (!found || guaranteed_) return found;
        accepted_ = false;
        reduce_all(end_letter());
        return accepted_;
    }

    // All reductions of all tops, and of what they push; leaves the pushes of the letter itself. Nothing of that is of
    // use if there is no budget left then.
    void reduce_all(std::uint32_t letter) {
        for (std::uint32_t k = 0; k < used_; ++k) draft_of_[drafts_[k].state] = kNil;
        used_ = 0;
        ways_.clear();
        work_.clear();
        pushes_.clear();
        for (const std::uint32_t top : tops_)
            act(store_[top].state, letter, [&](Word action) {
                if (act_of(action) == Act::Push)
                    push(action, top, kNil);
                else
                    reduce(productions_[operand(action)], top, 0);
            });
        while (!work_.empty() && left_ != 0) {
            const Way way = work_.back();
            work_.pop_back();
            act(drafts_[way.draft].state, letter, [&](Word action) {
                if (act_of(action) == Act::Push) {
                    if (way.first) push(action, kNil, way.draft + 1);
                } else {
                    reduce(productions_[operand(action)], way.parent, 1);
                }
            });
        }
    }

    template <class Visit>
    void act(std::uint32_t state, std::uint32_t letter, Visit&& visit) {
        const Word found = action(state, letter);
        if (act_of(found) == Act::Several)
            for (const Word one : several_[operand(found)]) visit(one);
        else if (act_of(found) != Act::Error)
            visit(found);
    }

    void push(Word action, std::uint32_t node, std::uint32_t draft) {
        if (action == kAccept)
            accepted_ = true;
        else
            pushes_.push_back({operand(action), node, draft});
    }

    // One production on all stacks that end in `node`, when `done` of its symbols are gone already.
    void reduce(const StackMachine::Production& production, std::uint32_t node, std::uint32_t done) {
        nodes_.assign(1, node);
        for (; done < production.length; ++done) go_down();
        left_ -= std::min<std::size_t>(left_, nodes_.size());
        for (const std::uint32_t base : nodes_) {
            const std::uint32_t state = goto_of(store_[base].state, production.head);
            if (!ways_.insert(state, base)) continue;
            std::uint32_t draft = draft_of_[state];
            const bool first = draft == kNil;
            if (first) draft = draft_of_[state] = new_draft(state);
            drafts_[draft - 1].parents.push_back(base);
            work_.push_back({draft - 1, base, first});
        }
    }

    std::uint32_t new_draft(std::uint32_t state) {
        if (used_ == drafts_.size()) drafts_.emplace_back();
        Draft& draft = drafts_[used_++];
        draft.state = state;
        draft.parents.clear();
        draft.node = kNil;
        return used_;
    }

    // From a set of nodes to the set of all their parents.
    void go_down() {
        if (nodes_.size() == 1 && store_[nodes_[0]].more == kNil) {
            nodes_[0] = store_[nodes_[0]].parent;
            return;
        }
        if (marks_.size() < store_.size()) marks_.resize(store_.size() + store_.size() / 2, 0);
        if (++mark_ == 0) {
            marks_.assign(marks_.size(), 0);
            mark_ = 1;
        }
        left_ -= std::min<std::size_t>(left_, nodes_.size());
        below_.clear();
        for (const std::uint32_t node : nodes_)
            store_.for_parents(node, [this](std::uint32_t parent) {
                if (std::exchange(marks_[parent], mark_) != mark_) below_.push_back(parent);
            });
        nodes_.swap(below_);
    }

    // The new tops, and the word that stands for them.
    Word push_all() {
        tops_.clear();
        for (const Push& one : pushes_) {
            const std::uint32_t below = one.draft == kNil ? store_.share(one.node) : node_of(drafts_[one.draft - 1]);
            std::uint32_t& top = top_of_[one.state];
            if (top == kNil) {
                top = store_.make(one.state, below);
                tops_.push_back(top);
            } else {
                const std::uint32_t link = store_.make(kNoState, below, store_[top].more);
                store_[top].more = link;
            }
        }
        Word list = kNil;
        for (const std::uint32_t top : tops_) {
            top_of_[store_[top].state] = kNil;
            list = tops_.size() == 1 ? top : store_.make(kNoState, top, list);
        }
        return list;
    }

    // A reference to the node that a draft becomes.
    std::uint32_t node_of(Draft& draft) {
        if (draft.node != kNil) return store_.share(draft.node);
        std::uint32_t more = kNil;
        for (std::size_t k = 1; k < draft.parents.size(); ++k)
            more = store_.make(kNoState, store_.share(draft.parents[k]), more);
        return draft.node = store_.make(draft.state, store_.share(draft.parents[0]), more);
    }

    std::vector<std::uint32_t> tops_;
    std::vector<Draft> drafts_;
    std::uint32_t used_ = 0;  // of the drafts; the others keep their memory
    std::vector<std::uint32_t> draft_of_;
    std::vector<std::uint32_t> top_of_;
    PairSet ways_;
    std::vector<Way> work_;
    std::vector<Push> pushes_;
    std::vector<std::uint32_t> nodes_;
    std::vector<std::uint32_t> below_;
    std::vector<std::uint32_t> marks_;
    std::uint32_t mark_ = 0;
    std::size_t budget_;
    std::size_t left_ = 0;  // of it, for the event at hand
    bool accepted_ = false;
};

}  // namespace

std::unique_ptr<Runner> make_runner_of_many(const StackMachine& machine, std::size_t events) {
    return std::make_unique<ManyStacks>(machine, events);
}

}  // namespace mopsus
