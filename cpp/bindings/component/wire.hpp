// Values of Python as bytes, for the way to another process.
//
// Nothing of the program is executed to encode a value, apart from reading the fields of a frozen dataclass, and
// nothing that was sent is executed to decode one. A value of a type of its own arrives as an opaque mark of its
// identity.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "mopsus/component/ring.hpp"

namespace mopsus::python {

// The classes that values are made of on either side. `shape(kind, name, fields)` makes the class that stands for a
// named tuple or dataclass of the other side, `member(class, name, value)` a member of an enumeration, `opaque(text)`
// an opaque value.
struct WireTypes {
    PyObject* occurrence = nullptr;
    PyObject* function = nullptr;
    PyObject* kinds = nullptr;  // a tuple, in the order of their numbers
    PyObject* atom = nullptr;
    PyObject* pid = nullptr;
    PyObject* reference = nullptr;
    PyObject* string = nullptr;
    PyObject* enumeration = nullptr;
    PyObject* shape = nullptr;
    PyObject* member = nullptr;
    PyObject* opaque = nullptr;
};
extern WireTypes wire;

class Buffer {
public:
    void clear() { size_ = 0; }
    std::size_t size() const { return size_; }
    Bytes bytes() const { return {data_.get(), size_}; }
    // Room for so many more bytes.
    std::byte* extend(std::size_t more) {
        if (size_ + more > room_) grow(size_ + more);
        std::byte* place = data_.get() + size_;
        size_ += more;
        return place;
    }
    void add(std::uint8_t byte) { *extend(1) = std::byte{byte}; }
    void add(const void* from, std::size_t count) {
        if (count > 0) std::memcpy(extend(count), from, count);
    }
    void shrink(std::size_t size) { size_ = size; }
    void replace(std::size_t at, std::uint32_t number) { std::memcpy(data_.get() + at, &number, sizeof number); }

private:
    void grow(std::size_t least);
    std::unique_ptr<std::byte[]> data_;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

struct Encoder {
    Buffer& to;
    std::size_t limit;         // of the size, in bytes
    std::uint64_t opaque = 0;  // how many values were of a type of their own

    // False if the value is too large or nested too deeply; never with an exception set.
    bool value(PyObject* object, unsigned depth = 0);
    void text(std::string_view text, std::uint8_t tag);
    void number(std::uint64_t number);
    void real(double number);

private:
    bool text(PyObject* object, std::uint8_t tag);
    bool integer(PyObject* object);
    bool sequence(PyObject* object, std::uint8_t tag, unsigned depth);
    bool mapping(PyObject* object, unsigned depth);
    bool other(PyObject* object, unsigned depth);
    void identity(PyObject* object);
};

struct Decoder {
    Bytes from;
    std::size_t at = 0;

    // A new reference, or nullptr without an exception if the bytes mean nothing.
    PyObject* value(unsigned depth = 0);
    bool done() const { return at == from.size(); }

private:
    bool number(std::uint64_t& result);
    bool count(std::uint32_t& result);
    const char* take(std::size_t bytes);
    PyObject* text(PyObject* type);
    PyObject* integer();
    PyObject* large_integer();
    PyObject* real();
    PyObject* bytes();
    PyObject* function(unsigned depth);
    PyObject* sequence(std::uint8_t tag, unsigned depth);
    PyObject* mapping(unsigned depth);
    PyObject* shaped(unsigned depth);
    PyObject* member(unsigned depth);
};

}  // namespace mopsus::python
