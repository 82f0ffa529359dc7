// What parts of decentralized monitoring say when they refuse something.
#pragma once

#include <string>

#include "mopsus/decentral/automaton.hpp"

namespace mopsus::decentral {

// The words of the error; nothing if there is none.
template <class Work>
std::string refused(Work work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace mopsus::decentral
