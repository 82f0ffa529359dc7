#include "batch.hpp"

#include <algorithm>

namespace mopsus {

namespace {

constexpr std::int64_t kBlock = 32;  // rows that are looked at ahead

const char* describe(const Column& column) { return column.format().c_str(); }

// Why a row of a column has no value, if it has none.
std::optional<BadRow::Why> fault(const Column& column, std::int64_t row) {
    const Column* dictionary = column.dictionary().get();
    if ((dictionary != nullptr ? *dictionary : column).type() == Column::Type::Unsupported) return BadRow::Why::UnsupportedType;
    if (!column.valid(row)) return BadRow::Why::NullParameter;
    if (dictionary == nullptr) return {};
    const std::int64_t at = column.integer(row);
    if (at < 0 || at >= dictionary->length()) return BadRow::Why::BadDictionary;
    return dictionary->valid(at) ? std::optional<BadRow::Why>() : BadRow::Why::NullParameter;
}

}  // namespace

Monitor::Batch::Batch(Monitor& monitor, const ArrowSchema& schema, std::shared_ptr<ArrowArray> array, const BatchOptions& options)
    : monitor_(monitor), options_(options), array_(std::move(array)), length_(array_->length), inputs_(monitor.program_.parameters) {
    for (std::int64_t k = 0; k < schema.n_children && k < array_->n_children; ++k) {
        columns_.push_back(std::make_unique<Column>(*schema.children[k], *array_->children[k], array_->offset));
        const Column* column = columns_.back().get();
        const std::string_view name = schema.children[k]->name != nullptr ? schema.children[k]->name : "";
        if (name == "event") event_ = column;
        if (name == "time") time_ = column;
        if (name == "thread") thread_ = column;
        if (name == "location") location_ = column;
        if (name == "#row") number_ = column;
        for (unsigned p = 0; p < inputs_.size(); ++p)
            if (name == monitor.names_[p]) inputs_[p].column = column;
    }
    for (unsigned p = 0; p < inputs_.size(); ++p) prepare(inputs_[p], p);
    if (event_ != nullptr && event_->dictionary() != nullptr && event_->dictionary()->is_text()) {
        const Column& names = *event_->dictionary();
        for (std::int64_t k = 0; k < names.length(); ++k)
            codes_.push_back(names.valid(k) ? monitor.code_of(names.text(k)) : kIgnored);
    }
}

// Slots found for a dictionary stay good for the next batch if it has the very same dictionary.
void Monitor::Batch::prepare(Input& input, unsigned p) {
    if (input.column == nullptr || input.column->dictionary() == nullptr || monitor_.per_thread_) return;
    Remap& remap = monitor_.remaps_[p];
    const std::shared_ptr<const Column>& dictionary = input.column->dictionary();
    if (!(remap.owner && remap.dictionary->same_data(*dictionary))) {
        remap.slots.assign(static_cast<std::size_t>(dictionary->length()), kNil);
        remap.serials.assign(static_cast<std::size_t>(dictionary->length()), 0);
    }
    remap.owner = array_;
    remap.dictionary = dictionary;
    remap.engine = monitor_.engine_.get();
    input.remap = &remap;
}

std::int64_t Monitor::Batch::row_number(std::int64_t row) const {
    return number_ != nullptr && number_->is_integer() && number_->valid(row) ? number_->integer(row) : options_.first_row + row;
}

Stamp Monitor::Batch::stamp() {
    Stamp stamp;
    stamp.row = row_number(row_);
    stamp.location = options_.source;
    if (time_ != nullptr && time_->valid(row_)) {
        std::string scratch;
        const Key key = time_->key(row_, scratch);
        if (key.kind == KeyKind::Int) stamp.time_kind = Stamp::Time::Int;
        if (key.kind == KeyKind::Float) stamp.time_kind = Stamp::Time::Float;
        stamp.time = key.bits;
    }
    if (location_ != nullptr && location_->valid(row_)) {
        std::string scratch;
        const Key key = location_->key(row_, scratch);
        if (key.kind == KeyKind::Text) stamp.location = monitor_.location(key.blob, false);
    }
    return stamp;
}

std::int32_t Monitor::Batch::code(std::int64_t row) {
    if (!event_->valid(row)) return kNoName;
    if (event_->dictionary() != nullptr) {
        const auto at = static_cast<std::uint64_t>(event_->integer(row));
        return at < codes_.size() ? codes_[at] : kBroken;
    }
    return monitor_.code_of(event_->text(row));
}

// Notes a bad row, at which the batch ends unless such rows are skipped.
void Monitor::Batch::bad(std::int64_t row, BadRow::Why why, std::string column, std::int32_t event) {
    if (options_.skip_bad_rows) {
        ++monitor_.bad_rows;
        return;
    }
    BadRow found;
    found.row = row_number(row);
    found.column = std::move(column);
    found.why = why;
    if (event >= 0) found.event = monitor_.program_.events[static_cast<std::size_t>(event)].name;
    for (unsigned p = 0; p < inputs_.size(); ++p)
        if (monitor_.names_[p] == found.column && inputs_[p].column != nullptr) found.type = describe(*inputs_[p].column);
    stop_ = std::move(found);
}

Slot Monitor::Batch::slot(Engine& engine, unsigned p, std::int64_t row, bool insert) {
    const Input& input = inputs_[p];
    Domain& domain = engine.domain(p);
    const auto look_up = [&](const Key& key) {
        const Slot known = domain.find(key);
        return known != kNil || !insert ? known : domain.insert(key);
    };
    if (input.remap == nullptr) return look_up(input.column->key(row, scratch_));
    const auto at = static_cast<std::size_t>(input.column->integer(row));
    Slot& known = input.remap->slots[at];
    // After a release, a slot may be dead or belong to another value.
    if (known != kNil && (!monitor_.released_ || (domain.serial(known) == input.remap->serials[at] && !domain.dead(known))))
        return known;
    known = look_up(input.column->key(row, scratch_));
    if (known != kNil) input.remap->serials[at] = domain.serial(known);
    return known;
}

// Memory is far away: ask for what some rows ahead will need, in three rounds over a block, each of
// which may use what the one before has asked for. What they find is a hint only.
void Monitor::Batch::look_ahead(Engine& engine, std::int64_t from, std::int64_t to) {
    const std::size_t width = inputs_.size();
    const auto each = [&](auto&& visit) {
        for (std::int64_t row = from; row < to; ++row) {
            const std::int32_t event = ahead_codes_[static_cast<std::size_t>(row - from)];
            if (event < 0) continue;
            for (const std::uint8_t p : monitor_.program_.events[static_cast<std::size_t>(event)].parameters)
                visit(row, p, ahead_[static_cast<std::size_t>(row - from) * width + p]);
        }
    };
    for (std::int64_t row = from; row < to; ++row) ahead_codes_[static_cast<std::size_t>(row - from)] = code(row);
    each([&](std::int64_t row, unsigned p, Hint& hint) {
        hint = {};
        const Input& input = inputs_[p];
        if (input.column == nullptr || fault(*input.column, row)) return;
        if (input.remap != nullptr) {
            hint.slot = input.remap->slots[static_cast<std::size_t>(input.column->integer(row))];
        } else {
            hint.hash = input.column->key(row, scratch_).hash;
            engine.domain(p).prefetch(hint.hash);
        }
    });
    each([&](std::int64_t, unsigned p, Hint& hint) {
        if (inputs_[p].remap == nullptr) hint.slot = engine.domain(p).guess(hint.hash);
        if (hint.slot == kNil) return;
        engine.domain(p).prefetch_slot(hint.slot);
        engine.prefetch(p, hint.slot);
    });
    each([&](std::int64_t, unsigned p, const Hint& hint) {
        if (hint.slot != kNil) engine.prefetch_instances(p, hint.slot);
    });
}

Engine& Monitor::Batch::engine_of(std::int64_t row) {
    if (!monitor_.per_thread_) return *monitor_.engine_;
    if (thread_ == nullptr || !thread_->valid(row)) return monitor_.engine(Key::of_bits(KeyKind::Null, 0));
    std::string scratch;
    return monitor_.engine(thread_->key(row, scratch));
}

void Monitor::Batch::release_row(std::int64_t row) {
    Engine& engine = engine_of(row);
    for (unsigned p = 0; p < inputs_.size(); ++p) {
        const Column* column = inputs_[p].column;
        if (column == nullptr || fault(*column, row)) continue;
        monitor_.release(engine, p, column->key(row, scratch_));
    }
}

std::optional<BadRow> Monitor::Batch::run() {
    const bool names = event_ != nullptr && (event_->dictionary() != nullptr ? event_->dictionary()->is_text() : event_->is_text());
    if (!names) {
        BadRow found;
        found.row = options_.first_row;
        found.column = "event";
        found.why = event_ == nullptr ? BadRow::Why::MissingColumn : BadRow::Why::UnsupportedType;
        if (event_ != nullptr) found.type = describe(*event_);
        return found;
    }
    if (in_bulk()) {
        run_bulk();
    } else {
        run_rows();
    }
    return std::move(stop_);
}

void Monitor::Batch::run_rows() {
    ahead_codes_.resize(kBlock);
    ahead_.resize(kBlock * inputs_.size());
    for (std::int64_t from = 0; from < length_ && !stop_; from += kBlock) {
        const std::int64_t to = std::min(from + kBlock, length_);
        if (monitor_.engine_) look_ahead(*monitor_.engine_, from, to);
        for (row_ = from; row_ < to && !stop_; ++row_) take_row(row_);
    }
}

void Monitor::Batch::take_row(std::int64_t row) {
    const std::int32_t event = code(row);
    if (event < 0) {
        if (event == kIgnored) {
            ++monitor_.ignored;
        } else if (event == kRelease) {
            release_row(row);
        } else {
            bad(row, event == kNoName ? BadRow::Why::NullEvent : BadRow::Why::BadDictionary, "event", -1);
        }
        return;
    }
    const auto id = static_cast<EventId>(event);
    const std::vector<std::uint8_t>& parameters = monitor_.program_.events[id].parameters;
    for (const std::uint8_t p : parameters) {
        const Column* column = inputs_[p].column;
        const std::optional<BadRow::Why> why = column == nullptr ? BadRow::Why::MissingColumn : fault(*column, row);
        if (why) return bad(row, *why, monitor_.names_[p], event);
    }
    Engine& engine = engine_of(row);
    const bool insert = engine.inserts(id);
    std::array<Slot, kMaxParameters> slots;
    for (std::size_t k = 0; k < parameters.size(); ++k) slots[k] = slot(engine, parameters[k], row, insert);
    ++monitor_.seen[id];
    engine.step(id, slots.data(), *this);
    if (monitor_.program_.immediate) monitor_.listener_.event_done();
}

// ---- the bulk loop: one parameter, one property, dictionary-encoded columns without nulls ----

bool Monitor::Batch::in_bulk() const {
    if (monitor_.per_thread_ || inputs_.size() != 1 || inputs_[0].remap == nullptr) return false;
    const auto* engine = dynamic_cast<const FlatEngine*>(monitor_.engine_.get());
    return engine != nullptr && engine->bulk() && event_->dictionary() != nullptr && !event_->may_be_null() &&
           !event_->dictionary()->may_be_null() && !inputs_[0].column->may_be_null() && !inputs_[0].column->dictionary()->may_be_null() &&
           std::find(codes_.begin(), codes_.end(), kRelease) == codes_.end() && !monitor_.released_;
}

void Monitor::Batch::run_bulk() {
    auto& engine = static_cast<FlatEngine&>(*monitor_.engine_);
    switch (event_->type()) {
        case Column::Type::Int8:
        case Column::Type::UInt8: return run_bulk_codes<std::uint8_t>(engine);
        case Column::Type::Int16:
        case Column::Type::UInt16: return run_bulk_codes<std::uint16_t>(engine);
        case Column::Type::Int32:
        case Column::Type::UInt32: return run_bulk_codes<std::uint32_t>(engine);
        default: return run_bulk_codes<std::uint64_t>(engine);
    }
}

template <class Code>
void Monitor::Batch::run_bulk_codes(FlatEngine& engine) {
    switch (inputs_[0].column->type()) {
        case Column::Type::Int8:
        case Column::Type::UInt8: return run_bulk_numbers<Code, std::uint8_t>(engine);
        case Column::Type::Int16:
        case Column::Type::UInt16: return run_bulk_numbers<Code, std::uint16_t>(engine);
        case Column::Type::Int32:
        case Column::Type::UInt32: return run_bulk_numbers<Code, std::uint32_t>(engine);
        default: return run_bulk_numbers<Code, std::uint64_t>(engine);
    }
}

template <class Code, class Number>
void Monitor::Batch::run_bulk_numbers(FlatEngine& engine) {
    const Code* codes = event_->values<Code>();
    const Number* numbers = inputs_[0].column->values<Number>();
    const Slot* slots = inputs_[0].remap->slots.data();

    // Four counters per name, so that equal neighbours do not wait for each other.
    std::vector<std::array<std::uint64_t, 4>> counts(codes_.size());
    Code highest_code = 0;
    Number highest_number = 0;
    for (std::int64_t row = 0; row < length_; ++row) {
        highest_code = std::max(highest_code, codes[row]);
        highest_number = std::max(highest_number, numbers[row]);
    }
    if (length_ > 0 && (highest_code >= codes_.size() || highest_number >= inputs_[0].remap->slots.size())) return run_rows();
    for (std::int64_t row = 0; row < length_; ++row) ++counts[codes[row]][static_cast<std::size_t>(row & 3)];
    for (std::size_t k = 0; k < counts.size(); ++k) {
        const std::uint64_t sum = counts[k][0] + counts[k][1] + counts[k][2] + counts[k][3];
        (codes_[k] < 0 ? monitor_.ignored : monitor_.seen[static_cast<std::size_t>(codes_[k])]) += sum;
    }

    const auto loop = [&]<bool kPast>() {
        constexpr std::size_t kStride = kPast ? 2 : 1;
        const std::uint32_t* cells = engine.table().cells();
        std::uint32_t* words = engine.words();
        const bool plain = time_ == nullptr && location_ == nullptr && number_ == nullptr;
        const auto stamp_of = [&](std::int64_t row) {
            row_ = row;
            return plain ? Stamp{options_.first_row + row, 0, options_.source, Stamp::Time::None} : stamp();
        };
        for (std::int64_t row = 0; row < length_; ++row) {
            const std::int32_t code = codes_[codes[row]];
            if (code < 0) continue;
            const auto event = static_cast<EventId>(code);
            const Slot known = slots[numbers[row]];
            if (known == kNil) {
                row_ = row;
                const Slot fresh = slot(engine, 0, row, engine.inserts(event));
                engine.step(event, &fresh, *this);
                words = engine.words();
                continue;
            }
            std::uint32_t* at = words + known * kStride;
            const Table::Row before = at[0];
            const std::uint32_t cell = cells[before + event];
            at[0] = Table::row_of(cell);
            if constexpr (kPast) {
                if (cell != before && at[1] != FlatEngine::kDone) {
                    at[1] = engine.history().add(at[1], event, stamp_of(row));
                    if (engine.history().full()) engine.compact_history();
                }
            }
            if ((cell & Table::kNotable) != 0) engine.note(known, event, before, stamp_of(row));
        }
    };
    if (engine.history().on())
        loop.template operator()<true>();
    else
        loop.template operator()<false>();
}

}  // namespace mopsus
