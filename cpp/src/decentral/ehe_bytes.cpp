// An EHE as bytes: what is known, and nothing that follows from it.
#include <limits>

#include "bytes.hpp"
#include "mopsus/decentral/ehe.hpp"

namespace mopsus::decentral {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint64_t kLatest = std::numeric_limits<std::uint64_t>::max() / 2;

}  // namespace

std::string Ehe::save() const {
    settle();
    Writer writer(kVersion);
    writer.fixed(automaton_->fingerprint(), 8);
    writer.number(origin_);
    writer.number(start_ - origin_);
    writer.number(only(0));
    writer.number(layers() - 1);
    writer.number(resolved_ - start_);
    for (std::size_t layer = 1; layer < layers(); ++layer) {
        // Numbers of the inputs that are known, as distances, with their values; then a zero.
        Input last = 0;
        for (Input input = 0; input < automaton_->inputs().size(); ++input) {
            if (!at(layer).has(input)) continue;
            writer.number((std::uint64_t{input} + 1 - last) << 1U | (at(layer).get(input) ? 1U : 0U));
            last = input + 1;
        }
        writer.number(0);
    }
    return writer.finish();
}

Ehe Ehe::load(std::shared_ptr<const Automaton> automaton, std::span<const std::uint8_t> bytes) {
    Reader reader(bytes, kVersion);
    if (reader.fixed(8) != automaton->fingerprint()) throw Error("of another automaton, or damaged");
    Ehe ehe(std::move(automaton), reader.number(kLatest));
    const Time start = ehe.origin_ + reader.number(kLatest);
    ehe.begin(start, static_cast<State>(reader.number(ehe.automaton_->states() - 1)));
    if (start == ehe.origin_ && ehe.only(0) != 0) throw Error("damaged: not the initial state at the beginning");
    const std::uint64_t more = reader.number(reader.left());  // each layer takes a byte at least
    ehe.resolved_ = start + reader.number(more);
    for (std::uint64_t each = 0; each < more; ++each) {
        ehe.tick();
        const std::uint64_t inputs = ehe.automaton_->inputs().size();
        std::uint64_t next = 0;
        while (const std::uint64_t coded = reader.number(2 * inputs + 1)) {
            next += coded >> 1U;
            if (coded < 2 || next > inputs) throw Error("damaged: no such input");
            ehe.learn({{ehe.end(), static_cast<Input>(next - 1)}, (coded & 1U) != 0});
        }
    }
    if (reader.left() != 0) throw Error("damaged: it goes on after its end");
    if (!ehe.state(ehe.resolved_)) throw Error("damaged: the resolved timestamp is not");
    return ehe;
}

}  // namespace mopsus::decentral
