#include "mopsus/machine/rewrite.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

#include "mopsus/engine/archive.hpp"

namespace mopsus {

namespace {

using Symbol = std::uint16_t;

// A string of an instance: numbers below 2^16, a few of them without memory of their own.
class String {
public:
    static constexpr std::uint32_t kFew = 4;

    std::uint32_t length = 0;
    std::uint8_t ending = RewriteMachine::kRunning;

    Symbol* data() { return room_ == kFew ? few_ : many_; }
    const Symbol* data() const { return room_ == kFew ? few_ : many_; }
    std::uint32_t room() const { return room_; }
    std::size_t bytes() const { return room_ == kFew ? 0 : room_ * sizeof(Symbol); }

    void grow(std::uint32_t room) {
        if (room <= room_) return;
        auto* memory = static_cast<Symbol*>(std::calloc(room, sizeof(Symbol)));
        if (memory == nullptr) throw std::bad_alloc();
        std::memcpy(memory, data(), room_ * sizeof(Symbol));
        release();
        many_ = memory;
        room_ = room;
    }
    void release() {
        if (room_ != kFew) std::free(many_);
        room_ = kFew;
        std::fill(few_, few_ + kFew, Symbol{0});
    }

private:
    std::uint32_t room_ = kFew;
    union {
        Symbol few_[kFew] = {};
        Symbol* many_;
    };
};

// What both strategies have in common: whose string is where, and what ends it.
class RewriteRunner : public Runner {
public:
    explicit RewriteRunner(const RewriteMachine& machine) : alive_(machine.alive), restarts_(machine.restarts) {
        for (std::size_t k = 0; k < RewriteMachine::kEndings; ++k) {
            if (machine.categories[k] == RewriteMachine::kUnheard) continue;
            outcomes_[k].categories = {machine.categories[k]};
            outcomes_[k].final = {true};
        }
    }
    ~RewriteRunner() override {
        for (String& string : strings_) string.release();
    }

    Word begin() override {
        const Word word = take();
        String& string = strings_[word];
        string.data()[0] = origin_;
        string.length = 1;
        return word;
    }
    Word copy(Word state) override {
        const Word word = take();
        const String& from = strings_[state];
        String& to = strings_[word];
        grow(to, from.length);
        std::copy_n(from.data(), from.length, to.data());
        to.length = from.length;
        to.ending = from.ending;
        return word;
    }
    void end(Word state) override {
        clear(strings_[state]);
        free_.push_back(state);
    }
    const Outcome& outcome() const override { return *last_; }
    bool alive(Word state, Mask dead) const override {
        const std::uint8_t ending = strings_[state].ending;
        return (ending == RewriteMachine::kRunning || restarts_[ending]) && any_free_of(alive_, dead);
    }
    void transfer(Archive& archive, Word state) override {
        String& string = strings_[state];
        archive.field(string.ending, 0, RewriteMachine::kRunning);
        const auto length = static_cast<std::uint32_t>(archive.number(string.length, 1, most()));
        for (std::uint32_t k = 1; k < length; ++k) {
            // Grows as what is read is seen to be there: a damaged length costs nothing.
            if (archive.reading() && k >= string.room()) grow(string, std::min(length, 2 * string.room()));
            Symbol& item = string.data()[k];
            archive.field(item, 0, std::numeric_limits<Symbol>::max());
            if (archive.reading() && !follows(string.data()[k - 1], item))
                throw BadSnapshot("a string in the snapshot is none");
        }
        string.length = length;
    }
    std::size_t bytes() const override {
        return strings_.capacity() * sizeof(String) + free_.capacity() * sizeof(Word) + grown_;
    }

protected:
    // Can `item` stand behind `before`?
    virtual bool follows(Symbol before, Symbol item) const = 0;
    virtual std::uint32_t most() const = 0;

    String& at(Word word) { return strings_[word]; }
    void grow(String& string, std::uint32_t room) {
        grown_ -= string.bytes();
        string.grow(room);
        grown_ += string.bytes();
    }
    void clear(String& string) {
        grown_ -= string.bytes();
        string.release();
        string.length = 1;
    }
    Word quiet(Word word) {
        last_ = &nothing_;
        return word;
    }
    Word finish(Word word, std::uint8_t ending) {
        String& string = strings_[word];
        clear(string);
        string.ending = ending;
        last_ = &outcomes_[ending];
        return word | kNotable | kMoved;
    }

