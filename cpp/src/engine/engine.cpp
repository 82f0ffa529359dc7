#include "mopsus/engine/engine.hpp"

#include "flat.hpp"
#include "inherit.hpp"
#include "slicing.hpp"

namespace mopsus {

std::unique_ptr<Engine> Engine::make(const Program& program, Listener& listener) {
    if (InheritEngine::fits(program)) return std::make_unique<InheritEngine>(program, listener);
    if (FlatEngine::fits(program)) return std::make_unique<FlatEngine>(program, listener);
    return std::make_unique<SlicingEngine>(program, listener);
}

}  // namespace mopsus
