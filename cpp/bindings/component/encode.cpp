#include <cstdio>
#include <string>
#include <unordered_map>

#include "wire.hpp"
#include "bind/saved_error.hpp"
#include "wire_tags.hpp"

namespace mopsus::python {

WireTypes wire;

void Buffer::grow(std::size_t least) {
    std::size_t room = room_ == 0 ? 256 : room_;
    while (room < least) room *= 2;
    auto data = std::make_unique_for_overwrite<std::byte[]>(room);
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    room_ = room;
}

namespace {

void add_number(Buffer& to, std::uint64_t number) {
    while (number >= 0x80) {
        to.add(static_cast<std::uint8_t>(number | 0x80));
        number >>= 7;
    }
    to.add(static_cast<std::uint8_t>(number));
}

void add_text(Buffer& to, std::string_view text) {
    add_number(to, text.size());
    to.add(text.data(), text.size());
}

// How values of a class are sent: as a named tuple, a frozen dataclass, or as what it is derived from.
struct Shape {
    enum class How : std::uint8_t { Opaque, Member, Named, Data, Text, Integer, Float, Binary, Tuple, List, Mapping };
    How how = How::Opaque;
    std::string start;           // class and fields as they are sent
    PyObject* fields = nullptr;  // names of the fields of a dataclass
    PyObject* owner = nullptr;   // a weak reference to the class
};

// The fields of a class as a tuple of names, or nullptr. Never with an exception set.
PyObject* named_fields(PyTypeObject* type) {
    PyObject* fields = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "_fields");
    if (fields != nullptr && PyTuple_CheckExact(fields)) return fields;
    forget_error();
    Py_XDECREF(fields);
    return nullptr;
}

PyObject* frozen_fields(PyTypeObject* type) {
    PyObject* self = reinterpret_cast<PyObject*>(type);
    PyObject* parameters = PyObject_GetAttrString(self, "__dataclass_params__");
    PyObject* frozen = parameters != nullptr ? PyObject_GetAttrString(parameters, "frozen") : nullptr;
    PyObject* fields = frozen == Py_True ? PyObject_GetAttrString(self, "__match_args__") : nullptr;
    Py_XDECREF(parameters);
    Py_XDECREF(frozen);
    if (fields != nullptr && PyTuple_CheckExact(fields)) return fields;
    forget_error();
    Py_XDECREF(fields);
    return nullptr;
}

bool start_shape(Shape& shape, PyTypeObject* type, PyObject* fields) {
    Buffer start;
    const char* dot = std::strrchr(type->tp_name, '.');
    add_text(start, dot != nullptr ? dot + 1 : type->tp_name);
    add_number(start, static_cast<std::uint64_t>(PyTuple_GET_SIZE(fields)));
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(fields); ++k) {
        Py_ssize_t length = 0;
        PyObject* name = PyTuple_GET_ITEM(fields, k);
        const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &length) : nullptr;
        if (text == nullptr) {
            PyErr_Clear();
            return false;
        }
        add_text(start, {text, static_cast<std::size_t>(length)});
    }
    shape.start.assign(reinterpret_cast<const char*>(start.bytes().data()), start.size());
    return true;
}

Shape make_shape(PyTypeObject* type) {
    Shape shape;
    const auto derived = [&](const PyTypeObject& base) {
        return PyType_IsSubtype(type, const_cast<PyTypeObject*>(&base)) != 0;
    };
    if (derived(*reinterpret_cast<PyTypeObject*>(wire.enumeration))) {
        PyObject* nothing = PyTuple_New(0);
        shape.how = nothing != nullptr && start_shape(shape, type, nothing) ? Shape::How::Member : Shape::How::Opaque;
        Py_XDECREF(nothing);
    } else if (derived(PyTuple_Type)) {
        PyObject* fields = named_fields(type);
        shape.how = fields != nullptr && start_shape(shape, type, fields) ? Shape::How::Named : Shape::How::Tuple;
        Py_XDECREF(fields);
    } else if (PyObject* fields = frozen_fields(type); fields != nullptr && start_shape(shape, type, fields)) {
        shape.how = Shape::How::Data;
        shape.fields = fields;
    } else {
        Py_XDECREF(fields);
        if (derived(PyUnicode_Type))
            shape.how = Shape::How::Text;
        else if (derived(PyLong_Type))
            shape.how = Shape::How::Integer;
        else if (derived(PyFloat_Type))
            shape.how = Shape::How::Float;
        else if (derived(PyBytes_Type))
            shape.how = Shape::How::Binary;
        else if (derived(PyList_Type))
            shape.how = Shape::How::List;
        else if (derived(PyDict_Type))
            shape.how = Shape::How::Mapping;
    }
    return shape;
}

