// Names of places as the core has them: bytes, which need not be UTF-8 where they are the name of a file.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace mopsus::python {

// What Python read with "surrogateescape" becomes the bytes that it was; any other lone surrogate becomes an escape.
inline std::string place_name(nanobind::str text) {
    Py_ssize_t size = 0;
    if (const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {data, static_cast<std::size_t>(size)};
    PyObject* bytes = nullptr;
    for (const char* errors : {"surrogateescape", "backslashreplace"}) {
        PyErr_Clear();
        bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", errors);
        if (bytes != nullptr) break;
    }
    if (bytes == nullptr) throw nanobind::python_error();
    const nanobind::object owned = nanobind::steal(bytes);
    return {PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}

}  // namespace mopsus::python
