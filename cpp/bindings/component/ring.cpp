#include "ring.hpp"

#include <nanobind/stl/string.h>

#include <sys/prctl.h>

#include <vector>

#include "outlet.hpp"

namespace nb = nanobind;

namespace mopsus::python {

namespace {

using Micros = std::chrono::microseconds;

PyObject* emit(PyObject* self, PyObject* const* what, Py_ssize_t count) {
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "an occurrence has a kind, a subject, another component and data");
        return nullptr;
    }
    nb::inst_ptr<Outlet>(self)->emit(what);
    Py_RETURN_NONE;
}

PyMethodDef emit_method = {"emit", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(emit)), METH_FASTCALL,
                           "Send an occurrence, if somebody listens."};

// A kind, and then time, location, subject, other and data, as an occurrence; a new reference, or nullptr if something
// else was sent.
PyObject* decode_occurrence(std::uint8_t kind, Decoder& decoder) {
    auto* type = reinterpret_cast<PyTypeObject*>(wire.occurrence);
    nb::object made = nb::steal(type->tp_alloc(type, 7));
    if (!made.is_valid()) return nullptr;
    PyTuple_SET_ITEM(made.ptr(), 0, Py_NewRef(PyTuple_GET_ITEM(wire.kinds, kind)));
    PyTuple_SET_ITEM(made.ptr(), 6, Py_NewRef(Py_None));
    for (const Py_ssize_t place : {4, 5, 1, 2, 3}) {
        PyObject* part = decoder.value();
        if (part == nullptr) return nullptr;
        PyTuple_SET_ITEM(made.ptr(), place, part);
    }
    const auto is = [&](Py_ssize_t k, PyObject* wanted) {
        return reinterpret_cast<PyObject*>(Py_TYPE(PyTuple_GET_ITEM(made.ptr(), k))) == wanted;
    };
    const bool has_function = kind == kFork || kind == kInit;
    const bool sound = is(1, wire.pid) && is(4, reinterpret_cast<PyObject*>(&PyFloat_Type)) &&
                       is(5, reinterpret_cast<PyObject*>(&PyUnicode_Type)) && (!has_function || is(3, wire.function)) &&
                       (kind != kFork || is(2, wire.pid));
    return sound ? made.release().ptr() : nullptr;
}

// A frame as an occurrence; or as a pair of its kind and, of a component that was there already, its init, or what was
// lost. A new reference, or nullptr if the frame is damaged.
PyObject* decode_frame(Bytes frame) {
    if (frame.empty()) return nullptr;
    const auto kind = static_cast<std::uint8_t>(frame[0]);
    Decoder decoder{frame.subspan(1)};
    PyObject* made = nullptr;
    if (kind <= kJoined)
        made = decode_occurrence(kind == kJoined ? std::uint8_t{kInit} : kind, decoder);
    else if (kind == kGap)
        made = decoder.value();
    if (made != nullptr && !decoder.done()) Py_CLEAR(made);
    if (made != nullptr && kind > kRecv) made = Py_BuildValue("iN", static_cast<int>(kind), made);
    PyErr_Clear();
    return made;
}

// A ring as Python reads it.
class Inlet {
public:
    Inlet(const std::string& path, const std::string& spill) : ring_(path, spill) {}

    // Up to so many frames. Where a frame was damaged, a gap of nobody knows whom.
    nb::list read(std::size_t limit) {
        nb::list result;
        while (result.size() < limit) {
            const std::uint64_t before = ring_.damaged();
            const std::optional<Bytes> frame = ring_.next();
            if (ring_.damaged() != before) result.append(nb::make_tuple(static_cast<int>(kGap), nb::none()));
            if (!frame) break;
            PyObject* made = decode_frame(*frame);
            if (made == nullptr) {
                ++undecoded_;
                result.append(nb::make_tuple(static_cast<int>(kGap), nb::none()));
            } else {
                result.append(nb::steal(made));
            }
        }
        ring_.release();
        return result;
    }

    RingReader& ring() { return ring_; }
    std::uint64_t damaged() const { return ring_.damaged() + undecoded_; }

private:
    RingReader ring_;
    std::uint64_t undecoded_ = 0;
};

void wait(Board& board, nb::list inlets, std::uint32_t enlisted, std::uint32_t generation, double seconds) {
    std::vector<RingReader*> rings;
    for (nb::handle each : inlets) rings.push_back(&nb::cast<Inlet&>(each).ring());
    const Micros limit(static_cast<std::int64_t>(seconds * 1e6));
    nb::gil_scoped_release released;
    board.wait(rings, enlisted, generation, limit);
}

