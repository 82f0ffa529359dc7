#include "outlet.hpp"

#include <chrono>
#include <utility>

#include "bind/places.hpp"
#include "bind/saved_error.hpp"
#include "wire_tags.hpp"

namespace mopsus::python {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20ms;
// More components than that are told as all of them.
constexpr std::size_t kLongestGap = 256;

int kind_of(PyObject* kind) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(wire.kinds); ++k)
        if (PyTuple_GET_ITEM(wire.kinds, k) == kind) return static_cast<int>(k);
    return -1;
}

double now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
}

// Where in the program it happens, as `file:line`.
std::string_view place() {
    static Places<std::string>& known = *new Places<std::string>;
    const std::string* text = known.here([](std::string made) { return made; });
    return text != nullptr ? std::string_view(*text) : std::string_view();
}

std::string text_of(PyObject* object) {
    Py_ssize_t length = 0;
    const char* text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : nullptr;
    if (text == nullptr) {
        PyErr_Clear();
        return {};
    }
    return {text, static_cast<std::size_t>(length)};
}

}  // namespace

void Outlet::emit(PyObject* const* what) {
    if (board_.generation() != known && renew_ != nullptr) {
        PyObject* done = PyObject_CallNoArgs(renew_);
        if (done == nullptr) {
            forget_error();
            ++faults;
        }
        Py_XDECREF(done);
    }
    const int kind = kind_of(what[0]);
    if (kind < 0) {
        ++faults;
        return;
    }
    if (kind == kInit || kind == kExit) remember(kind, what);
    if (ring_ == nullptr) return;
    // Taken out while it is used: reading a field may run Python, and with it another thread that comes here.
    std::unique_ptr<Buffer> buffer = spare_ != nullptr ? std::move(spare_) : std::make_unique<Buffer>();
    buffer->clear();
    buffer->add(static_cast<std::uint8_t>(kind));
    Encoder encoder{*buffer, terms_.capacity};
    encoder.real(now());
    encoder.text(place(), kText);
    bool done = encoder.value(what[1]) && encoder.value(what[2]) && encoder.value(what[3]);
    opaque += encoder.opaque;
    if (done && ring_ != nullptr) done = write(buffer->bytes());
    if (!done) lose(what);
    spare_ = std::move(buffer);
}

void Outlet::remember(int kind, PyObject* const* what) {
    if (kind == kExit) {
        living_.erase(text_of(what[1]));
        return;
    }
    Buffer buffer;
    buffer.add(kJoined);
    constexpr std::size_t most = 1U << 16;
    Encoder encoder{buffer, most};
    encoder.real(now());
    encoder.text(place(), kText);
    if (encoder.value(what[1]) && encoder.value(what[2]) && encoder.value(what[3]))
        living_[text_of(what[1])].assign(reinterpret_cast<const char*>(buffer.bytes().data()), buffer.size());
}

// False if it is lost.
bool Outlet::write(Bytes frame) {
    if ((everybody_ || !gap_.empty()) && !write_gap()) return false;
    const std::shared_ptr<RingWriter> ring = ring_;
    while (true) {
        switch (ring->put(frame)) {
            case RingWriter::Put::Done:
                ++written;
                board_.ring();
                return true;
            case RingWriter::Put::TooLarge: return false;
            case RingWriter::Put::Full: break;
        }
        if (terms_.when_full != WhenFull::Block) return false;
        board_.ring();
        bool room = false;
        Py_BEGIN_ALLOW_THREADS;
        room = ring->wait_for_room(frame.size(), kPatience);
        Py_END_ALLOW_THREADS;
        if (ring_ != ring) return true;  // nobody wants it any more
        if (!room && (board_.generation() != generation_ || !board_.attended())) {
            // The reader is gone. The program goes on without it, until another one comes.
            ring_.reset();
            return true;
        }
    }
}

bool Outlet::write_gap() {
    Buffer buffer;
    buffer.add(kGap);
    if (everybody_) {
        buffer.add(kNone);
    } else {
        buffer.add(kMapping);
        const auto count = static_cast<std::uint32_t>(gap_.size());
        buffer.add(&count, sizeof count);
        Encoder encoder{buffer, terms_.capacity};
        for (const auto& [component, events] : gap_) {
            encoder.text(component, kPid);
            encoder.number(events);
        }
    }
    auto lost_ones = std::exchange(gap_, {});
    const bool all = std::exchange(everybody_, false);
    if (write(buffer.bytes())) return true;
    gap_ = std::move(lost_ones);
    everybody_ = all;
    return false;
}

void Outlet::lose(PyObject* const* what) {
    ++lost;
    if (ring_ != nullptr) ring_->count_lost(1);
    ++gap_[text_of(what[1])];
    // A child whose fork is not known is not known either.
    if (what[0] == PyTuple_GET_ITEM(wire.kinds, kFork)) ++gap_[text_of(what[2])];
    if (gap_.size() > kLongestGap || everybody_) {
        everybody_ = true;
        gap_.clear();
    }
}

void Outlet::open(const std::string& path, const std::string& spill, std::uint32_t generation) {
    terms_ = board_.terms();
    ring_ = std::make_shared<RingWriter>(path, terms_, terms_.when_full == WhenFull::Grow ? spill : "");
    gap_.clear();
    everybody_ = false;
    generation_ = generation;
}

void Outlet::begin() {
    const std::map<std::string, std::string> living = living_;  // others may come and go while this one waits for room
    for (const auto& [component, frame] : living)
        if (ring_ != nullptr && !write(std::as_bytes(std::span(frame)))) ++gap_[component];
    known = generation_;
}

void Outlet::close(std::uint32_t generation, bool said) {
    if (ring_ != nullptr && (everybody_ || !gap_.empty())) write_gap();
    if (ring_ != nullptr && said) {
        ring_->close();
        board_.ring();
    }
    ring_.reset();
    known = generation;
}

void Outlet::forget() {
    ring_.reset();
    gap_.clear();
    everybody_ = false;
    living_.clear();
    known = 0;
}

}  // namespace mopsus::python
