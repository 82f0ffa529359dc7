#include "sets.hpp"

#include <algorithm>
#include <bit>

#include "mopsus/engine/key.hpp"

namespace mopsus {

namespace {

constexpr std::uint32_t kScan = 8;  // so many blocks are looked at one by one

std::uint64_t hash_of(const std::uint64_t* values, std::size_t count) {
    std::uint64_t sum = count;
    for (std::size_t k = 0; k < count; ++k)
        sum = mix(sum ^ hash(std::bit_cast<Term>(values[k])), 0x9E3779B97F4A7C15ULL);
    return sum;
}

}  // namespace

// ---- states ----

SetRunner::~SetRunner() {
    for (State& state : states_) clear(state);
    each_block(next_, [&](std::uint64_t, const std::uint64_t* values, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) let_go(values[k]);
    });
}

Term SetRunner::hold(Term term) {
    const Term kept = keep(term, matcher_.arena());
    kept_ += kept_size(kept);
    return kept;
}

void SetRunner::let_go(std::uint64_t word) {
    kept_ -= kept_size(term_of(word));
    drop(term_of(word));
}

void SetRunner::clear(State& state) {
    each_block(state.words, [&](std::uint64_t header, const std::uint64_t* values, std::size_t count) {
        chains_.release(chain_of(header));
        for (std::size_t k = 0; k < count; ++k) let_go(values[k]);
    });
    state.words.clear();
    state.blocks = 0;
}

Word SetRunner::begin() {
    Word word = 0;
    if (free_.empty()) {
        word = static_cast<Word>(states_.size());
        if (word >= kMoved) throw std::bad_alloc();
        states_.emplace_back();
    } else {
        word = free_.back();
        free_.pop_back();
    }
    State& state = states_[word];
    state.phase = Phase::First;
    if (selects()) return word;
    const Transition& lead = leads_.back();
    if (lead.rejects || lead.outputs.empty()) return word;  // decided, but nothing is said before the first event
    state.phase = Phase::Running;
    for (const Output& output : lead.outputs) {
        state.words.push_back(header(output.set, 0));
        largest_ = std::max(largest_, sets_[output.set].nodes.size());
        ++state.blocks;
    }
    return word;
}

Word SetRunner::copy(Word source) {
    if (source == kDecided) return kDecided;
    const Word word = begin();
    const State& from = states_[source];
    State& to = states_[word];
    to.phase = from.phase;
    to.blocks = from.blocks;
    to.words = from.words;
    each_block(to.words, [&](std::uint64_t header, const std::uint64_t* values, std::size_t count) {
        chains_.share(chain_of(header));
        for (std::size_t k = 0; k < count; ++k) {
            share(term_of(values[k]));
            kept_ += kept_size(term_of(values[k]));
        }
    });
    return word;
}

void SetRunner::end(Word word) {
    constexpr std::size_t kSmall = 64;  // words that the next user may have
    if (word == kDecided) return;
    State& state = states_[word];
    clear(state);
    if (state.words.capacity() > kSmall) state.words = {};
    state.phase = Phase::Free;
    free_.push_back(word);
}

std::size_t SetRunner::obligations(Word word) const {
    std::size_t count = 0;
    each_block(states_[word].words, [&](std::uint64_t header, const std::uint64_t*, std::size_t) {
        count += sets_[set_of(header)].nodes.size();
    });
    return count;
}

// If the trace ends here: necessities are satisfied, possibilities violated.
std::optional<bool> SetRunner::holds(Word word) {
    if (!machine_.linear || word == kDecided || states_[word].phase != Phase::Running) return {};
    bool held = true;
    each_block(states_[word].words, [&](std::uint64_t header, const std::uint64_t*, std::size_t) {
        for (const Number node : sets_[set_of(header)].nodes) held = held && machine_.nodes[node].flag;
    });
    return held;
}

std::size_t SetRunner::bytes() const {
    std::size_t bytes = states_.capacity() * sizeof(State) + free_.capacity() * sizeof(Word) + kept_ + chains_.bytes() +
                        places_.bytes();
    for (const State& state : states_) bytes += state.words.capacity() * sizeof(std::uint64_t);
    return bytes;
}

// ---- steps ----

Word SetRunner::decide(Word word, std::uint8_t verdict) {
    chains_.finish();
    say(verdict);
    if (machine_.restarts) {
        clear(states_[word]);
        states_[word].phase = Phase::Decided;
        return word | kNotable;
    }
    end(word);
    return kDecided | kNotable;
}

// Bits, or the first that fits; see `make_transition`.
std::uint64_t SetRunner::fitting(const Row& row) {
    std::uint64_t key = 0;
    for (std::size_t k = 0; k < row.candidates.size(); ++k) {
        if (!matcher_.fits(row.candidates[k])) continue;
        if (machine_.first_match) return k + 1;
        key |= 1ULL << k;
    }
    return key;
}