WhenFull when_full(const std::string& name) {
    if (name == "block") return WhenFull::Block;
    if (name == "drop") return WhenFull::Drop;
    if (name == "grow") return WhenFull::Grow;
    throw nb::value_error("block, drop or grow");
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Outlet>(self)->renew());
    return 0;
}

int clear(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<Outlet>(self)->clear_renew();
    return 0;
}

PyType_Slot outlet_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {0, nullptr},
};

void use_wire(nb::tuple types) {
    PyObject** const places[] = {&wire.occurrence, &wire.function,  &wire.kinds,  &wire.atom,
                                 &wire.pid,        &wire.reference, &wire.string, &wire.enumeration,
                                 &wire.shape,      &wire.member,    &wire.opaque};
    if (types.size() != std::size(places)) throw nb::value_error("not all types of the wire");
    std::size_t at = 0;
    for (PyObject** place : places) *place = nb::object(types[at++]).release().ptr();
}

nb::bytes encode(nb::handle value) {
    Buffer buffer;
    Encoder encoder{buffer, 1U << 30};
    if (!encoder.value(value.ptr())) throw nb::value_error("too large or too deep");
    return nb::bytes(buffer.bytes().data(), buffer.size());
}

nb::object decode(nb::bytes data) {
    Decoder decoder{{static_cast<const std::byte*>(data.data()), data.size()}};
    nb::object made = nb::steal(decoder.value());
    if (!made.is_valid() || !decoder.done()) throw nb::value_error("damaged");
    return made;
}

}  // namespace

void add_rings(nb::module_& module) {
    nb::exception<SharedError>(module, "SharedError", PyExc_OSError);
    module.def("use_wire", &use_wire, nb::arg("types"));
    module.def("encode", &encode, nb::arg("value").none());
    module.def("decode", &decode, nb::arg("data"));
    // Naps are then as long as asked for, not 50 microseconds longer.
    module.def("nap_precisely", [] { ::prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0); });

    nb::class_<Board>(module, "Board")
        .def_static("create", &Board::create, nb::arg("path"))
        .def_static("open", &Board::open, nb::arg("path"))
        .def_prop_ro("generation", &Board::generation)
        .def_prop_ro("enlisted", &Board::enlisted)
        .def(
            "attend",
            [](Board& self, std::uint64_t capacity, const std::string& full) {
                return self.attend({capacity, when_full(full)});
            },
            nb::arg("capacity"), nb::arg("when_full"))
        .def("dismiss", &Board::dismiss)
        .def("attended", &Board::attended)
        .def("enlist", &Board::enlist)
        .def("wait", &wait, nb::arg("inlets"), nb::arg("enlisted"), nb::arg("generation"), nb::arg("seconds"));

    nb::class_<Outlet>(module, "Outlet", nb::type_slots(outlet_slots))
        .def(
            "__init__",
            [](Outlet* self, const std::string& board, nb::handle renew) { new (self) Outlet(board, renew.ptr()); },
            nb::arg("board"), nb::arg("renew"))
        .def_prop_ro("emit", [](nb::handle self) { return nb::steal(PyCFunction_New(&emit_method, self.ptr())); })
        .def("open", &Outlet::open, nb::arg("path"), nb::arg("spill"), nb::arg("generation"))
        .def("begin", &Outlet::begin)
        .def("close", &Outlet::close, nb::arg("generation"), nb::arg("said"))
        .def("forget", &Outlet::forget)
        .def_prop_ro("board", &Outlet::board, nb::rv_policy::reference_internal)
        .def_ro("known", &Outlet::known)
        .def_ro("written", &Outlet::written)
        .def_ro("lost", &Outlet::lost)
        .def_ro("opaque", &Outlet::opaque)
        .def_ro("faults", &Outlet::faults);

    nb::class_<Inlet>(module, "Inlet")
        .def(nb::init<const std::string&, const std::string&>(), nb::arg("path"), nb::arg("spill"))
        .def("read", &Inlet::read, nb::arg("limit"))
        .def_prop_ro("pending", [](Inlet& self) { return self.ring().pending(); })
        .def_prop_ro("writer", [](Inlet& self) { return self.ring().writer(); })
        .def_prop_ro("closed", [](Inlet& self) { return self.ring().closed(); })
        .def("writer_alive", [](Inlet& self) { return self.ring().writer_alive(); })
        .def_prop_ro("lost", [](Inlet& self) { return self.ring().lost(); })
        .def_prop_ro("damaged", &Inlet::damaged);
}

}  // namespace mopsus::python
