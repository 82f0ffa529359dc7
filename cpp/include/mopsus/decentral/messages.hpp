// What monitors of one network tell each other.
//
// A message is addressed by number: a monitor numbers those that it talks to, and another one may number them
// otherwise. Who sent a message is known from its envelope, so a verdict or a kill does not repeat it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "mopsus/decentral/ehe.hpp"
#include "mopsus/decentral/memory.hpp"

namespace mopsus::decentral {

using Address = std::uint32_t;

// An encoding that goes on to another monitor.
struct Encoding {
    Ehe ehe;
    // The sender wants it acknowledged under this number; 0: it does not.
    std::uint64_t number = 0;
};

// The sender, started at any of these timestamps, has this verdict.
struct Verdict {
    Time first;
    Time last;
    bool value;

    bool operator==(const Verdict&) const = default;
};

// The sender needs no verdicts any more.
struct Kill {};

struct Acknowledgement {
    std::uint64_t number;
};

// Whatever a monitor written in another language has to say.
struct Payload {
    std::string bytes;
};

using Content = std::variant<Memory, Encoding, Verdict, Kill, Acknowledgement, Payload>;

struct Message {
    Address to;
    Content content;
};

struct Letter {
    Address from;
    Content content;
};

// What a message is counted as.
std::string_view kind(const Content& content);

// Its size as experiments of others count it: 4 for a number, 1 for a character and for a truth value. A true
// observation has no truth value (a false one is stored as a negation), and a verdict for several timestamps counts as
// several. `inputs` are the names of observations.
std::uint64_t data(const Content& content, std::span<const std::string> inputs);

std::string save(const Content& content);
// `automaton` is that of the monitor which it is for; it may be null if no encodings come. `Error` if the bytes are
// damaged.
Content load(const std::shared_ptr<const Automaton>& automaton, std::span<const std::uint8_t> bytes);

}  // namespace mopsus::decentral
