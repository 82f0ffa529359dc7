#include "mopsus/decentral/messages.hpp"

#include "bytes.hpp"

namespace mopsus::decentral {

namespace {

constexpr std::uint8_t format = 1;
constexpr std::uint64_t number_size = 4;
constexpr std::uint64_t truth_size = 1;
// Far from where times would begin anew.
constexpr Time latest = ~Time{0} / 2;

struct Data {
    std::span<const std::string> inputs;

    std::uint64_t operator()(const Memory& memory) const {
        std::uint64_t sum = 0;
        for (const auto& [atom, value] : memory.observations()) {
            const std::uint64_t name = atom.input < inputs.size() ? inputs[atom.input].size() : 0;
            sum += number_size + name + (value ? 0 : truth_size);
        }
        return sum;
    }
    std::uint64_t operator()(const Encoding& encoding) const {
        return encoding.ehe.data() + (encoding.number == 0 ? 0 : number_size);
    }
    std::uint64_t operator()(const Verdict& verdict) const {
        return (verdict.last - verdict.first + 1) * (2 * number_size + truth_size);
    }
    std::uint64_t operator()(const Kill&) const { return number_size; }
    std::uint64_t operator()(const Acknowledgement&) const { return number_size; }
    std::uint64_t operator()(const Payload& payload) const { return payload.bytes.size(); }
};

struct Save {
    Writer& out;

    void text(const std::string& bytes) const {
        out.number(bytes.size());
        for (const char each : bytes) out.byte(static_cast<std::uint8_t>(each));
    }
    void operator()(const Memory& memory) const {
        out.number(memory.observations().size());
        Time before = 0;
        for (const auto& [atom, value] : memory.observations()) {
            out.number(atom.time - before);
            out.number(std::uint64_t{atom.input} * 2 + (value ? 1 : 0));
            before = atom.time;
        }
    }
    void operator()(const Encoding& encoding) const {
        out.number(encoding.number);
        text(encoding.ehe.save());
    }
    void operator()(const Verdict& verdict) const {
        out.number(verdict.first);
        out.number(verdict.last - verdict.first);
        out.byte(verdict.value ? 1 : 0);
    }
    void operator()(const Kill&) const {}
    void operator()(const Acknowledgement& acknowledgement) const { out.number(acknowledgement.number); }
    void operator()(const Payload& payload) const { text(payload.bytes); }
};

std::string read_text(Reader& in) {
    std::string bytes(in.number(in.left()), '\0');
    for (char& each : bytes) each = static_cast<char>(in.byte());
    return bytes;
}

Time read_later(Reader& in, Time before) { return before + in.number(latest - before); }

Content read_memory(Reader& in) {
    Memory memory;
    Time time = 0;
    for (std::uint64_t left = in.number(in.left()); left > 0; --left) {
        time = read_later(in, time);
        const std::uint64_t word = in.number(std::uint64_t{~Input{0}} * 2 + 1);
        memory.add({{time, static_cast<Input>(word / 2)}, word % 2 == 1});
    }
    return memory;
}

Content read_encoding(Reader& in, const std::shared_ptr<const Automaton>& automaton) {
    if (!automaton) throw Error("an encoding, where nobody has its automaton");
    const std::uint64_t number = in.number(~std::uint64_t{0});
    const std::string bytes = read_text(in);
    return Encoding{Ehe::load(automaton, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}), number};
}

Content read_verdict(Reader& in) {
    const Time first = in.number(latest);
    const Time last = read_later(in, first);
    return Verdict{first, last, in.number(1) == 1};
}

Content read(Reader& in, const std::shared_ptr<const Automaton>& automaton) {
    switch (in.byte()) {
        case 0: return read_memory(in);
        case 1: return read_encoding(in, automaton);
        case 2: return read_verdict(in);
        case 3: return Kill{};
        case 4: return Acknowledgement{in.number(~std::uint64_t{0})};
        case 5: return Payload{read_text(in)};
        default: throw Error("damaged: there is no such kind of message");
    }
}

}  // namespace

std::string_view kind(const Content& content) {
    constexpr std::string_view names[] = {"Memory", "Ehe", "Verdict", "Kill", "Acknowledgement", "Payload"};
    return names[content.index()];
}

std::uint64_t data(const Content& content, std::span<const std::string> inputs) {
    return std::visit(Data{inputs}, content);
}

std::string save(const Content& content) {
    Writer out(format);
    out.byte(static_cast<std::uint8_t>(content.index()));
    std::visit(Save{out}, content);
    return out.finish();
}

Content load(const std::shared_ptr<const Automaton>& automaton, std::span<const std::uint8_t> bytes) {
    Reader in(bytes, format);
    Content content = read(in, automaton);
    if (in.left() != 0) throw Error("damaged: there is more than a message");
    return content;
}

}  // namespace mopsus::decentral
