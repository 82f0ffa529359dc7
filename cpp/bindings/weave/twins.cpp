#include "twins.hpp"

#include <marshal.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "iterate.hpp"

namespace mopsus::python {

namespace {

#if PY_VERSION_HEX >= 0x030C0000
constexpr auto request_index = PyUnstable_Eval_RequestCodeExtraIndex;
constexpr auto get_extra = PyUnstable_Code_GetExtra;
constexpr auto set_extra = PyUnstable_Code_SetExtra;
#else
constexpr auto request_index = _PyEval_RequestCodeExtraIndex;
constexpr auto get_extra = _PyCode_GetExtra;
constexpr auto set_extra = _PyCode_SetExtra;
#endif

struct Twin;

// What all rewritten code of a module was made of.
struct Source {
    ~Source() { Py_XDECREF(marshalled); }
    PyObject* marshalled = nullptr;  // null: it has been read
    // Each piece of code in the module: its twin, if it was rewritten and still is there, and the numbers of its inner
    // code.
    struct Piece {
        Twin* twin = nullptr;
        std::vector<std::size_t> inner;
    };
    std::vector<Piece> pieces;
};

// What rewritten code carries. Code takes no part in garbage collection, so only one of the two may own the other.
struct Twin {
    PyObject* code;  // the rewritten one, which owns this
    std::shared_ptr<Source> source;
    std::size_t number;
    PyObject* original = nullptr;  // owned; null: not read yet
};

// What an original carries.
struct Running {
    PyObject* code;              // borrowed; null: it is gone
    PyObject* parent = nullptr;  // if `code` can be made again: of this rewritten code, by replacing these attributes
    PyObject* keywords = nullptr;
};

PyInterpreterState* interpreter = nullptr;  // whose numbers these are
Py_ssize_t twin_index = -1;
Py_ssize_t running_index = -1;

void* carried(PyObject* code, Py_ssize_t index) {
    void* extra = nullptr;
    // Most code carries nothing for anybody.
    if (reinterpret_cast<PyCodeObject*>(code)->co_extra == nullptr || PyInterpreterState_Get() != interpreter)
        return nullptr;
    if (get_extra(code, index, &extra) < 0) PyErr_Clear();
    return extra;
}

Twin* twin_of(PyObject* code) { return static_cast<Twin*>(carried(code, twin_index)); }
Running* running(PyObject* code) { return static_cast<Running*>(carried(code, running_index)); }

void end_twin(void* extra) {
    const std::unique_ptr<Twin> twin(static_cast<Twin*>(extra));
    if (!twin) return;
    if (twin->source) twin->source->pieces[twin->number].twin = nullptr;
    if (twin->original == nullptr) return;
    if (Running* left = running(twin->original); left != nullptr) left->code = nullptr;
    Py_DECREF(twin->original);
}

void end_running(void* extra) {
    const std::unique_ptr<Running> ended(static_cast<Running*>(extra));
    if (!ended) return;
    Py_XDECREF(ended->parent);
    Py_XDECREF(ended->keywords);
}

PyObject* constants_of(PyObject* code) { return reinterpret_cast<PyCodeObject*>(code)->co_consts; }

// Calls a function with each piece of code that is a constant of this one, in their order, until it gives false.
template <class Function>
bool each_inner(PyObject* code, Function&& function) {
    PyObject* constants = constants_of(code);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(constants); ++k)
        if (PyCode_Check(PyTuple_GET_ITEM(constants, k)) && !function(k, PyTuple_GET_ITEM(constants, k))) return false;
    return true;
}

// ---- binding ----

// The number of the site that a constant stands for; -1: it is one of the program's. No program has one like it.
Py_ssize_t placeholder(PyObject* constant) {
    if (!PyTuple_CheckExact(constant) || PyTuple_GET_SIZE(constant) != 2) return -1;
    PyObject* number = PyTuple_GET_ITEM(constant, 1);
    if (!PyFrozenSet_CheckExact(PyTuple_GET_ITEM(constant, 0)) || !PyLong_CheckExact(number)) return -1;
    return PyLong_AsSsize_t(number);
}

class Binder {
public:
    Binder(PyObject* sites, std::shared_ptr<Source> source) : sites_(sites), source_(std::move(source)) {}

