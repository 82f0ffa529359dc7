#include "terms.hpp"

#include <mutex>
#include <vector>

#include "convert.hpp"

namespace mopsus::python {

TermTypes term_types;
bool terms_were_dropped = false;

namespace {

std::mutex dropped_mutex;  // a batch may drop terms without holding the interpreter's lock
std::vector<PyObject*> dropped;

struct Names {
    PyObject* name = nullptr;
    PyObject* value = nullptr;
    PyObject* frozen = nullptr;
    PyObject* parameters = nullptr;
    PyObject* fields = nullptr;
    PyObject* lower = nullptr;
} names;

std::string_view utf8(PyObject* text, Arena& arena) {
    Py_ssize_t size = 0;
    if (const char* bytes = PyUnicode_AsUTF8AndSize(text, &size)) return {bytes, static_cast<std::size_t>(size)};
    PyErr_Clear();  // lone surrogates
    PyObject* encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (encoded == nullptr) {
        PyErr_Clear();
        return {};
    }
    const std::string_view copy =
        arena.copy({PyBytes_AS_STRING(encoded), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded))});
    Py_DECREF(encoded);
    return copy;
}

Term integer(PyObject* value, Arena& arena) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) return arena.integer(number);
    PyObject* text = PyNumber_ToBase(value, 16);  // -0x1f; no limit on digits, unlike decimal
    if (text == nullptr) {
        PyErr_Clear();
        return Term::object(reinterpret_cast<std::uintptr_t>(value));
    }
    std::string_view hex = utf8(text, arena);
    hex.remove_prefix(overflow < 0 ? 3 : 2);
    std::vector<std::uint32_t> digits;
    for (std::size_t end = hex.size(); end > 0; end -= std::min<std::size_t>(end, 8)) {
        const std::size_t start = end > 8 ? end - 8 : 0;
        digits.push_back(
            static_cast<std::uint32_t>(std::stoul(std::string(hex.substr(start, end - start)), nullptr, 16)));
    }
    const Term term = arena.integer(overflow < 0, digits.data(), digits.size());
    Py_DECREF(text);
    return term;
}

Term real(PyObject* value, Arena& arena) { return arena.real(PyFloat_AS_DOUBLE(value)); }

Term binary(PyObject* value, Arena& arena) {
    return arena.binary({PyBytes_AS_STRING(value), static_cast<std::size_t>(PyBytes_GET_SIZE(value))});
}

Term foreign(PyObject* value) { return Term::foreign(reinterpret_cast<std::uintptr_t>(value)); }
Term object(PyObject* value) { return Term::object(reinterpret_cast<std::uintptr_t>(value)); }

// The name of a class, as long as it lives.
Term class_name(PyTypeObject* type, Arena& arena) {
    const std::string_view whole = type->tp_name;
    return arena.text(whole.substr(whole.rfind('.') + 1));
}

// A value that only the term refers to.
Term held(PyObject* fresh, Arena& arena) {
    const Term term = to_term(fresh, arena);
    arena.hold(reinterpret_cast<std::uintptr_t>(fresh));
    Py_DECREF(fresh);
    return term;
}

Term open_enum(PyObject* value, Arena& arena) {
    PyObject* name = PyObject_GetAttr(value, names.name);
    PyObject* lower = name != nullptr ? PyObject_CallMethodNoArgs(name, names.lower) : nullptr;
    PyObject* content = lower != nullptr ? PyObject_GetAttr(value, names.value) : nullptr;
    Py_XDECREF(name);
    if (content == nullptr) {
        PyErr_Clear();
        Py_XDECREF(lower);
        return object(value);
    }
    Term* parts = arena.terms(2);
    parts[0] = held(lower, arena);
    parts[1] = held(content, arena);
    return arena.enumeration(parts, object(value));
}

