#include "tree.hpp"

#include <algorithm>

#include "mopsus/engine/key.hpp"

namespace mopsus {

namespace {

constexpr std::uint32_t kDeepest = 1000;  // of nested joins
constexpr std::size_t kParts = 4;         // joins for each obligation that is allowed

std::uint32_t fold(std::uint64_t hash) { return static_cast<std::uint32_t>(hash ^ hash >> 32); }

}  // namespace

TreeRunner::TreeRunner(const SymbolicMachine& machine) : SymbolicRunner(machine), items_(2), states_(1) {
    items_[kTrue].kind = Kind::True;
}

TreeRunner::~TreeRunner() {
    for (const Item& item : items_)
        if (item.owners != 0 && item.kind == Kind::Leaf)
            for (const Term value : item.values) drop(value);
}

// ---- items ----

TreeRunner::Id TreeRunner::take(Kind kind) {
    Id id = 0;
    if (free_items_.empty()) {
        id = static_cast<Id>(items_.size());
        items_.emplace_back();
    } else {
        id = free_items_.back();
        free_items_.pop_back();
    }
    Item& item = items_[id];
    item.kind = kind;
    item.owners = 1;
    item.turn = 0;
    item.depth = 0;
    return id;
}

void TreeRunner::release(Id id) {
    if (id <= kTrue || --items_[id].owners != 0) return;
    if (items_[id].kind == Kind::Leaf) return free_item(id);
    gone_.push_back(id);
    while (!gone_.empty()) {
        const Id next = gone_.back();
        gone_.pop_back();
        for (const Id part : items_[next].parts)
            if (part > kTrue && --items_[part].owners == 0) gone_.push_back(part);
        free_item(next);
    }
}

void TreeRunner::free_item(Id id) {
    Item& item = items_[id];
    index_.erase(item.hash, id);
    if (item.kind == Kind::Leaf) {
        for (const Term value : item.values) {
            kept_ -= kept_size(value);
            drop(value);
        }
        chains_.release(item.chain);
    }
    item.values.clear();
    item.parts.clear();
    item.chain = 0;
    free_items_.push_back(id);
}

// Takes over the values, which are kept, and the chain.
TreeRunner::Id TreeRunner::leaf(Number node, std::vector<Term>& values, Chains::Id chain) {
    std::uint64_t sum = node + 1;
    for (const Term value : values) sum = mix(sum ^ hash(value), 0x9E3779B97F4A7C15ULL);
    const Id known = index_.find(fold(sum), [&](Id id) {
        const Item& item = items_[id];
        return item.kind == Kind::Leaf && item.node == node &&
               std::equal(item.values.begin(), item.values.end(), values.begin(), values.end(), identical);
    });
    if (known != 0) {
        for (const Term value : values) {
            kept_ -= kept_size(value);
            drop(value);
        }
        chains_.release(chain);
        share(known);
        return known;
    }
    const Id id = take(Kind::Leaf);
    Item& item = items_[id];
    item.node = node;
    item.chain = chain;
    item.values.assign(values.begin(), values.end());
    item.hash = fold(sum);
    index_.insert(item.hash, id);
    return id;
}

TreeRunner::Id TreeRunner::intern_join(Kind kind, const Id* parts, std::size_t count) {
    std::uint64_t sum = kind == Kind::And ? 0xA : 0x5;
    for (std::size_t k = 0; k < count; ++k) sum = mix(sum ^ parts[k], 0x9E3779B97F4A7C15ULL);
    const Id known = index_.find(fold(sum), [&](Id id) {
        const Item& item = items_[id];
        return item.kind == kind && std::equal(item.parts.begin(), item.parts.end(), parts, parts + count);
    });
    if (known != 0) {
        share(known);
        for (std::size_t k = 0; k < count; ++k) release(parts[k]);
        return known;
    }
    const Id id = take(kind);
    Item& item = items_[id];
    item.parts.assign(parts, parts + count);
    for (const Id part : item.parts) item.depth = std::max(item.depth, items_[part].depth + 1);
    item.hash = fold(sum);
    index_.insert(item.hash, id);
    if (item.depth > kDeepest) {
        release(id);
        throw Exhausted();
    }
    return id;
}

// Is a part made superfluous by another one: an `or` in an `and` that has one of its alternatives in it, or the
// reverse? Such an alternative is a leaf, and leaves are never superfluous.
bool TreeRunner::is_superfluous(Id part, const std::vector<Id>& among) const {
    const std::vector<Id>& parts = items_[part].parts;
    return std::any_of(parts.begin(), parts.end(),
                       [&](Id one) { return std::binary_search(among.begin(), among.end(), one); });
}

// Joins the parts from `from` on, which it takes over and removes.
TreeRunner::Id TreeRunner::join(Kind kind, std::vector<Id>& parts, std::size_t from) {
    const Id neutral = kind == Kind::And ? kTrue : kFalse;
    const Id decisive = kind == Kind::And ? kFalse : kTrue;
    flat_.clear();
    bool decided = false;
    for (std::size_t k = from; k < parts.size(); ++k) {
        const Id part = parts[k];
        decided = decided || part == decisive;
        if (part == neutral || part == decisive) continue;
        if (items_[part].kind == kind) {
            for (const Id one : items_[part].parts) {
                share(one);
                flat_.push_back(one);
            }
            release(part);
        } else {
            flat_.push_back(part);
        }
    }
    parts.resize(from);
    if (decided) {
        for (const Id part : flat_) release(part);
        return decisive;
    }
    std::sort(flat_.begin(), flat_.end());
    std::size_t count = 0;
    for (const Id part : flat_) {
        if (count != 0 && flat_[count - 1] == part)
            release(part);
        else
            flat_[count++] = part;
    }
    flat_.resize(count);
    const auto superfluous = [&](Id part) { return is_superfluous(part, flat_); };
    if (std::any_of(flat_.begin(), flat_.end(), superfluous)) {
        std::vector<Id> left;
        std::copy_if(flat_.begin(), flat_.end(), std::back_inserter(left), [&](Id part) { return !superfluous(part); });
        for (const Id part : flat_)
            if (superfluous(part)) release(part);
        flat_ = std::move(left);
    }
    if (flat_.empty()) return neutral;
    return flat_.size() == 1 ? flat_[0] : intern_join(kind, flat_.data(), flat_.size());
}

TreeRunner::Id TreeRunner::instantiate(const Form& form, Chains::Id before, Number modality) {
    switch (form.kind) {
        case Kind::True: return kTrue;
        case Kind::False: return kFalse;
        case Kind::Leaf: {
            values_.clear();
            for (const Number slot : machine_.nodes[form.node].live) {
                values_.push_back(keep(matcher_.slots()[slot], matcher_.arena()));
                kept_ += kept_size(values_.back());
            }
            const Chains::Id chain = modality < machine_.nodes.size()
                                         ? chains_.extend(before, modality, true, form.unfolded, form.again)
                                         : 0;
            return leaf(form.node, values_, chain);
        }
        default: break;
    }
    const std::size_t from = parts_.size();
    for (const Form& part : form.parts) {
        const Id made = instantiate(part, before, modality);
        parts_.push_back(made);
    }
    return join(form.kind, parts_, from);
}

// ---- steps ----

TreeRunner::Id TreeRunner::advance_leaf(Id id, EventId event) {
    ++leaves_;
    const Number node = items_[id].node;
    const Node& modality = machine_.nodes[node];
    items_[id].fitted = false;
    const Id missed = modality.flag ? kTrue : kFalse;
    if (!meets(node, event)) return missed;
    for (std::size_t k = 0; k < modality.live.size(); ++k) matcher_.slots()[modality.live[k]] = items_[id].values[k];
    if (!matcher_.fits(node)) return missed;
    items_[id].fitted = true;
    return instantiate(forms_.at(modality.then), items_[id].chain, node);
}

// What an item is after the event; it stays owned by the step, too.
TreeRunner::Id TreeRunner::advance(Id id, EventId event) {
    if (id <= kTrue) return id;
    if (items_[id].turn == turn_) {
        share(items_[id].result);
        return items_[id].result;
    }
    if (++looked_ > kParts * machine_.limit || leaves_ > machine_.limit) throw Exhausted();
    Id result = 0;
    if (items_[id].kind == Kind::Leaf) {
        result = advance_leaf(id, event);
    } else {
        const Kind kind = items_[id].kind;
        const Id decisive = kind == Kind::And ? kFalse : kTrue;
        const std::size_t from = parts_.size();
        for (std::size_t k = 0; k < items_[id].parts.size(); ++k) {
            const Id part = advance(items_[id].parts[k], event);
            parts_.push_back(part);
            if (part == decisive) break;
        }
        result = join(kind, parts_, from);
    }
    // Nobody asks again for what has one owner, unless it is to be explained.
    if (items_[id].owners == 1 && !chains_.on()) return result;
    items_[id].turn = turn_;
    items_[id].result = result;
    share(result);
    results_.push_back(result);
    return result;
}

Word TreeRunner::new_state() {
    Word word = 0;
    if (free_states_.empty()) {
        word = static_cast<Word>(states_.size());
        if (word >= kMoved) throw std::bad_alloc();
        states_.emplace_back();
    } else {
        word = free_states_.back();
        free_states_.pop_back();
    }
    states_[word] = {Phase::First, kTrue};
    return word;
}

Word TreeRunner::begin() {
    const Word word = new_state();
    if (selects()) return word;
    const Id root = instantiate(forms_.at(machine_.root), 0, static_cast<Number>(machine_.nodes.size()));
    states_[word].root = root;
    if (root > kTrue)
        states_[word].phase = Phase::Running;  // else it is decided, but nothing is said before the first event
    return word;
}

Word TreeRunner::copy(Word source) {
    if (source == kDecided) return kDecided;
    const Word word = new_state();
    states_[word] = states_[source];
    share(states_[word].root);
    return word;
}

void TreeRunner::end(Word word) {
    if (word == kDecided) return;
    release(states_[word].root);
    states_[word] = {Phase::Free, kTrue};
    free_states_.push_back(word);
}

Word TreeRunner::decide(Word word, std::uint8_t verdict) {
    say(verdict);
    if (machine_.restarts) {
        release(states_[word].root);
        states_[word] = {Phase::Decided, kTrue};
        return word | kNotable;
    }
    end(word);
    return kDecided | kNotable;
}

// The state becomes `root`.
Word TreeRunner::settle(Word word, Id root) {
    if (root == kFalse) return decide(word, SymbolicMachine::kRejection);
    if (root == kTrue) return decide(word, satisfied());
    State& state = states_[word];
    const bool moved = state.root != root;
    release(state.root);
    state = {Phase::Running, root};
    return moved ? word | kMoved : word;
}

Word TreeRunner::step_first(Word word, EventId event, Origin& origin) {
    if (states_[word].phase == Phase::Decided) {
        if (machine_.restarts) return word;
        end(word);  // a snapshot had it
        return kDecided;
    }
    if (!selects()) return settle(word, states_[word].root);
    if (!is_selected(event, origin)) return decide(word, kSilent);
    chains_.begin(event, origin, matcher_.data());
    const Form& form = forms_.at(machine_.nodes[machine_.root].then);
    const Id root = instantiate(form, 0, machine_.root);
    if (root <= kTrue) explain(0, machine_.root, true, form.unfolded);
    const Word after = settle(word, root);
    chains_.finish();
    return after;
}

Word TreeRunner::step(Word word, EventId event, Origin& origin) {
    say(kSilent);
    if (word == kDecided) return kDecided;
    if (states_[word].phase != Phase::Running) return step_first(word, event, origin);
    matcher_.begin(event, origin);
    chains_.begin(event, origin, matcher_.data());
    ++turn_;
    leaves_ = 0;
    looked_ = 0;
    const Id before = states_[word].root;
    Word after = 0;
    try {
        const Id root = advance(before, event);
        if (root <= kTrue) explain_result(before, root);
        after = settle(word, root);
    } catch (const Exhausted&) {
        for (const Id part : parts_) release(part);
        parts_.clear();
        after = decide(word, SymbolicMachine::kExhausted);
    }
    for (const Id result : results_) release(result);
    results_.clear();
    chains_.finish();
    largest_ = std::max(largest_, leaves_);
    return after;
}

// ---- explanations ----

// The leaves that made the result what it is: one part is enough for an `and` that is false, it takes all of an `or`.
void TreeRunner::collect_decisive(Id id, Id result, std::vector<Id>& found) const {
    if (id <= kTrue) return;
    const Item& item = items_[id];
    if (item.kind == Kind::Leaf) {
        if (std::find(found.begin(), found.end(), id) == found.end()) found.push_back(id);
        return;
    }
    const bool one = (item.kind == Kind::And) == (result == kFalse);
    for (const Id part : item.parts) {
        if (one && (items_[part].turn != turn_ || items_[part].result != result)) continue;
        collect_decisive(part, result, found);
        if (one) return;
    }
}

// How the first of them came to be and what it did, and what the others did.
void TreeRunner::explain_result(Id root, Id result) {
    if (!chains_.on()) return;
    std::vector<Id> decisive;
    collect_decisive(root, result, decisive);
    for (const Id id : decisive) {
        const Item& item = items_[id];
        if (id == decisive.front())
            explain(item.chain, item.node, item.fitted);
        else
            explain_also(item.node, item.fitted);
    }
}

// ---- looking at states ----

template <class Visit>
void TreeRunner::each_item(Id root, Visit&& visit) {
    // Parts before the whole.
    ++turn_;
    std::vector<std::pair<Id, std::size_t>> stack{{root, 0}};
    while (!stack.empty()) {
        auto& [id, part] = stack.back();
        if (id <= kTrue || items_[id].turn == turn_) {
            stack.pop_back();
        } else if (part < items_[id].parts.size()) {
            stack.emplace_back(items_[id].parts[part++], 0);
        } else {
            items_[id].turn = turn_;
            visit(id);
            stack.pop_back();
        }
    }
}

std::size_t TreeRunner::obligations(Word word) {
    std::size_t count = 0;
    each_item(states_[word].root, [&](Id id) { count += items_[id].kind == Kind::Leaf ? 1 : 0; });
    return count;
}

// If the trace ends here: necessities are satisfied, possibilities violated.
std::optional<bool> TreeRunner::holds(Word word) {
    if (!machine_.linear || word == kDecided || states_[word].phase != Phase::Running) return {};
    each_item(states_[word].root, [&](Id id) {
        Item& item = items_[id];
        const auto is_true = [&](Id part) { return items_[part].result == kTrue; };
        const bool held = item.kind == Kind::Leaf  ? machine_.nodes[item.node].flag
                          : item.kind == Kind::And ? std::all_of(item.parts.begin(), item.parts.end(), is_true)
                                                   : std::any_of(item.parts.begin(), item.parts.end(), is_true);
        item.result = held ? kTrue : kFalse;
    });
    return items_[states_[word].root].result == kTrue;
}

std::size_t TreeRunner::bytes() const {
    std::size_t bytes = items_.capacity() * sizeof(Item) + states_.capacity() * sizeof(State) + index_.bytes() + kept_ +
                        chains_.bytes();
    for (const Item& item : items_) bytes += item.values.capacity() * sizeof(Term) + item.parts.capacity() * sizeof(Id);
    return bytes;
}

// ---- snapshots ----

void TreeRunner::transfer(Archive& archive, Word word) {
    const Phase now = word == kDecided ? Phase::Decided : states_[word].phase;
    const auto phase =
        static_cast<Phase>(archive.number(static_cast<std::uint64_t>(now), static_cast<std::uint64_t>(Phase::First),
                                          static_cast<std::uint64_t>(Phase::Decided)));
    if (archive.reading() && phase == Phase::First && now == Phase::Running)
        throw BadSnapshot("an instance in the snapshot has not begun");
    if (archive.reading() && phase != Phase::First) {
        release(states_[word].root);
        states_[word] = {phase, kTrue};
    }
    if (phase != Phase::Running) return;
    std::vector<Id> known;
    if (!archive.reading()) each_item(states_[word].root, [&](Id id) { known.push_back(id); });
    const std::uint64_t count = archive.number(known.size(), 1, kParts * machine_.limit + 1);
    if (!archive.reading()) {
        for (const Id id : known) {
            const Item& item = items_[id];
            archive.number(static_cast<std::uint64_t>(item.kind));
            archive.number(item.kind == Kind::Leaf ? item.node : item.parts.size());
            for (const Id part : item.parts)
                archive.number(static_cast<std::uint64_t>(std::find(known.begin(), known.end(), part) - known.begin()));
            for (const Term value : item.values) transfer_term(archive, value);
            if (item.kind == Kind::Leaf) chains_.transfer(archive, item.chain);
        }
        return;
    }
    try {
        for (std::uint64_t k = 0; k < count; ++k) {
            const Id read = read_item(archive, known);
            known.push_back(read);
        }
    } catch (...) {
        for (const Id id : known) release(id);
        throw;
    }
    states_[word].root = known.back();
    known.pop_back();
    for (const Id id : known) release(id);
    if (states_[word].root <= kTrue) throw BadSnapshot("an instance in the snapshot is decided");
}

TreeRunner::Id TreeRunner::read_item(Archive& archive, const std::vector<Id>& known) {
    const auto kind = static_cast<Kind>(
        archive.number(0, static_cast<std::uint64_t>(Kind::Leaf), static_cast<std::uint64_t>(Kind::Or)));
    if (kind != Kind::Leaf) {
        const std::uint64_t count = archive.number(0, 2);
        std::vector<Id> parts;
        for (std::uint64_t k = 0; k < count; ++k) {
            if (known.empty()) throw BadSnapshot("a combination in the snapshot is damaged");
            parts.push_back(known[archive.number(0, 0, known.size() - 1)]);
        }
        for (const Id part : parts) share(part);
        try {
            return join(kind, parts, 0);
        } catch (const Exhausted&) {
            throw BadSnapshot("a combination in the snapshot is too deep");
        }
    }
    const auto node = static_cast<Number>(archive.number(0, 0, machine_.nodes.size() - 1));
    if (machine_.nodes[node].kind != Node::Kind::Modality)
        throw BadSnapshot("an obligation in the snapshot is no modality");
    std::vector<Term> values;
    try {
        for (std::size_t k = 0; k < machine_.nodes[node].live.size(); ++k) {
            values.push_back(transfer_term(archive, Term()));
            kept_ += kept_size(values.back());
        }
        const Chains::Id chain = chains_.transfer(archive, 0);
        return leaf(node, values, chain);
    } catch (...) {
        for (const Term value : values) drop(value);
        throw;
    }
}

}  // namespace mopsus