    // Whether there are sites in code, put there now; false with an exception if something is wrong.
    bool bind(PyObject* code) {
        const std::size_t number = source_->pieces.size();
        source_->pieces.emplace_back();
        bool rewritten = false;
        PyObject* constants = constants_of(code);
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(constants); ++k) {
            PyObject* constant = PyTuple_GET_ITEM(constants, k);
            if (PyCode_Check(constant)) {
                source_->pieces[number].inner.push_back(source_->pieces.size());
                rewritten |= bind(constant);
            } else if (is_site(constant)) {
                rewritten = true;  // these constants are also those of other code, which had its turn
            } else if (const Py_ssize_t place = placeholder(constant); place >= 0) {
                if (place >= PyTuple_GET_SIZE(sites_)) {
                    PyErr_SetString(PyExc_ValueError, "there is no such site");
                    return false;
                }
                PyTuple_SET_ITEM(constants, k, Py_NewRef(PyTuple_GET_ITEM(sites_, place)));
                Py_DECREF(constant);
                rewritten = true;
            }
            if (PyErr_Occurred() != nullptr) return false;
        }
        if (rewritten && twin_of(code) == nullptr) {
            auto twin = std::make_unique<Twin>(Twin{code, source_, number});
            if (set_extra(code, twin_index, twin.get()) < 0) return false;
            source_->pieces[number].twin = twin.release();
        }
        return rewritten;
    }

private:
    PyObject* sites_;
    std::shared_ptr<Source> source_;
};

// ---- reading originals ----

// That is the original. Inner code that is as it was is the same for both, so that a program knows it again.
bool adopt(Twin& twin, PyObject* original) {
    if (twin.original != nullptr) return true;
    auto made = std::make_unique<Running>(Running{twin.code});
    if (set_extra(original, running_index, made.get()) < 0) return false;
    made.release();
    twin.original = Py_NewRef(original);
    std::vector<PyObject*> inner;
    each_inner(twin.code, [&](Py_ssize_t, PyObject* code) {
        inner.push_back(code);
        return true;
    });
    std::size_t next = 0;
    PyObject* constants = constants_of(original);
    return each_inner(original, [&](Py_ssize_t k, PyObject* code) {
        PyObject* same = next < inner.size() ? inner[next++] : code;
        if (same != code && !is_rewritten(same)) {
            PyTuple_SET_ITEM(constants, k, Py_NewRef(same));
            Py_DECREF(code);
        }
        return true;
    });
}

// Gives every original its twin. One of the two may end with code more, which is never reached: compilers do not take
// all of it away.
bool distribute(Source& source, std::size_t number, PyObject* code) {
    std::size_t next = 0;
    const bool done = each_inner(code, [&](Py_ssize_t, PyObject* inner) {
        const std::vector<std::size_t>& numbers = source.pieces[number].inner;
        return next == numbers.size() || distribute(source, numbers[next++], inner);
    });
    return done && (source.pieces[number].twin == nullptr || adopt(*source.pieces[number].twin, code));
}

bool read(std::shared_ptr<Source> source) {
    // Reading can run finalizers, which may ask for the same.
    const Owned marshalled(Py_XNewRef(source->marshalled));
    if (!marshalled) return true;
    const Owned code(
        PyMarshal_ReadObjectFromString(PyBytes_AS_STRING(marshalled.get()), PyBytes_GET_SIZE(marshalled.get())));
    if (!code) return false;
    if (!distribute(*source, 0, code.get())) return false;
    Py_CLEAR(source->marshalled);
    return true;
}

// ---- what weaving asks for ----

PyObject* bind(PyObject*, PyObject* args) {
    PyObject *code = nullptr, *sites = nullptr, *marshalled = nullptr;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyCode_Type, &code, &PyTuple_Type, &sites, &PyBytes_Type, &marshalled))
        return nullptr;
    auto source = std::make_shared<Source>();
    source->marshalled = Py_NewRef(marshalled);
    Binder(sites, source).bind(code);
    if (PyErr_Occurred() != nullptr || !give_originals()) return nullptr;
    Py_RETURN_NONE;
}

