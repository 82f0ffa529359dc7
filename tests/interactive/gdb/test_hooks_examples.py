"""The programs of `examples/interactive`, with their own properties and with some that need no debugger to be read:
hooks and traps tell the same story."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from interactive.gdb.hooked.runs import Case, Run, Watched, differences, run_cases
from interactive.gdb.hooked.specs import Property
from interactive.gdb.programs import build

pytestmark = pytest.mark.gdb

FOLDER = Path(__file__).parents[3] / "examples" / "interactive"

THEIRS = [
    ("queue", "queue.prop", None),
    ("queue", "letters.prop", None),
    ("queue", "output.prop", None),
    ("stack", "stack.prop", None),
    ("stack", "stack-always.prop", None),
    ("sudoku", "sudoku.prop", None),
    ("sudoku", "sudoku.prop", "sudoku.scn"),
    ("producers", "producers.prop", None),
    ("words", "iterators.prop", None),
    ("words", "iterators.mop", None),
]
"""Programs, properties and scenarios. Those of zsh are below; `producers.scn` is about what threads do by chance."""

OURS = {
    "stack": """
        Popped(stack) {
            event push before(stack; item) : call(stack_push) && value(stack = arg 1, item = arg 2)
            event pop after(stack; item) : call(stack_pop) && value(stack = arg 1, item = ret)
            ere : push+ pop+ push
            @fail { }
        }
    """,
    "queue": """
        Pushed(letter) {
            event push before(letter) : call(queue_push) && value(letter = letter)
            fsm :
                never [ push -> once ]
                once [ push -> twice ]
                twice [ ]
            @fail { }
        }
    """,
    "sudoku": """
        Solved(board) {
            event make after(board) : call(board_new) && value(board = ret)
            event look before(board) : call(board_allowed) && value(board = arg 1)
            event set before(board; row, number) : call(board_set) && value(board = board, row = row, number = number)
            event load after(board; allowed) : call(board_load) && value(board = board, allowed = ret)
            ltl : G (load => X (look or set))
            @violation { }
        }
    """,
}


def program(name: str) -> Path:
    flags: dict[str, tuple[str, ...]] = {"producers": ("-pthread", "-DRIGHT")}
    if name == "words":
        flags[name] = tuple(
            subprocess.check_output(["pkg-config", "--cflags", "--libs", "glib-2.0"], text=True).split()
        )
    return build((FOLDER / f"{name}.c").read_text(), "-g3", "-O0", *flags.get(name, ()))


def run_both(cases: list[Case]) -> list[tuple[Run, Run]]:
    """With hooks and with traps."""
    hooked, trapped = (run_cases(cases, hooks=hooks) for hooks in (True, False))
    return list(zip(hooked, trapped, strict=True))


def watched(prop: str, scenario: str | None = None) -> Watched:
    text = (FOLDER / prop).read_text()
    return Watched(Property(text, Path(prop).suffix), (FOLDER / scenario).read_text() if scenario else None)


def test_with_their_own_properties():
    cases = [Case(program(name), "", (watched(prop, scenario),)) for name, prop, scenario in THEIRS]
    for hooked, trapped in run_both(cases):
        assert differences(hooked, trapped, addresses=False) == ""


@pytest.mark.parametrize("scenario", [None, "zsh.scn"])
def test_with_an_installed_program(scenario, tmp_path):
    script = tmp_path / "deep.zsh"
    script.write_text(f"text=x\necho {'${' * 200}text{'}' * 200}\n")
    case = Case(Path(shutil.which("zsh") or "zsh"), f"-f {script}", (watched("zsh.prop", scenario),))
    [(hooked, trapped)] = run_both([case])
    assert differences(hooked, trapped, addresses=False) == ""
    assert trapped.arrivals > 100


def test_with_properties_that_are_stepped_inside():
    cases = [Case(program(name), "", (Watched(Property(text, ".mop")),)) for name, text in OURS.items()]
    for hooked, trapped in run_both(cases):
        assert differences(hooked, trapped, addresses=False) == ""
        assert not hooked.unhooked
        assert hooked.arrivals < trapped.arrivals