    Symbol origin_ = 0;  // what every string begins with

private:
    Word take() {
        if (!free_.empty()) {
            const Word word = free_.back();
            free_.pop_back();
            strings_[word] = String();
            return word;
        }
        if (strings_.size() >= kMoved) throw std::bad_alloc();
        strings_.emplace_back();
        return static_cast<Word>(strings_.size() - 1);
    }

    std::vector<Mask> alive_;
    std::array<bool, RewriteMachine::kEndings> restarts_;
    std::array<Outcome, RewriteMachine::kEndings> outcomes_;
    Outcome nothing_;
    const Outcome* last_ = &nothing_;
    std::vector<String> strings_;
    std::vector<Word> free_;
    std::size_t grown_ = 0;
};

// Applies the match that completes first. All that is kept is in normal form, so a new symbol is the
// end of every match, and there is nothing to scan: a string is the stack of the automaton's states along it.
class StackRunner final : public RewriteRunner {
public:
    explicit StackRunner(const RewriteMachine& machine)
        : RewriteRunner(machine),
          symbols_(machine.symbols),
          end_(machine.end()),
          budget_(machine.budget),
          longest_(machine.longest),
          rules_(machine.rules),
          cells_(machine.moves.size()),
          ends_(machine.states()),
          coming_(std::min<std::size_t>(64, machine.longest)) {
        for (std::size_t k = 0; k < cells_.size(); ++k) {
            const std::uint32_t target = machine.moves[k];
            const std::uint32_t match = machine.matches[target];
            cells_[k] = match == 0 ? Cell{static_cast<Symbol>(target), kNone, kNone, kNone}
                                   : cell_of(match - 1, rules_[match - 1], k % symbols_ == end_);
        }
        for (std::size_t state = 0; state < ends_.size(); ++state)
            ends_[state] = cells_[state * symbols_ + end_].taken != kNone;
        origin_ = cells_[machine.start()].next;
    }

    Word step(Word word, EventId event, Origin& /*origin*/) override {
        String& string = at(word);
        if (string.ending != RewriteMachine::kRunning) return quiet(word);
        Symbol* data = string.data();
        const Cell cell = cells_[data[string.length - 1] * symbols_ + event];
        if (cell.taken == kNone && string.length < string.room() && !ends_[cell.next]) {
            data[string.length++] = cell.next;
            return quiet(word) | kMoved;
        }
        return rewrite(word, string, event);
    }

protected:
    bool follows(Symbol before, Symbol item) const override {
        for (std::uint32_t symbol = 0; symbol + 2 < symbols_; ++symbol) {
            const Cell& cell = cells_[before * symbols_ + symbol];
            if (cell.taken == kNone && cell.next == item) return true;
        }
        return false;
    }
    std::uint32_t most() const override { return longest_ + 1; }

private:
    static constexpr Symbol kNone = 0xFFFF;
    static constexpr Symbol kSpecial = 0xFFFE;

    // A step of the automaton in one load. Where a left side ends: how many symbols before this one
    // go, and the first two that come instead.
    struct Cell {
        Symbol next;    // the state, or the rule
        Symbol taken;   // kNone: no match
        Symbol first;   // kNone: nothing comes; kSpecial: the rule decides
        Symbol second;  // kNone: only one comes; kSpecial: more than two
    };

    static Cell cell_of(std::uint32_t number, const RewriteMachine::Rule& rule, bool at_end) {
        Cell cell{static_cast<Symbol>(number), static_cast<Symbol>(rule.taken - (at_end ? 0 : 1)), kNone, kNone};
        if (rule.ending != RewriteMachine::kRunning) {
            cell.first = kSpecial;
        } else if (!rule.right.empty()) {
            cell.first = rule.right[0];
            if (rule.right.size() > 1) cell.second = rule.right.size() == 2 ? rule.right[1] : kSpecial;
        }
        return cell;
    }

