#include "mopsus/machine/stack.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "mopsus/engine/archive.hpp"
#include "stack_runner.hpp"

namespace mopsus {

namespace {

bool has_conflicts(const StackMachine& machine) {
    return std::any_of(machine.actions.begin(), machine.actions.end(),
                       [](const auto& cell) { return cell.size() > 1; });
}

// One stack, by tables without conflicts.
class OneStack final : public StackRunner {
public:
    using StackRunner::StackRunner;

    Word step(Word top, EventId event, Origin& /*origin*/) override {
        outcome_ = &nothing_;
        if (store_[top].state == kNoState) return top;  // failed before
        Place place{top};
        const Word action = reduce(place, event);
        if (act_of(action) == Act::Error) return fail(top);
        const std::uint32_t state = operand(action);
        std::uint32_t below = top;
        if (place.above != kNoState) {
            store_.share(place.node);
            store_.drop(top);
            below = store_.make(place.above, place.node);
        }
        top = store_.make(state, below);
        return top | concluded(matches(top), leads_on(state));
    }
    std::optional<bool> holds(Word top) override { return matches(top); }

private:
    // The top of a stack during reductions: a node, and perhaps a state above it that is not in a node yet. There is
    // never more than one such state, because every reduction takes at least one away. So the stack itself stays as it
    // is until an event is read, and an event that fails changes nothing.
    struct Place {
        std::uint32_t node;
        std::uint32_t above = kNoState;
    };

    // Reduces for as long as the tables say so; the first action that is something else.
    Word reduce(Place& place, std::uint32_t letter) const {
        std::uint32_t state = store_[place.node].state;
        for (;;) {
            const Word found = action(state, letter);
            if (act_of(found) != Act::Reduce) return found;
            const StackMachine::Production production = productions_[operand(found)];
            std::uint32_t left = production.length - (place.above != kNoState ? 1 : 0);
            for (; left > 0; --left) place.node = store_[place.node].parent;
            state = place.above = goto_of(store_[place.node].state, production.head);
        }
    }

    bool matches(Word top) const {
        const std::uint32_t state = store_[top].state;
        return state != kNoState && ending_[state] && (guaranteed_ || accepts(top));
    }
    // Is the trace in the language if it ends here? With merged tables the reductions at the end may still go wrong.
    bool accepts(Word top) const {
        Place place{top};
        return reduce(place, end_letter()) == kAccept;
    }

    Word fail(Word top) {
        if (!lazy_) {
            store_.drop(top);
            return failed();
        }
        if (!reports_fail_) return top;
        outcome_ = &fail_;
        return top | kNotable;
    }

