#include "convert.hpp"

#include "engine/plain_value.hpp"

namespace mopsus::python {

namespace {

PyObject* enum_type = nullptr;  // enum.EnumType

Key key_at_depth(PyObject* value, std::string& scratch, int depth);

// A tuple of scalars, written so that equal texts mean equal tuples: kind, size, content.
bool write_tuple(PyObject* tuple, std::string& out, int depth) {
    if (depth > kDeepestTuple) return false;
    std::string scratch;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); ++k) {
        PyObject* item = PyTuple_GET_ITEM(tuple, k);
        scratch.clear();
        const Key key = key_at_depth(item, scratch, depth);
        if (key.kind == KeyKind::Object) return false;
        const std::string content = is_blob(key.kind) ? std::string(key.blob) : std::to_string(key.bits);
        out += static_cast<char>('A' + static_cast<int>(key.kind));
        out += std::to_string(content.size());
        out += ':';
        out += content;
    }
    return true;
}

PyObject* read_tuple(std::string_view text) {
    PyObject* list = PyList_New(0);
    while (list != nullptr && !text.empty()) {
        Value item;
        if (!take_part(text, item)) {  // it was written here, or checked when it was read
            Py_CLEAR(list);
            PyErr_SetString(PyExc_SystemError, "a tuple is written in no known way");
            break;
        }
        PyObject* value = scalar(item);
        if (value == nullptr || PyList_Append(list, value) != 0) Py_CLEAR(list);
        Py_XDECREF(value);
    }
    if (list == nullptr) return nullptr;
    PyObject* tuple = PyList_AsTuple(list);
    Py_DECREF(list);
    return tuple;
}

}  // namespace

bool prepare_conversion() {
    PyObject* module = PyImport_ImportModule("enum");
    if (module == nullptr) return false;
    enum_type = PyObject_GetAttrString(module, "EnumType");
    Py_DECREF(module);
    return enum_type != nullptr;
}

bool is_permanent(PyObject* value) { return reinterpret_cast<PyObject*>(Py_TYPE(Py_TYPE(value))) == enum_type; }

Key key_of(PyObject* value, std::string& scratch) { return key_at_depth(value, scratch, 0); }

namespace {

Key key_at_depth(PyObject* value, std::string& scratch, int depth) {
    PyTypeObject* type = Py_TYPE(value);
    const auto object = [&] { return Key::of_bits(KeyKind::Object, reinterpret_cast<std::uintptr_t>(value)); };
    if (type == &PyLong_Type) {
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow == 0) return Key::of_int(number);
        PyObject* text = PyNumber_ToBase(value, 16);  // no limit on digits, unlike decimal
        if (text == nullptr) {
            PyErr_Clear();
            return object();
        }
        scratch = PyUnicode_AsUTF8(text);
        Py_DECREF(text);
        return Key::of_blob(KeyKind::BigInt, scratch);
    }
    if (type == &PyUnicode_Type || is_spelling(type)) {
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(value, &size);
        if (text != nullptr) return Key::of_blob(KeyKind::Text, {text, static_cast<std::size_t>(size)});
        PyErr_Clear();  // lone surrogates
        PyObject* bytes = PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass");
        if (bytes == nullptr) {
            PyErr_Clear();
            return object();
        }
        scratch.assign(PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)));
        Py_DECREF(bytes);
        return Key::of_blob(KeyKind::Text, scratch);
    }
    if (type == &PyBool_Type) return Key::of_bits(KeyKind::Bool, value == Py_True ? 1 : 0);
    if (value == Py_None) return Key::of_bits(KeyKind::Null, 0);
    if (type == &PyFloat_Type) return Key::of_float(PyFloat_AS_DOUBLE(value));
    if (type == &PyBytes_Type)
        return Key::of_blob(KeyKind::Bytes,
                            {PyBytes_AS_STRING(value), static_cast<std::size_t>(PyBytes_GET_SIZE(value))});
    if (type == &PyTuple_Type) {
        std::string written;
        if (!write_tuple(value, written, depth + 1)) return object();
        scratch = std::move(written);
        return Key::of_blob(KeyKind::Tuple, scratch);
    }
    return object();
}

}  // namespace

PyObject* scalar(const Value& value) {
    switch (value.kind) {
        case KeyKind::Int: return PyLong_FromLongLong(static_cast<long long>(value.bits));
        case KeyKind::Float: {
            double number = 0;
            std::memcpy(&number, &value.bits, sizeof number);
            return PyFloat_FromDouble(number);
        }
        case KeyKind::Bool: return PyBool_FromLong(value.bits != 0);
        case KeyKind::Text: {
            const auto size = static_cast<Py_ssize_t>(value.blob.size());
            const auto decoded = [&](const char* errors) {
                return PyUnicode_DecodeUTF8(value.blob.data(), size, errors);
            };
            if (PyObject* text = decoded("surrogatepass")) return text;
            PyErr_Clear();  // Arrow and snapshots do not promise UTF-8
            return decoded("replace");
        }
        case KeyKind::Bytes:
            return PyBytes_FromStringAndSize(value.blob.data(), static_cast<Py_ssize_t>(value.blob.size()));
        case KeyKind::BigInt: return PyLong_FromString(value.blob.c_str(), nullptr, 16);
        case KeyKind::Tuple: return read_tuple(value.blob);
        default: Py_RETURN_NONE;
    }
}

}  // namespace mopsus::python
