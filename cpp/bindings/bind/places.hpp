// The lines of Python that run, as `file:line`. What is kept of one is looked up by its instruction, so that the text
// is made once.
#pragma once

#include <Python.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mopsus/engine/key.hpp"
#include "running.hpp"

namespace mopsus::python {

// Functions of ours are never where something comes from.
inline std::unordered_set<PyObject*> hidden_code;
// What these functions of ours tell happens nowhere in the program: its end, for example.
inline std::unordered_set<PyObject*> placeless_code;

template <class Kept>
class Places {
public:
    // What is kept of the line that runs, made from its text if it is new; nothing if no code of the program runs.
    template <class Make>
    const Kept* here(Make&& make) {
        // Mostly code of the program runs, and has been here before.
        const Instruction running = running_instruction();
        if (running.code == nullptr) return nullptr;
        Recent& recent = recent_[Hash()(running) % kRecent];
        if (recent.at == running) return recent.kept;
        if (const auto found = known_.find(running); found != known_.end() && found->second.is_own) {
            recent = {running, &found->second.kept};
            return recent.kept;
        }
        PyFrameObject* innermost = PyThreadState_GetFrame(PyThreadState_Get());
        Py_INCREF(innermost);
        PyFrameObject* frame = outermost(innermost, [](PyObject* code) { return hidden_code.contains(code); });
        if (frame != nullptr && is_placeless(frame)) {
            Py_DECREF(frame);
            frame = nullptr;
        }
        if (frame != nullptr && !folders_.empty()) {
            Py_INCREF(frame);
            PyFrameObject* caller = outermost(frame, [&](PyObject* code) { return is_library(code); });
            if (caller != nullptr) {
                Py_DECREF(frame);
                frame = caller;
            }
        }
        const Kept* kept = frame != nullptr ? &known(frame, make) : nullptr;
        Py_XDECREF(frame);
        Py_DECREF(innermost);
        return kept;
    }

    // From now on, what happens in files below this folder, too, is located where other code called it; those below are
    // other code.
    void look_beyond(std::string folder, std::vector<std::string> but) {
        folders_.push_back({std::move(folder), std::move(but)});
        for (auto& [place, known] : known_) known.is_own = false;
        recent_ = {};
    }

    void clear() {
        recent_ = {};
        for (auto& [place, kept] : known_) Py_DECREF(place.code);
        known_.clear();
        for (auto& [code, is_library] : libraries_) Py_DECREF(code);
        libraries_.clear();
    }

private:
    struct Hash {
        std::size_t operator()(const Instruction& place) const {
            return mix(reinterpret_cast<std::uintptr_t>(place.code),
                       static_cast<std::uint64_t>(place.offset) + 0x9E37ULL);
        }
    };
    struct Known {
        Kept kept;
        bool is_own = false;  // it is always this place, whoever has called
    };

    struct Folder {
        std::string path;
        std::vector<std::string> but;  // folders in it that are none of it
    };

    struct Recent {
        Instruction at;
        const Kept* kept = nullptr;
    };
    static constexpr std::size_t kRecent = 64;

    // Where a frame stands; the frame keeps the code.
    static Instruction place_of(PyFrameObject* frame) {
        auto* code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
        Py_DECREF(code);
        return {code, PyFrame_GetLasti(frame)};
    }

    template <class Make>
    const Kept& known(PyFrameObject* frame, Make&& make) {
        const Instruction place = place_of(frame);
        auto [found, is_new] = known_.try_emplace(place);
        if (is_new) {
            Py_INCREF(place.code);  // so that its address stays its own
            const char* file = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(place.code)->co_filename);
            if (file == nullptr) PyErr_Clear();
            found->second.kept =
                make(std::string(file != nullptr ? file : "?") + ":" + std::to_string(PyFrame_GetLineNumber(frame)));
            found->second.is_own = folders_.empty() || !is_library(place.code);
        }
        return found->second.kept;
    }

    // The first frame, from this one outwards, whose code is not to be skipped; takes the frame, and gives a new one or
    // none.
    template <class Skip>
    static PyFrameObject* outermost(PyFrameObject* frame, Skip&& skip) {
        while (frame != nullptr) {
            auto* code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
            const bool skipped = skip(code);
            Py_DECREF(code);
            if (!skipped) break;
            PyFrameObject* caller = PyFrame_GetBack(frame);
            Py_DECREF(frame);
            frame = caller;
        }
        return frame;
    }

    static bool is_placeless(PyFrameObject* frame) {
        auto* code = reinterpret_cast<PyObject*>(PyFrame_GetCode(frame));
        Py_DECREF(code);
        return placeless_code.contains(code);
    }

    bool is_library(PyObject* code) {
        if (hidden_code.contains(code)) return true;
        auto [found, is_new] = libraries_.try_emplace(code, false);
        if (is_new) {
            Py_INCREF(code);
            const char* file = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code)->co_filename);
            if (file == nullptr) PyErr_Clear();
            const std::string_view name = file != nullptr ? file : "?";
            found->second =
                name.starts_with("<frozen ") ||
                std::any_of(folders_.begin(), folders_.end(), [&](const Folder& folder) {
                    const auto is_below = [&](const std::string& one) { return name.starts_with(one); };
                    return is_below(folder.path) && std::none_of(folder.but.begin(), folder.but.end(), is_below);
                });
        }
        return found->second;
    }

    std::unordered_map<Instruction, Known, Hash> known_;
    std::array<Recent, kRecent> recent_;  // of places of the program's own
    std::vector<Folder> folders_;
    std::unordered_map<PyObject*, bool> libraries_;
};

}  // namespace mopsus::python