// The fields of a frozen dataclass; nothing if it is none.
Term open_dataclass(PyObject* value, Arena& arena) {
    PyTypeObject* type = Py_TYPE(value);
    PyObject* parameters = _PyType_Lookup(type, names.parameters);
    if (parameters == nullptr) return {};
    PyObject* frozen = PyObject_GetAttr(parameters, names.frozen);
    PyObject* fields = frozen == Py_True ? _PyType_Lookup(type, names.fields) : nullptr;
    Py_XDECREF(frozen);
    PyErr_Clear();
    if (fields == nullptr || !PyTuple_CheckExact(fields)) return {};
    const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(fields));
    Term* parts = arena.terms(count);
    for (std::size_t k = 0; k < count; ++k) {
        PyObject* content = PyObject_GetAttr(value, PyTuple_GET_ITEM(fields, static_cast<Py_ssize_t>(k)));
        if (content == nullptr) {
            PyErr_Clear();
            return {};
        }
        parts[k] = held(content, arena);
    }
    return arena.tuple(parts, count, class_name(type, arena), object(value));
}

Term open_dict(PyObject* value, Arena& arena) {
    const auto size = static_cast<std::size_t>(PyDict_GET_SIZE(value));
    Term* pairs = arena.terms(2 * size);
    std::size_t count = 0;
    Py_ssize_t at = 0;
    PyObject* key = nullptr;
    PyObject* content = nullptr;
    while (count < size && PyDict_Next(value, &at, &key, &content) != 0) {
        pairs[2 * count] = held(Py_NewRef(key), arena);
        pairs[2 * count + 1] = held(Py_NewRef(content), arena);
        ++count;
    }
    return arena.map(pairs, count, object(value));
}

class PyTerms final : public Foreign {
public:
    Term open(Term term, Arena& arena) override {
        PyObject* value = as_object(term.address());
        PyTypeObject* type = Py_TYPE(value);
        if (is_permanent(value)) return open_enum(value, arena);
        if (PyTuple_Check(value)) {
            const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(value));
            Term* parts = arena.terms(count);
            for (std::size_t k = 0; k < count; ++k)
                parts[k] = to_term(PyTuple_GET_ITEM(value, static_cast<Py_ssize_t>(k)), arena);
            return arena.tuple(parts, count, type != &PyTuple_Type ? class_name(type, arena) : Term(), object(value));
        }
        if (PyList_Check(value)) {
            // Others may change a list while a guard in Python runs.
            const auto count = static_cast<std::size_t>(PyList_GET_SIZE(value));
            Term* parts = arena.terms(count);
            for (std::size_t k = 0; k < count; ++k)
                parts[k] = held(Py_NewRef(PyList_GET_ITEM(value, static_cast<Py_ssize_t>(k))), arena);
            return arena.list(parts, count, object(value));
        }
        if (PyDict_Check(value)) return open_dict(value, arena);
        if (PyUnicode_Check(value)) return arena.text(utf8(value, arena));
        if (PyLong_Check(value)) return integer(value, arena);
        if (PyFloat_Check(value)) return real(value, arena);
        if (PyBytes_Check(value)) return binary(value, arena);
        const Term tuple = open_dataclass(value, arena);
        return tuple.is_nothing() ? object(value) : tuple;
    }
    void keep(std::uint64_t word) override { Py_INCREF(as_object(word)); }
    void drop(std::uint64_t word) override {
        const std::lock_guard lock(dropped_mutex);
        dropped.push_back(as_object(word));
        terms_were_dropped = true;
    }
    std::string name(std::uint64_t word) override { return Py_TYPE(as_object(word))->tp_name; }
};

PyObject* spelled(PyObject* type, std::string_view text) {
    PyObject* plain = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass");
    if (plain == nullptr || type == nullptr) return plain;
    PyObject* made = PyObject_CallOneArg(type, plain);
    Py_DECREF(plain);
    return made;
}

PyObject* large_integer(const Box& box) {
    static const char* const kHex = "0123456789abcdef";
    std::string hex;
    for (std::uint32_t k = 0; k < box.size; ++k)
        for (unsigned shift = 0; shift < 32; shift += 4) hex.insert(hex.begin(), kHex[(box.digits[k] >> shift) & 0xFU]);
    if ((box.flags & Box::kNegative) != 0) hex.insert(hex.begin(), '-');
    return PyLong_FromString(hex.c_str(), nullptr, 16);
}

// Fills a container made for so many parts.
template <class Set>
PyObject* filled(PyObject* container, Term term, Set&& set) {
    for (std::size_t k = 0; container != nullptr && k < term.size(); ++k) {
        PyObject* item = from_term(term.items()[k]);
        if (item == nullptr)
            Py_CLEAR(container);
        else
            set(container, static_cast<Py_ssize_t>(k), item);
    }
    return container;
}

