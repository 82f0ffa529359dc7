"""What a program can notice of being watched: nothing, but for what the page says. A program that looks at itself in
every way is run as it is, with all ready-made specs, and with specs about all of its own functions and classes."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.interpreter

HERE = Path(__file__).parent / "noticed"
OBSERVER = HERE / "observer.py"
PARTS = (OBSERVER, HERE / "surroundings.py")
WAYS = {
    "rewritten": ["--contracts", "stdlib"],
    "advised": [str(HERE / "advice.mop")],
    "both": ["--contracts", "stdlib,packages", str(HERE / "advice.mop")],
}


def names(decorator: str) -> list[str]:
    """The functions of the observer that have a decorator."""
    return [
        node.name
        for part in PARTS
        for node in ast.parse(part.read_bytes()).body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(each, ast.Name) and each.id == decorator for each in node.decorator_list)
    ]


def seen(kind: str, options: list[str] | None, cache: Path) -> dict[str, str]:
    """What the observer sees, by what it looks at."""
    before = [] if options is None else ["-m", "mopsus", "run", "--quiet", *options, "--"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONHASHSEED": "0", "JOBLIB_MULTIPROCESSING": "1"}
    command = [sys.executable, *before, str(OBSERVER), kind]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=HERE)
    assert not ended.stderr or options is not None, ended.stderr
    found = dict(ast.literal_eval(line) for line in ended.stdout.splitlines() if line.startswith("('"))
    return {name: re.sub("0x[0-9a-f]+|/tmp/tmp[a-z0-9_]+", "0x", text) for name, text in found.items()}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def plain(cache: Path) -> dict[str, str]:
    return seen("same", None, cache)


@pytest.fixture(scope="module", params=list(WAYS))
def woven(request: pytest.FixtureRequest, cache: Path) -> dict[str, str]:
    return seen("same", WAYS[request.param], cache)


@pytest.mark.parametrize("name", names("observation"))
def test_a_program_sees_the_same(name: str, plain: dict[str, str], woven: dict[str, str]) -> None:
    if name == "depth_of_generators" and sys.version_info[:2] == (3, 12):
        pytest.skip("Python 3.12 counts steps that C code takes of generators, and allows few of them")
    assert woven[name] == plain[name]


def test_what_is_different_is_known(cache: Path) -> None:
    plain, woven = (seen("different", options, cache) for options in (None, WAYS["rewritten"]))
    assert plain.keys() == woven.keys() == set(names("different"))
    assert [name for name in plain if plain[name] == woven[name]] == []
