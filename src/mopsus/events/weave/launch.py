"""Stage 4: a Python program run as `python script.py` or `python -m module` would run it, but woven."""

from __future__ import annotations

import atexit
import builtins
import gc
import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, Protocol, TypeVar

from mopsus import _core, collecting
from mopsus.events.weave.origin import is_ours
from mopsus.model import MopsusError

F = TypeVar("F", bound=Callable[..., object])

FAILED, INTERRUPTED = 1, 130
_CALLS_OF_RUNPY = 2 if sys.version_info >= (3, 12) else 3


class LaunchError(MopsusError):
    """There is no program to run."""

    code = "WEAVE-001"


@dataclass(frozen=True, slots=True)
class Program:
    """A program: a script (also a folder or archive with a `__main__.py`) or a module, and its arguments."""

    name: str
    is_module: bool = False
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit status, as the shell would see it."""

    status: int
    interrupted: bool = False


class Watcher(Protocol):
    """What watches a program while it runs: a `Weaver`, a debugger."""

    def start(self) -> object: ...

    def main_code(self, source: bytes, path: str) -> CodeType:
        """The code of the main program, ready to be watched."""

    def stop(self, *, ended: bool = False) -> object: ...


def launch(program: Program, watcher: Watcher, failed: Callable[[BaseException], object] = lambda error: None) -> Ended:
    """Run a program to its end, its threads included, with everything watched that the watcher knows.

    It is started when the program has been found, and stopped when it has ended. Errors of the program are
    shown as Python shows them; with one that ends it, `failed` is called then.
    """
    own = sys.modules["__main__"], list(sys.argv), list(sys.path)
    excepthook, sys.excepthook = sys.excepthook, sys.__excepthook__
    module: ModuleType | None = None
    try:
        module, path, code = _find(program)
        sys.argv = [path if program.is_module else program.name, *program.arguments]
        sys.modules["__main__"] = module
        watcher.start()
        collecting.as_before()
        try:
            with _ExitFunctions() as exits:
                ended = _end(_execute(module, path, code, watcher, failed), exits)
        finally:
            try:
                gc.collect()  # what nobody can reach any more has come to its end, seen by the collector or not
            finally:
                watcher.stop(ended=True)
        return ended
    except KeyboardInterrupt:  # not in the program, but before or after it
        return Ended(INTERRUPTED, interrupted=True)
    finally:
        sys.modules["__main__"], arguments, paths = own
        module = None
        gc.collect()  # what the main program leaves behind ends when it does, as in an interpreter of its own
        sys.argv[:], sys.path[:] = arguments, paths
        sys.excepthook = excepthook


def _execute(
    module: ModuleType,
    path: str,
    code: CodeType | None,
    watcher: Watcher,
    failed: Callable[[BaseException], object],
) -> Ended:
    try:
        if code is None:
            with open(path, "rb") as file:  # not by pathlib: what that does would count as the program's doing
                code = watcher.main_code(file.read(), path)
        # Python itself runs modules, folders and archives by functions of `runpy`; nothing of ours counts as a call.
        _core.run_main(code, vars(module), _CALLS_OF_RUNPY if module.__spec__ is not None else 0)
    except SystemExit as request:
        return Ended(_status(request))
    except KeyboardInterrupt as error:
        _show(error)
        failed(error)
        return Ended(INTERRUPTED, interrupted=True)
    except BaseException as error:
        _show(error)
        failed(error)
        return Ended(FAILED)
    return Ended(0)


def _status(request: SystemExit) -> int:
    """The status that an interpreter would end with, after it has said what there is to say."""
    if request.code is None:
        return 0
    if isinstance(request.code, int):
        return request.code & 0xFF
    sys.stderr.write(f"{request.code}\n")
    return FAILED


def _show(error: BaseException) -> None:
    """Show an error by the hook of the program, or as Python does if that fails."""
    _leave_out_ours(error)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception as wrong:
        _leave_out_ours(wrong)
        if wrong.__context__ is error:
            wrong.__context__ = None
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(wrong), wrong, wrong.__traceback__)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)


def _leave_out_ours(error: BaseException) -> None:
    """Leave only the program's part of a traceback."""
    trace = error.__traceback__
    while trace is not None and is_ours(trace.tb_frame.f_globals.get("__name__")):
        trace = trace.tb_next
    error.__traceback__ = trace


