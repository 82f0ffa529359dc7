#include <string>
#include <unordered_map>

#include "wire.hpp"
#include "wire_tags.hpp"

namespace mopsus::python {

namespace {

// Classes of the other side by how they were sent. There cannot be more of them than a program has; bytes that claim so
// are damaged.
constexpr std::size_t kMostClasses = 4096;

PyObject* quiet(PyObject* made) {
    if (made == nullptr) PyErr_Clear();
    return made;
}

}  // namespace

const char* Decoder::take(std::size_t bytes) {
    if (bytes > from.size() - at) return nullptr;
    const char* place = reinterpret_cast<const char*>(from.data()) + at;
    at += bytes;
    return place;
}

bool Decoder::number(std::uint64_t& result) {
    result = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const char* byte = take(1);
        if (byte == nullptr) return false;
        result |= static_cast<std::uint64_t>(*byte & 0x7F) << shift;
        if ((*byte & 0x80) == 0) return true;
    }
    return false;
}

// Each of so many values takes at least a byte, so a count cannot ask for more memory than was sent.
bool Decoder::count(std::uint32_t& result) {
    const char* place = take(sizeof result);
    if (place == nullptr) return false;
    std::memcpy(&result, place, sizeof result);
    return result <= from.size() - at;
}

PyObject* Decoder::value(unsigned depth) {
    const char* tag = depth > kDeepest ? nullptr : take(1);
    if (tag == nullptr) return nullptr;
    switch (static_cast<std::uint8_t>(*tag)) {
        case kNone: return Py_NewRef(Py_None);
        case kTrue: return Py_NewRef(Py_True);
        case kFalse: return Py_NewRef(Py_False);
        case kInteger: return integer();
        case kLarge: return large_integer();
        case kFloat: return real();
        case kText: return text(nullptr);
        case kBytes: return bytes();
        case kTuple: return sequence(kTuple, depth);
        case kList: return sequence(kList, depth);
        case kMapping: return mapping(depth);
        case kAtom: return text(wire.atom);
        case kPid: return text(wire.pid);
        case kReference: return text(wire.reference);
        case kString: return text(wire.string);
        case kMember: return member(depth);
        case kNamed:
        case kData: --at; return shaped(depth);
        case kFunction: return function(depth);
        case kOpaque: return text(wire.opaque);
        default: return nullptr;
    }
}

PyObject* Decoder::integer() {
    std::uint64_t bits = 0;
    if (!number(bits)) return nullptr;
    return PyLong_FromLongLong(static_cast<long long>((bits >> 1) ^ (0 - (bits & 1))));
}

PyObject* Decoder::real() {
    const char* place = take(sizeof(double));
    double real = 0;
    if (place == nullptr) return nullptr;
    std::memcpy(&real, place, sizeof real);
    return PyFloat_FromDouble(real);
}

PyObject* Decoder::bytes() {
    std::uint64_t size = 0;
    const char* place = number(size) ? take(size) : nullptr;
    return place != nullptr ? PyBytes_FromStringAndSize(place, static_cast<Py_ssize_t>(size)) : nullptr;
}

// Its names are texts, and its arguments are a tuple.
PyObject* Decoder::function(unsigned depth) {
    auto* type = reinterpret_cast<PyTypeObject*>(wire.function);
    PyObject* made = type->tp_alloc(type, 4);
    for (Py_ssize_t k = 0; made != nullptr && k < 4; ++k) {
        PyObject* part = value(depth + 1);
        if (part == nullptr || (k == 2 && !PyTuple_CheckExact(part)) || (k < 2 && !PyUnicode_Check(part))) {
            Py_XDECREF(part);
            Py_CLEAR(made);
        } else {
            PyTuple_SET_ITEM(made, k, part);
        }
    }
    return made;
}

PyObject* Decoder::text(PyObject* type) {
    std::uint64_t size = 0;
    const char* place = number(size) ? take(size) : nullptr;
    if (place == nullptr) return nullptr;
    PyObject* made = quiet(PyUnicode_DecodeUTF8(place, static_cast<Py_ssize_t>(size), "surrogatepass"));
    if (made == nullptr || type == nullptr) return made;
    PyObject* typed = quiet(PyObject_CallOneArg(type, made));
    Py_DECREF(made);
    return typed;
}

