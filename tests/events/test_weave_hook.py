"""The import hook: modules are woven as they are imported, and look as if they were not."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.util
import inspect
import marshal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from types import CodeType, ModuleType
from typing import Any

import pytest
from rewrite_support import Event, everything, tap

from mopsus._core import Site
from mopsus.events.weave.cache import CodeCache
from mopsus.events.weave.hook import Hook
from mopsus.events.weave.joinpoints import From, Moment, Operation, Rewrite

pytestmark = pytest.mark.interpreter


class Weaving:
    """What a hook asks."""

    def __init__(self, rewrites: tuple[Rewrite, ...] = (), definitions: frozenset[str] = frozenset()) -> None:
        self.rewrites = rewrites
        self.definitions = definitions
        self.loaded: list[str] = []
        self.members: list[str] = []

    def defined(self, function: Callable[..., Any]) -> Callable[..., Any]:
        self.members.append(function.__qualname__)
        return function

    def module_loaded(self, module: ModuleType) -> None:
        self.loaded.append(module.__name__)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], str]]:
    """Write modules into a folder that can be imported from."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)

    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        importlib.invalidate_caches()
        return str(path)

    yield write
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


@pytest.fixture
def hooks() -> Iterator[Callable[[Weaving], Hook]]:
    """Install hooks that are removed in the end."""
    installed: list[Hook] = []

    def install(weaving: Weaving) -> Hook:
        installed.append(Hook(weaving))
        installed[-1].install()
        return installed[-1]

    yield install
    for hook in reversed(installed):
        with contextlib.suppress(ValueError):  # removed already
            hook.remove()
    assert not any(type(finder).__module__.startswith("mopsus.") for finder in sys.meta_path)


def iteration(log: list[Event], **more: Any) -> tuple[Rewrite, ...]:
    return (Rewrite(Operation.NEXT, tap(log, "next", Moment.RETURNING, From.RESULT), **more),)


LOOP = """
    '''A module.'''
    def f(xs):
        '''Doubled.'''
        return [x * 2 for x in xs]
"""


def test_modules_are_told_and_rewritten(project: Any, hooks: Any) -> None:
    project("hook_a.py", LOOP)
    log: list[Event] = []
    weaving = Weaving(iteration(log))
    hook = hooks(weaving)
    module = importlib.import_module("hook_a")
    assert weaving.loaded == ["hook_a"]
    assert module.f([1, 2]) == [2, 4]
    assert log == [("next", 1), ("next", 2)]
    hook.remove()
    assert module.f([1, 2]) == [2, 4]
    assert len(log) == 2


def test_a_second_weaving_serves_code_that_the_first_rewrote(project: Any, hooks: Any) -> None:
    project("hook_b.py", LOOP)
    hooks(Weaving(iteration([]))).remove()
    first: list[Event] = []
    hook = hooks(Weaving(iteration(first)))
    module = importlib.import_module("hook_b")
    hook.remove()
    second: list[Event] = []
    hooks(Weaving(iteration(second)))
    module.f([3])
    assert (first, second) == ([], [("next", 3)])


def test_a_woven_module_looks_like_any_other(project: Any, hooks: Any) -> None:
    path = project("hook_c.py", LOOP)
    plain = importlib.import_module("hook_c")
    shown = (sorted(vars(plain)), plain.__doc__, plain.f.__doc__, inspect.getsource(plain.f), type(plain.__loader__))
    names = plain.f.__code__.co_firstlineno, plain.f.__code__.co_filename, plain.f.__code__.co_varnames
    del sys.modules["hook_c"]
    hooks(Weaving(iteration([])))
    woven = importlib.import_module("hook_c")
    assert _refers_to_sites(vars(woven))
    assert not _refers_to_sites(vars(plain))
    assert woven.f.__code__ == plain.f.__code__
    assert shown == (
        sorted(vars(woven)),
        woven.__doc__,
        woven.f.__doc__,
        inspect.getsource(woven.f),
        type(woven.__loader__),
    )
    assert names == (woven.f.__code__.co_firstlineno, woven.f.__code__.co_filename, woven.f.__code__.co_varnames)
    assert woven.__spec__.loader is woven.__loader__
    assert woven.__file__ == path


@pytest.mark.parametrize(
    "text", ["for x in [1]:\n    1 / 0\n", "for x in\n", "import hook_no_such_module\nfor x in []: pass\n"]
)
def test_what_an_import_raises(project: Any, hooks: Any, text: str) -> None:
    project("hook_d.py", text)

    def failure() -> list[str]:
        try:
            import hook_d  # noqa: F401 - the statement leaves the import system out of tracebacks
        except Exception as error:
            return traceback.format_exception(error)
        raise AssertionError

    plain = failure()
    weaving = Weaving(iteration([]))
    hooks(weaving)
    assert failure() == plain
    assert not weaving.loaded
    assert "hook_d" not in sys.modules


