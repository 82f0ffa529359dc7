// The lines of Python that run, as `file:line`. What is kept of one is looked up by its instruction, so that the text is made once.
#pragma once

#include <Python.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "mopsus/key.hpp"

namespace mopsus::python {

// Functions of ours are never where something comes from.
inline std::unordered_set<PyObject*> hidden_code;

template <class Kept>
class Places {
public:
    // What is kept of the line that runs, made from its text if it is new; nothing if no code of the program runs.
    template <class Make>
    const Kept* here(Make&& make) {
        PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
        PyObject* code = nullptr;
        while (frame != nullptr) {
            code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
            if (!hidden_code.contains(code)) break;
            Py_DECREF(code);
            PyFrameObject* caller = PyFrame_GetBack(frame);
            Py_DECREF(frame);
            frame = caller;
        }
        if (frame == nullptr) return nullptr;
        auto [found, is_new] = known_.try_emplace(Place{code, PyFrame_GetLasti(frame)});
        if (is_new) {  // keeps the code object, so that its address stays its own
            const char* file = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code)->co_filename);
            if (file == nullptr) PyErr_Clear();
            found->second = make(std::string(file != nullptr ? file : "?") + ":" + std::to_string(PyFrame_GetLineNumber(frame)));
        } else {
            Py_DECREF(code);
        }
        Py_DECREF(frame);
        return &found->second;
    }

    void clear() {
        for (auto& [place, kept] : known_) Py_DECREF(place.code);
        known_.clear();
    }

private:
    struct Place {
        PyObject* code;
        int instruction;
        bool operator==(const Place&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Place& place) const {
            return mix(reinterpret_cast<std::uintptr_t>(place.code), static_cast<std::uint64_t>(place.instruction) + 0x9E37ULL);
        }
    };
    std::unordered_map<Place, Kept, Hash> known_;
};

}  // namespace mopsus::python