// Does code contain the same pieces of code in the same order, but for some that are never reached?
bool are_alike(PyObject* left, PyObject* right) {
    std::vector<PyObject*> inner[2];
    for (const auto& [code, list] : {std::pair{left, &inner[0]}, {right, &inner[1]}})
        each_inner(code, [list = list](Py_ssize_t, PyObject* each) {
            list->push_back(each);
            return true;
        });
    const auto* one = reinterpret_cast<PyCodeObject*>(left);
    const auto* other = reinterpret_cast<PyCodeObject*>(right);
    if (one->co_firstlineno != other->co_firstlineno || PyUnicode_Compare(one->co_qualname, other->co_qualname) != 0)
        return false;
    for (std::size_t k = 0; k < std::min(inner[0].size(), inner[1].size()); ++k)
        if (!are_alike(inner[0][k], inner[1][k])) return false;
    return true;
}

PyObject* alike(PyObject*, PyObject* args) {
    PyObject *code = nullptr, *original = nullptr;
    if (!PyArg_ParseTuple(args, "O!O!", &PyCode_Type, &code, &PyCode_Type, &original)) return nullptr;
    return PyBool_FromLong(are_alike(code, original));
}

PyMethodDef functions[] = {
    {"bind", bind, METH_VARARGS,
     "Put sites where rewritten code has placeholders, and remember the marshalled original. Before it runs, once."},
    {"alike", alike, METH_VARARGS, "Whether rewritten code and an original consist of the same functions and classes."},
    {nullptr, nullptr, 0, nullptr},
};

// Attributes of code that its instructions do not depend on.
bool is_harmless(PyObject* keywords) {
    PyObject *name = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &name, &value) != 0;) {
        bool harmless = false;
        for (const char* each : {"co_flags", "co_name", "co_qualname", "co_filename", "co_firstlineno"})
            harmless |= PyUnicode_CompareWithASCIIString(name, each) == 0;
        if (!harmless) return false;
    }
    return true;
}

PyObject* (*replace_attributes)(PyObject*, PyObject*) = nullptr;

// Rewritten code for an original that was made by replacing attributes of another.
PyObject* make_again(PyObject* original, const Running& how) {
    Owned made(replace_attributes(how.parent, how.keywords));
    if (!made) return nullptr;
    auto twin = std::make_unique<Twin>(Twin{made.get(), nullptr, 0});
    if (set_extra(made.get(), twin_index, twin.get()) < 0) return nullptr;
    twin.release()->original = Py_NewRef(original);
    return made.release();
}

}  // namespace

bool is_rewritten(PyObject* code) { return twin_of(code) != nullptr; }

PyObject* original_of(PyObject* code) {
    const Twin* twin = twin_of(code);
    if (twin == nullptr) return Py_NewRef(code);
    if (twin->original == nullptr && !read(twin->source)) return nullptr;
    return Py_NewRef(twin->original != nullptr ? twin->original : code);
}

PyObject* running_of(PyObject* code) {
    Running* found = running(code);
    if (found == nullptr) return Py_NewRef(code);
    if (found->code != nullptr) return Py_NewRef(found->code);
    if (found->parent == nullptr) return Py_NewRef(code);
    PyObject* made = make_again(code, *found);
    if (made != nullptr) found->code = made;
    return made;
}

PyObject* replaced(PyObject* code, PyObject* keywords, PyObject* (*replace)(PyObject*, PyObject*)) {
    const Owned original(original_of(code));
    if (!original) return nullptr;
    Owned result(replace(original.get(), keywords));
    if (!result || !is_harmless(keywords)) return result.release();
    Owned parent(running_of(original.get()));
    if (!parent) return nullptr;
    if (!is_rewritten(parent.get())) return result.release();
    replace_attributes = replace;
    auto made = std::make_unique<Running>(Running{nullptr, nullptr, PyDict_Copy(keywords)});
    made->parent = parent.release();
    if (made->keywords == nullptr || set_extra(result.get(), running_index, made.get()) < 0) {
        end_running(made.release());
        return nullptr;
    }
    made.release();
    return result.release();
}

bool prepare_twins(PyObject* module) {
    interpreter = PyInterpreterState_Get();
    twin_index = request_index(end_twin);
    running_index = request_index(end_running);
    if (twin_index < 0 || running_index < 0) {
        PyErr_SetString(PyExc_RuntimeError, "code objects have no room left for marks");
        return false;
    }
    return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace mopsus::python
