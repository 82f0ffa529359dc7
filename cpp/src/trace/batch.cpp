#include "batch.hpp"

#include <algorithm>

namespace mopsus {

namespace {

constexpr std::int64_t kBlock = 32;  // rows that are looked at ahead

const char* describe(const Column& column) { return column.format().c_str(); }

// Why a row of a column has no value, if it has none.
std::optional<BadRow::Why> fault(const Column& column, std::int64_t row) {
    const Column* dictionary = column.dictionary().get();
    if ((dictionary != nullptr ? *dictionary : column).type() == Column::Type::Unsupported)
        return BadRow::Why::UnsupportedType;
    if (!column.valid(row)) return BadRow::Why::NullParameter;
    if (dictionary == nullptr) return {};
    const std::int64_t at = column.integer(row);
    if (at < 0 || at >= dictionary->length()) return BadRow::Why::BadDictionary;
    return dictionary->valid(at) ? std::optional<BadRow::Why>() : BadRow::Why::NullParameter;
}

}  // namespace

Monitor::Batch::Batch(Monitor& monitor, const ArrowSchema& schema, std::shared_ptr<ArrowArray> array,
                      const BatchOptions& options)
    : monitor_(monitor),
      options_(options),
      array_(std::move(array)),
      length_(array_->length),
      inputs_(monitor.program_.parameters) {
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
    if (monitor.program_.reads_data()) find_fields(schema);
    if (event_ != nullptr && event_->dictionary() != nullptr && event_->dictionary()->is_text()) {
        const Column& names = *event_->dictionary();
        for (std::int64_t k = 0; k < names.length(); ++k)
            codes_.push_back(names.valid(k) ? monitor.code_of(names.text(k)) : kIgnored);
    }
}

void Monitor::Batch::find_fields(const ArrowSchema& schema) {
    for (const EventDecl& event : monitor_.program_.events) {
        std::vector<const Column*>& columns = fields_.emplace_back();
        for (const std::string& field : event.fields) {
            const Column* found = nullptr;
            for (std::size_t k = 0; k < columns_.size(); ++k)
                if (schema.children[k]->name != nullptr && field == schema.children[k]->name) found = columns_[k].get();
            columns.push_back(found);
        }
    }
}

// A field without a value has none; one without a column is a fault.
bool Monitor::Batch::has_fields(std::int64_t row, EventId event) {
    const std::vector<const Column*>& columns = fields_[event];
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const std::optional<BadRow::Why> why =
            columns[k] == nullptr ? BadRow::Why::MissingColumn : fault(*columns[k], row);
        if (!why || *why == BadRow::Why::NullParameter) continue;
        bad(row, *why, monitor_.program_.events[event].fields[k], event);
        return false;
    }
    return true;
}

EventData Monitor::Batch::data() {
    if (data_.arena != nullptr) return data_;
    const std::vector<const Column*>& columns = fields_[event_id_];
    arena_.clear();
    data_ = {arena_.terms(columns.size()), columns.size(), &arena_};
    for (std::size_t k = 0; k < columns.size(); ++k)
        data_.fields[k] = fault(*columns[k], row_) ? Term::none() : columns[k]->term(row_, arena_);
    return data_;
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
    const bool given =
        number_ != nullptr && number_->is_integer() && number_->dictionary() == nullptr && number_->valid(row);
    return given ? number_->integer(row) : options_.first_row + row;
}

Stamp Monitor::Batch::when() {
    Stamp stamp;
    if (time_ == nullptr || fault(*time_, row_)) return stamp;
    const Key key = time_->key(row_, scratch_);
    stamp.time = key.bits;
    if (key.kind == KeyKind::Int) stamp.time_kind = Stamp::Time::Int;
    if (key.kind == KeyKind::Float) stamp.time_kind = Stamp::Time::Float;
    if (time_->nanoseconds() != 0) {
        std::int64_t since = 0;
        // Nanoseconds reach from 1677 to 2262; there is no time beyond.
        const bool fits = !__builtin_mul_overflow(static_cast<std::int64_t>(key.bits), time_->nanoseconds(), &since);
        stamp.time = static_cast<std::uint64_t>(since);
        stamp.time_kind = fits ? Stamp::Time::Instant : Stamp::Time::None;
    }
    return stamp;
}

