// Arrow batches whose buffers are as long as they should be, and whose types, nulls and codes of dictionaries are
// anything.
#include <deque>

#include "mopsus/engine/monitor.hpp"
#include "support/bytes.hpp"
#include "support/programs.hpp"
#include "support/target.hpp"

namespace {

using namespace mopsus;
using fuzz::Bytes;

class Deaf final : public Listener {
public:
    void report(Report&&) override {}
};

// Columns, and all that they borrow from.
class Made {
public:
    explicit Made(std::int64_t rows) : rows_(rows) {}

    void add(const char* name, Bytes& bytes, const std::vector<std::string>& texts) {
        children_.push_back(&arrays_.emplace_back());
        schema_children_.push_back(&schemas_.emplace_back());
        fill(*schema_children_.back(), *children_.back(), rows_, bytes, texts, true);
        schema_children_.back()->name = name;
    }
    const ArrowSchema& schema() {
        schema_.format = "+s";
        schema_.name = "";
        schema_.n_children = static_cast<std::int64_t>(schema_children_.size());
        schema_.children = schema_children_.data();
        return schema_;
    }
    std::shared_ptr<ArrowArray> array() {
        array_.length = rows_;
        array_.n_buffers = 1;
        array_.buffers = none_;
        array_.n_children = static_cast<std::int64_t>(children_.size());
        array_.children = children_.data();
        return {&array_, [](ArrowArray*) {}};
    }

private:
    const void* memory(std::string content) {
        // Of exactly that size, so that whoever reads beyond it is found out.
        contents_.push_back(std::make_unique<char[]>(content.size()));
        std::copy(content.begin(), content.end(), contents_.back().get());
        return contents_.back().get();
    }
    template <class Number>
    const void* numbers(const std::vector<Number>& values) {
        return memory(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)));
    }

    void fill(ArrowSchema& schema, ArrowArray& array, std::int64_t rows, Bytes& bytes,
              const std::vector<std::string>& texts, bool may_number) {
        const std::uint8_t kind = bytes.byte();
        const std::int64_t offset = bytes.below(3);
        const auto count = static_cast<std::size_t>(rows + offset);
        array.length = rows;
        array.offset = offset;
        std::vector<const void*>& buffers = buffers_.emplace_back();
        buffers.push_back(nullptr);
        if ((kind & 0x80U) != 0) {
            std::string bits;
            for (std::size_t k = 0; k < count + 8; k += 8) bits += static_cast<char>(bytes.byte() | bytes.byte());
            buffers[0] = memory(bits);
            array.null_count = -1;
        }
        const auto drawn = [&](auto number) {
            std::vector<decltype(number)> values;
            for (std::size_t k = 0; k < count; ++k)
                values.push_back(static_cast<decltype(number)>(bytes.byte() % 8 == 0 ? bytes.word() : bytes.below(5)));
            return numbers(values);
        };
        schema.format = "l";
        const bool codes = may_number && (kind & 0x40U) != 0;
        switch (codes ? kind % 4 : kind % 13) {
            case 0:
                schema.format = codes ? "c" : "n";
                if (codes) buffers.push_back(drawn(std::int8_t{}));
                break;
            case 1:
                schema.format = "i";
                buffers.push_back(drawn(std::int32_t{}));
                break;
            case 2:
                schema.format = codes ? "S" : "L";
                buffers.push_back(codes ? drawn(std::uint16_t{}) : drawn(std::uint64_t{}));
                break;
            case 3: buffers.push_back(drawn(std::int64_t{})); break;
            case 4:
                schema.format = "g";
                buffers.push_back(drawn(double{}));
                break;
            case 5:
                schema.format = "b";
                buffers.push_back(drawn(std::uint8_t{}));
                break;
            case 6:
                schema.format = "tsu:";
                buffers.push_back(drawn(std::int64_t{}));
                break;
            case 7:
                schema.format = "w:3";
                buffers.push_back(memory(std::string(3 * count, static_cast<char>(bytes.byte()))));
                break;
            case 8:
                schema.format = "+l";
                buffers.push_back(drawn(std::int32_t{}));
                break;
            default: {
                const bool large = kind % 13 == 9;
                std::vector<std::int32_t> ends{0};
                std::string content;
                for (std::size_t k = 0; k < count; ++k) {
                    content += texts[bytes.below(texts.size())];
                    ends.push_back(static_cast<std::int32_t>(content.size()));
                }
                schema.format = large ? "U" : kind % 13 == 10 ? "z" : "u";
                buffers.push_back(large ? numbers(std::vector<std::int64_t>(ends.begin(), ends.end())) : numbers(ends));
                buffers.push_back(memory(content));
            }
        }
        if (codes) {
            schemas_.emplace_back();
            arrays_.emplace_back();
            schema.dictionary = &schemas_.back();
            array.dictionary = &arrays_.back();
            fill(schemas_.back(), arrays_.back(), static_cast<std::int64_t>(bytes.below(6)), bytes, texts, false);
        }
        array.n_buffers = static_cast<std::int64_t>(buffers.size());
        array.buffers = buffers.data();
    }

    std::int64_t rows_;
    std::deque<ArrowSchema> schemas_;
    std::deque<ArrowArray> arrays_;
    std::deque<std::vector<const void*>> buffers_;
    std::vector<std::unique_ptr<char[]>> contents_;
    std::vector<ArrowArray*> children_;
    std::vector<ArrowSchema*> schema_children_;
    ArrowSchema schema_{};
    ArrowArray array_{};
    const void* none_[1] = {nullptr};
};

FUZZ_TARGET(batch) {
    Bytes bytes(data, size);
    const std::uint8_t options = bytes.byte();
    const Program program = fuzz::any_program(bytes);
    static const std::vector<std::string> kNames = {"p", "q", "r"};
    static const std::vector<std::string> kEvents = {"a", "b", "c", "d", "a", "b", "#release", "other", ""};
    static const std::vector<std::string> kTexts = {"", "x", "a text of some length", "\xff", "1"};
    Deaf listener;
    Monitor monitor(program, (options & 3U) == 0, {kNames.begin(), kNames.begin() + program.parameters}, listener);
    for (int batch = 0; batch < 3 && !bytes.empty(); ++batch) {
        Made made(static_cast<std::int64_t>(bytes.below(20)));
        if (bytes.byte() % 16 != 0) made.add("event", bytes, kEvents);
        for (unsigned p = 0; p < program.parameters; ++p)
            if (bytes.byte() % 16 != 0) made.add(kNames[p].c_str(), bytes, kTexts);
        for (const char* name : {"time", "thread", "location", "#row", "x"})
            if (bytes.byte() % 3 == 0) made.add(name, bytes, kTexts);
        BatchOptions settings;
        settings.skip_bad_rows = (options & 4U) != 0;
        settings.source = monitor.location("trace", true);
        monitor.run(made.schema(), made.array(), settings);
        monitor.end_stream();
    }
    std::size_t seen = monitor.bytes();
    monitor.each_engine([&](Engine& engine) {
        engine.each_instance([&](const std::vector<Value>& values, const std::vector<Engine::Standing>&,
                                 const Engine::Recall& recall) { seen += values.size() + recall().size(); });
    });
    EXPECT(seen < std::size_t{1} << 32U);
}

}  // namespace