PyObject* dict_of(Term term) {
    PyObject* dict = PyDict_New();
    for (std::size_t k = 0; dict != nullptr && k < term.size(); ++k) {
        PyObject* key = from_term(term.items()[2 * k]);
        PyObject* value = key != nullptr ? from_term(term.items()[2 * k + 1]) : nullptr;
        if (value == nullptr || PyDict_SetItem(dict, key, value) != 0) Py_CLEAR(dict);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return dict;
}

PyObject* atom(Term term) {
    if (term == Term::boolean(true)) Py_RETURN_TRUE;
    if (term == Term::boolean(false)) Py_RETURN_FALSE;
    return spelled(term_types.atom, term.bytes());
}

}  // namespace

Term to_term(PyObject* value, Arena& arena) {
    PyTypeObject* type = Py_TYPE(value);
    if (type == &PyLong_Type) return integer(value, arena);
    if (type == &PyUnicode_Type) return arena.text(utf8(value, arena));
    if (type == &PyTuple_Type) return foreign(value);
    if (type == &PyFloat_Type) return real(value, arena);
    if (type == &PyBool_Type) return Term::boolean(value == Py_True);
    if (value == Py_None) return Term::none();
    if (type == &PyBytes_Type) return binary(value, arena);
    const auto* given = reinterpret_cast<PyObject*>(type);
    if (given == term_types.pid) return arena.pid(utf8(value, arena));
    if (given == term_types.atom) return arena.atom(utf8(value, arena));
    if (given == term_types.string) return arena.string(utf8(value, arena));
    if (given == term_types.reference) return arena.reference(utf8(value, arena));
    return foreign(value);
}

PyObject* from_term(Term term) {
    if (const Term original = term.original(); original.is_object()) return Py_NewRef(as_object(original.address()));
    switch (term.type()) {
        case TermType::Integer: return term.is_small() ? PyLong_FromLongLong(term.small()) : large_integer(term.box());
        case TermType::Float: return PyFloat_FromDouble(term.real());
        case TermType::Atom: return atom(term);
        case TermType::String: return spelled(term_types.string, term.bytes());
        case TermType::Text: return spelled(nullptr, term.bytes());
        case TermType::Binary:
            return PyBytes_FromStringAndSize(term.bytes().data(), static_cast<Py_ssize_t>(term.bytes().size()));
        case TermType::Tuple:
            return filled(PyTuple_New(static_cast<Py_ssize_t>(term.size())), term,
                          [](PyObject* tuple, Py_ssize_t k, PyObject* item) { PyTuple_SET_ITEM(tuple, k, item); });
        case TermType::List:
            return filled(PyList_New(static_cast<Py_ssize_t>(term.size())), term,
                          [](PyObject* list, Py_ssize_t k, PyObject* item) { PyList_SET_ITEM(list, k, item); });
        case TermType::Map: return dict_of(term);
        case TermType::Pid: return spelled(term_types.pid, term.is_pid() ? to_text(term) : std::string(term.bytes()));
        case TermType::Reference: return spelled(term_types.reference, term.bytes());
        case TermType::None:
        case TermType::Enum: Py_RETURN_NONE;
        case TermType::Object:
        case TermType::Foreign: break;
    }
    if (!term.is_boxed()) return Py_NewRef(as_object(term.address()));
    return PyObject_CallFunction(term_types.object, "s#is", term.bytes().data(),
                                 static_cast<Py_ssize_t>(term.bytes().size()), 0, "<not kept>");
}

void end_dropped_terms() {
    std::vector<PyObject*> gone;
    {
        const std::lock_guard lock(dropped_mutex);
        gone.swap(dropped);
        terms_were_dropped = false;
    }
    for (PyObject* object : gone) Py_DECREF(object);
}

bool prepare_terms() {
    static PyTerms owner;
    use_foreign(&owner);
    const auto intern = [](PyObject*& place, const char* text) {
        place = PyUnicode_InternFromString(text);
        return place != nullptr;
    };
    return intern(names.name, "name") && intern(names.value, "value") && intern(names.frozen, "frozen") &&
           intern(names.parameters, "__dataclass_params__") && intern(names.fields, "__match_args__") &&
           intern(names.lower, "lower");
}

}  // namespace mopsus::python