PyObject* Decoder::large_integer() {
    std::uint64_t size = 0;
    const char* place = number(size) ? take(size) : nullptr;
    return place != nullptr ? quiet(PyLong_FromString(std::string(place, size).c_str(), nullptr, 16)) : nullptr;
}

PyObject* Decoder::sequence(std::uint8_t tag, unsigned depth) {
    std::uint32_t size = 0;
    if (!count(size)) return nullptr;
    PyObject* made = tag == kTuple ? PyTuple_New(size) : PyList_New(size);
    for (std::uint32_t k = 0; made != nullptr && k < size; ++k) {
        PyObject* item = value(depth + 1);
        if (item == nullptr)
            Py_CLEAR(made);
        else if (tag == kTuple)
            PyTuple_SET_ITEM(made, k, item);
        else
            PyList_SET_ITEM(made, k, item);
    }
    return quiet(made);
}

PyObject* Decoder::mapping(unsigned depth) {
    std::uint32_t size = 0;
    if (!count(size)) return nullptr;
    PyObject* made = PyDict_New();
    for (std::uint32_t k = 0; made != nullptr && k < size; ++k) {
        PyObject* key = value(depth + 1);
        PyObject* item = key != nullptr ? value(depth + 1) : nullptr;
        // A key that cannot be hashed here was one of a type of its own there: it cannot have been sent.
        if (item == nullptr || PyDict_SetItem(made, key, item) != 0) {
            PyErr_Clear();
            Py_CLEAR(made);
        }
        Py_XDECREF(key);
        Py_XDECREF(item);
    }
    return made;
}

PyObject* Decoder::shaped(unsigned depth) {
    const std::size_t begin = at;
    const char* kind = take(1);
    std::uint64_t size = 0;
    const char* name = number(size) ? take(size) : nullptr;
    const std::size_t name_size = size;
    std::uint64_t fields = 0;
    if (name == nullptr || !number(fields) || fields > from.size() - at) return nullptr;
    PyObject* names = PyTuple_New(static_cast<Py_ssize_t>(fields));
    for (std::uint64_t k = 0; names != nullptr && k < fields; ++k) {
        PyObject* field = text(nullptr);
        if (field == nullptr)
            Py_CLEAR(names);
        else
            PyTuple_SET_ITEM(names, static_cast<Py_ssize_t>(k), field);
    }
    if (names == nullptr) return quiet(nullptr);
    static std::unordered_map<std::string, PyObject*>& known = *new std::unordered_map<std::string, PyObject*>;
    std::string key(reinterpret_cast<const char*>(from.data()) + begin, at - begin);
    auto found = known.find(key);
    if (found == known.end() && known.size() < kMostClasses) {
        PyObject* made = quiet(PyObject_CallFunction(wire.shape, "is#O", static_cast<int>(*kind), name,
                                                     static_cast<Py_ssize_t>(name_size), names));
        if (made != nullptr) found = known.emplace(std::move(key), made).first;
    }
    Py_DECREF(names);
    PyObject* values = found != known.end() ? value(depth + 1) : nullptr;
    PyObject* made =
        values != nullptr && PyTuple_CheckExact(values) ? quiet(PyObject_CallObject(found->second, values)) : nullptr;
    Py_XDECREF(values);
    return made;
}

PyObject* Decoder::member(unsigned depth) {
    std::uint64_t size = 0;
    const char* place = number(size) ? take(size) : nullptr;
    std::uint64_t none = 1;
    if (place == nullptr || !number(none) || none != 0) return nullptr;
    PyObject* name = value(depth + 1);
    PyObject* content = name != nullptr ? value(depth + 1) : nullptr;
    PyObject* made =
        content != nullptr
            ? quiet(PyObject_CallFunction(wire.member, "s#OO", place, static_cast<Py_ssize_t>(size), name, content))
            : nullptr;
    Py_XDECREF(name);
    Py_XDECREF(content);
    return made;
}

}  // namespace mopsus::python
