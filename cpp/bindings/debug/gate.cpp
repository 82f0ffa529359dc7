// `Gate`: what the interpreter calls when code of a debugged program starts and returns.
//
// Events that only monitors hear of are sent from here, with no Python in between. All else is passed on to the
// functions of `interactive/python` that know what to do, and so is everything that comes while one of them works in
// another thread, or while an event of another thread is being sent: they know how to wait. What their own thread does
// meanwhile is nobody's.
#define Py_BUILD_CORE 1  // see feeds.hpp
#include "gate.hpp"

#include <structmember.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include "feeds.hpp"
#include "bind/saved_error.hpp"

namespace mopsus::python {

namespace {

// Threads that wait until no event of another thread is on its way. All but the waiting itself happens under the
// interpreter's lock.
class Queue {
public:
    void wait() {
        const std::uint64_t before = done_;
        ++waiting_;
        Py_BEGIN_ALLOW_THREADS;
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return done_ != before; });
        lock.unlock();
        Py_END_ALLOW_THREADS;
        --waiting_;
    }
    void wake() {
        if (waiting_ == 0) return;
        const std::lock_guard lock(mutex_);
        ++done_;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<std::uint64_t> done_ = 0;
    unsigned waiting_ = 0;
};

// What is done about some code.
struct Known {
    Owned code;                      // so that its address stays its own
    std::shared_ptr<const Fed> fed;  // held by whoever serves it: an event may lead to its being taken away
    bool ignored = false;            // nobody wants to know of it
};

constexpr std::size_t kRecent = 64;

struct Recent {
    PyObject* code = nullptr;
    const Known* known = nullptr;
};

struct Gate {
    PyObject_HEAD
    PyObject *started, *returned, *unwound, *traced, *settle;  // functions of Python
    unsigned long holder;                                      // the thread in which they work, or 0
    unsigned long sender;                                      // the thread that sends an event, or 0
    unsigned long pending;                                     // the thread whose event wants the program to stop, or 0
    double began;                // when the program did, by the clock that never goes back
    char stepping;               // everything is to be passed on
    PyObject* later;             // to be called when the debugger is not at work, or null
    unsigned long later_thread;  // in this thread, which is the main one
    std::unordered_map<PyObject*, Known> known;
    Recent recent[kRecent];
    std::unordered_map<const Frame*, Call> calls;
    Queue queue;
};

Gate* as_gate(PyObject* object) { return reinterpret_cast<Gate*>(object); }

thread_local unsigned depth = 0;  // how often the interpreter waits for the debugger, in this thread

// Is the debugger at work in this thread?
bool is_within(const Gate* gate) { return depth > 0 || gate->holder == PyThread_get_thread_ident(); }

// The main thread calls what waits as soon as it goes on with the program, where the interpreter looks for signals.
void call_later(Gate* gate) {
    if (gate->later == nullptr || gate->later_thread != PyThread_get_thread_ident() || is_within(gate)) return;
    const auto call = [](void* function) {
        const Owned wanted(static_cast<PyObject*>(function));
        const Owned done(PyObject_CallNoArgs(wanted.get()));
        return done ? 0 : -1;
    };
    if (Py_AddPendingCall(call, gate->later) == 0) gate->later = nullptr;  // else the next time: too much waits there
}

// The interpreter waits for the debugger.
class Within {
public:
    explicit Within(Gate* gate) : gate_(gate) { ++depth; }
    ~Within() {
        --depth;
        call_later(gate_);
    }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

private:
    Gate* gate_;
};

enum class Turn { Ours, Nobodys, Passed };

// May events be sent from here, now?
Turn turn(const Gate* gate) {
    if (gate->holder == 0 && gate->pending == 0) return Turn::Ours;
    return gate->holder == PyThread_get_thread_ident() ? Turn::Nobodys : Turn::Passed;
}

// What is known of some code. Mostly it is code that was asked for a moment ago.
const Known& find(Gate* gate, PyObject* code) {
    Recent& recent = gate->recent[(reinterpret_cast<std::uintptr_t>(code) >> 5) % kRecent];
    if (recent.code != code) {
        static const Known nothing;
        const auto found = gate->known.find(code);
        recent = {code, found == gate->known.end() ? &nothing : &found->second};
    }
    return *recent.known;
}

// What is known changes.
void forget_recent(Gate* gate) { std::fill(std::begin(gate->recent), std::end(gate->recent), Recent{}); }

// Nobody has to wait any more for an event that wants the program to stop.
void settled(Gate* gate) {
    gate->pending = 0;
    gate->queue.wake();
}

// When events of this thread have been sent: does one of them want the program to stop? An error that sending left
// stays.
Done settle(Gate* gate, Done sent) {
    if (gate->pending == 0 || gate->pending != PyThread_get_thread_ident()) return sent;
    const Owned frame(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
    const auto call = [&] {
        const Owned done(PyObject_CallOneArg(gate->settle, frame.get()));
        settled(gate);
        return done ? sent : Done::Failed;
    };
    if (sent != Done::Failed) return call();
    const SavedError saved;
    return call();
}

// While events are sent, what their thread does is nobody's: code of a property may call what is watched.
class Sending {
public:
    explicit Sending(Gate* gate) : gate_(gate), thread_(PyThread_get_thread_ident()) {
        gate_->holder = gate_->sender = thread_;
    }
    ~Sending() {
        if (gate_->holder == thread_) gate_->holder = 0;
        gate_->sender = 0;
        gate_->queue.wake();
    }
    Sending(const Sending&) = delete;
    Sending& operator=(const Sending&) = delete;

private:
    Gate* gate_;
    unsigned long thread_;
};

Done send_at_start(Gate* gate, const std::shared_ptr<const Fed>& fed, const Frame* frame) {
    const Sending sending(gate);
    Values now, later;
    if (const Done done = now.take(fed->before, frame); done != Done::Yes) return done;
    if (const Done done = later.take(fed->after, frame); done != Done::Yes) return done;
    if (!fed->after.empty()) {
        gate->calls.erase(frame);
        gate->calls.emplace(frame, Call{fed, std::move(later)});
    }
    return now.send(fed->before, gate->began) ? Done::Yes : Done::Failed;
}

// A call that was entered when other events were wanted is for somebody else: see `recall`.
Done send_at_return(Gate* gate, const std::shared_ptr<const Fed>& fed, const Frame* frame, PyObject* result) {
    const auto found = gate->calls.find(frame);
    if (found == gate->calls.end() || found->second.fed != fed) return Done::No;
    const Sending sending(gate);
    if (const Done done = found->second.values.take_result(fed->after, result); done != Done::Yes) return done;
    const Values taken = std::move(gate->calls.extract(frame).mapped().values);
    return taken.send(fed->after, gate->began) ? Done::Yes : Done::Failed;
}

Done start(Gate* gate, const std::shared_ptr<const Fed>& fed, const Frame* frame) {
    return settle(gate, send_at_start(gate, fed, frame));
}

Done finish(Gate* gate, const std::shared_ptr<const Fed>& fed, const Frame* frame, PyObject* result) {
    return settle(gate, send_at_return(gate, fed, frame, result));
}

Done abandon(Gate* gate, const Frame* frame) {
    const auto gone = gate->calls.extract(frame);
    return gone.empty() ? Done::No : Done::Yes;
}

// ---- called by sys.monitoring ----

#if PY_VERSION_HEX >= 0x030C0000

// The frame that runs some code now.
const Frame* current(PyObject* code) {
#if PY_VERSION_HEX >= 0x030D0000
    const Frame* frame = PyThreadState_Get()->current_frame;
    return frame != nullptr && frame->f_executable == code ? frame : nullptr;
#else
    const Frame* frame = PyThreadState_Get()->cframe->current_frame;
    return frame != nullptr && reinterpret_cast<PyObject*>(frame->f_code) == code ? frame : nullptr;
#endif
}

template <class Work>
PyObject* serve(Gate* gate, PyObject* const* args, Py_ssize_t count, PyObject* otherwise, Work&& work) {
    const Within within(gate);
    if (const auto fed = find(gate, args[0]).fed) {
        const Turn now = turn(gate);
        if (now == Turn::Nobodys) Py_RETURN_NONE;
        const Frame* frame = current(args[0]);
        if (now == Turn::Ours && frame != nullptr) {
            switch (work(fed, frame)) {
                case Done::Yes: Py_RETURN_NONE;
                case Done::Failed: return nullptr;
                case Done::No: break;
            }
        }
    }
    return PyObject_Vectorcall(otherwise, args, static_cast<std::size_t>(count), nullptr);
}

PyObject* started(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    Gate* gate = as_gate(object);
    return serve(gate, args, count, gate->started,
                 [&](const auto& fed, const Frame* frame) { return start(gate, fed, frame); });
}

PyObject* returned(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    Gate* gate = as_gate(object);
    return serve(gate, args, count, gate->returned,
                 [&](const auto& fed, const Frame* frame) { return finish(gate, fed, frame, args[2]); });
}

PyObject* unwound(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    Gate* gate = as_gate(object);
    return serve(gate, args, count, gate->unwound,
                 [&](const auto&, const Frame* frame) { return abandon(gate, frame); });
}

#else

// There is nobody who would call them.
PyObject* started(PyObject*, PyObject* const*, Py_ssize_t) { Py_RETURN_NONE; }
PyObject* returned(PyObject*, PyObject* const*, Py_ssize_t) { Py_RETURN_NONE; }
PyObject* unwound(PyObject*, PyObject* const*, Py_ssize_t) { Py_RETURN_NONE; }

#endif

// ---- called by the trace function of Python 3.11 ----

#if PY_VERSION_HEX < 0x030C0000

PyObject* event_name(int what) {
    static PyObject* const names[] = {
        PyUnicode_InternFromString("call"),
        PyUnicode_InternFromString("exception"),
        PyUnicode_InternFromString("line"),
        PyUnicode_InternFromString("return"),
        nullptr,
        nullptr,
        nullptr,
        PyUnicode_InternFromString("opcode"),
    };
    return names[what];
}

Done trace_fed(Gate* gate, const std::shared_ptr<const Fed>& fed, const Frame* frame, int what, PyObject* arg) {
    if (what == PyTrace_CALL) return start(gate, fed, frame);
    if (what != PyTrace_RETURN) return Done::Yes;
    return arg != nullptr ? finish(gate, fed, frame, arg) : abandon(gate, frame);
}

int trace(PyObject* object, PyFrameObject* frame, int what, PyObject* arg) {
    Gate* gate = as_gate(object);
    if (event_name(what) == nullptr) return 0;
    const Owned code(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const Known& known = find(gate, code.get());
    if (what == PyTrace_CALL && !gate->stepping && (known.ignored || known.fed)) frame->f_trace_lines = 0;
    if (known.ignored && !gate->stepping) return 0;
    const Within within(gate);
    Done done = Done::No;
    if (const auto fed = known.fed) {
        const Turn now = turn(gate);
        if (now == Turn::Nobodys) return 0;
        if (now == Turn::Ours) done = trace_fed(gate, fed, frame->f_frame, what, arg);
        if (done == Done::Failed) return -1;
        if (done == Done::Yes && !gate->stepping) return 0;
    }
    PyObject* const args[] = {reinterpret_cast<PyObject*>(frame), event_name(what), arg != nullptr ? arg : Py_None,
                              done == Done::Yes ? Py_True : Py_False};
    const Owned passed(PyObject_Vectorcall(gate->traced, args, 4, nullptr));
    return passed ? 0 : -1;
}

#endif

PyObject* install(PyObject* object, PyObject*) {
#if PY_VERSION_HEX < 0x030C0000
    PyEval_SetTrace(trace, object);
#else
    (void)object;
#endif
    Py_RETURN_NONE;
}

PyObject* uninstall(PyObject*, PyObject*) {
    PyEval_SetTrace(nullptr, nullptr);
    Py_RETURN_NONE;
}

// ---- which code ----

// What is known of some code, to be changed.
Known& known_of(Gate* gate, PyObject* code) {
    forget_recent(gate);
    Known& known = gate->known[code];
    if (!known.code) known.code = Owned(Py_NewRef(code));
    return known;
}

// Its arguments are where the interpreter keeps variables; whoever calls this says which are there.
PyObject* feed(PyObject* object, PyObject* args) {
    PyObject *code = nullptr, *before = nullptr, *after = nullptr;
    if (!PyArg_ParseTuple(args, "OOO", &code, &before, &after)) return nullptr;
    auto fed = std::make_shared<Fed>();
    if (!read_feeds(fed->before, before) || !read_feeds(fed->after, after)) return nullptr;
    const auto* compiled = reinterpret_cast<PyCodeObject*>(code);
    const char* file = PyUnicode_AsUTF8(compiled->co_filename);
    if (file == nullptr) return nullptr;
    const std::string first = std::string(file) + ":" + std::to_string(compiled->co_firstlineno);
    for (Feed& each : fed->before)  // these come from the first line; a call returns from any
        if (each.monitor != nullptr) each.place = each.monitor->core().location(first, false);
    const auto old = std::exchange(known_of(as_gate(object), code).fed, std::move(fed));
    Py_RETURN_NONE;
}

PyObject* starve(PyObject* object, PyObject* code) {
    if (find(as_gate(object), code).fed) {
        const auto old = std::exchange(known_of(as_gate(object), code).fed, nullptr);
    }
    Py_RETURN_NONE;
}

PyObject* recall(PyObject* object, PyObject* frame) {
    if (!PyFrame_Check(frame)) return PyErr_Format(PyExc_TypeError, "a frame is needed");
    const auto gone = as_gate(object)->calls.extract(reinterpret_cast<PyFrameObject*>(frame)->f_frame);
    if (gone.empty()) return PyList_New(0);
    return gone.mapped().values.list(gone.mapped().fed->after).release();
}

bool others(const Gate* gate) {
    const unsigned long here = PyThread_get_thread_ident();
    return (gate->sender != 0 && gate->sender != here) || (gate->pending != 0 && gate->pending != here);
}

PyObject* others(PyObject* object, PyObject*) { return PyBool_FromLong(others(as_gate(object))); }

PyObject* wait(PyObject* object, PyObject*) {
    while (others(as_gate(object))) as_gate(object)->queue.wait();
    Py_RETURN_NONE;
}

PyObject* settled(PyObject* object, PyObject*) {
    settled(as_gate(object));
    Py_RETURN_NONE;
}

PyObject* ignore(PyObject* object, PyObject* args) {
    PyObject* code = nullptr;
    int wanted = 0;
    if (!PyArg_ParseTuple(args, "Op", &code, &wanted)) return nullptr;
    if (find(as_gate(object), code).ignored != (wanted != 0)) known_of(as_gate(object), code).ignored = wanted != 0;
    Py_RETURN_NONE;
}

PyObject* within(PyObject* object, PyObject*) { return PyBool_FromLong(is_within(as_gate(object))); }

PyObject* later(PyObject* object, PyObject* function) {
    Gate* gate = as_gate(object);
    Py_XSETREF(gate->later, Py_NewRef(function));
    gate->later_thread = PyThread_get_thread_ident();
    Py_RETURN_NONE;
}

PyObject* left(PyObject* object, PyObject*) {
    call_later(as_gate(object));
    Py_RETURN_NONE;
}

// ---- its life ----

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* named) {
    static const char* names[] = {"started", "returned", "unwound", "traced", "settle", nullptr};
    PyObject* functions[5] = {};
    if (!PyArg_ParseTupleAndKeywords(args, named, "OOOOO", const_cast<char**>(names), &functions[0], &functions[1],
                                     &functions[2], &functions[3], &functions[4]))
        return nullptr;
    PyObject* object = type->tp_alloc(type, 0);
    if (object == nullptr) return nullptr;
    Gate* gate = as_gate(object);
    new (&gate->known) decltype(gate->known)();
    forget_recent(gate);
    new (&gate->calls) decltype(gate->calls)();
    new (&gate->queue) Queue();
    gate->started = Py_NewRef(functions[0]);
    gate->returned = Py_NewRef(functions[1]);
    gate->unwound = Py_NewRef(functions[2]);
    gate->traced = Py_NewRef(functions[3]);
    gate->settle = Py_NewRef(functions[4]);
    return object;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    const Gate* gate = as_gate(object);
    Py_VISIT(Py_TYPE(object));
    for (PyObject* function : {gate->started, gate->returned, gate->unwound, gate->traced, gate->settle, gate->later})
        Py_VISIT(function);
    for (const auto& [code, known] : gate->known)
        if (known.fed)
            if (const int result = known.fed->traverse(visit, arg)) return result;
    for (const auto& [frame, call] : gate->calls)
        if (const int result = call.values.traverse(visit, arg)) return result;
    return 0;
}

int clear(PyObject* object) {
    Gate* gate = as_gate(object);
    for (PyObject** function :
         {&gate->started, &gate->returned, &gate->unwound, &gate->traced, &gate->settle, &gate->later})
        Py_CLEAR(*function);
    forget_recent(gate);
    const auto known = std::exchange(gate->known, {});
    const auto calls = std::exchange(gate->calls, {});
    return 0;
}

void dealloc(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    clear(object);
    Gate* gate = as_gate(object);
    std::destroy_at(&gate->known);
    std::destroy_at(&gate->calls);
    std::destroy_at(&gate->queue);
    type->tp_free(object);
    Py_DECREF(type);
}

template <class Function>
PyCFunction as_function(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"started", as_function(started), METH_FASTCALL, "For PY_START."},
    {"returned", as_function(returned), METH_FASTCALL, "For PY_RETURN."},
    {"unwound", as_function(unwound), METH_FASTCALL, "For PY_UNWIND."},
    {"install", install, METH_NOARGS, "Trace this thread, on Python 3.11."},
    {"uninstall", uninstall, METH_NOARGS, "Trace this thread no more."},
    {"feed", feed, METH_VARARGS, "Send these events when some code starts, and when it returns."},
    {"starve", starve, METH_O, "Pass on what happens to some code."},
    {"recall", recall, METH_O,
     "What was taken of a call that somebody else is told to return, which is forgotten here."},
    {"others", others, METH_NOARGS, "Is an event of another thread being sent, or to stop the program?"},
    {"wait", wait, METH_NOARGS, "Wait until there is none."},
    {"settled", settled, METH_NOARGS, "The event that wanted the program to stop has stopped it."},
    {"ignore", ignore, METH_VARARGS, "Neither send nor pass on anything of some code, or do again."},
    {"within", within, METH_NOARGS, "Is the debugger at work in this thread?"},
    {"later", later, METH_O,
     "Call a function in this thread, which is the main one, when the debugger is not at work in it any more."},
    {"left", left, METH_NOARGS, "The debugger may not be at work any more in this thread."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"holder", T_ULONG, offsetof(Gate, holder), 0, "The thread in which the debugger is at work, or 0."},
    {"pending", T_ULONG, offsetof(Gate, pending), 0, "The thread whose event wants the program to stop, or 0."},
    {"began", T_DOUBLE, offsetof(Gate, began), 0, "When the program began, by `time.monotonic`."},
    {"stepping", T_BOOL, offsetof(Gate, stepping), 0, "Everything is to be passed on."},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>("What the interpreter calls when code of a debugged program starts and returns.")},
    {0, nullptr},
};

PyType_Spec spec = {"mopsus._core.Gate", sizeof(Gate), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

bool prepare_gates(PyObject* module) {
    const Owned type(PyType_FromSpec(&spec));
    return type && PyModule_AddObjectRef(module, "Gate", type.get()) == 0;
}

}  // namespace mopsus::python
