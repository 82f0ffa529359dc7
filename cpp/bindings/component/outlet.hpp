// The program's end of a ring: the function that hooks call.
#pragma once

#include <Python.h>

#include <map>
#include <memory>
#include <string>

#include "mopsus/component/ring.hpp"
#include "wire.hpp"

namespace mopsus::python {

// The first byte of a frame: the number of an occurrence's kind, or one of these.
enum FrameKind : std::uint8_t { kFork, kInit, kExit, kSend, kRecv, kJoined, kGap };

// Where this process writes, if somebody listens. All functions need the interpreter lock, which makes writers take
// turns.
class Outlet {
public:
    Outlet(const std::string& board, PyObject* renew) : board_(Board::open(board)), renew_(Py_XNewRef(renew)) {}
    ~Outlet() { Py_XDECREF(renew_); }

    Board& board() { return board_; }
    // An occurrence: kind, subject, other, data. Never leaves an exception: whatever is wrong is counted.
    void emit(PyObject* const* what);
    // Make a ring, because the board is at that generation.
    void open(const std::string& path, const std::string& spill, std::uint32_t generation);
    // Tell of the components that live already, and then of whatever happens. The ring may have to be read meanwhile.
    void begin();
    // Write to none from now on; `said` if the reader shall know that this was on purpose.
    void close(std::uint32_t generation, bool said);
    // In a forked process: the ring is another's.
    void forget();

    PyObject* renew() const { return renew_; }
    void clear_renew() { Py_CLEAR(renew_); }

    std::uint32_t known = 0;  // the generation of the board that was acted upon
    std::uint64_t written = 0;
    std::uint64_t lost = 0;
    std::uint64_t opaque = 0;
    std::uint64_t faults = 0;

private:
    void remember(int kind, PyObject* const* what);
    bool write(Bytes frame);
    bool write_gap();
    void lose(PyObject* const* what);

    Board board_;
    PyObject* renew_;
    // Shared with whoever waits for room in it while another thread closes it.
    std::shared_ptr<RingWriter> ring_;
    std::uint32_t generation_ = 0;  // for which the ring was made
    Board::Terms terms_{};
    std::unique_ptr<Buffer> spare_;
    // How many events of whom were lost since the last gap was told; `everybody_` if it is not known of whom.
    std::map<std::string, std::uint64_t> gap_;
    bool everybody_ = false;
    // Components that live here, with what has to be told of them. Bytes, so that no object lives longer for it.
    std::map<std::string, std::string> living_;
};

}  // namespace mopsus::python
