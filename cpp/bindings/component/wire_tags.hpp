// The first byte of a value on the wire.
#pragma once

#include <cstdint>

namespace mopsus::python {

enum Tag : std::uint8_t {
    kNone,
    kTrue,
    kFalse,
    kInteger,  // zigzag, seven bits in a byte
    kLarge,    // as its hexadecimal text
    kFloat,
    kText,
    kBytes,
    kTuple,
    kList,
    kMapping,
    kAtom,
    kPid,
    kReference,
    kMember,    // of an enumeration: class, name, value
    kNamed,     // a named tuple: class and fields, values
    kData,      // a frozen dataclass: class and fields, values
    kFunction,  // what a component runs
    kOpaque,
    kString,
};

constexpr unsigned kDeepest = 100;

}  // namespace mopsus::python
