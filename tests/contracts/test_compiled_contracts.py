"""Compiled contracts that are kept: they are what compiling gives, and nothing older."""

from __future__ import annotations

import json
import marshal
import os
import subprocess
import sys
from importlib.util import source_hash
from pathlib import Path

import pytest

from mopsus.contracts import catalogue
from mopsus.contracts import compiled as kept
from mopsus.contracts.compiled import CompiledContracts
from mopsus.logics import CompiledSpec, compile_spec
from mopsus.spec import load_file

pytestmark = pytest.mark.interpreter


def compiled(path: Path) -> CompiledSpec:
    read = load_file(path)
    return compile_spec(read.specs[path.stem], read.source)


@pytest.fixture
def contracts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompiledContracts:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return CompiledContracts(tmp_path / "contracts")


@pytest.mark.parametrize("name", catalogue())
def test_what_is_kept_is_what_compiling_gives(name: str, contracts: CompiledContracts) -> None:
    path = catalogue()[name].path
    made = compiled(path)
    contracts.store(str(path), b"text", made)
    found = contracts.load(str(path), b"text")
    assert found == made
    assert repr(found) == repr(made) or sorted(repr(found)) == sorted(repr(made))  # spans, too; sets have no order


def test_another_text_or_file_is_compiled_anew(contracts: CompiledContracts) -> None:
    path = catalogue()["UnsafeIter"].path
    contracts.store(str(path), b"text", compiled(path))
    assert contracts.load(str(path), b"text!") is None
    assert contracts.load(f"/elsewhere/{path.name}", b"text") is None


def test_other_sources_of_the_compiler_compile_anew(
    contracts: CompiledContracts, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = catalogue()["UnsafeIter"].path
    contracts.store(str(path), b"text", compiled(path))
    monkeypatch.setattr(kept, "_compiler", lambda: "another")
    assert contracts.load(str(path), b"text") is None


def test_the_compiler_is_known_by_all_of_its_sources(tmp_path: Path) -> None:
    (tmp_path / "logic").mkdir()
    (tmp_path / "logic" / "a.py").write_text("1")
    before = list(kept._sources(str(tmp_path)))
    (tmp_path / "logic" / "b.py").write_text("1")
    assert len(list(kept._sources(str(tmp_path)))) == len(before) + 1
    os.utime(tmp_path / "logic" / "a.py", ns=(1, 1))
    assert before[0] not in kept._sources(str(tmp_path))


@pytest.mark.parametrize(
    "payload",
    [
        *(b"", b"x", b"\xfd"),
        *map(marshal.dumps, (None, [], [99], ["a"], [0], [2, "no mode"], [[1], 2], ([3], [4, "a"]))),
    ],
)
def test_what_is_no_contract_counts_as_absent(contracts: CompiledContracts, tmp_path: Path, payload: bytes) -> None:
    path = catalogue()["UnsafeIter"].path
    contracts.store(str(path), b"text", compiled(path))
    (file,) = (tmp_path / "contracts").iterdir()
    file.write_bytes(source_hash(payload) + payload)
    assert contracts.load(str(path), b"text") is None


def run(cache: Path, program: Path) -> tuple[bytes, list[tuple[str, ...]]]:
    """Run a program under contracts; what is said about the compiler of expressions, and the verdicts."""
    code = (
        "import sys; from mopsus.cli.main import main\n"
        "try: main()\n"
        "finally: print('compiled' if 'mopsus.logics.ere.compile' in sys.modules else 'not compiled')"
    )
    words = ["run", "--contracts", "iteration", "--json", "-o", "report.json", "--", str(program)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=cache, env=environment, capture_output=True, check=False
    )
    verdicts = json.loads((cache / "report.json").read_text())["verdicts"]
    shown = [
        (each["spec"], each["location"], *(f"{item['event']} {item['location']}" for item in each["witness"]))
        for each in verdicts
    ]
    return done.stdout.splitlines()[-1], shown


def test_a_second_run_compiles_nothing(tmp_path: Path) -> None:
    program = catalogue()["UnsafeMapIter"].clean
    assert [run(tmp_path, program)[0] for _ in range(2)] == [b"compiled", b"not compiled"]


def test_a_second_run_reports_the_same(tmp_path: Path) -> None:
    first, second = (run(tmp_path, catalogue()["UnsafeMapIter"].violating)[1] for _ in range(2))
    assert [spec for spec, *_ in first] == ["UnsafeMapIter"]
    assert first == second
