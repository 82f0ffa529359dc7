"""What names of functions stand for: whatever a program hands on, inherits, wraps or calls otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from interactive.python.debugged import debug

from mopsus.interactive.python.names import Names

pytestmark = pytest.mark.interpreter

IMPLEMENTATION = """\
import dataclasses
import functools

class Base:
    def method(self): pass
    @classmethod
    def made(cls): pass
    @staticmethod
    def static(): pass
    @property
    def size(self): pass
    @size.setter
    def size(self, value): pass
    @functools.cached_property
    def kept(self): pass

class Derived(Base):
    pass

class Made:
    def __new__(cls): return object.__new__(cls)

@dataclasses.dataclass
class Data:
    x: int

def silently(function):
    def wrapper(*given): return function(*given)
    return wrapper

class Holder:
    def __init__(self, function): self.function = function
    def __call__(self, *given): return self.function(*given)

def openly(function):
    @functools.wraps(function)
    def wrapper(*given): return function(*given)
    return wrapper

@silently
def plain(): pass

@openly
@silently
@openly
def layered(): pass

@Holder
def held(): pass

@functools.lru_cache
def cached(): pass

def aided(x): pass

bound = Base().method
partly = functools.partial(aided, 1)
number = 3

def outer():
    def inner(): pass
    return inner
"""


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Of a package `lib` with a module `lib.impl`, all of which it hands on, and a program `shop`."""
    package, module, main = ModuleType("lib"), ModuleType("lib.impl"), ModuleType("__main__")
    for each in (package, module, main):
        monkeypatch.setitem(sys.modules, each.__name__, each)
    exec(compile(IMPLEMENTATION, "impl.py", "exec", dont_inherit=True), vars(module))
    vars(package).update({name: thing for name, thing in vars(module).items() if not name.startswith("__")})
    vars(main).update(handy=vars(module)["aided"], Base=vars(module)["Base"])
    found = Names()
    found.program = "shop"
    return found


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("lib.Base.method", "Base.method"),
        ("lib.impl.Base.method", "Base.method"),
        ("lib.Derived.method", "Base.method"),
        ("lib.Base.made", "Base.made"),
        ("lib.Base.static", "Base.static"),
        ("lib.Base.size", "Base.size"),
        ("lib.Base.size.fset", "Base.size"),
        ("lib.Base.kept", "Base.kept"),
        ("lib.Made", "Made.__new__"),
        ("lib.Data", "__init__"),
        ("lib.plain", "plain"),
        ("lib.layered", "layered"),
        ("lib.held", "held"),
        ("lib.cached", "cached"),
        ("lib.bound", "Base.method"),
        ("lib.partly", "aided"),
        ("lib.outer.inner", "inner"),
        ("handy", "aided"),
        ("shop.handy", "aided"),
        ("__main__.handy", "aided"),
    ],
)
def test_a_name_stands_for_the_code_that_runs(names: Names, name: str, code: str) -> None:
    found = {meaning.code.co_qualname for meaning in names.meanings(name)}
    assert {each.rpartition(".<locals>.")[2] for each in found} == {code}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lib.Base.metod", "lib.Base has no metod; there is method"),
        ("lib.Bse.method", "lib has no Bse; there is Base"),
        ("shop.Base.metod", "shop.Base has no metod; there is method"),
        ("Base.metod", "Base has no metod; there is method"),
        ("lib.number", "lib.number is no function, but int data, whose calls are not seen"),
        ("lib.dataclasses.sys.exit", "lib.dataclasses.sys.exit is no function in Python, whose calls are not seen"),
        ("libb.Base.method", "the program loaded no module libb; there is lib"),
        ("sop", "the program has no function sop; there is stop"),
    ],
)
def test_of_a_name_that_stands_for_nothing_it_is_said_what_there_is(names: Names, name: str, said: str) -> None:
    assert not list(names.meanings(name))
    lack = names.lack(name, ["__main__.stop"])
    assert lack.text.startswith(said)
    assert not lack.possible


def test_a_module_that_was_not_loaded_may_be_loaded_another_time(names: Names) -> None:
    lack = names.lack("sched_not_yet.run", []), names.lack("this.run", [])
    assert [each.possible for each in lack] == [False, True]


def test_nothing_of_the_program_runs_when_its_names_are_looked_up(
    names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Touchy:
        def __getattribute__(self, name: str) -> object:
            raise AssertionError(name)

    vars(sys.modules["lib"])["touchy"] = Touchy()
    assert not list(names.meanings("lib.touchy.deep"))
    assert not list(names.meanings("lib.touchy"))


PACKAGE = {
    "lib/__init__.py": "from .impl import *\nfrom .impl import aided as helper\n",
    "lib/impl.py": """\
class Base:
    def __init__(self, n=0): pass
    def work(self, n): return n
class Derived(Base): pass
class Other(Base): pass
def aided(n): return n
early = Base()
aided(0)
""",
}
PROGRAM = """\
import lib
from lib import aided as g, Base, Derived, Other
Base(1).work(2)
Derived(3).work(4)
Other(5).work(6)
g(7)
lib.helper(8)
class Own(Derived): pass
Own(9).work(10)
late = lib.aided
late(11)
"""


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("lib.Base.work", [2, 4, 6, 10]),
        ("lib.Derived.work", [4, 10]),
        ("Own.work", [10]),
        ("lib.Other", [5]),
        ("lib.helper", [7, 8, 11]),
        ("program.g", [7, 8, 11]),
        ("late", [11]),
    ],
)
def test_events_are_seen_by_every_name_of_a_function(tmp_path: Path, name: str, values: list[int]) -> None:
    for file, text in PACKAGE.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    prop = (
        f"state init {{ transition {{ event {name}(n) success init }} transition {{ event #end() success over }} }}\n"
    )
    done = debug(tmp_path, PROGRAM, prop + "state over non-accepting\n")
    witness = done.report["verdicts"][0]["witness"]
    assert [event["binding"]["n"] for event in witness[:-1]] == values


def test_a_module_that_is_run_is_known_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "x.prop").write_text("state init { transition { event json.tool.main() success init } }\n")
    (tmp_path / "x.json").write_text("{}")
    report = tmp_path / "report.json"
    words = ["debug", "--batch", "--json", "-o", str(report), "--prop", "x.prop", "--", "-m", "json.tool", "x.json"]
    subprocess.run([sys.executable, "-m", "mopsus", *words], cwd=tmp_path, check=True, capture_output=True)
    assert '"json_tool_main": 1' in report.read_text()