void SetRunner::load(FrameId frame, const std::uint64_t* values) {
    const std::vector<Number>& slots = frames_[frame];
    for (std::size_t k = 0; k < slots.size(); ++k) matcher_.slots()[slots[k]] = term_of(values[k]);
}

Word SetRunner::step_first(Word word, EventId event, Origin& origin) {
    State& state = states_[word];
    if (state.phase == Phase::Decided) {
        if (machine_.restarts) return word;
        end(word);  // a snapshot had it
        return kDecided;
    }
    const Transition& lead = selects() ? leads_[machine_.root] : leads_.back();
    if (selects()) {
        if (!is_selected(event, origin)) return decide(word, kSilent);
        chains_.begin(event, origin, matcher_.data());
    }
    if (lead.rejects || lead.outputs.empty()) {
        if (selects()) explain(0, machine_.root, true, lead.rejection.unfolded);
        return decide(word, lead.rejects ? std::uint8_t{SymbolicMachine::kRejection} : satisfied());
    }
    state.phase = Phase::Running;
    for (const Output& output : lead.outputs) place(output, 0);
    install(state);
    chains_.finish();
    return word | kMoved;
}

Word SetRunner::step(Word word, EventId event, Origin& origin) {
    say(kSilent);
    if (word == kDecided) return kDecided;
    State& state = states_[word];
    if (state.phase != Phase::Running) return step_first(word, event, origin);
    matcher_.begin(event, origin);
    chains_.begin(event, origin, matcher_.data());
    if (state.blocks > 1) return step_many(word, event, nullptr);

    std::uint64_t& head = state.words[0];
    const SetId set = set_of(head);
    Row& row = this->row(set, event);
    if (row.misses || row.candidates.empty()) return step_many(word, event, nullptr);
    load(sets_[set].frame, state.words.data() + 1);
    const std::uint64_t key = fitting(row);
    const Transition& transition = this->transition(set, row, key);
    if (transition.rejects || transition.outputs.size() != 1 || !transition.outputs[0].same)
        return step_many(word, event, &key);
    // One block stays one block, with the same values.
    const Output& output = transition.outputs[0];
    if (chains_.on()) {
        const Chains::Id before = chain_of(head);
        const Chains::Id after = chains_.extend(before, output.modality, true, output.unfolded, output.again);
        chains_.release(before);
        chains_.finish();
        head = header(output.set, after);
    } else {
        head = header(output.set, 0);
    }
    if (output.set == set) return word;
    largest_ = std::max(largest_, sets_[output.set].nodes.size());
    return word | kMoved;
}

// What fits the first block may be known, and its values in the slots.
Word SetRunner::step_many(Word word, EventId event, const std::uint64_t* first_key) {
    State& state = states_[word];
    Chains::Id last = 0;  // for a state of which nothing is left
    Number last_node = 0;
    bool last_fits = false;
    for (std::size_t at = 0; at < state.words.size();) {
        const SetId set = set_of(state.words[at]);
        const Chains::Id chain = chain_of(state.words[at]);
        const FrameId frame = sets_[set].frame;
        Row& row = this->row(set, event);
        if (row.misses) {
            explain(chain, row.missed, false);
            install(state);
            return decide(word, SymbolicMachine::kRejection);
        }
        const bool known = at == 0 && first_key != nullptr;
        if (!known) load(frame, state.words.data() + at + 1);
        at += 1 + size_of(frame);
        const std::uint64_t key = known ? *first_key : fitting(row);
        last = chain;
        last_node = row.candidates.empty() ? sets_[set].nodes[0] : row.candidates[0];
        last_fits = key != 0;
        if (row.candidates.empty()) continue;
        const Transition& transition = this->transition(set, row, key);
        if (transition.rejects) {
            const Output& rejection = transition.rejection;
            explain(chain, rejection.modality, transition.fitted, rejection.unfolded);
            install(state);
            return decide(word, SymbolicMachine::kRejection);
        }
        for (const Output& output : transition.outputs) place(output, chain);
        if (next_obligations_ > machine_.limit) {
            install(state);
            return decide(word, SymbolicMachine::kExhausted);
        }
    }
    if (next_blocks_ == 0) {
        explain(last, last_node, last_fits);
        install(state);
        return decide(word, satisfied());
    }
    const bool moved = differs(state);
    install(state);
    chains_.finish();
    return moved ? word | kMoved : word;
}