Stamp Monitor::Batch::stamp() {
    Stamp stamp = when();
    stamp.row = row_number(row_);
    stamp.location = options_.source;
    if (location_ != nullptr && !fault(*location_, row_)) {
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
    return recent_.find(event_->text(row), monitor_);
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
        if (monitor_.names_[p] == found.column && inputs_[p].column != nullptr)
            found.type = describe(*inputs_[p].column);
    if (why == BadRow::Why::UnsupportedType && found.type.empty() && event >= 0) {
        const std::vector<std::string>& names = monitor_.program_.events[static_cast<std::size_t>(event)].fields;
        for (std::size_t k = 0; k < names.size(); ++k)
            if (names[k] == found.column) found.type = describe(*fields_[static_cast<std::size_t>(event)][k]);
    }
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
    if (known != kNil &&
        (!monitor_.released_ || (domain.serial(known) == input.remap->serials[at] && !domain.dead(known))))
        return known;
    known = look_up(input.column->key(row, scratch_));
    if (known != kNil) input.remap->serials[at] = domain.serial(known);
    return known;
}

// Memory is far away: ask for what the rows of a block will need, in three rounds, each of which may
// use what the one before has asked for.
void Monitor::Batch::look_ahead(Engine& engine, std::int64_t from, std::int64_t to) {
    const auto each = [&](auto&& visit) {
        for (std::int64_t row = from; row < to; ++row) {
            const std::int32_t event = block_codes_[static_cast<std::size_t>(row - from)];
            if (event < 0) continue;
            for (const std::uint8_t p : monitor_.program_.events[static_cast<std::size_t>(event)].parameters)
                visit(row, p, hint(row, p));
        }
    };
    each([&](std::int64_t row, unsigned p, Hint& hint) {
        const Input& input = inputs_[p];
        hint.slot = kNil;
        hint.fault = input.column == nullptr ? BadRow::Why::MissingColumn : fault(*input.column, row);
        if (hint.fault) return;
        if (input.remap != nullptr)
            hint.slot = input.remap->slots[static_cast<std::size_t>(input.column->integer(row))];
        if (hint.slot != kNil) return;
        hint.hash = input.column->key(row, scratch_).hash;
        engine.domain(p).prefetch(hint.hash);
    });
    each([&](std::int64_t, unsigned p, Hint& hint) {
        if (!hint.fault && inputs_[p].remap == nullptr) hint.slot = engine.domain(p).guess(hint.hash);
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
    if (thread_ == nullptr || fault(*thread_, row)) return monitor_.engine(Key::of_bits(KeyKind::Null, 0));
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
    const bool names =
        event_ != nullptr && (event_->dictionary() != nullptr ? event_->dictionary()->is_text() : event_->is_text());
    if (!names) {
        BadRow found;
        found.row = options_.first_row;
        found.column = "event";
        found.why = event_ == nullptr ? BadRow::Why::MissingColumn : BadRow::Why::UnsupportedType;
        if (event_ != nullptr) found.type = describe(*event_);
        return found;
    }
    if (in_bulk()) {
        counts_.assign(2 * (monitor_.seen.size() + 1), 0);
        run_bulk();
        for (std::size_t k = 0; k < counts_.size(); ++k) {
            const std::size_t event = k % (counts_.size() / 2);
            (event == 0 ? monitor_.ignored : monitor_.seen[event - 1]) += counts_[k];
        }
    } else {
        run_rows(0);
    }
    return std::move(stop_);
}

void Monitor::Batch::run_rows(std::int64_t first) {
    block_codes_.resize(kBlock);
    hints_.resize(kBlock * inputs_.size());
    for (std::int64_t from = first; from < length_ && !stop_ && !monitor_.listener_.interrupted(); from += kBlock) {
        const std::int64_t to = std::min(from + kBlock, length_);
        block_ = from;
        for (std::int64_t row = from; row < to; ++row) block_codes_[static_cast<std::size_t>(row - from)] = code(row);
        if (monitor_.engine_) look_ahead(*monitor_.engine_, from, to);
        for (row_ = from; row_ < to && !stop_; ++row_)
            take_row(row_, block_codes_[static_cast<std::size_t>(row_ - from)]);
    }
}

void Monitor::Batch::take_row(std::int64_t row, std::int32_t event) {
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
    const bool looked = monitor_.engine_ != nullptr;
    for (const std::uint8_t p : parameters) {
        const Column* column = inputs_[p].column;
        const std::optional<BadRow::Why> why = looked              ? hint(row, p).fault
                                               : column == nullptr ? BadRow::Why::MissingColumn
                                                                   : fault(*column, row);
        if (why) return bad(row, *why, monitor_.names_[p], event);
    }
    Engine& engine = engine_of(row);
    const bool insert = engine.inserts(id);
    std::array<Slot, kMaxParameters> slots;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const std::uint8_t p = parameters[k];
        // What was found for a dictionary stays right until some value is released.
        const bool sure = looked && inputs_[p].remap != nullptr && hint(row, p).slot != kNil && !monitor_.released_;
        slots[k] = sure ? hint(row, p).slot : slot(engine, p, row, insert);
    }
    if (!fields_.empty()) {
        if (!has_fields(row, id)) return;
        data_ = {};
        event_id_ = id;
    }
    ++monitor_.seen[id];
    engine.step(id, slots.data(), *this);
    if (monitor_.program_.immediate) monitor_.listener_.event_done();
}

// ---- one parameter, one property, no nulls: no need to look at each row on its own ----

bool Monitor::Batch::in_bulk() const {
    if (monitor_.per_thread_ || monitor_.released_ || inputs_.size() != 1 || inputs_[0].column == nullptr) return false;
    const auto* engine = dynamic_cast<const FlatEngine*>(monitor_.engine_.get());
    if (engine == nullptr || !engine->bulk()) return false;
    const auto complete = [](const Column& column) {
        return !column.may_be_null() && (column.dictionary() == nullptr || !column.dictionary()->may_be_null());
    };
    const Column& values = *inputs_[0].column;
    return complete(*event_) && complete(values) &&
           (values.dictionary() != nullptr || values.is_text() ||
            (values.is_integer() && values.type() != Column::Type::UInt64));
}

namespace {

// Calls `use` with the addresses of a column's integers, whatever their width.
template <class Use>
void with_integers(const Column& column, Use&& use) {
    switch (column.type()) {
        case Column::Type::Int8:
        case Column::Type::UInt8: return use(column.values<std::uint8_t>());
        case Column::Type::Int16:
        case Column::Type::UInt16: return use(column.values<std::uint16_t>());
        case Column::Type::Int32:
        case Column::Type::UInt32: return use(column.values<std::uint32_t>());
        default: return use(column.values<std::uint64_t>());
    }
}

}  // namespace

// The events of a stretch of rows. False: a number refers outside of the dictionary.
bool Monitor::Batch::fill_codes(std::int64_t from, std::int64_t count, std::int32_t* codes) {
    bool good = true;
    if (event_->dictionary() == nullptr) {
        for (std::int64_t k = 0; k < count; ++k) codes[k] = recent_.find(event_->text(from + k), monitor_);
    } else {
        with_integers(*event_, [&](const auto* numbers) {
            std::uint64_t highest = 0;
            for (std::int64_t k = 0; k < count; ++k) highest = std::max<std::uint64_t>(highest, numbers[from + k]);
            good = highest < codes_.size();
            for (std::int64_t k = 0; good && k < count; ++k) codes[k] = codes_[numbers[from + k]];
        });
    }
    return good;
}

// The slots of their values, 0 where not known (yet).
bool Monitor::Batch::fill_slots(std::int64_t from, std::int64_t count, Slot* slots) {
    const Column& column = *inputs_[0].column;
    const Domain& domain = monitor_.engine_->domain(0);
    bool good = true;
    if (inputs_[0].remap != nullptr) {
        const LargeVector<Slot>& known = inputs_[0].remap->slots;
        with_integers(column, [&](const auto* numbers) {
            std::uint64_t highest = 0;
            for (std::int64_t k = 0; k < count; ++k) highest = std::max<std::uint64_t>(highest, numbers[from + k]);
            good = highest < known.size();
            for (std::int64_t k = 0; good && k < count; ++k) slots[k] = known[numbers[from + k]];
        });
        return good;
    }
    std::array<Key, kStretch> keys;
    for (std::int64_t k = 0; k < count; ++k) {
        keys[static_cast<std::size_t>(k)] = column.key(from + k, scratch_);
        domain.prefetch(keys[static_cast<std::size_t>(k)].hash);
    }
    for (std::int64_t k = 0; k < count; ++k) {
        slots[k] = domain.guess(keys[static_cast<std::size_t>(k)].hash);
        if (slots[k] != kNil) {
            domain.prefetch_slot(slots[k]);
            monitor_.engine_->prefetch(0, slots[k]);
        }
    }
    for (std::int64_t k = 0; k < count; ++k)
        if (slots[k] != kNil) slots[k] = domain.find(keys[static_cast<std::size_t>(k)]);
    return true;
}

void Monitor::Batch::run_bulk() {
    auto& engine = static_cast<FlatEngine&>(*monitor_.engine_);
    std::array<std::int32_t, kStretch> codes;
    std::array<Slot, kStretch> slots;
    for (std::int64_t from = 0; from < length_; from += kStretch) {
        const std::int64_t count = std::min<std::int64_t>(kStretch, length_ - from);
        const bool good = fill_codes(from, count, codes.data()) && fill_slots(from, count, slots.data()) &&
                          std::find(codes.begin(), codes.begin() + count, kRelease) == codes.begin() + count;
        if (!good) return run_rows(from);
        if (engine.history().on())
            run_stretch<true>(engine, from, count, codes.data(), slots.data());
        else
            run_stretch<false>(engine, from, count, codes.data(), slots.data());
    }
}

template <bool kPast>
void Monitor::Batch::run_stretch(FlatEngine& engine, std::int64_t from, std::int64_t count, const std::int32_t* codes,
                                 const Slot* slots) {
    constexpr std::size_t kStride = kPast ? 2 : 1;
    // Two sets of counters, so that equal neighbours do not wait for each other.
    std::uint64_t* seen[2] = {counts_.data() + 1, counts_.data() + 1 + counts_.size() / 2};
    for (std::int64_t k = 0; k < count; ++k) ++seen[k & 1][codes[k]];  // ignored ones count at -1

    const Word* cells = engine.table().cells();
    std::uint32_t* words = engine.words();
    const bool bare = time_ == nullptr && location_ == nullptr && number_ == nullptr;
    const auto stamp_of = [&](std::int64_t row) {
        row_ = row;
        return bare ? Stamp{options_.first_row + row, 0, options_.source, Stamp::Time::None} : stamp();
    };
    for (std::int64_t k = 0; k < count; ++k) {
        if (codes[k] < 0) continue;
        const auto event = static_cast<EventId>(codes[k]);
        if (slots[k] == kNil) {
            row_ = from + k;
            const Slot fresh = slot(engine, 0, row_, engine.inserts(event));
            engine.step(event, &fresh, *this);
            words = engine.words();
            continue;
        }
        std::uint32_t* at = words + slots[k] * kStride;
        const Word before = at[0];
        const Word cell = cells[before + event];
        at[0] = plain(cell);
        if constexpr (kPast) {
            if (cell != before && at[1] != FlatEngine::kDone) {
                at[1] = engine.history().add(at[1], event, stamp_of(from + k));
                if (engine.history().full()) engine.compact_history();
            }
        }
        if ((cell & kNotable) != 0) engine.note(slots[k], event, before, stamp_of(from + k));
    }
}

std::int32_t Monitor::Batch::Recent::find(std::string_view name, const Monitor& monitor) {
    std::uint64_t start = name.size();
    if (!name.empty()) std::memcpy(&start, name.data(), std::min<std::size_t>(name.size(), 8));
    Entry& entry = entries_[mix(start ^ name.size(), 0x9E3779B97F4A7C15ULL) >> 58];
    if (entry.name == name && entry.code != kNoName) return entry.code;
    entry.code = monitor.code_of(name);
    entry.name = name;
    return entry.code;
}

}  // namespace mopsus