def test_installed_modules_only_if_they_are_named(project: Any, hooks: Any) -> None:
    sys.modules.pop("colorsys", None)
    log: list[Event] = []
    hooks(Weaving(iteration(log)))
    assert not _refers_to_sites(importlib.import_module("colorsys").__dict__)
    sys.modules.pop("tabnanny", None)
    hooks(Weaving(iteration(log, within=("tab*",))))
    assert _refers_to_sites(importlib.import_module("tabnanny").__dict__)


def test_within_chooses_modules(project: Any, hooks: Any) -> None:
    project("hook_pkg/__init__.py", "")
    project("hook_pkg/one.py", LOOP)
    project("hook_pkg/two.py", LOOP)
    log: list[Event] = []
    hooks(Weaving(iteration(log, within=("hook_pkg.o*",))))
    one, two = importlib.import_module("hook_pkg.one"), importlib.import_module("hook_pkg.two")
    one.f([1])
    two.f([2])
    assert log == [("next", 1)]


def test_modules_without_a_candidate_are_not_parsed(project: Any, hooks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    project("hook_e.py", "x = 1\n")

    def parse(*_: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr("ast.parse", parse)
    hooks(Weaving(iteration([])))
    assert importlib.import_module("hook_e").x == 1


def test_reload(project: Any, hooks: Any) -> None:
    project("hook_f.py", LOOP)
    log: list[Event] = []
    weaving = Weaving(iteration(log))
    hooks(weaving)
    module = importlib.reload(importlib.import_module("hook_f"))
    module.f([1])
    assert weaving.loaded == ["hook_f", "hook_f"]
    assert log == [("next", 1)]


def test_expressions_too_deep_for_the_compiler_are_left_alone(project: Any, hooks: Any) -> None:
    path = project("hook_g.py", "for x in [1]: pass\ny = " + "+".join(["1"] * 2000))
    hook = hooks(Weaving(iteration([])))
    assert importlib.import_module("hook_g").y == 2000
    assert hook.left_alone in ([path], [])  # how deep that is differs between versions of Python


REFUSING = """
import sys

armed = False


def refuse(event, arguments):
    if armed and event in {"marshal.dumps", "sys._getframe"}:
        raise RuntimeError(f"refused: {event}")


sys.addaudithook(refuse)
armed = True
import hook_refused
print(hook_refused.f([1, 2]))
"""


def test_a_module_whose_rewriting_is_refused_is_loaded_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "hook_refused.py").write_text("def f(numbers):\n    return [each for each in numbers]\n")
    (tmp_path / "refusing.py").write_text(REFUSING)
    (tmp_path / "steps.mop").write_text("Steps(i) { event next before(i) : next(i) ere : next }")
    command = [sys.executable, "-B", "-m", "mopsus", "run", "steps.mop", "--", "refusing.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.stdout == "[1, 2]\n", ended.stderr
    assert "Traceback" not in ended.stderr


REFUSING_ALL = """
import sys

armed = True


def refuse(event, arguments):
    if armed:
        raise RuntimeError(f"refused: {event}")


sys.addaudithook(refuse)
print([number for number in [1, 2]])
armed = False
"""


def test_a_verdict_whose_report_is_refused_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "refusing.py").write_text(REFUSING_ALL)
    (tmp_path / "steps.mop").write_text(
        'Steps(i) { event next before(i) : next(i) ere : next next @match { open("never.txt") } }'
    )
    command = [sys.executable, "-B", "-m", "mopsus", "run", "steps.mop", "--", "refusing.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.stdout == "[1, 2]\n", ended.stderr
    assert ended.returncode == 2, ended.stderr
    assert "2 faults" in ended.stderr  # the handler, and what would have made the report
    assert "RuntimeError: refused: open" in ended.stderr


def test_a_module_that_cannot_be_rewritten_is_said(
    project: Any, hooks: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = project("hook_fails.py", LOOP)

    def fail(*_: object) -> None:
        raise RuntimeError("refused")

    monkeypatch.setattr("mopsus.events.weave.hook.compile_beside", fail)
    hook = hooks(Weaving(iteration([])))
    assert importlib.import_module("hook_fails").f([1]) == [2]
    assert hook.left_alone == [path]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path} could not be rewritten: its loops, operators and statements are no events (RuntimeError: refused)"
    ]


def test_functions_of_the_main_program_are_told_when_defined(project: Any, hooks: Any) -> None:
    source = b"def f(): pass\ndef g(): pass\nf()\nfor x in [7]: pass\n"
    log: list[Event] = []
    weaving = Weaving(iteration(log), frozenset({"f"}))
    code = hooks(weaving).main_code(source, "main.py")
    exec(code, {"__name__": "__main__"})
    assert weaving.members == ["f"]
    assert log == [("next", 7)]


def test_all_operations_can_be_asked_for(project: Any, hooks: Any) -> None:
    project("hook_h.py", LOOP)
    log: list[Event] = []
    hooks(Weaving(everything(log)))
    assert importlib.import_module("hook_h").f([1]) == [2]
    assert log


def _refers_to_sites(namespace: dict[str, Any]) -> bool:
    functions = [value for value in namespace.values() if hasattr(value, "__code__")]
    # What a function really runs is not what `__code__` says.
    codes = [each for function in functions for each in gc.get_referents(function) if isinstance(each, CodeType)]
    return any(isinstance(constant, Site) for code in codes for constant in code.co_consts)


# ---- the cache of rewritten code ----


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: Any) -> Path:
    """A cache of our own, which is written to."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    folder = tmp_path / "cached code"
    monkeypatch.setattr("mopsus.events.weave.hook._FINDER.cache", CodeCache(folder))
    return folder


def again(name: str) -> ModuleType:
    """Import a module anew."""
    sys.modules.pop(name, None)
    return importlib.import_module(name)


def test_rewritten_code_is_kept(project: Any, hooks: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project("hook_i.py", LOOP)
    log: list[Event] = []
    hooks(Weaving(iteration(log)))
    again("hook_i")
    assert len(list(cache.iterdir())) == 1
    assert cache.stat().st_mode & 0o077 == 0
    monkeypatch.setattr("ast.parse", None)
    assert again("hook_i").f([1]) == [2]
    assert log == [("next", 1)]


def summed(content: object) -> bytes:
    """As the cache would write it."""
    payload = marshal.dumps(content)
    return importlib.util.source_hash(payload) + payload


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other text", "other places", "no code", "no original"])
def test_damaged_caches_are_ignored(
    project: Any, hooks: Any, cache: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    project("hook_j.py", LOOP)
    log: list[Event] = []
    hooks(Weaving(iteration(log)))
    again("hook_j")
    (file,) = cache.iterdir()
    data = file.read_bytes()
    middle = len(data) // 2
    stamp, places, code, original = marshal.loads(data[8:])
    file.write_bytes(
        {
            "cut": data[:middle],
            "flipped": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "empty": b"",
            "other text": b"x" * 100,
            "other places": summed((stamp, [("next",)], code, original)),
            "no code": summed((stamp, places, "pass", original)),
            "no original": summed((stamp, places, code, None)),
        }[damage]
    )
    assert again("hook_j").f([1]) == [2]
    assert log == [("next", 1)]
    monkeypatch.setattr("ast.parse", None)  # it has been written once more
    assert again("hook_j").f([1]) == [2]


def test_a_changed_source_or_plan_is_rewritten_anew(project: Any, hooks: Any, cache: Path) -> None:
    path = project("hook_k.py", LOOP)
    hook = hooks(Weaving(iteration([])))
    again("hook_k")
    project("hook_k.py", LOOP.replace("* 2", "* 30"))
    assert again("hook_k").f([1]) == [30]
    hook.remove()
    log: list[Event] = []
    hooks(Weaving((Rewrite(Operation.RAISE, tap(log, "raise", Moment.BEFORE, From.TARGET)),)))
    again("hook_k").f([1])
    assert not log
    assert Path(path).exists()


def test_a_cache_that_others_may_write_is_not_read(project: Any, hooks: Any, cache: Path) -> None:
    project("hook_l.py", LOOP)
    cache.mkdir()
    cache.chmod(0o777)
    hooks(Weaving(iteration([])))
    assert again("hook_l").f([1]) == [2]
    assert not list(cache.iterdir())


def test_what_finding_code_does_is_not_counted_so_that_counts_are_the_same_with_a_cold_cache(tmp_path, monkeypatch):
    (tmp_path / "lists.mop").write_text(
        "Lists(c: list) {\n event pop before(c) : call(list.pop | list.append | dict.pop) && target(c)\n"
        " event iterate after(c) : iter(c)\n ere : pop iterate pop iterate pop iterate pop iterate pop\n}\n"
    )
    (tmp_path / "main.py").write_text("import other\nother.f([1])\n")
    (tmp_path / "other.py").write_text("def f(c):\n    for _ in c:\n        pass\n    c.pop()\n" * 50)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    command = [sys.executable, "-m", "mopsus", "run", "lists.mop", "--", "main.py"]
    cold, warm = (
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr for _ in range(2)
    )
    # Since 3.12 the locks of imports are code in Python, which appends to lists of its own.
    events = 2 if sys.version_info < (3, 12) else 5
    assert f"no violations in {events} events" in cold
    assert warm == cold
