// What monitors of one network tell each other, as bytes from anywhere: refused, or knowledge that can be worked with.
#include <array>

#include "decentral/bytes.hpp"
#include "mopsus/decentral/messages.hpp"
#include "mopsus/decentral/monitors.hpp"
#include "mopsus/decentral/node.hpp"
#include "support/bytes.hpp"
#include "support/target.hpp"

namespace {

using namespace mopsus::decentral;
using Input_ = mopsus::fuzz::Bytes;

std::shared_ptr<const Automaton> automaton_of(Input_& bytes) {
    const std::size_t inputs = 1 + bytes.below(3);
    const std::size_t states = 1 + bytes.below(4);
    std::vector<Truth> verdicts{Truth::Unknown};
    while (verdicts.size() < states) verdicts.push_back(static_cast<Truth>(bytes.below(3)));
    std::vector<Automaton::Node> nodes;
    const auto diagram = [&](auto& self, std::size_t input) -> Diagram {
        if (input == inputs || bytes.byte() % 5 == 0) return ~static_cast<Diagram>(bytes.below(states));
        const Diagram low = self(self, input + 1);
        const Diagram high = self(self, input + 1);
        nodes.push_back({static_cast<Input>(input), low, high});
        return static_cast<Diagram>(nodes.size() - 1);
    };
    std::vector<Diagram> roots;
    for (std::size_t state = 0; state < states; ++state)
        roots.push_back(verdicts[state] == Truth::Unknown ? diagram(diagram, 0) : ~static_cast<Diagram>(state));
    std::vector<std::string> names;
    for (std::size_t input = 0; input < inputs; ++input)
        names.push_back(std::string(1, static_cast<char>('a' + input)));
    return std::make_shared<Automaton>(names, verdicts, nodes, roots);
}

std::span<const std::uint8_t> span_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The bytes with the sum that they need to be looked at, and maybe with the fingerprint of the automaton.
std::string signed_bytes(std::string bytes) {
    Digest digest;
    digest.add(bytes);
    for (int at = 0; at < 4; ++at) bytes.push_back(static_cast<char>(digest.sum() >> (8 * at)));
    return bytes;
}

std::string encoding_of(const Automaton& automaton, Input_& bytes) {
    std::string text(1, '\x01');
    for (int at = 0; at < 8; ++at) text.push_back(static_cast<char>(automaton.fingerprint() >> (8 * at)));
    text += bytes.text(bytes.below(40));
    return signed_bytes(text);
}

std::optional<Content> content_of(const std::shared_ptr<const Automaton>& automaton, Input_& bytes) {
    std::string text;
    if (bytes.flag()) {
        const std::string inner = encoding_of(*automaton, bytes);
        text = {'\x01', '\x01', static_cast<char>(bytes.below(3))};
        text.push_back(static_cast<char>(inner.size()));
        text = signed_bytes(text + inner);
    } else {
        const std::string_view raw = bytes.text(bytes.below(40));
        text = bytes.byte() % 8 == 0 ? std::string(raw) : signed_bytes('\x01' + std::string(raw));
    }
    try {
        Content content = load(automaton, span_of(text));
        // What is read is written the same.
        EXPECT(save(load(automaton, span_of(save(content)))) == save(content));
        kind(content);
        data(content, automaton->inputs());
        return content;
    } catch (const Error&) {
        return std::nullopt;
    }
}

void look(const Ehe& ehe) {
    EXPECT(ehe.start() <= ehe.resolved() && ehe.resolved() <= ehe.end());
    for (Time time = ehe.start(); time <= ehe.end(); ++time) {
        EXPECT(!ehe.states(time).empty());
        ehe.verdict(time);
    }
    ehe.earliest();
    ehe.missing(ehe.end());
}

template <class Work>
void allowed_to_refuse(Work&& work) {
    try {
        work();
    } catch (const Error&) {}
}

FUZZ_TARGET(decentral) {
    Input_ bytes(data, size);
    const auto automaton = automaton_of(bytes);
    const std::uint8_t options = bytes.byte();
    std::vector<Letter> letters;
    while (!bytes.empty() && letters.size() < 8)
        if (auto content = content_of(automaton, bytes))
            letters.push_back({static_cast<Address>(bytes.below(3)), std::move(*content)});

    Ehe joined(automaton);
    Memory memory;
    for (const Letter& letter : letters) {
        if (const auto* encoding = std::get_if<Encoding>(&letter.content)) {
            look(encoding->ehe);
            allowed_to_refuse([&] { joined.merge(encoding->ehe); });
        } else if (const auto* told = std::get_if<Memory>(&letter.content)) {
            memory.merge(*told);
        }
    }
    allowed_to_refuse([&] { joined.update(memory); });
    look(joined);

    Node::Settings settings;
    settings.references = {{0, 1}};
    settings.receivers = {0};
    settings.one_by_one = (options & 1U) != 0;
    settings.respawns = (options & 2U) != 0;
    settings.report = settings.hold = (options & 4U) != 0;
    settings.stutters = (options & 8U) == 0;
    Node node(automaton, settings);
    Orchestrator orchestrator(automaton);
    Migrant migrant(automaton, {std::vector<Address>(automaton->inputs().size(), 0), 3, 0, Migrant::Way::RoundRobin, 2},
                    true);
    const std::array<Monitor*, 3> monitors{&node, &orchestrator, &migrant};
    for (Monitor* monitor : monitors)
        for (Time time = 1; time <= 4; ++time) {
            const Memory seen = time == 1 ? memory : Memory();
            const auto inbox = time == 2 ? std::span<const Letter>(letters) : std::span<const Letter>();
            allowed_to_refuse([&] { monitor->step(time, seen, inbox); });
        }
}

}  // namespace