bool refers_to(PyObject* reference, PyObject* object) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* found = nullptr;
    if (PyWeakref_GetRef(reference, &found) < 0) PyErr_Clear();
    Py_XDECREF(found);
    return found == object;
#else
    return PyWeakref_GetObject(reference) == object;
#endif
}

// Classes are looked at once. They are not kept alive, so another one may have come to lie where one was.
const Shape& shape_of(PyTypeObject* type) {
    constexpr std::size_t most = 4096;
    static std::unordered_map<PyTypeObject*, Shape>& known = *new std::unordered_map<PyTypeObject*, Shape>;
    static const Shape opaque;
    PyObject* self = reinterpret_cast<PyObject*>(type);
    if (const auto found = known.find(type); found != known.end()) {
        if (refers_to(found->second.owner, self)) return found->second;
        Py_DECREF(found->second.owner);
        Py_XDECREF(found->second.fields);
        known.erase(found);
    }
    PyObject* owner = known.size() < most ? PyWeakref_NewRef(self, nullptr) : nullptr;
    if (owner == nullptr) {
        PyErr_Clear();
        return opaque;
    }
    Shape shape = make_shape(type);
    shape.owner = owner;
    return known.emplace(type, std::move(shape)).first->second;
}

}  // namespace

bool Encoder::value(PyObject* object, unsigned depth) {
    if (to.size() > limit || depth > kDeepest) return false;
    PyTypeObject* type = Py_TYPE(object);
    if (type == &PyUnicode_Type) return text(object, kText);
    if (reinterpret_cast<PyObject*>(type) == wire.pid) return text(object, kPid);
    if (object == Py_None) return to.add(kNone), true;
    if (type == &PyLong_Type) return integer(object);
    if (type == &PyTuple_Type) return sequence(object, kTuple, depth);
    if (object == Py_True) return to.add(kTrue), true;
    if (object == Py_False) return to.add(kFalse), true;
    if (type == &PyFloat_Type) return real(PyFloat_AS_DOUBLE(object)), true;
    if (type == &PyList_Type) return sequence(object, kList, depth);
    if (type == &PyDict_Type) return mapping(object, depth);
    if (reinterpret_cast<PyObject*>(type) == wire.atom) return text(object, kAtom);
    if (reinterpret_cast<PyObject*>(type) == wire.function) {
        to.add(kFunction);
        for (Py_ssize_t k = 0; k < 4; ++k)
            if (!value(PyTuple_GET_ITEM(object, k), depth + 1)) return false;
        return true;
    }
    if (reinterpret_cast<PyObject*>(type) == wire.reference) return text(object, kReference);
    if (reinterpret_cast<PyObject*>(type) == wire.string) return text(object, kString);
    return other(object, depth);
}

void Encoder::text(std::string_view text, std::uint8_t tag) {
    to.add(tag);
    add_text(to, text);
}

void Encoder::number(std::uint64_t number) {
    to.add(kInteger);
    add_number(to, number << 1);
}

void Encoder::real(double number) {
    to.add(kFloat);
    to.add(&number, sizeof number);
}

bool Encoder::text(PyObject* object, std::uint8_t tag) {
    if (PyUnicode_IS_ASCII(object)) {
        const auto length = static_cast<std::size_t>(PyUnicode_GET_LENGTH(object));
        if (length > limit) return false;
        text({reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(object)), length}, tag);
        return true;
    }
    PyObject* bytes = PyUnicode_AsEncodedString(object, "utf-8", "surrogatepass");
    if (bytes == nullptr) {
        PyErr_Clear();
        return false;
    }
    text({PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))}, tag);
    Py_DECREF(bytes);
    return true;
}