    bool many() const override { return false; }
};

}  // namespace

void StackMachine::check(std::size_t events) const {
    const auto require = [](bool ok, const char* what) {
        if (!ok) throw std::invalid_argument(what);
    };
    const std::size_t letters = events + 1;
    require(states >= 1 && nonterminals >= 1 && !productions.empty(), "machine without states or productions");
    require(static_cast<std::size_t>(states) * std::max<std::size_t>(letters, nonterminals) < kMoved,
            "machine too large");
    require(actions.size() == states * letters, "machine actions have the wrong size");
    require(gotos.size() == static_cast<std::size_t>(states) * nonterminals, "machine gotos have the wrong size");
    require(alive.size() == states, "machine tables differ in size");
    require(!lazy || (!suffix && !has_conflicts(*this)), "a lazy machine has one stack");
    for (const Production& production : productions)
        require(production.head < nonterminals && production.length >= 1, "machine production outside of its range");
    for (std::size_t cell = 0; cell < actions.size(); ++cell) {
        for (const std::int32_t action : actions[cell]) {
            const bool at_end = cell % letters == events;
            if (action >= 0)
                require(!at_end && action > 0 && static_cast<std::uint32_t>(action) < states,
                        "machine pushes no state of its own");
            else
                require(static_cast<std::size_t>(~action) < productions.size() && (at_end || action != kAccept),
                        "machine reduces by no production of its own");
        }
    }
    for (const std::int32_t to : gotos)
        require(to == kNone || (to > 0 && static_cast<std::uint32_t>(to) < states),
                "machine goto outside of its states");
}

std::unique_ptr<Runner> StackMachine::runner(std::size_t events) const {
    if (suffix || has_conflicts(*this)) return make_runner_of_many(*this, events);
    return std::make_unique<OneStack>(*this, events);
}

StackRunner::StackRunner(const StackMachine& machine, std::size_t events)
    : letters_(static_cast<std::uint32_t>(events) + 1),
      nonterminals_(machine.nonterminals),
      gotos_(machine.gotos.begin(), machine.gotos.end()),
      productions_(machine.productions),
      guaranteed_(machine.guaranteed),
      lazy_(machine.lazy),
      suffix_(machine.suffix),
      reports_match_(machine.match != StackMachine::kNone),
      reports_fail_(machine.fail != StackMachine::kNone),
      alive_(machine.alive),
      failed_(machine.failed) {
    actions_.reserve(machine.actions.size());
    for (const auto& cell : machine.actions) actions_.push_back(encoded(cell));
    for (std::uint32_t state = 0; state < machine.states; ++state)
        ending_.push_back(act_of(action(state, end_letter())) != Act::Error);
    if (reports_match_) match_ = {{static_cast<std::uint16_t>(machine.match)}, {false}};
    if (reports_fail_) fail_ = {{static_cast<std::uint16_t>(machine.fail)}, {!lazy_}};
    if (machine.exhausted != StackMachine::kNone)
        exhausted_ = {{static_cast<std::uint16_t>(machine.exhausted)}, {!suffix_}};
    bottom_ = store_.make(0, kNil);
}

Word StackRunner::encoded(const std::vector<std::int32_t>& actions) {
    const auto one = [](std::int32_t action) {
        if (action == StackMachine::kAccept) return kAccept;
        return action >= 0 ? static_cast<Word>(action) << 2 | static_cast<Word>(Act::Push)
                           : static_cast<Word>(~action) << 2 | static_cast<Word>(Act::Reduce);
    };
    if (actions.empty()) return static_cast<Word>(Act::Error);
    if (actions.size() == 1) return one(actions[0]);
    several_.emplace_back();
    for (const std::int32_t action : actions) several_.back().push_back(one(action));
    return static_cast<Word>(several_.size() - 1) << 2 | static_cast<Word>(Act::Several);
}

bool StackRunner::alive(Word state, Mask dead) const {
    bool found = suffix_ && any_free_of(alive_[0], dead);
    bool none = true;
    for_tops(state, [&](std::uint32_t top) {
        none = false;
        found = found || any_free_of(alive_[store_[top].state], dead);
    });
    return found || (none && !suffix_ && any_free_of(failed_, dead));
}

// ---- snapshots: the nodes, each after its parents, then the tops; number 0 is the end of every stack ----

void StackRunner::transfer(Archive& archive, Word state) {
    if (archive.reading())
        read(archive, state);
    else
        write(archive, state);
}

void StackRunner::write(Archive& archive, Word state) {
    std::vector<std::uint32_t> order;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers;
    std::vector<std::pair<std::uint32_t, bool>> work;
    for_tops(state, [&](std::uint32_t top) { work.emplace_back(top, false); });
    while (!work.empty()) {
        const auto [id, parents_done] = work.back();
        work.pop_back();
        if (numbers.contains(id)) continue;
        if (store_[id].state == 0) {
            numbers[id] = 0;
        } else if (parents_done) {
            order.push_back(id);
            numbers[id] = static_cast<std::uint32_t>(order.size());
        } else {
            work.emplace_back(id, true);
            store_.for_parents(id, [&](std::uint32_t parent) { work.emplace_back(parent, false); });
        }
    }
    const auto list = [&](std::uint32_t id, auto&& each) {
        std::vector<std::uint32_t> found;
        each(id, [&](std::uint32_t other) { found.push_back(numbers.at(other)); });
        archive.number(found.size());
        for (const std::uint32_t number : found) archive.number(number);
    };
    archive.number(order.size());
    for (const std::uint32_t id : order) {
        archive.number(store_[id].state);
        list(id, [this](std::uint32_t of, auto&& visit) { store_.for_parents(of, visit); });
    }
    list(state, [this](std::uint32_t of, auto&& visit) { for_tops(of, visit); });
}

bool StackRunner::follows(std::uint32_t state, std::uint32_t next) const {
    const auto pushes = [next](Word one) { return act_of(one) == Act::Push && operand(one) == next; };
    for (std::uint32_t letter = 0; letter < end_letter(); ++letter) {
        const Word found = action(state, letter);
        if (act_of(found) != Act::Several) {
            if (pushes(found)) return true;
        } else if (std::any_of(several_[operand(found)].begin(), several_[operand(found)].end(), pushes)) {
            return true;
        }
    }
    const auto row = gotos_.begin() + static_cast<std::ptrdiff_t>(state) * nonterminals_;
    return std::find(row, row + nonterminals_, next) != row + nonterminals_;
}

// A stack is good if each of its states can follow the one below: then every reduction finds what it takes away.
void StackRunner::read(Archive& archive, Word state) {
    const std::uint64_t most = kMoved - 1;
    std::vector<std::uint32_t> nodes{bottom_};
    const auto list = [&](std::uint64_t low, std::uint64_t high) {
        std::vector<std::uint32_t> found;
        for (std::uint64_t left = archive.number(0, low, high); left > 0; --left)
            found.push_back(nodes[archive.number(0, 0, nodes.size() - 1)]);
        std::uint32_t first = kNil;
        for (auto node = found.rbegin(); node != found.rend(); ++node)
            first = store_.make(kNoState, store_.share(*node), first);
        return first;
    };
    for (std::uint64_t left = archive.number(0, 0, most); left > 0; --left) {
        const auto own = static_cast<std::uint32_t>(archive.number(0, 1, alive_.size() - 1));
        const std::uint32_t node = list(1, many() ? most : 1);
        store_.for_parents(node, [&](std::uint32_t parent) {
            if (!follows(store_[parent].state, own))
                throw BadSnapshot("a stack in the snapshot is none of the machine's");
        });
        store_[node].state = own;
        nodes.push_back(node);
    }
    const std::uint32_t tops = list(0, many() ? most : 1);
    if (tops == kNil) {
        store_[state].state = kNoState;
    } else if (store_[tops].more != kNil) {
        store_.move(tops, state);
    } else {
        // The only top becomes the instance's own node: a runner of one stack knows no lists.
        const StackNode top = store_[store_[tops].parent];
        if (top.parent != kNil) store_.share(top.parent);
        if (top.more != kNil) store_.share(top.more);
        store_[state] = {1, top.state, top.parent, top.more};
        store_.drop(tops);
    }
    for (std::size_t k = 1; k < nodes.size(); ++k) store_.drop(nodes[k]);
}

}  // namespace mopsus
