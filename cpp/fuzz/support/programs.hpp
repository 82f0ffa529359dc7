// Programs for every engine and every kind of machine.
#pragma once

#include "mopsus/engine/program.hpp"
#include "support/bytes.hpp"

namespace mopsus::fuzz {

// All parts of it are of use to somebody: a few parameters, small machines.
Program any_program(Bytes& bytes);

}  // namespace mopsus::fuzz