def _end(ended: Ended, exits: _ExitFunctions) -> Ended:
    """What the interpreter does when the main program is over: wait for threads, call what `atexit` knows."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # does nothing when it is called once more
        exits.run()
    except KeyboardInterrupt as error:
        _show(error)
        return Ended(INTERRUPTED, interrupted=True)
    return ended


class _ExitFunctions:
    """The functions that the program, and nobody else, wants to be called at its end: they are part of it.

    Stands in for the module `atexit` while the program runs. Processes that `multiprocessing` forks use more of it than
    is documented.
    """

    _NAMES = ("register", "unregister", "_clear", "_run_exitfuncs")

    def __init__(self) -> None:
        self._functions: list[tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]] = []
        self._before = {name: getattr(atexit, name) for name in self._NAMES}

    def __enter__(self) -> _ExitFunctions:
        for name in self._NAMES:
            setattr(atexit, name, getattr(self, name))
        return self

    def __exit__(self, *error: object) -> None:
        for name, function in self._before.items():
            setattr(atexit, name, function)

    def run(self) -> None:
        """Call them, the last one first; an error in one is shown and does not keep others from being called."""
        while self._functions:
            function, arguments, named = self._functions.pop()
            try:
                function(*arguments, **named)
            except SystemExit:
                continue
            except Exception as error:
                _show(error)

    def register(self, function: F, /, *arguments: object, **named: object) -> F:
        self._functions.append((function, arguments, named))
        return function

    def unregister(self, function: Callable[..., object]) -> None:
        self._functions[:] = [each for each in self._functions if each[0] != function]
        self._before["unregister"](function)

    def _clear(self) -> None:
        self._functions.clear()
        self._before["_clear"]()

    def _run_exitfuncs(self) -> None:
        self.run()
        self._before["_run_exitfuncs"]()


def _find(program: Program) -> tuple[ModuleType, str, CodeType | None]:
    """The main module, the path of its source, and its code if that cannot be woven."""
    if program.is_module:
        return _find_module(program.name)
    path = program.name
    if not os.path.exists(path):
        raise LaunchError(f"there is no program {path}", hint="name a script, or a module by -m")
    if os.path.isdir(path) or not _is_source(path):
        sys.path[0] = path
        spec = importlib.util.find_spec("__main__") if "__main__" not in sys.modules else _find_main(path)
        if spec is None:
            raise LaunchError(f"{path} is no Python program", hint="a folder or archive needs a __main__.py")
        return _main(spec, spec.origin or path)
    path = os.path.abspath(path)
    sys.path[0] = os.path.dirname(path)
    module = ModuleType("__main__")
    loader = SourceFileLoader("__main__", path)
    vars(module).update(
        __loader__=loader,
        __annotations__={},
        __builtins__=builtins,
        __file__=path,
        __package__=None,
        __cached__=None,
    )
    return module, path, None


def _is_source(path: str) -> bool:
    with open(path, "rb") as file:
        return not file.read(4).startswith(b"PK")


def _find_main(path: str) -> ModuleSpec | None:
    from importlib.machinery import PathFinder

    return PathFinder.find_spec("__main__", [path])


def _find_module(name: str) -> tuple[ModuleType, str, CodeType | None]:
    sys.path[0] = os.getcwd()
    hint = "it is looked for from the current folder on"
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        raise LaunchError(f"there is no module {name}: {error}", hint=hint) from None
    if spec is None or spec.loader is None:
        raise LaunchError(f"there is no module {name} that can be run", hint=hint)
    return _main(spec, spec.origin or name)


def _main(spec: ModuleSpec, path: str) -> tuple[ModuleType, str, CodeType | None]:
    module = ModuleType("__main__")
    vars(module).update(
        __file__=path,
        __loader__=spec.loader,
        __annotations__={},
        __builtins__=builtins,
        __package__=spec.parent,
        __cached__=spec.cached,
        __spec__=spec,
    )
    code = None if isinstance(spec.loader, SourceFileLoader) else _code(spec)
    return module, path, code


def _code(spec: ModuleSpec) -> CodeType:
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code(spec.name) if get_code is not None else None
    if not isinstance(code, CodeType):
        raise LaunchError(f"{spec.name} has no code to run")
    return code
