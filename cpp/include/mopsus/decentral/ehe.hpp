// An execution history encoding (EHE): where an automaton may be at each timestamp, for all that is known of its
// inputs.
//
// For each timestamp since the last one whose state is known there is a *layer*: the inputs that are known there, and
// the states that may have been reached. An atom (timestamp, input) belongs to one layer only, so every path through
// the layers is consistent: the expression "in state q at t" can be satisfied exactly if q may have been reached at t,
// and is valid exactly if no other state may have been. So no expression has to be kept or simplified, and the size
// grows by a constant per timestamp, where expressions grow exponentially. Expressions can still be read off
// (`expression`).
//
// What several monitors know is joined by `merge`. Atoms are only ever added, and a known state replaces everything
// before it; therefore merging is commutative, associative and idempotent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mopsus/decentral/automaton.hpp"
#include "mopsus/decentral/memory.hpp"

namespace mopsus::decentral {

class Formulas;

class Ehe {
public:
    // A conjunction, by time.
    using Product = std::vector<Observation>;

    struct Pending {
        Time time;
        std::vector<Input> inputs;
    };

    // The work that an EHE made of expressions would have had.
    struct Counters {
        // Expressions looked at: all that were not known to be false before.
        std::uint64_t evaluations = 0;
        // Those of them that were not decided by it.
        std::uint64_t simplifications = 0;

        bool operator==(const Counters&) const = default;
    };

    // In the initial state at `origin`.
    explicit Ehe(std::shared_ptr<const Automaton> automaton, Time origin = 0);

    const std::shared_ptr<const Automaton>& automaton() const { return automaton_; }
    Time origin() const { return origin_; }
    // The timestamps that it is about; the state at `start` is known.
    Time start() const { return start_; }
    Time end() const { return start_ + layers() - 1; }
    // The last timestamp that was found to have a known state.
    Time resolved() const { return resolved_; }
    const Counters& counters() const { return counters_; }

    // One more timestamp, of which nothing is known.
    void tick();
    // What is before `start` is of no use any more; `Error` after `end`, and if the opposite is known.
    void learn(Observation observation);
    // Learn what is not after `end`, then `resolve`.
    bool update(const Memory& memory);
    // Look for the first timestamp after `resolved` with a known state, and make it `resolved`. May skip timestamps.
    bool resolve();

    // The states that it may be in at a timestamp.
    std::vector<State> states(Time time) const;
    // The state at a timestamp if there is only one.
    std::optional<State> state(Time time) const;
    // The verdict of all states that it may be in.
    Truth verdict(Time time) const;

    // Forget what is before the last timestamp with a known state that is not after `time`; how many timestamps that
    // were.
    Time drop(Time time);
    Time drop_resolved() { return drop(resolved_); }
    // Keep nothing but the known state at `start`.
    void forget();
    // Begin again, in the initial state at `origin`.
    void reset(Time origin);
    // Learn all that another one of the same automaton and origin knows.
    void merge(const Ehe& other);

    // The inputs of the earliest timestamp that something after the last known state depends on.
    std::optional<Pending> earliest() const;
    // All atoms that the state at a timestamp depends on.
    std::vector<Atom> missing(Time time) const;
    // Fewest known atoms since `start` from which the verdict at a timestamp follows, or its state if that has no
    // verdict. Where very many would have to be compared, few. `Error` if neither is known.
    std::vector<Observation> reasons(Time time) const;
    // "In that state at that time" as an irredundant sum of products. `Error` if there are more than `most`.
    std::vector<Product> expression(Time time, State state, std::size_t most) const;

    // Pairs of a timestamp and a state that it may be in.
    std::size_t entries() const;
    // Distinct nodes of the diagrams of all layers, with what is known put in.
    std::size_t nodes() const;
    // The size of all expressions: 4 for a timestamp and a state each, and for each occurrence of an atom 4 and the
    // length of its name, 1 for each operator and constant. As large as the type allows if it is larger.
    std::uint64_t data() const;

    std::string save() const;
    // `Error` if the bytes are damaged or were not made by `save` for this automaton.
    static Ehe load(std::shared_ptr<const Automaton> automaton, std::span<const std::uint8_t> bytes);

    // Do they know the same?
    bool operator==(const Ehe& other) const;

private:
    std::size_t layers() const { return words_.size() / stride_; }
    std::size_t layer_of(Time time) const;
    Word* known(std::size_t layer) const { return words_.data() + layer * stride_; }
    Word* value(std::size_t layer) const { return known(layer) + inputs_; }
    Word* reach(std::size_t layer) const { return known(layer) + 2 * inputs_; }
    Known at(std::size_t layer) const { return {known(layer), value(layer)}; }
    std::size_t count(std::size_t layer) const;
    State only(std::size_t layer) const;

    void add_layer() { words_.resize(words_.size() + stride_); }
    void begin(Time time, State state);
    void begin_at(std::size_t layer);
    void stale(std::size_t layer) const;
    void settle(std::size_t layer) const;
    void settle() const { settle(layers() - 1); }
    void check_agrees(const Ehe& other) const;
    std::size_t last_known() const;
    std::uint32_t formula(Formulas& formulas, std::size_t layer, State state) const;

    std::shared_ptr<const Automaton> automaton_;
    std::size_t inputs_;  // words of a set of inputs
    std::size_t states_;  // words of a set of states
    std::size_t stride_;
    Time origin_ = 0;
    Time start_ = 0;
    Time resolved_ = 0;
    // Of each layer: the inputs that are known, their values, the states that may have been reached. The last are
    // stale in some layers, and are computed when asked for.
    mutable std::vector<Word> words_;
    mutable std::size_t stale_first_ = 1;
    mutable std::size_t stale_last_ = 0;
    Counters counters_;
};

}  // namespace mopsus::decentral
