"""Steps through random Python programs, against what a trace function of the interpreter sees of the same program."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from interactive.dap.client import Client

pytestmark = pytest.mark.interpreter

CASES = 2 + int(os.environ.get("MOPSUS_CASES", "0")) // 10000
STEPS = 40
"""Before a program is let go: each one is a request, a stop and a look at the stack."""

OBSERVER = """\
import json, sys
path, events, frames = sys.argv[1], [], []

def trace(frame, event, arg):
    if frame.f_code.co_filename != path:
        return None
    if event == "call":
        frames.append(frame)
    elif event == "line":
        events.append(["line", len(frames), frame.f_code.co_qualname, frame.f_lineno])
    elif event == "return":
        frames.pop()
        caller = frames[-1] if frames else None
        if caller is not None:
            kind = "unwound" if arg is None else "return"
            events.append([kind, len(frames) + 1, caller.f_code.co_qualname, caller.f_lineno])
    return trace

code = compile(open(path).read(), path, "exec")
sys.settrace(trace)
exec(code, {"__name__": "__main__"})
sys.settrace(None)
print(json.dumps(events), file=sys.stderr)
"""
"""Writes down every line, and every return to a caller; functions return numbers, so None is an exception."""


@dataclass
class Observed:
    """The events of a program, and where in them it stands."""

    events: list[tuple[str, int, str, int]]
    at: int = -1
    depth: int = 1

    def step(self, how: str) -> tuple[str, int] | None:
        """Where a step leads, said as simply as can be; None: to the end of the program."""
        depth = self.depth
        over = how != "stepIn"
        lines = how != "stepOut"
        for index in range(self.at + 1, len(self.events)):
            self.at = index
            kind, at, name, line = self.events[index]
            if kind == "line" and (not over or (lines and at == depth)):
                self.depth = at
                return name, line
            if kind == "return" and (not over or at == depth):
                self.depth = at - 1
                return name, line
            if kind == "unwound" and at == depth:
                depth, lines = depth - 1, True  # it goes on to where that is handled
        return None


def observe(path: Path) -> Observed:
    done = subprocess.run(
        [sys.executable, "-c", OBSERVER, str(path)], capture_output=True, text=True, check=True, timeout=60
    )
    return Observed([tuple(each) for each in json.loads(done.stderr)])


def program(rng: random.Random) -> str:
    """Functions that call those before them, with branches, loops, and exceptions that are caught somewhere."""
    lines = []
    for number in range(4):
        lines += [f"def f{number}(x):", *_block(rng, number, 1, 3), "    return x"]
    lines += ["x = 1", *_block(rng, 4, 0, 5), "print(x)"]
    return "\n".join(lines) + "\n"


def _block(rng: random.Random, functions: int, depth: int, size: int) -> list[str]:
    indent = "    " * depth
    found: list[str] = []
    for _ in range(rng.randint(1, size)):
        kinds = ["plain", "plain"] if depth > 3 else ["plain", "if", "for", "try", "comprehension", "raise"]
        match rng.choice([*kinds, *(["call"] * 3 if functions else [])]):
            case "plain":
                found.append(f"{indent}x = x + {rng.randint(1, 3)}")
            case "call":
                found.append(f"{indent}x = f{rng.randrange(functions)}(x % 7) + f{rng.randrange(functions)}(1)")
            case "if":
                found += [f"{indent}if x % {rng.randint(2, 3)}:", *_block(rng, functions, depth + 1, 2)]
                found += [f"{indent}else:", *_block(rng, functions, depth + 1, 1)]
            case "for":
                found += [f"{indent}for i in range(2):", *_block(rng, functions, depth + 1, 2)]
            case "comprehension":
                found.append(f"{indent}x = x + sum([y + 1 for y in range(x % 3)])")
            case "raise" if depth > 0:
                found += [f"{indent}if x % 5 == {rng.randrange(5)}:", f"{indent}    raise ValueError(x)"]
            case _:
                found += [f"{indent}try:", *_block(rng, functions, depth + 1, 2)]
                found += [f"{indent}except ValueError:", f"{indent}    x = 1"]
    if depth == 0:
        return ["try:", *("    " + each for each in found), "except ValueError:", "    x = 0"]
    return found


@pytest.mark.parametrize("seed", range(CASES))
def test_steps_lead_where_the_interpreter_says(tmp_path, seed):
    rng = random.Random(seed)
    file = tmp_path / "program.py"
    file.write_text(program(rng))
    expected = observe(file)
    with Client() as client:
        client.launch(program=str(file), stopOnEntry=True)
        assert client.stopped("entry")["frame"]["line"] == expected.step("stepIn")[1]
        taken = []
        for _ in range(STEPS):
            how = rng.choice(["stepIn", "stepIn", "stepIn", "next", "stepOut"])
            where = expected.step(how)
            taken.append(f"{how}: {where}")
            client.request(how, threadId=1)
            if where is None:
                break
            frame = client.stopped("step")["frame"]
            assert (frame["name"].rpartition(".")[2], frame["line"]) == (where[0].rpartition(".")[2], where[1]), taken
        else:
            client.request("continue", threadId=1)
        assert client.finish() == 0
