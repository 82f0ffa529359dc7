// Runs symbolic machines without `or`: the state of an instance is a set of obligations.
//
// Obligations whose modalities need the same variables, with the same values, lie together in a block: a set of
// modalities and those values. Sets are numbered when they first occur, and so is what comes out when some of their
// modalities fit an event, so that a step in a known direction is a look-up. A formula that carries no data from one
// event to the next is run like an automaton.
#pragma once

#include <bit>
#include <map>
#include <memory>
#include <unordered_map>

#include "runner.hpp"

namespace mopsus {

class SetRunner final : public SymbolicRunner {
public:
    explicit SetRunner(const SymbolicMachine& machine);
    ~SetRunner() override;

    Word begin() override;
    Word copy(Word state) override;
    void end(Word state) override;
    Word step(Word state, EventId event, Origin& origin) override;
    std::optional<bool> holds(Word state) override;
    void transfer(Archive& archive, Word state) override;
    std::size_t bytes() const override;

    // How many obligations a state has.
    std::size_t obligations(Word state) const;

private:
    using SetId = std::uint32_t;
    using FrameId = std::uint32_t;

    // Where a modality leads if it fits: obligations by the variables that they need.
    struct Output {
        SetId set = 0;
        Number modality = 0;
        std::uint32_t unfolded = 0;
        bool again = false;
        bool same = false;   // as many values as before, and the same
        bool fresh = false;  // some are bound by the modality
    };
    struct Transition {
        bool rejects = false;
        bool fitted = true;  // what rejects; else it is a possibility that is missed
        Output rejection;    // without a set
        std::vector<Output> outputs;
    };
    // What an event of one letter may do to a set.
    struct Row {
        bool misses = false;  // a possibility waits for another event
        Number missed = 0;
        std::vector<Number> candidates;
        std::vector<std::uint32_t> few;                         // 1 + a transition, by which candidates fit
        std::unordered_map<std::uint64_t, std::uint32_t> many;  // the same for many candidates
    };
    struct Set {
        FrameId frame = 0;
        std::vector<Number> nodes;               // sorted; in the order of the formula if only the first match counts
        std::vector<std::unique_ptr<Row>> rows;  // by letter
    };
    // A set with the chain that led to it, and the values of its frame.
    static constexpr std::uint64_t header(SetId set, Chains::Id chain) {
        return set | static_cast<std::uint64_t>(chain) << 32;
    }
    static constexpr SetId set_of(std::uint64_t header) { return static_cast<SetId>(header); }
    static constexpr Chains::Id chain_of(std::uint64_t header) { return static_cast<Chains::Id>(header >> 32); }
    static constexpr std::uint64_t bits_of(Term term) { return std::bit_cast<std::uint64_t>(term); }
    static constexpr Term term_of(std::uint64_t word) { return std::bit_cast<Term>(word); }
    enum class Phase : std::uint8_t { Free, First, Running, Decided };
    struct State {
        Phase phase = Phase::Free;
        std::uint32_t blocks = 0;
        std::vector<std::uint64_t> words;  // of each block a header and its values
    };
    // Blocks of the state that is being made, by their values.
    class Places {
    public:
        void clear() {
            ++generation_;
            count_ = 0;
        }
        template <class Visit>
        void each(std::uint64_t hash, Visit&& visit) const;
        void insert(std::uint64_t hash, std::uint32_t place);
        std::size_t bytes() const { return cells_.capacity() * sizeof(Cell); }

    private:
        struct Cell {
            std::uint64_t hash = 0;
            std::uint32_t generation = 0;
            std::uint32_t place = 0;
        };
        std::vector<Cell> cells_;
        std::uint32_t generation_ = 1;
        std::size_t count_ = 0;
    };

    // Making what can be made beforehand.
    FrameId frame(std::vector<Number> slots);
    bool try_set(FrameId frame, const std::vector<Number>& nodes, SetId& found);
    void add_sets(FrameId frame, const std::vector<Number>& nodes, Output pattern, std::vector<Output>& outputs);
    void prepare(Number node, Number then);
    Row& row(SetId set, EventId event) {
        const std::unique_ptr<Row>& known = sets_[set].rows[event];
        return known ? *known : make_row(set, event);
    }
    Row& make_row(SetId set, EventId event);
    const Transition& transition(SetId set, Row& row, std::uint64_t key) {
        std::uint32_t& known = row.few.empty() ? row.many[key] : row.few[key];
        if (known == 0) {
            transitions_.push_back(make_transition(set, row, key));
            known = static_cast<std::uint32_t>(transitions_.size());
        }
        return transitions_[known - 1];
    }
    Transition make_transition(SetId set, const Row& row, std::uint64_t key);
    void add_output(const Output& output, FrameId source, std::vector<Output>& outputs);

    Word step_first(Word state, EventId event, Origin& origin);
    Word step_many(Word state, EventId event, const std::uint64_t* first_key);
    Word decide(Word state, std::uint8_t verdict);
    std::uint64_t fitting(const Row& row);
    void load(FrameId frame, const std::uint64_t* values);
    void place(const Output& output, Chains::Id before);
    bool merge(SetId& set, std::uint32_t values, std::uint64_t hash);
    void install(State& state);
    bool differs(const State& state) const;
    void clear(State& state);
    void read_blocks(Archive& archive, State& state);
    std::size_t size_of(FrameId frame) const { return frames_[frame].size(); }
    Term hold(Term term);
    void let_go(std::uint64_t word);
    template <class Visit>
    void each_block(const std::vector<std::uint64_t>& words, Visit&& visit) const {
        for (std::size_t at = 0; at < words.size();) {
            const std::size_t count = size_of(sets_[set_of(words[at])].frame);
            visit(words[at], words.data() + at + 1, count);
            at += 1 + count;
        }
    }

    std::vector<std::vector<Number>> frames_;
    std::map<std::vector<Number>, FrameId> frame_numbers_;
    std::vector<Set> sets_;
    std::map<std::pair<FrameId, std::vector<Number>>, SetId> set_numbers_;
    std::vector<Transition> transitions_;
    std::vector<Transition> leads_;  // by modality, and of the root: where it leads if it fits

    std::vector<State> states_;
    std::vector<Word> free_;
    std::vector<std::uint64_t> next_;  // the state that is being made
    std::uint32_t next_blocks_ = 0;
    std::size_t next_obligations_ = 0;
    Places places_;
    std::size_t kept_ = 0;
};

}  // namespace mopsus