    // The string is a stack of states of the automaton, from the state at its start to the one behind its last symbol.
    // A symbol moves the automaton on, or completes a match: then the states that the left side has put there are taken
    // away again, and the symbols of the right side come next, one by one, as if they came from outside. The first of
    // them stays in `symbol`; the others wait in `coming`, the next one last:
    //
    //     rule a b -> c d        stack          symbol    coming        what happens
    //                            s0 s1          a         -             a step to s2
    //                            s0 s1 s2       b         -             a match: `a` goes, `c d` comes
    //                            s0 s1          c         d             a step to s3
    //                            s0 s1 s3       d         -             and so on
    //
    // `changes` is what the bits of written states differ in from those that were there: 0 if the string is as it was.
    // All of this is the hot path of string rewriting: the variables are meant to stay in registers.
    Word rewrite(Word word, String& string, Symbol symbol) {
        const std::uint32_t before = string.length;
        std::uint32_t top = before;
        std::uint32_t room = string.room();
        Symbol* data = string.data();
        Symbol* coming = coming_.data();
        std::size_t waiting = 0;
        Symbol state = data[top - 1];
        Symbol changes = 0;
        std::uint32_t steps = budget_;
        for (;;) {
            const Cell cell = cells_[state * symbols_ + symbol];
            if (cell.taken == kNone) {
                if (top == room) {
                    if (room > longest_) return finish(word, RewriteMachine::kExhausted);
                    grow(string, std::min(longest_ + 1, 2 * room));
                    data = string.data();
                    room = string.room();
                }
                state = cell.next;
                changes = static_cast<Symbol>(changes | (data[top] ^ state));
                data[top++] = state;
            } else {
                if (cell.first == kSpecial) return finish(word, rules_[cell.next].ending);
                const std::uint32_t times = times_of(cell, symbol, data + top - 1);
                if (times > steps) return finish(word, RewriteMachine::kExhausted);
                steps -= times;
                top -= cell.taken * times;
                state = data[top - 1];
                if (cell.first != kNone) {
                    symbol = cell.first;
                    if (cell.second == kNone) continue;
                    const std::size_t added = let_wait(cell, times, waiting);
                    if (added == 0) return finish(word, RewriteMachine::kExhausted);
                    waiting += added;
                    coming = coming_.data();
                    continue;
                }
            }
            if (waiting != 0) {
                const Symbol last = symbol;
                symbol = coming[--waiting];
                if (symbol != last) continue;
                // A row of equal symbols, in which the automaton stays where it is.
                const Cell again = cells_[state * symbols_ + symbol];
                if (again.taken != kNone || again.next != state) continue;
                for (++waiting; waiting != 0 && coming[waiting - 1] == symbol && top != room; --waiting) {
                    changes = static_cast<Symbol>(changes | (data[top] ^ state));
                    data[top++] = state;
                }
                if (waiting == 0 && !ends_[state]) break;
                symbol = waiting == 0 ? end_ : coming[--waiting];
            } else if (ends_[state]) {
                symbol = end_;
            } else {
                break;
            }
        }
        string.length = top;
        return quiet(word) | (changes != 0 || top != before ? kMoved : 0);
    }

    // How many times the match is met: a symbol that moves through a row of equal ones meets it again and again. The
    // state at the start of a string is that of no row, so there is an end.
    static std::uint32_t times_of(const Cell& cell, Symbol symbol, const Symbol* top) {
        std::uint32_t times = 1;
        if (cell.first == symbol && cell.taken == 1 && cell.second != kSpecial)
            while (*(top - times) == *top) ++times;
        return times;
    }

    // What a right side has behind its first symbol waits, above the symbols that do so already. Gives how many these
    // are, at least one; 0 if they are too many.
    std::size_t let_wait(const Cell& cell, std::uint32_t times, std::size_t waiting) {
        const std::vector<Symbol>& right = rules_[cell.next].right;
        const std::size_t more = cell.second == kSpecial ? right.size() - 1 : times;
        if (waiting + more > coming_.size()) {
            if (waiting + more > longest_) return 0;
            coming_.resize(std::min<std::size_t>(longest_, 2 * (waiting + more)));
        }
        Symbol* coming = coming_.data() + waiting;
        if (cell.second != kSpecial)
            std::fill_n(coming, more, cell.second);
        else
            std::reverse_copy(right.begin() + 1, right.end(), coming);
        return more;
    }

