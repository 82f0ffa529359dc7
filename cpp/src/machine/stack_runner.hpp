// What runners of one stack and of many have in common: the tables, laid out for reading, and the stacks.
#pragma once

#include "mopsus/machine/stack.hpp"
#include "mopsus/engine/storage.hpp"

namespace mopsus {

// A node of a graph of stacks. Nodes are not changed once they are made, so copies of an instance share them. A stack
// ends in a node of state 0. A node of no state only lists others, as the tops of an instance or as further parents.
struct StackNode {
    std::uint32_t references = 0;
    std::uint32_t state = kNoState;
    std::uint32_t parent = kNil;
    std::uint32_t more = kNil;  // a node of no state with the next parent

    static constexpr std::uint32_t kNoState = ~0U;
};

// Nodes by number. A node counts who refers to it, and its place is free again after the last of them.
class StackStore {
public:
    static constexpr std::uint32_t kNoState = StackNode::kNoState;

    StackNode& operator[](std::uint32_t id) { return nodes_[id]; }
    const StackNode& operator[](std::uint32_t id) const { return nodes_[id]; }

    // A node that the caller has the only reference to; the caller's reference to `parent` becomes the node's.
    std::uint32_t make(std::uint32_t state, std::uint32_t parent, std::uint32_t more = kNil) {
        std::uint32_t id = free_;
        if (id != kNil) {
            free_ = nodes_[id].more;
        } else {
            if (nodes_.size() >= kMoved) throw std::bad_alloc();
            id = static_cast<std::uint32_t>(nodes_.size());
            nodes_.emplace_back();
        }
        nodes_[id] = {1, state, parent, more};
        return id;
    }
    std::uint32_t share(std::uint32_t id) {
        ++nodes_[id].references;
        return id;
    }
    // Gives up a reference; a loop, because stacks can be deep.
    void drop(std::uint32_t id) {
        for (;;) {
            if (id == kNil || --nodes_[id].references != 0) {
                if (pending_.empty()) return;
                id = pending_.back();
                pending_.pop_back();
                continue;
            }
            StackNode& node = nodes_[id];
            if (node.more != kNil) pending_.push_back(node.more);
            const std::uint32_t parent = node.parent;
            node.more = free_;
            free_ = id;
            id = parent;
        }
    }
    // What `from`, to which there is one reference, refers to becomes what `to` refers to; `from` is gone.
    void move(std::uint32_t from, std::uint32_t to) {
        nodes_[to] = nodes_[from];
        nodes_[from].more = free_;
        free_ = from;
    }
    template <class Visit>
    void for_parents(std::uint32_t id, Visit&& visit) const {
        for (; id != kNil; id = nodes_[id].more)
            if (nodes_[id].parent != kNil) visit(nodes_[id].parent);
    }
    std::size_t size() const { return nodes_.size(); }
    std::size_t bytes() const {
        return nodes_.capacity() * sizeof(StackNode) + pending_.capacity() * sizeof(std::uint32_t);
    }

private:
    LargeVector<StackNode> nodes_ = LargeVector<StackNode>(1);  // 0 is a node of no state, without parents
    std::uint32_t free_ = kNil;
    std::vector<std::uint32_t> pending_;
};

// The word of an instance is the node on top of its stack, or one that lists the tops of its stacks.
class StackRunner : public Runner {
public:
    StackRunner(const StackMachine& machine, std::size_t events);

    // An own node, because a snapshot is read into it.
    Word begin() override { return suffix_ ? store_.make(kNoState, kNil) : store_.make(0, kNil); }
    Word copy(Word state) override { return state == kNil ? kNil : store_.share(state); }
    void end(Word state) override { store_.drop(state); }
    const Outcome& outcome() const override { return *outcome_; }
    bool alive(Word state, Mask dead) const override;
    void transfer(Archive& archive, Word state) override;
    std::size_t bytes() const override { return store_.bytes(); }

protected:
    static constexpr std::uint32_t kNoState = StackNode::kNoState;
    // What to do, in the two low bits of an action, and with what, in the others.
    enum class Act : Word { Error, Push, Reduce, Several };
    static constexpr Act act_of(Word action) { return static_cast<Act>(action & 3); }
    static constexpr std::uint32_t operand(Word action) { return action >> 2; }
    static constexpr Word kAccept = static_cast<Word>(Act::Push);  // of state 0, which nothing else pushes

    Word action(std::uint32_t state, std::uint32_t letter) const { return actions_[state * letters_ + letter]; }
    std::uint32_t goto_of(std::uint32_t state, std::uint32_t head) const {
        return gotos_[state * nonterminals_ + head];
    }
    std::uint32_t end_letter() const { return letters_ - 1; }
    template <class Visit>
    void for_tops(Word word, Visit&& visit) const {
        if (store_[word].state != kNoState)
            visit(word);
        else
            store_.for_parents(word, visit);
    }
    bool leads_on(std::uint32_t state) const { return !alive_[state].empty(); }
    // Flags of a step that has matched or not, after which something can still be reported or not.
    Word concluded(bool matched, bool goes_on) {
        if (matched && reports_match_) {
            outcome_ = &match_;
            return kNotable | kMoved;
        }
        return goes_on ? kMoved : kNotable | kMoved;
    }
    // The same for a step that failed for good.
    Word failed() {
        outcome_ = reports_fail_ ? &fail_ : &nothing_;
        return kNil | kMoved | (reports_fail_ || failed_.empty() ? kNotable : 0);
    }

    // The same for a step that took too much work: the trace is given up, or under `suffix` the matches that have
    // begun.
    Word exhausted() {
        outcome_ = &exhausted_;
        return kNil | kMoved | kNotable;
    }

    std::uint32_t letters_;
    std::uint32_t nonterminals_;
    std::vector<Word> actions_;
    std::vector<std::vector<Word>> several_;
    std::vector<std::uint32_t> gotos_;
    std::vector<StackMachine::Production> productions_;
    std::vector<bool> ending_;  // of each state: it has an action at the end of the trace
    bool guaranteed_;
    bool lazy_;
    bool suffix_;
    bool reports_match_;
    bool reports_fail_;
    Outcome match_;
    Outcome fail_;
    Outcome exhausted_;
    Outcome nothing_;
    const Outcome* outcome_ = &nothing_;
    StackStore store_;
    std::uint32_t bottom_;

private:
    virtual bool many() const = 0;
    Word encoded(const std::vector<std::int32_t>& actions);
    bool follows(std::uint32_t state, std::uint32_t next) const;
    void write(Archive& archive, Word state);
    void read(Archive& archive, Word state);

    std::vector<std::vector<Mask>> alive_;
    std::vector<Mask> failed_;
};

std::unique_ptr<Runner> make_runner_of_many(const StackMachine& machine, std::size_t events);

}  // namespace mopsus