bool Encoder::integer(PyObject* object) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
        to.add(kInteger);
        add_number(to, (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63));
        return true;
    }
    PyObject* hexadecimal = PyNumber_ToBase(object, 16);
    if (hexadecimal == nullptr) {
        PyErr_Clear();
        return false;
    }
    const bool done = text(hexadecimal, kLarge);
    Py_DECREF(hexadecimal);
    return done;
}

bool Encoder::sequence(PyObject* object, std::uint8_t tag, unsigned depth) {
    to.add(tag);
    const std::size_t place = to.size();
    to.extend(sizeof(std::uint32_t));
    std::uint32_t count = 0;
    // A list may become shorter meanwhile, if the fields of one of its items are computed by the program.
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k, ++count) {
        PyObject* item = Py_NewRef(PySequence_Fast_GET_ITEM(object, k));
        const bool done = value(item, depth + 1);
        Py_DECREF(item);
        if (!done) return false;
    }
    to.replace(place, count);
    return true;
}

bool Encoder::mapping(PyObject* object, unsigned depth) {
    to.add(kMapping);
    const std::size_t place = to.size();
    to.extend(sizeof(std::uint32_t));
    std::uint32_t count = 0;
    Py_ssize_t at = 0;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    while (PyDict_Next(object, &at, &key, &item) != 0) {
        Py_INCREF(key);
        Py_INCREF(item);
        const bool done = value(key, depth + 1) && value(item, depth + 1);
        Py_DECREF(key);
        Py_DECREF(item);
        if (!done) return false;
        ++count;
    }
    to.replace(place, count);
    return true;
}

bool Encoder::other(PyObject* object, unsigned depth) {
    const Shape& shape = shape_of(Py_TYPE(object));
    switch (shape.how) {
        case Shape::How::Text: return text(object, kText);
        case Shape::How::Integer: return integer(object);
        case Shape::How::Tuple: return sequence(object, kTuple, depth);
        case Shape::How::List: return sequence(object, kList, depth);
        case Shape::How::Mapping: return mapping(object, depth);
        case Shape::How::Float: return real(PyFloat_AS_DOUBLE(object)), true;
        case Shape::How::Binary: {
            text({PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object))}, kBytes);
            return true;
        }
        case Shape::How::Named: {
            to.add(kNamed);
            to.add(shape.start.data(), shape.start.size());
            return sequence(object, kTuple, depth);
        }
        case Shape::How::Member: {
            PyObject* name = PyObject_GetAttrString(object, "_name_");
            PyObject* member = name != nullptr ? PyObject_GetAttrString(object, "_value_") : nullptr;
            bool done = member != nullptr && PyUnicode_CheckExact(name);
            if (done) {
                to.add(kMember);
                to.add(shape.start.data(), shape.start.size());
                done = text(name, kText) && value(member, depth + 1);
            } else {
                forget_error();
                identity(object);
                done = true;
            }
            Py_XDECREF(name);
            Py_XDECREF(member);
            return done;
        }
        case Shape::How::Data: {
            const std::size_t begin = to.size();
            to.add(kData);
            to.add(shape.start.data(), shape.start.size());
            to.add(kTuple);
            const auto count = static_cast<std::uint32_t>(PyTuple_GET_SIZE(shape.fields));
            to.add(&count, sizeof count);
            for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(shape.fields); ++k) {
                PyObject* field = PyObject_GetAttr(object, PyTuple_GET_ITEM(shape.fields, k));
                if (field == nullptr) {
                    forget_error();
                    to.shrink(begin);
                    identity(object);
                    return true;
                }
                const bool done = value(field, depth + 1);
                Py_DECREF(field);
                if (!done) return false;
            }
            return true;
        }
        case Shape::How::Opaque: identity(object); return true;
    }
    return false;
}

void Encoder::identity(PyObject* object) {
    char text[160];
    const int length =
        std::snprintf(text, sizeof text, "<%.100s at %p>", Py_TYPE(object)->tp_name, static_cast<void*>(object));
    to.add(kOpaque);
    add_text(to, {text, static_cast<std::size_t>(length)});
    ++opaque;
}

}  // namespace mopsus::python