    std::uint32_t symbols_;
    Symbol end_;
    std::uint32_t budget_;
    std::uint32_t longest_;
    std::vector<RewriteMachine::Rule> rules_;
    std::vector<Cell> cells_;
    std::vector<std::uint8_t> ends_;  // of each state: a left side ends with the end of the string
    std::vector<Symbol> coming_;      // symbols still to be appended, the next one last
};

// Rewrites in passes from the head of the string, with the corrections of the pattern-match algorithm
// of Meredith 2012, ch. 7. During a step the string is a linked list, so that a replacement takes no
// longer than what it puts there.
class ScanRunner final : public RewriteRunner {
public:
    explicit ScanRunner(const RewriteMachine& machine)
        : RewriteRunner(machine),
          symbols_(machine.symbols),
          budget_(machine.budget),
          longest_(machine.longest),
          rules_(machine.rules),
          moves_(machine.moves),
          matches_(machine.matches) {
        origin_ = machine.start();
    }

    Word step(Word word, EventId event, Origin& /*origin*/) override {
        String& string = at(word);
        if (string.ending != RewriteMachine::kRunning) return quiet(word);
        load(string, event);
        const std::uint8_t ending = rewrite();
        if (ending != RewriteMachine::kRunning) return finish(word, ending);
        return quiet(word) | (store(string) ? kMoved : 0);
    }

protected:
    bool follows(Symbol /*before*/, Symbol item) const override { return item + 2U < symbols_; }
    std::uint32_t most() const override { return longest_ + 1; }

private:
    // In the list, `^` is the first node and `$` the second.
    static constexpr std::uint32_t kHead = 0;
    static constexpr std::uint32_t kTail = 1;
    static constexpr std::uint32_t kReads = 100;  // symbols that may be read for each step of the budget

    struct Node {
        std::uint32_t before;
        std::uint32_t next;
        Symbol symbol;
    };

    std::uint32_t insert(std::uint32_t after, Symbol symbol) {
        std::uint32_t node = spare_;
        if (node != kHead) {
            spare_ = nodes_[node].next;
        } else {
            node = static_cast<std::uint32_t>(nodes_.size());
            nodes_.emplace_back();
        }
        const std::uint32_t next = nodes_[after].next;
        nodes_[node] = {after, next, symbol};
        nodes_[after].next = node;
        nodes_[next].before = node;
        ++length_;
        return node;
    }

    void load(const String& string, Symbol event) {
        nodes_.assign({Node{kHead, kTail, static_cast<Symbol>(symbols_ - 2)},
                       Node{kHead, kTail, static_cast<Symbol>(symbols_ - 1)}});
        spare_ = kHead;
        length_ = 0;
        std::uint32_t last = kHead;
        for (std::uint32_t k = 1; k < string.length; ++k) last = insert(last, string.data()[k]);
        insert(last, event);
    }

    bool store(String& string) {
        const std::uint32_t length = length_ + 1;
        bool changed = string.length != length;
        if (length > string.room()) grow(string, std::min(longest_ + 1, std::max(length, 2 * string.room())));
        std::uint32_t node = nodes_[kHead].next;
        for (std::uint32_t k = 1; k < length; ++k, node = nodes_[node].next) {
            changed = changed || string.data()[k] != nodes_[node].symbol;
            string.data()[k] = nodes_[node].symbol;
        }
        string.length = length;
        return changed;
    }

    std::uint8_t rewrite() {
        std::uint32_t steps = budget_;
        std::uint64_t reads = std::uint64_t{kReads} * budget_;
        std::uint32_t calm = kTail;  // from this node on, the last pass changed nothing
        bool all = true;             // and calm is not yet known
        for (;;) {
            bool changed = false;
            std::uint32_t state = 0;
            std::uint32_t node = kHead;
            bool behind = false;
            for (;;) {
                behind = behind || (!all && node == calm);
                if (behind && !changed && state == 0) break;
                if (reads-- == 0) return RewriteMachine::kExhausted;
                state = moves_[state * symbols_ + nodes_[node].symbol];
                const std::uint32_t match = matches_[state];
                if (match == 0) {
                    if (node == kTail) break;
                    node = nodes_[node].next;
                    continue;
                }
                const RewriteMachine::Rule& rule = rules_[match - 1];
                if (rule.ending != RewriteMachine::kRunning) return rule.ending;
                if (steps-- == 0 || length_ + rule.right.size() > longest_ + std::size_t{rule.taken})
                    return RewriteMachine::kExhausted;
                calm = splice(rule.at_end ? kTail : nodes_[node].next, rule);
                node = rule.right.empty() ? calm : first_;
                all = false;
                changed = true;
                behind = false;
                state = 0;
            }
            if (!changed) break;
        }
        if (length_ > longest_) return RewriteMachine::kExhausted;
        return RewriteMachine::kRunning;
    }

