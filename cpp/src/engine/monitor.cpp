#include "mopsus/engine/monitor.hpp"

#include "trace/batch.hpp"
#include "mopsus/engine/archive.hpp"
#include "silent.hpp"
#include "transfer.hpp"

namespace mopsus {

Monitor::Monitor(Program program, bool per_thread, std::vector<std::string> parameters, Listener& listener)
    : program_(std::move(program)), per_thread_(per_thread), names_(std::move(parameters)), listener_(listener) {
    program_.check();
    seen.assign(program_.events.size(), 0);
    remaps_.resize(program_.parameters);
    for (std::uint32_t k = 0; k < program_.events.size(); ++k)
        event_names_.insert(hash_bytes(KeyKind::Text, program_.events[k].name), k + 1);
    if (!per_thread_) engine_ = make_engine();
}

std::unique_ptr<Engine> Monitor::make_engine() {
    if (given_up_) return std::make_unique<SilentEngine>(program_, listener_);
    return Engine::make(program_, listener_);
}

Engine& Monitor::engine(const Key& thread) {
    if (engine_) return *engine_;
    Slot slot = threads_->find(thread);
    if (slot == kNil) slot = threads_->insert(thread);
    if (slot > threads_engines_.size()) threads_engines_.resize(slot);
    auto& engine = threads_engines_[slot - 1];
    if (!engine) engine = make_engine();
    return *engine;
}

void Monitor::end_thread(const Key& thread) {
    const Slot slot = threads_->find(thread);
    if (slot == kNil) return;
    auto& engine = threads_engines_[slot - 1];
    past_.add(engine->counts());
    past_.collected = past_.created;  // with the thread, all of its instances end
    for (Remap& remap : remaps_)
        if (remap.engine == engine.get()) remap = {};
    engine.reset();
    threads_->bury(slot);
    threads_->recycle(slot);
}

std::int32_t Monitor::code_of(std::string_view name) const {
    const std::uint32_t id = event_names_.find(hash_bytes(KeyKind::Text, name),
                                               [&](std::uint32_t k) { return program_.events[k - 1].name == name; });
    if (id != kNil) return static_cast<std::int32_t>(id) - 1;
    return name == "#release" ? Batch::kRelease : Batch::kIgnored;
}

void Monitor::release(Engine& engine, unsigned p, const Key& key) {
    const Slot slot = engine.domain(p).find(key);
    if (slot == kNil) return;
    released_ = true;
    engine.domain(p).bury(slot);
    engine.forget(p, slot);
}

std::uint32_t Monitor::location(std::string_view text, bool is_source) {
    const Key key = Key::of_blob(is_source ? KeyKind::Bytes : KeyKind::Text, text);
    const Slot slot = locations_.find(key);
    return slot != kNil ? slot : locations_.insert(key);
}

Counts Monitor::counts() {
    Counts sum = past_;
    each_engine([&](Engine& engine) { sum.add(engine.counts()); });
    return sum;
}

std::size_t Monitor::bytes() {
    std::size_t sum = locations_.bytes() + threads_->bytes();
    each_engine([&](Engine& engine) { sum += engine.bytes(); });
    for (const Remap& remap : remaps_) sum += remap.slots.capacity() * 2 * sizeof(Slot);
    return sum;
}

void Monitor::transfer(Archive& archive) {
    if (archive.number(given_up_, 0, 1) != 0 && !given_up_) give_up();
    const std::uint64_t locations = archive.number(locations_.last(), 0, 0xFFFFFFF0);
    for (std::uint32_t k = 1; k <= locations; ++k) {
        const bool reading = archive.reading();
        const bool is_source = archive.number(!reading && location_is_source(k), 0, 1) != 0;
        const std::string text = archive.text(reading ? std::string() : std::string(location_text(k)));
        if (reading) archive.locations.push_back(location(text, is_source));
    }
    const std::vector<Slot> threads = transfer_domain(archive, *threads_, [](Slot) { return true; });
    for (const Slot slot : threads)
        if (threads_->dead(slot)) throw BadSnapshot("a thread in the snapshot is dead");
    if (engine_) {
        engine_->transfer(archive);
    } else {
        for (const Slot slot : threads) engine(threads_->key(slot)).transfer(archive);
    }
    if (archive.live) each_engine([&](Engine& engine) { archive.field(engine.numbered()); });
    for (std::uint64_t& count : seen) archive.field(count, 0, kMostCounted);
    archive.field(ignored, 0, kMostCounted);
    archive.field(bad_rows, 0, kMostCounted);
    transfer_counts(archive, past_, 0, program_.events.size());
}

void Monitor::restore(Archive& archive) {
    try {
        transfer(archive);
        if (!archive.at_end()) throw BadSnapshot("the snapshot has more in it than it should");
    } catch (...) {
        // What was read so far is a part of a state, and so none.
        restart();
        seen.assign(seen.size(), 0);
        ignored = bad_rows = 0;
        past_ = {};
        throw;
    }
}

void Monitor::restart() {
    end_stream();
    threads_engines_.clear();
    threads_ = std::make_unique<Domain>();
    given_up_ = false;
    if (!per_thread_) engine_ = make_engine();
}

void Monitor::give_up() {
    const Counts counted = counts();
    restart();
    given_up_ = true;
    if (!per_thread_) engine_ = make_engine();
    past_ = counted;
    past_.collected = past_.created;
}

std::optional<BadRow> Monitor::run(const ArrowSchema& schema, std::shared_ptr<ArrowArray> batch,
                                   const BatchOptions& options) {
    return Batch(*this, schema, std::move(batch), options).run();
}

void Monitor::end_stream() {
    for (Remap& remap : remaps_) remap = {};
}

}  // namespace mopsus
