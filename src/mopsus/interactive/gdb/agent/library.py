"""The agent's library in the program: it is loaded by a call, and shares memory with us."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from pathlib import Path
from typing import Any, TypeVar, cast

import gdb

from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.gdb.agent.layout import SIZES, AgentLayout, JournalLayout, SiteLayout
from mopsus.interactive.gdb.agent.threads import do_stop_together
from mopsus.interactive.gdb.trap import lifted

FILE = Path(__file__).parents[3] / "_agent.so"
GATE = "mopsus_agent_gate"
COMMIT = "mopsus_agent_commit"
_NOW = 2
_VALUE = "mopsus_value"
_PAGE = 4096
_PIECES = 1 << 20
"""Bytes that small pieces of memory are cut from."""
_NEAREST = 1 << 16
_FARTHEST = 1 << 30
"""A jump reaches two gigabytes: from any place of a library to any that is not farther from another than this."""

Layout = TypeVar("Layout", bound="ctypes.Structure | ctypes.Array[Any]")


class Memory:
    """Memory that the program has at `address`, and we have, too."""

    def __init__(self, address: int, shared: mmap.mmap, start: int = 0) -> None:
        self.address = address
        self._shared = shared
        self._start = start

    def at(self, layout: type[Layout], offset: int = 0) -> Layout:
        """What is there, to be read and changed in place."""
        return cast("Layout", layout.from_buffer(self._shared, self._start + offset))

    def write(self, offset: int, data: bytes) -> None:
        self._shared[self._start + offset : self._start + offset + len(data)] = data

    def piece(self, offset: int) -> Memory:
        """The rest, from there."""
        return Memory(self.address + offset, self._shared, self._start + offset)


class Library:
    """The library, loaded into the program that is stopped now. `DebuggerError` if that is impossible."""

    def __init__(self) -> None:
        if not FILE.exists():
            raise DebuggerError("the agent is not built for this machine")
        if not do_stop_together():
            raise DebuggerError("this GDB does not stop all threads together; load properties before you attach")
        try:
            if not _call("dlopen", f'"{FILE}"', str(_NOW), kind="void *(*)(const char *, int)"):
                raise DebuggerError("the program refuses to load a library")
            self._check_layout()
            if not _call("mopsus_agent_begin", kind="unsigned long (*)(void)"):
                raise DebuggerError("this kernel is too old")
        except gdb.error as error:
            raise DebuggerError(f"no library can be loaded into the program ({error})") from error
        self.entering = _address("mopsus_agent_entering")
        self.calling = _address("mopsus_agent_calling")
        self._agent = _address("mopsus_agent")
        self._alive = self.get("alive")
        self.process = gdb.selected_inferior().pid
        self._pieces: Memory | None = None
        self._cut = 0

    def _check_layout(self) -> None:
        sizes = read(_address("mopsus_agent_layout"), 4 * len(SIZES))
        if list(struct.unpack(f"<{len(SIZES)}I", sizes)) != SIZES:
            raise DebuggerError("the agent that was built is of another version: build it again")

    @property
    def is_there(self) -> bool:
        """Is it still this process, with the program that it was?"""
        if gdb.selected_inferior().pid != self.process:
            return False
        try:
            head = AgentLayout.from_buffer_copy(read(self._agent, AgentLayout.sites.offset).ljust(_SIZE, b"\0"))
        except gdb.error:
            return False
        return bool(head.alive) and head.process == self.process

    def desert(self) -> None:
        """The program runs, and we cannot stop it any more: the agent takes its hooks out when it is called next."""
        with open(f"/proc/{self.process}/mem", "r+b", buffering=0) as memory:
            memory.seek(self._alive)
            memory.write(bytes(8))

    def put(self, **fields: int) -> None:
        """Let the agent know these."""
        for name, value in fields.items():
            write(self._agent + getattr(AgentLayout, name).offset, value.to_bytes(8, "little"))

    def get(self, field: str) -> int:
        return int.from_bytes(read(self._agent + getattr(AgentLayout, field).offset, 8), "little")

    def journal(self) -> JournalLayout:
        address = self._agent + AgentLayout.journal.offset
        return JournalLayout.from_buffer_copy(read(address, ctypes.sizeof(JournalLayout)))

    def put_site(self, number: int, site: SiteLayout) -> None:
        write(self._site(number), bytes(site))

    def calls(self, number: int) -> int:
        """How often the agent was called for a site since that was written."""
        return int.from_bytes(read(self._site(number) + SiteLayout.calls.offset, 8), "little")

    def _site(self, number: int) -> int:
        return self._agent + AgentLayout.sites.offset + number * ctypes.sizeof(SiteLayout)

    def memory(self, length: int) -> Memory:
        """Memory for data. What nobody has written to costs nothing."""
        length += -length % _PAGE
        file = os.memfd_create("mopsus-agent")
        try:
            os.truncate(file, length)
            path = f"/proc/{os.getpid()}/fd/{file}"
            address = _call(
                "mopsus_agent_share", f'"{path}"', str(length), kind="unsigned long (*)(const char *, unsigned long)"
            )
            if not address:
                raise DebuggerError("the program cannot share memory with the debugger")
            return Memory(address, mmap.mmap(file, length))
        finally:
            os.close(file)

    def piece(self, data: bytes) -> Memory:
        """Memory with this in it. It is never used for anything else: somebody may still be looking at it."""
        if self._pieces is None or self._cut + len(data) > _PIECES:
            self._pieces, self._cut = self.memory(_PIECES), 0
        found = self._pieces.piece(self._cut)
        found.write(0, data)
        self._cut += len(data) + -len(data) % 8
        return found

    def code_near(self, address: int, length: int) -> int:
        """The address of memory for code, within the reach of a jump from an address."""
        page = address - address % _PAGE
        distance = _NEAREST
        while distance < _FARTHEST:
            for place in (page - distance, page + distance):
                if place > 0 and (found := self._code_at(place, length)):
                    return found
            distance += max(_NEAREST, distance >> 4)
        raise DebuggerError("there is no room for hooks near the function")

    def _code_at(self, address: int, length: int) -> int:
        return _call(
            "mopsus_agent_code", str(address), str(length), kind="unsigned long (*)(unsigned long, unsigned long)"
        )


_SIZE = ctypes.sizeof(AgentLayout)


def read(address: int, length: int) -> bytes:
    return bytes(gdb.selected_inferior().read_memory(address, length))


def write(address: int, data: bytes) -> None:
    gdb.selected_inferior().write_memory(address, data)


def _call(function: str, *arguments: str, kind: str) -> int:
    """What a function of the program gives. Nothing else of the program runs meanwhile."""
    with lifted():
        gdb.execute(
            f"with scheduler-locking on -- with unwindonsignal on -- "
            f"set var ${_VALUE} = (unsigned long) (({kind}) {function})({', '.join(arguments)})",
            to_string=True,
        )
    value = gdb.convenience_variable(_VALUE)
    assert value is not None
    return int(value)


def _address(symbol: str) -> int:
    return int(gdb.parse_and_eval(f"(unsigned long) &{symbol}"))
