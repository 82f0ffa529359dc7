"""What the kernel tells GDB's own process, as the tracer, about a thread: registers as they are, and system calls.

GDB gives registers one by one and by name, and says nothing about a system call but its number. Its process may ask the
kernel itself: whoever runs here runs in the thread of GDB that traces the program.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_DETACH, _SEIZE, _INTERRUPT = 17, 0x4206, 0x4207
_GETREGSET, _SETREGSET = 0x4204, 0x4205
_GETSIGMASK, _SETSIGMASK = 0x420A, 0x420B
_GET_SYSCALL_INFO = 0x420E
_GET_RSEQ_CONFIGURATION = 0x420F
_PRSTATUS, _XSTATE = 1, 0x202
_LARGEST = {_PRSTATUS: 1 << 9, _XSTATE: 1 << 15}
_SIGMASK_SIZE = 8

_RAX, _ORIG_RAX, _RIP = 10, 15, 16
_RDX, _RSI, _RDI = 12, 13, 14
_RSP = 19
_KEPT = (0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14)
"""Those that code computes with; but for two that system calls change, with one of which every signal handler ends."""
_SYSCALL_LENGTH = 2
_RESTARTING = {-512, -513, -514, -516}
"""What a system call gives while it is interrupted, for the kernel to see that it must be done again."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


@dataclass(frozen=True, slots=True)
class ThreadState:
    """All registers of a thread, the signals that it blocks, and where it has told the kernel that its restartable
    sequences are: 0 while it has not, because it is only just beginning."""

    general: bytes
    extended: bytes
    blocked: bytes
    sequences: int


@dataclass(frozen=True, slots=True)
class SystemCall:
    """The system call that a thread is entering or leaving."""

    leaving: bool
    arguments: tuple[int, ...] = ()
    result: int | None = None


def get_state(thread: int) -> ThreadState:
    """Of a stopped thread. A system call that it sleeps in is done anew by whoever gets this state."""
    blocked = ctypes.create_string_buffer(_SIGMASK_SIZE)
    _ptrace(_GETSIGMASK, thread, _SIGMASK_SIZE, ctypes.addressof(blocked))
    general = out_of_system_call(_get_set(thread, _PRSTATUS))
    return ThreadState(general, _get_set(thread, _XSTATE), blocked.raw, get_sequences(thread))


def get_registers(thread: int) -> tuple[bytes, int]:
    """Of a stopped thread, what a signal handler leaves as it was: the stack pointer, and a number that stands for all
    others. The same for all threads if it is not for us to ask."""
    try:
        general = _get_set(thread, _PRSTATUS)
    except OSError:
        return b"", 0
    return _word(general, _RSP), hash(tuple(_word(general, each) for each in _KEPT))


def get_sequences(thread: int) -> int:
    """`ThreadState.sequences` as it is now; 0 if the kernel does not tell."""
    buffer = ctypes.create_string_buffer(24)
    with suppress(OSError):
        _ptrace(_GET_RSEQ_CONFIGURATION, thread, len(buffer), ctypes.addressof(buffer))
    return int(struct.unpack_from("<Q", buffer.raw)[0])


def set_state(thread: int, state: ThreadState) -> None:
    """Of a stopped thread."""
    _set_set(thread, _PRSTATUS, state.general)
    _set_set(thread, _XSTATE, state.extended)
    blocked = ctypes.create_string_buffer(state.blocked, _SIGMASK_SIZE)
    _ptrace(_SETSIGMASK, thread, _SIGMASK_SIZE, ctypes.addressof(blocked))


@contextmanager
def traced(process: int) -> Iterator[None]:
    """A process with one thread, which nobody traces, stands while this lasts. This thread traces it."""
    _ptrace(_SEIZE, process, 0, 0)
    try:
        _ptrace(_INTERRUPT, process, 0, 0)
        os.waitpid(process, 0)
        yield
    finally:
        with suppress(OSError):  # it was killed
            _ptrace(_DETACH, process, 0, 0)


def address_of(state: ThreadState) -> int:
    """Where the thread goes on."""
    return int.from_bytes(_word(state.general, _RIP), "little")


def with_arguments(general: bytes, first: int, second: int, third: int) -> bytes:
    """The registers of a thread that is about to do a system call with these."""
    words = list(struct.unpack(f"<{len(general) // 8}q", general))
    words[_RDI], words[_RSI], words[_RDX] = first, second, third
    return struct.pack(f"<{len(words)}q", *words)


def out_of_system_call(general: bytes) -> bytes:
    """The registers of a thread that is in no system call: before one that was interrupted, or after one."""
    words = list(struct.unpack(f"<{len(general) // 8}q", general))
    if words[_ORIG_RAX] >= 0 and words[_RAX] in _RESTARTING:
        words[_RAX] = words[_ORIG_RAX]
        words[_RIP] -= _SYSCALL_LENGTH
    words[_ORIG_RAX] = -1
    return struct.pack(f"<{len(words)}q", *words)


def system_call(thread: int) -> SystemCall | None:
    """The one that a thread is stopped at; None if it is at none."""
    buffer = ctypes.create_string_buffer(128)
    _ptrace(_GET_SYSCALL_INFO, thread, len(buffer), ctypes.addressof(buffer))
    kind = buffer.raw[0]
    if kind == 1:
        return SystemCall(False, struct.unpack_from("<6q", buffer.raw, 32))
    if kind == 2:
        return SystemCall(True, result=struct.unpack_from("<q", buffer.raw, 24)[0])
    return None


def _word(general: bytes, number: int) -> bytes:
    return general[8 * number : 8 * number + 8]


def _get_set(thread: int, kind: int) -> bytes:
    buffer = ctypes.create_string_buffer(_LARGEST[kind])
    vector = _Vector(ctypes.addressof(buffer), len(buffer))
    _ptrace(_GETREGSET, thread, kind, ctypes.addressof(vector))
    return buffer.raw[: vector.length]


def _set_set(thread: int, kind: int, data: bytes) -> None:
    buffer = ctypes.create_string_buffer(data, len(data))
    vector = _Vector(ctypes.addressof(buffer), len(data))
    _ptrace(_SETREGSET, thread, kind, ctypes.addressof(vector))


def _ptrace(request: int, thread: int, address: int, data: int) -> None:
    if _libc.ptrace(request, thread, address, data) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace({request:#x}) of thread {thread}: {os.strerror(number)}")
