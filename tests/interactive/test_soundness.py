"""Under a debugger a program does what it does alone, and its verdicts are those of its recorded trace."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

PROPERTY = """
slice on h
initialization { uses = 0 }
state init {
    transition { event acquire(h) success held }
    transition { event use(h) success bad }
}
state held accepting {
    transition { event use(h, amount : int) { return None if amount == 5 else uses < 3 }
                 success { uses += amount } held failure greedy }
    transition { after event give_back(h, ret as left : int) success { return "bad" if left < 0 else "back" } }
}
state back {
    transition { event acquire(h) success held }
    transition { event use(h) success bad }
}
state bad non-accepting { transition { event acquire(h) success { uses = 0 } held } }
state greedy non-accepting { transition { event acquire(h) success { uses = 0 } held } }
"""

SCENARIO = """
initialization { visits = 0 }
on entering non-accepting state { visits += 1 }
on leaving accepting state { visits += len(old_state) + get_pc() * 0 }
"""

C = r"""
#include <stdio.h>
#include <stdlib.h>
static int total = 0;
__attribute__((noinline)) void acquire(int h) { total += h; }
__attribute__((noinline)) void use(int h, int amount) { total += amount; printf("use %d %d\n", h, amount); }
__attribute__((noinline)) int give_back(int h) { total -= 3; return total - h; }
int main(int argc, char **argv) {
    for (char *at = argv[1]; *at; at += 3) {
        int h = at[1] - '0', amount = at[2] - '0';
        if (*at == 'a') acquire(h);
        if (*at == 'u') use(h, amount);
        if (*at == 'g') give_back(h);
    }
    fprintf(stderr, "total %d\n", total);
    return total & 15;
}
"""

PYTHON = """
import sys

total = 0


def acquire(h):
    global total
    total += h


def use(h, amount):
    global total
    total += amount
    print("use", h, amount)


def give_back(h):
    global total
    total -= 3
    return total - h


text = sys.argv[1]
for at in range(0, len(text), 3):
    h, amount = int(text[at + 1]), int(text[at + 2])
    if text[at] == "a":
        acquire(h)
    if text[at] == "u":
        use(h, amount)
    if text[at] == "g":
        give_back(h)
print("total", total, file=sys.stderr)
sys.exit(total & 15)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("soundness")
    (folder / "p.prop").write_text(PROPERTY)
    (folder / "s.scn").write_text(SCENARIO)
    (folder / "p.py").write_text(PYTHON)
    (folder / "p.c").write_text(C)
    subprocess.run(["gcc", "-g", "-O1", "p.c", "-o", "p"], cwd=folder, check=True)
    return folder


def mopsus(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mopsus", *words], cwd=folder, capture_output=True, text=True)


def said(text: str) -> list[tuple[object, ...]]:
    report = json.loads(text)
    return [
        (each["property"], each["category"], each["binding"], [item["event"] for item in each["witness"]])
        for each in report["verdicts"]
    ]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("program", [pytest.param("./p", marks=pytest.mark.gdb), "p.py"])
def test_a_debugged_program_is_the_program_and_its_verdicts_those_of_its_trace(folder, program, seed):
    draw = random.Random(seed)
    text = "".join(draw.choice("auug") + draw.choice("123") + draw.choice("0125") for _ in range(30))
    command = [program, text] if program == "./p" else [sys.executable, program, text]
    alone = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    options = ["--prop", "p.prop", "--scenario", "s.scn", "--record", "r.jsonl", "--json", "--output", "report.json"]
    debugged = mopsus(folder, "debug", "--batch", *options, program, text)
    report = (folder / "report.json").read_text()
    assert debugged.stdout == alone.stdout
    assert debugged.stderr == alone.stderr
    assert json.loads(report)["program"]["status"] == alone.returncode
    verdicts = said(report)
    assert debugged.returncode == (1 if verdicts else 0)
    assert verdicts
    assert said(mopsus(folder, "check", "--json", "p.prop", "r.jsonl").stdout) == verdicts


@pytest.mark.parametrize("program", [pytest.param("./p", marks=pytest.mark.gdb), "p.py"])
def test_a_scenario_brings_back_a_program_that_has_ended(folder, program):
    (folder / "end.prop").write_text(
        "state init { transition { event acquire() success on } }\n"
        "state on accepting { transition { event #end() success over } }\n"
        "state over non-accepting"
    )
    (folder / "end.scn").write_text(
        "initialization { tries = 0 }\n"
        "on entering accepting state { last = checkpoint() }\n"
        "on entering non-accepting state {\n"
        "    tries += 1\n"
        "    if tries < 3: restore_checkpoint(last)\n"
        "}"
    )
    options = ["--prop", "end.prop", "--scenario", "end.scn", "--json", "--output", "report.json"]
    done = mopsus(folder, "debug", "--batch", *options, program, "a10u22")
    report = json.loads((folder / "report.json").read_text())
    assert (done.returncode, report["program"]["status"]) == (1, 3)
    assert [each["category"] for each in report["verdicts"]] == ["over"] * 3
    assert done.stdout == "use 2 2\n" * 3
