// Monitors whose transitions read inputs one by one.
//
// A monitor that sees only a part of the system learns the inputs of a step late and in any order. So a transition is a
// decision diagram: it asks for one input after the other, in the order of their numbers, and ends in the next state.
// Diagrams of all states share their nodes.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace mopsus::decentral {

using Word = std::uint64_t;
using Input = std::uint32_t;
using State = std::uint32_t;
// A node, or `~state` where a diagram ends.
using Diagram = std::int32_t;

enum class Truth : std::uint8_t { Unknown, False, True };

// What was given makes no sense, or contradicts what is known.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }
inline bool bit(const Word* words, std::size_t at) { return (words[at / 64] >> (at % 64) & 1U) != 0; }
inline void set_bit(Word* words, std::size_t at) { words[at / 64] |= Word{1} << (at % 64); }

// What is known of the inputs at one timestamp.
struct Known {
    const Word* known;
    const Word* value;

    bool has(Input input) const { return bit(known, input); }
    bool get(Input input) const { return bit(value, input); }
};

// Complete and deterministic; state 0 is the initial one. Never changes, so that many can share it.
class Automaton {
public:
    struct Node {
        Input input;
        Diagram if_false;
        Diagram if_true;

        Diagram next(bool value) const { return value ? if_true : if_false; }
    };

    // `Error` if it is not as described.
    Automaton(std::vector<std::string> inputs, std::vector<Truth> verdicts, std::vector<Node> nodes,
              std::vector<Diagram> roots);

    std::size_t states() const { return verdicts_.size(); }
    const std::vector<std::string>& inputs() const { return inputs_; }
    // A known one is final: it is the verdict of every state that can follow.
    Truth verdict(State state) const { return verdicts_[state]; }
    Diagram root(State state) const { return roots_[state]; }
    const Node& node(Diagram diagram) const { return nodes_[static_cast<std::size_t>(diagram)]; }
    const std::vector<Node>& nodes() const { return nodes_; }

    // Sets in `to`, which must be empty, all states that may follow one of those in `from` (sets of `states()` bits).
    void step(const Word* from, Known known, Word* to) const;

    // Equal automata have the same number, in every process.
    std::uint64_t fingerprint() const { return fingerprint_; }

private:
    void check() const;
    void check_node(std::size_t number) const;
    void check_target(Diagram diagram, const std::string& where) const;
    void check_final(State state) const;

    std::vector<std::string> inputs_;
    std::vector<Truth> verdicts_;
    std::vector<Node> nodes_;
    std::vector<Diagram> roots_;
    std::uint64_t fingerprint_;
};

}  // namespace mopsus::decentral
