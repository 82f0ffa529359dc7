"""The debuggers that there are, and which of them a program needs.

The built-in ones are known by module; others are found under the entry-point group `mopsus.debuggers`. What is loaded
is a `Backend`: it decides whether it can debug a program, and runs a session.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.outcome import Outcome
from mopsus.interactive.setup import Setup
from mopsus.plugins import Plugins

GROUP = "mopsus.debuggers"
BUILT_IN = {"gdb": "mopsus.interactive.gdb.launch", "python": "mopsus.interactive.python.launch"}

_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Backend:
    """A debugger as `mopsus debug` sees it."""

    name: str
    takes: Callable[[Path], bool]
    """Can it debug the program in this file?"""
    run: Callable[[Setup], Outcome]
    """From the first instruction to the end. With `Setup.batch` nobody is asked anything; otherwise the developer has
    the terminal."""


def choose(setup: Setup, wanted: str | None) -> Backend:
    """The debugger of that name, or the first that takes the program; `DebuggerError` if there is none."""
    if wanted is not None:
        return load_backend(wanted)
    if setup.process is not None:
        return load_backend("gdb")
    if setup.program[:1] == ("-m",):
        return load_backend("python")
    path = find_program(setup.program[0])
    for name in backend_names():
        backend = load_backend(name)
        if backend.takes(path):
            return backend
    hint = "debug the program that it starts, or choose a debugger by --debugger"
    raise DebuggerError(f"{path} is neither a compiled program nor a Python script", hint=hint, code="DEBUG-004")


def find_program(name: str) -> Path:
    """The file of a program, looked for as a shell does; `DebuggerError` if there is none."""
    if os.path.exists(name):  # a `Path` would raise an error over a name that no file can have
        return Path(name)
    found = shutil.which(name) if os.sep not in name else None
    if found is None:
        raise DebuggerError(f"there is no program {name}", hint="check its name and folder", code="DEBUG-004")
    return Path(found)


def is_compiled(path: Path) -> bool:
    """Is it a program that a processor runs?"""
    return path.is_file() and _start(path).startswith(_ELF)


def is_python(path: Path) -> bool:
    """Is it a Python script, or a folder or archive that `python` would run?"""
    if path.is_dir():
        return (path / "__main__.py").exists()
    if path.suffix in {".py", ".pyz", ".pyw"}:
        return True
    start = _start(path)
    return start.startswith(b"#!") and b"python" in start.split(b"\n", 1)[0]


def load_backend(name: str) -> Backend:
    """The debugger of that name, built in or installed; `DebuggerError` if there is none, or it is broken."""
    return _BACKENDS.load(name)


def backend_names() -> tuple[str, ...]:
    """Every debugger's name: the built-in ones first, then those of installed packages."""
    return _BACKENDS.names()


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(256)
    except OSError as error:
        raise DebuggerError(f"cannot read {path}: {error.strerror}", code="DEBUG-004") from error


_BACKENDS = Plugins(
    what="debugger",
    kind=Backend,
    group=GROUP,
    built_in=BUILT_IN,
    attribute="BACKEND",
    missing=lambda message, hint: DebuggerError(message, hint=hint, code="DEBUG-005"),
    broken=lambda message: DebuggerError(message, code="DEBUG-005"),
)