// Adds what a modality leads to, with the values that are in the slots.
void SetRunner::place(const Output& output, Chains::Id before) {
    const std::vector<Number>& slots = frames_[sets_[output.set].frame];
    const auto place = static_cast<std::uint32_t>(next_.size());
    next_.push_back(header(output.set, 0));
    for (const Number slot : slots) next_.push_back(bits_of(hold(matcher_.slots()[slot])));
    const std::uint64_t hash = next_blocks_ < kScan ? 0 : hash_of(next_.data() + place + 1, slots.size());
    SetId set = output.set;
    if (merge(set, place, hash)) {
        for (std::size_t k = place + 1; k < next_.size(); ++k) let_go(next_[k]);
        next_.resize(place);
        return;
    }
    next_[place] = header(set, chains_.extend(before, output.modality, true, output.unfolded, output.again));
    next_obligations_ += sets_[set].nodes.size();
    if (++next_blocks_ > kScan) {
        if (next_blocks_ == kScan + 1) {
            // From now on they are found by hash.
            places_.clear();
            each_block(next_, [&](std::uint64_t, const std::uint64_t* values, std::size_t count) {
                places_.insert(hash_of(values, count), static_cast<std::uint32_t>(values - next_.data() - 1));
            });
        } else {
            places_.insert(hash, place);
        }
    }
}

// Compares the block that begins at `place` with those before it. True: all of it is there already. Otherwise `set` is
// what is not.
bool SetRunner::merge(SetId& set, std::uint32_t place, std::uint64_t hash) {
    const FrameId frame = sets_[set].frame;
    const std::size_t count = size_of(frame);
    const auto visit = [&](std::uint32_t other) {
        const SetId there = set_of(next_[other]);
        if (sets_[there].frame != frame) return false;
        for (std::size_t k = 1; k <= count; ++k)
            if (!identical(term_of(next_[other + k]), term_of(next_[place + k]))) return false;
        if (there == set) return true;
        if (machine_.first_match) return false;
        const std::vector<Number>& present = sets_[there].nodes;
        std::vector<Number> left;
        std::set_difference(sets_[set].nodes.begin(), sets_[set].nodes.end(), present.begin(), present.end(),
                            std::back_inserter(left));
        if (left.empty()) return true;
        SetId joined = 0;
        if (!chains_.on()) {
            std::vector<Number> all;
            std::set_union(present.begin(), present.end(), left.begin(), left.end(), std::back_inserter(all));
            if (try_set(frame, all, joined)) {
                next_obligations_ += left.size();
                next_[other] = header(joined, 0);
                return true;
            }
        }
        if (try_set(frame, left, joined)) set = joined;
        return false;
    };
    if (next_blocks_ <= kScan) {
        for (std::uint32_t at = 0; at < place;
             at += static_cast<std::uint32_t>(1 + size_of(sets_[set_of(next_[at])].frame)))
            if (visit(at)) return true;
        return false;
    }
    bool found = false;
    places_.each(hash, [&](std::uint32_t other) {
        found = visit(other);
        return found;
    });
    return found;
}

// The state that has been made takes the place of the one before.
void SetRunner::install(State& state) {
    clear(state);
    state.words.swap(next_);
    state.blocks = next_blocks_;
    largest_ = std::max(largest_, next_obligations_);
    next_blocks_ = 0;
    next_obligations_ = 0;
}

// Is the state that has been made another one? How it came to be does not matter.
bool SetRunner::differs(const State& state) const {
    if (next_.size() != state.words.size()) return true;
    bool differ = false;
    const std::uint64_t* other = state.words.data();
    each_block(next_, [&](std::uint64_t head, const std::uint64_t* values, std::size_t count) {
        differ = differ || set_of(head) != set_of(*other) || !std::equal(values, values + count, other + 1);
        other += 1 + count;
    });
    return differ;
}

template <class Visit>
void SetRunner::Places::each(std::uint64_t hash, Visit&& visit) const {
    const std::size_t low = cells_.size() - 1;
    for (std::size_t k = hash & low; cells_[k].generation == generation_; k = (k + 1) & low)
        if (cells_[k].hash == hash && visit(cells_[k].place)) return;
}

void SetRunner::Places::insert(std::uint64_t hash, std::uint32_t place) {
    if ((count_ + 1) * 2 > cells_.size()) {
        std::vector<Cell> old = std::move(cells_);
        cells_.assign(old.empty() ? 64 : old.size() * 2, Cell{});
        count_ = 0;
        for (const Cell& cell : old)
            if (cell.generation == generation_) insert(cell.hash, cell.place);
    }
    const std::size_t low = cells_.size() - 1;
    std::size_t k = hash & low;
    while (cells_[k].generation == generation_) k = (k + 1) & low;
    cells_[k] = {hash, generation_, place};
    ++count_;
}

}  // namespace mopsus
