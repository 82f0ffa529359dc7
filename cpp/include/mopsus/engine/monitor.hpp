// A monitor of one specification: engines (one, or one per thread), and the two ways in:
// single events and Arrow batches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mopsus/trace/arrow.hpp"
#include "mopsus/engine/engine.hpp"

namespace mopsus {

// A row that cannot be an event, and why.
struct BadRow {
    enum class Why : std::uint8_t { NullParameter, MissingColumn, UnsupportedType, NullEvent, BadDictionary };
    std::int64_t row = 0;
    std::string column;
    std::string event;
    std::string type;
    Why why = Why::NullParameter;
};

struct BatchOptions {
    std::int64_t first_row = 1;
    std::uint32_t source = 0;  // a location number
    bool skip_bad_rows = false;
};

class Monitor {
public:
    Monitor(Program program, bool per_thread, std::vector<std::string> parameters, Listener& listener);

    Engine& engine() { return *engine_; }
    Engine& engine(const Key& thread);
    bool per_thread() const { return per_thread_; }
    const Program& program() const { return program_; }
    const std::vector<std::string>& parameter_names() const { return names_; }
    template <class F>
    void each_engine(F&& f) {
        if (engine_) f(*engine_);
        for (auto& engine : threads_engines_)
            if (engine) f(*engine);
    }
    // No event of that thread can come any more.
    void end_thread(const Key& thread);

    // The rows of one record batch in order; columns are found by name. Stops at the first bad
    // row unless told to skip them. The batch is kept until the next one, or `end_stream`, so that
    // a dictionary that both share is looked up once.
    std::optional<BadRow> run(const ArrowSchema& schema, std::shared_ptr<ArrowArray> batch,
                              const BatchOptions& options);
    void end_stream();
    // Values of parameters end, by name; unknown ones are ignored.
    void release(Engine& engine, unsigned p, const Key& key);

    // Locations are numbered from 1.
    std::uint32_t location(std::string_view text, bool is_source);
    std::string_view location_text(std::uint32_t location) const { return locations_.key(location).blob; }
    // Is it a whole trace, in which the row says where?
    bool location_is_source(std::uint32_t location) const { return locations_.kind(location) == KeyKind::Bytes; }

    Counts counts();
    // How many instances that could still report there were at a time; per thread, how many there are in all threads.
    std::uint64_t most_alive() { return engine_ ? engine_->counts().most : counts().alive(); }
    // Ends all instances, and takes no notice of any event from now on. Nobody may hold a reference to an instance.
    void give_up();
    bool given_up() const { return given_up_; }
    std::size_t bytes();
    std::vector<std::uint64_t> seen;  // by event
    std::uint64_t ignored = 0;
    std::uint64_t bad_rows = 0;

    void transfer(Archive& archive);
    // Reads a whole snapshot, of the same program, into a new monitor. If it throws, the monitor is as new.
    void restore(Archive& archive);
    // As if no event had come; locations keep their numbers.
    void restart();

private:
    std::unique_ptr<Engine> make_engine();
    class Batch;
    struct Remap {  // from a dictionary of values to slots, valid while the dictionary is held
        std::shared_ptr<const Column> dictionary;
        std::shared_ptr<ArrowArray> owner;
        Engine* engine = nullptr;
        LargeVector<Slot> slots;
        LargeVector<std::uint32_t> serials;
    };

    Program program_;
    bool per_thread_;
    std::vector<std::string> names_;
    Listener& listener_;
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<Domain> threads_ = std::make_unique<Domain>();
    std::vector<std::unique_ptr<Engine>> threads_engines_;
    Counts past_;  // of engines whose thread has ended
    std::vector<Remap> remaps_;
    bool released_ = false;
    bool given_up_ = false;
    Index event_names_;
    Domain locations_;  // never recycled, so that its slots number the locations

    std::int32_t code_of(std::string_view name) const;
    friend class Batch;
};

}  // namespace mopsus
