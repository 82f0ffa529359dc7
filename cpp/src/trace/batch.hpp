// One record batch on its way through a monitor.
#pragma once

#include <array>
#include <cstring>

#include "engine/flat.hpp"
#include "mopsus/engine/monitor.hpp"

namespace mopsus {

class Monitor::Batch final : public Origin {
public:
    static constexpr std::int32_t kIgnored = -1;
    static constexpr std::int32_t kRelease = -2;
    static constexpr std::int32_t kNoName = -3;
    static constexpr std::int32_t kBroken = -4;

    Batch(Monitor& monitor, const ArrowSchema& schema, std::shared_ptr<ArrowArray> array, const BatchOptions& options);
    std::optional<BadRow> run();
    Stamp stamp() override;
    Stamp when() override;
    EventData data() override;

private:
    struct Input {  // a parameter's column
        const Column* column = nullptr;
        Remap* remap = nullptr;  // of a dictionary-encoded column
    };

    std::int64_t row_number(std::int64_t row) const;
    std::int32_t code(std::int64_t row);
    void release_row(std::int64_t row);
    Slot slot(Engine& engine, unsigned p, std::int64_t row, bool insert);
    void look_ahead(Engine& engine, std::int64_t from, std::int64_t to);
    void take_row(std::int64_t row, std::int32_t event);
    void find_fields(const ArrowSchema& schema);
    bool has_fields(std::int64_t row, EventId event);
    void bad(std::int64_t row, BadRow::Why why, std::string column, std::int32_t event);
    void prepare(Input& input, unsigned p);
    Engine& engine_of(std::int64_t row);

    void run_rows(std::int64_t first);
    bool in_bulk() const;
    void run_bulk();
    bool fill_codes(std::int64_t from, std::int64_t count, std::int32_t* codes);
    bool fill_slots(std::int64_t from, std::int64_t count, Slot* slots);
    template <bool kPast>
    void run_stretch(FlatEngine& engine, std::int64_t from, std::int64_t count, const std::int32_t* codes,
                     const Slot* slots);

    static constexpr std::int64_t kStretch = 128;

    // Event names seen lately: most traces have a handful.
    class Recent {
    public:
        std::int32_t find(std::string_view name, const Monitor& monitor);

    private:
        struct Entry {
            std::string_view name;  // lies in the batch
            std::int32_t code = kNoName;
        };
        std::array<Entry, 64> entries_{};
    };

    Monitor& monitor_;
    const BatchOptions& options_;
    std::shared_ptr<ArrowArray> array_;
    std::int64_t length_;
    std::vector<std::unique_ptr<Column>> columns_;
    const Column* event_ = nullptr;
    const Column* time_ = nullptr;
    const Column* thread_ = nullptr;
    const Column* location_ = nullptr;
    const Column* number_ = nullptr;
    std::vector<Input> inputs_;
    std::vector<std::vector<const Column*>> fields_;  // by event, the columns of its fields; empty if nobody reads them
    Arena arena_;                                     // of the terms of a row
    EventData data_;
    EventId event_id_ = 0;
    std::vector<std::int32_t> codes_;  // of the dictionary of event names
    struct Hint {                      // what is known of a value before its row's turn
        std::optional<BadRow::Why> fault;
        Slot slot = kNil;
        std::uint32_t hash = 0;
    };
    Hint& hint(std::int64_t row, unsigned p) {
        return hints_[static_cast<std::size_t>(row - block_) * inputs_.size() + p];
    }
    std::int64_t block_ = 0;  // the first row of the block
    std::vector<std::int32_t> block_codes_;
    std::vector<Hint> hints_;
    std::vector<std::uint64_t> counts_;  // of the bulk loop: twice, ignored rows and then each event
    Recent recent_;
    std::int64_t row_ = 0;
    std::string scratch_;
    std::optional<BadRow> stop_;
};

}  // namespace mopsus