    // Puts the right side in the place of what stands before `next`; gives `next`.
    std::uint32_t splice(std::uint32_t next, const RewriteMachine::Rule& rule) {
        std::uint32_t before = nodes_[next].before;
        for (std::uint32_t k = 0; k < rule.taken; ++k) {
            const std::uint32_t gone = before;
            before = nodes_[gone].before;
            nodes_[gone].next = spare_;
            spare_ = gone;
        }
        length_ -= rule.taken;
        nodes_[before].next = next;
        nodes_[next].before = before;
        std::uint32_t last = before;
        for (const Symbol symbol : rule.right) last = insert(last, symbol);
        first_ = nodes_[before].next;
        return next;
    }

    std::uint32_t symbols_;
    std::uint32_t budget_;
    std::uint32_t longest_;
    std::vector<RewriteMachine::Rule> rules_;
    std::vector<std::uint32_t> moves_;
    std::vector<std::uint32_t> matches_;
    std::vector<Node> nodes_;
    std::uint32_t spare_ = kHead;  // nodes out of use, linked
    std::uint32_t first_ = kHead;  // of the last replacement
    std::uint32_t length_ = 0;
};

}  // namespace

void RewriteMachine::check(std::size_t events) const {
    const auto require = [](bool ok, const char* what) {
        if (!ok) throw std::invalid_argument(what);
    };
    constexpr std::size_t kMost = 0xFFF0;
    require(!matches.empty() && states() < kMost && symbols < kMost && rules.size() < kMost,
            "rewriting system too large");
    require(symbols >= events + 2 && moves.size() == std::size_t{states()} * symbols,
            "rewriting tables differ in size");
    require(longest >= 1 && longest < kMoved, "strings may not be that long");
    for (const std::uint32_t to : moves) require(to < states(), "move outside of the states");
    for (const std::uint32_t match : matches) require(match <= rules.size(), "match outside of the rules");
    for (const Rule& rule : rules) {
        require(rule.ending <= kRunning && rule.taken >= 1 && rule.taken < kMost && rule.right.size() < kMost,
                "rule out of range");
        for (const std::uint16_t symbol : rule.right) require(symbol < start(), "symbol outside of the symbols");
    }
    const std::uint32_t origin = moves[start()];
    require(matches[0] == 0 && matches[origin] == 0, "a left side without symbols");
    // No match takes more symbols than have been read: go through all that can be read, shortest first.
    std::vector<std::uint32_t> read(states(), kMoved);
    std::vector<std::uint32_t> order{0};
    read[0] = 0;
    if (origin != 0) order.push_back(origin);
    read[origin] = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const std::uint32_t state = order[k];
        for (std::uint32_t symbol = 0; symbol < symbols; ++symbol) {
            if (symbol == start()) continue;
            const bool last = symbol == end();
            const std::uint32_t target = moves[std::size_t{state} * symbols + symbol];
            if (matches[target] != 0) {
                const Rule& rule = rules[matches[target] - 1];
                require(rule.at_end == last && rule.taken <= read[state] + (last ? 0 : 1),
                        "a left side longer than what was read");
            } else if (!last && read[target] == kMoved) {
                read[target] = read[state] + 1;
                order.push_back(target);
            }
        }
    }
}

std::unique_ptr<Runner> RewriteMachine::runner(std::size_t /*events*/) const {
    if (scanning) return std::make_unique<ScanRunner>(*this);
    return std::make_unique<StackRunner>(*this);
}

}  // namespace mopsus
