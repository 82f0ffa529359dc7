"""The live view of real programs under real debuggers, in a real browser."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from interactive.dap.client import Client
from interactive.dap.python_programs import QUEUE, begun, go, watched
from ui.browser import chromium
from ui.live_page import BROWN, GREEN, GREY, LIGHT_RED, RED, colours, press, rows, shows, taken
from ui.terminals import terminal

EXAMPLES = Path(__file__).parents[2] / "examples" / "interactive"

LOANS = """
slice on n

state init accepting { transition { event took(n : int) success held } }
state held accepting { transition { event back(n : int) success free } }
state free accepting { transition { event back(n : int) success twice } }
state twice non-accepting
"""

IN_C = r"""
#include <stdio.h>
void took(int n) { printf("took %d\n", n), fflush(stdout); }
void back(int n) { printf("back %d\n", n); }
int main(int count, char **words) {
    FILE *file = fopen(words[1], "r");
    char what;
    int n;
    while (fscanf(file, " %c%d", &what, &n) == 2)
        if (what == 't') took(n); else back(n);
    return 0;
}
"""

IN_PYTHON = """
import sys

def took(n): print("took", n)
def back(n): print("back", n)

with open(sys.argv[1]) as file:
    for line in file:
        (took if line[0] == "t" else back)(int(line[1:]))
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture(autouse=True)
def without_problems(browser):
    browser.problems.clear()
    yield
    assert browser.problems == []


@contextmanager
def debugged(browser, folder, prompt, *words):
    """A program under a debugger that was told to show its live view, and the view in the browser."""
    command = [sys.executable, "-m", "mopsus", "debug", "--graph", *words]
    with terminal(command, folder) as shell:
        address = re.search(r"http://\S+", shell.read_until("\n", "The live view is at")).group()
        shell.read_until(prompt)
        browser.open(address)
        yield shell


def example(folder, *names):
    for name in names:
        shutil.copy(EXAMPLES / name, folder)


def test_a_python_program_stops_goes_back_and_goes_on(browser, tmp_path):
    example(tmp_path, "shop.py", "shop.prop", "shop.scn")
    words = ["--prop", "shop.prop,quiet", "--scenario", "shop.scn", "shop.py"]
    with debugged(browser, tmp_path, "(mopsus)", *words) as shell:
        colours(browser, init=GREEN, back_twice=LIGHT_RED)
        shell.type("continue")
        colours(browser, back_twice=RED, given_away=LIGHT_RED, sold=GREEN)
        assert taken(browser) == [["3", BROWN]]
        shows(browser, "the scenario of shop stops the program here")
        browser.click(".m-slices tbody tr")  # what moved last comes first
        colours(browser, back=GREY, back_twice=RED)
        browser.click(".m-slices tbody tr")
        shell.read_until("(mopsus)")
        press(browser, "go back to checkpoint 0")
        colours(browser, back_twice=LIGHT_RED, held=GREEN)
        shell.read_until("Back at checkpoint 0")
        shell.read_until("(mopsus)")
        shell.type("p self.hour, ticket.number")
        shell.read_until("(10, 3)")
        shell.read_until("(mopsus)")
        press(browser, "continue")
        colours(browser, back_twice=RED)
        shell.read_until("Stopped: the scenario")
        shell.read_until("(mopsus)")
        shell.type("quit")
        shows(browser, "The debugger has ended.")
        assert shell.process.wait(120) is not None


def loans(folder, debugger):
    """The program that takes loans and gives them back as it is told by a pipe: its prompt, its command, its name."""
    (folder / "loans.prop").write_text(LOANS)
    os.mkfifo(folder / "pipe")
    if debugger == "python":
        (folder / "loans.py").write_text(IN_PYTHON)
        return "(mopsus)", "continue", "loans.py"
    (folder / "loans.c").write_text(IN_C)
    subprocess.run(["cc", "-g3", "-o", "loans", "loans.c"], cwd=folder, check=True)
    return "(gdb)", "run", "./loans"


def count(browser, state, wanted):
    """Wait until so many slices are in a state."""
    browser.value(f"document.querySelector('[data-state={state}] .count').textContent === '{wanted}'")


@contextmanager
def writing(pipe):
    """A pipe for the program to read, which need not be there: nobody waits for it."""
    with open(os.open(pipe, os.O_RDWR), "w", buffering=1) as file:
        yield lambda *words: print(*words, sep="\n", file=file)


@pytest.mark.parametrize("debugger", [pytest.param("gdb", marks=pytest.mark.gdb), "python"])
def test_the_page_follows_a_program_that_runs(browser, tmp_path, debugger):
    prompt, start, program = loans(tmp_path, debugger)
    with (
        debugged(browser, tmp_path, prompt, "--prop", "loans.prop,quiet", program, "pipe") as shell,
        writing(tmp_path / "pipe") as tell,
    ):
        shell.type(start)
        shows(browser, "running")
        tell("t1")
        colours(browser, held=GREEN, twice=LIGHT_RED)
        tell("t2")
        count(browser, "held", 2)
        press(browser, "interrupt")
        shows(browser, "stopped")
        shell.read_until(prompt)
        press(browser, "take a checkpoint")
        browser.value("!!document.querySelector('.m-checkpoints button')")
        press(browser, "continue")
        shows(browser, "running")
        tell("b1")
        colours(browser, free=GREEN, held=GREEN)
        tell("b1")
        colours(browser, twice=RED)
        shows(browser, "stopped")
        assert rows(browser, ".m-slices", 3)[0][:2] == ["n=1", "twice"]
        assert "back(" in browser.value("document.querySelector('.m-source .here').innerText")
        press(browser, "go back to checkpoint 0")
        colours(browser, twice=LIGHT_RED)
        count(browser, "held", 2)
        press(browser, "continue")
        tell(*(f"t{number}" for number in range(100, 1100)), "t3")
        count(browser, "held", "1,003")
        shows(browser, "inside of the program")  # after the first thousand, which are told one by one
        tell("b3", "b3")
        colours(browser, twice=RED, free=GREY)
        shows(browser, "loans: twice for n=3")


def test_the_page_follows_what_an_editor_debugs(browser, tmp_path):
    with Client() as client:
        begun(client, tmp_path, QUEUE, 20, graph=True, **watched(tmp_path))
        client.stopped("breakpoint")
        browser.open(re.search(r"The live view is at (\S+)", client.output("console")).group(1))
        shows(browser, "program.py:20 in main")
        go(client)
        client.stopped("exception")
        colours(browser, full=RED)
        press(browser, "continue")
        shows(browser, "there is no prompt")  # the editor has the say
        go(client)
        assert client.finish() == 3
        shows(browser, "ended")


@pytest.mark.gdb
def test_a_browser_that_comes_late_sees_how_it_stands(browser, tmp_path):
    example(tmp_path, "queue.c", "queue.prop")
    subprocess.run(["cc", "-g3", "-o", "queue", "queue.c"], cwd=tmp_path, check=True)
    words = [sys.executable, "-m", "mopsus", "debug", "--prop", "queue.prop,quiet", "./queue"]
    with terminal(words, tmp_path) as shell:
        shell.read_until("(gdb)")
        shell.type("run")
        shell.read_until("Stopped: queue: overflow")
        shell.read_until("(gdb)")
        shell.type("verde show-graph")
        browser.open(re.search(r"http://\S+", shell.read_until("\n", "The live view is at")).group())
        colours(browser, overflow=RED)
        assert "pushed=" in rows(browser, ".m-slices", 2)[0][2]
        shows(browser, "queue: overflow for queue=0x")
