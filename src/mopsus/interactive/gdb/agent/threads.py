"""The threads of the program, as hooks must know them: which code each of them is in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath

import gdb

_OUTERMOST = {"main", "start_thread", "clone", "clone3", "_start"}
"""Below these on the stack, the C library only waits for them to return."""
_LIBRARY = re.compile(r"(ld|libc|libpthread|libdl)[-.]")
_LOADER = re.compile(r"ld[-.]")
_LOCKING = re.compile(r"alloc|free|brk|mmap|munmap|madvise|dl|arena|_int_|fork|clone|tls|atexit")
"""Functions of the C library that may hold what loading a library needs, while a thread waits in them."""
_SYSTEM_CALL = b"\x0f\x05"


_OF_LIBRARY = 3 << 31
"""Signals 32 and 33, which the C library has for itself."""
_SETTING = "target-non-stop"


def stop_together() -> None:
    """Let GDB stop all threads before it asks a breakpoint what to do: otherwise they run on while we change what they
    run, or are in the midst of. A program that it has already stays as it is."""
    if not gdb.selected_inferior().pid:
        gdb.execute(f"maintenance set {_SETTING} off")


def do_stop_together() -> bool:
    said = gdb.execute(f"maintenance show {_SETTING}", to_string=True)
    return not gdb.parameter("non-stop") and " off" in said


def is_running() -> bool:
    """Does the program run? What runs is then selected: while GDB runs a child that it follows, the parent still is,
    which it has let go."""
    thread = gdb.selected_thread()
    if thread is None:
        threads = (each for inferior in gdb.inferiors() for each in inferior.threads())
        thread = next((each for each in threads if each.is_running()), None)
        if thread is not None:
            thread.switch()
    return thread is not None and thread.is_running()


def each_thread() -> Iterator[gdb.InferiorThread]:
    """Every thread, selected, in its newest frame; afterwards what was selected is so again."""
    selected = gdb.selected_thread()
    if selected is None:
        return
    frame = gdb.selected_frame()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            gdb.newest_frame().select()
            yield thread
    finally:
        if gdb.selected_thread() is not selected:
            selected.switch()
        if frame.is_valid():
            frame.select()


def pc() -> int:
    """Where the selected thread is."""
    return int(gdb.parse_and_eval("$pc"))


def interrupted_at() -> Iterator[int]:
    """Where signals have found the selected thread whose handlers are at work."""
    frame: gdb.Frame | None = gdb.newest_frame() if _has_handlers() else None
    while frame is not None:
        caller = frame.older()
        if frame.type() == gdb.SIGTRAMP_FRAME and caller is not None:
            yield caller.pc()
        frame = caller


def _has_handlers() -> bool:
    """Does the program handle signals? Most do not, and to look through a stack takes a while."""
    status = Path(f"/proc/{gdb.selected_inferior().pid}/status").read_text()
    caught = re.search(r"^SigCgt:\s*(\w+)", status, re.MULTILINE)
    return caught is None or int(caught[1], 16) & ~_OF_LIBRARY != 0


def stack_pointer() -> int:
    return int(gdb.parse_and_eval("(unsigned long) $sp"))


def go_to(address: int) -> None:
    """Let the selected thread go on there."""
    gdb.execute(f"set var $pc = {address}")


def is_within(pointer: int, stack: int, file: str) -> bool:
    """Is the thread with this pointer to its own variables still in a library that it has entered there on its stack?
    It may have jumped out, or be gone. The selected thread has just entered it, maybe once more."""
    selected = gdb.selected_thread()
    for thread in each_thread():
        if int(gdb.parse_and_eval("(unsigned long) $fs_base")) != pointer:
            continue
        frame: gdb.Frame | None = gdb.newest_frame()
        while thread is selected and frame is not None and gdb.solib_name(frame.pc()) == file:
            frame = frame.older()
        while frame is not None and _register(frame, "rsp") <= stack:
            if gdb.solib_name(frame.pc()) == file:
                return True
            frame = frame.older()
    return False


def complete_function(name: str, result: int) -> None:
    """Any thread that is in this function has returned from it, with this result. A signal may have come meanwhile, and
    its handler be at work: then it returns to behind the call."""
    for _ in each_thread():
        frame: gdb.Frame | None = gdb.newest_frame()
        while frame is not None and frame.name() != name:
            frame = frame.older()
        if frame is None:
            continue
        if frame.newer() is None:
            frame.select()
            gdb.execute(f"with confirm off -- return (int) {result}", to_string=True)
        else:
            _complete_interrupted(frame, result)


def _complete_interrupted(frame: gdb.Frame, result: int) -> None:
    """The registers that a frame goes on with are in memory: the signal has saved them there."""
    caller = frame.older()
    assert caller is not None
    values = {name: _register(caller, name) for name in ("rbx", "rbp", "r12", "r13", "r14", "r15", "rsp")}
    level, values["rax"], values["pc"] = frame.level(), result, caller.pc()
    for name, value in values.items():  # each time, all frames are found anew
        gdb.execute(f"frame level {level}", to_string=True)
        gdb.execute(f"set var ${name} = {value}", to_string=True)
    gdb.newest_frame().select()


def _register(frame: gdb.Frame, name: str) -> int:
    return int(frame.read_register(name).cast(gdb.lookup_type("unsigned long")))


def can_load() -> bool:
    """Can the selected thread load a library? The C library must not be in the midst of anything: it would wait for
    itself, or for a thread that stands still."""
    selected = gdb.selected_thread()
    return selected is not None and all(_is_free(thread is selected) for thread in each_thread())


def _is_free(loads: bool) -> bool:
    """Does the selected thread leave the C library alone? One that does not load may wait there."""
    frame: gdb.Frame | None = gdb.newest_frame()
    while frame is not None and frame.name() not in _OUTERMOST:
        file = gdb.solib_name(frame.pc())
        name = "" if file is None else PurePath(file).name
        if _LIBRARY.match(name):
            if loads or _LOADER.match(name) or _LOCKING.search(frame.name() or ""):
                return False
            if frame.level() == 0 and not _waits(frame.pc()):
                return False
        frame = frame.older()
    return True


def _waits(address: int) -> bool:
    """Is the thread in a call of the kernel?"""
    return bytes(gdb.selected_inferior().read_memory(address - 2, 2)) == _SYSTEM_CALL
