"""Programs in C and C++ that tests compile, and GDB run on them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from mopsus.model import Place, Reading

HERE = Path(__file__).parent
SOURCES = Path(__file__).parents[3] / "src"
START = SOURCES / "mopsus" / "interactive" / "gdb" / "start.py"


@cache
def build(source: str, *flags: str, language: str = "c") -> Path:
    """The program of a text, compiled once for all tests of this run; its file is `program.c` or `program.cc`."""
    text = textwrap.dedent(source)
    key = hashlib.sha256("\0".join((text, *flags, language)).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"mopsus-programs-{os.getuid()}" / key
    program = folder / "program"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / ("program.c" if language == "c" else "program.cc")
        file.write_text(text)
        made = folder / f"program.{os.getpid()}"
        compiler = "gcc" if language == "c" else "g++"
        subprocess.run([compiler, file.name, *(flags or ("-g3", "-O0")), "-o", made.name], cwd=folder, check=True)
        made.rename(program)  # at once, whoever else builds it
    return program


def run_gdb(program: Path | None, commands: Sequence[str], *, timeout: float = 60) -> str:
    """What GDB says, and the program, when it is given these commands."""
    words = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(
        ["gdb", "-q", "-nx", "-batch", *words, *([str(program)] if program else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=timeout,
    )
    assert done.returncode >= 0, f"GDB itself died:\n{done.stdout}"
    return done.stdout


def observe(program: Path, places: Mapping[Place, Sequence[Reading]], *commands: str) -> list[tuple[str, list[object]]]:
    """What happens at these places when the program runs: of each hit, the place (`after f`, `write x`) and what was
    read. `commands` replace `run`; with them, the points are set by a command `observe`."""
    with tempfile.TemporaryDirectory() as name:
        order, found = Path(name) / "order.json", Path(name) / "found.json"
        wanted = [[_place(place), list(map(_reading, readings))] for place, readings in places.items()]
        order.write_text(json.dumps({"places": wanted, "found": str(found), "root": str(SOURCES)}))
        said = run_gdb(
            program,
            [
                "set confirm off",
                f"python observer_order = {str(order)!r}",
                f"source {HERE / 'observer.py'}",
                *(commands or ("observe", "run")),
                "observed",
            ],
        )
        assert found.exists(), said
        return [(where, values) for where, values in json.loads(found.read_text())]


def _place(place: Place) -> list[object]:
    return [place.kind.value, place.what, place.after]


def _reading(reading: Reading) -> list[object]:
    inner = None if reading.inner is None else _reading(reading.inner)
    return [reading.kind.value, reading.text, reading.index, inner, reading.type]


def debug(
    program: Path,
    properties: str | Sequence[str],
    *commands: str,
    scenario: str | None = None,
    functions: str | None = None,
) -> str:
    """What is said when GDB runs a program with these property files loaded; `commands` replace `run`."""
    texts = [properties] if isinstance(properties, str) else properties
    with tempfile.TemporaryDirectory() as name:
        lines = ["set confirm off", f"source {START}"]
        for number, text in enumerate(texts, 1):
            file = Path(name) / f"p{number}.{'prop' if 'state init' in text else 'mop'}"
            file.write_text(textwrap.dedent(text))
            lines.append(f"verde load-property {file}")
        for kind, extra in (("scenario", scenario), ("functions", functions)):
            if extra is not None:
                file = Path(name) / f"{kind}.{'py' if kind == 'functions' else 'scn'}"
                file.write_text(textwrap.dedent(extra))
                lines.append(f"verde load-{kind} {file}")
        return run_gdb(program, [*lines, *(commands or ("run",))])


def events(said: str) -> list[str]:
    """The events among what was said: `push{'q': 1}`."""
    return [line.removeprefix("Event: ") for line in said.splitlines() if line.startswith("Event: ")]
