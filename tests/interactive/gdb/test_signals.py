"""An interrupt may come at any moment, while events come as fast as they can: the session stops, or ends."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ending import end_all
from interactive.gdb.programs import build

pytestmark = pytest.mark.gdb

EVERY = 50
TOGGLE = """
    #include <stdio.h>
    struct light { int on; };
    void shut(struct light *light) { light->on = -1; }
    void toggle(struct light *light) { light->on = !light->on; }
    int main(void) {
        struct light light = {0};
        for (long k = 1;; k++) {
            toggle(&light);
            if (k % 50 == 0) { puts("on and on"); fflush(stdout); }
        }
    }
"""
LIGHT = """
    slice on light
    state init accepting { transition { event toggle(light) success on } transition { event shut(light) success bad } }
    state on accepting { transition { event toggle(light) success init } transition { event shut(light) success bad } }
    state bad non-accepting
"""


@contextmanager
def session(folder: Path, *options: str, text: str = LIGHT) -> Iterator[subprocess.Popen[str]]:
    """`mopsus debug` of a program that goes on until nobody reads what it prints."""
    prop = folder / "light.prop"
    prop.write_text(text)
    words = [sys.executable, "-m", "mopsus", "debug", *options, "--prop", f"{prop},quiet", str(build(TOGGLE))]
    pipe = subprocess.PIPE
    running = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        yield running
    finally:
        end_all(running)


def read_until(running: subprocess.Popen[str], text: str, times: int = 1) -> str:
    assert running.stdout is not None
    said = ""
    while said.count(text) < times:
        line = running.stdout.readline()
        assert line, said
        said += line
    return said


def is_gone(process: int) -> bool:
    """Nobody of the whole session is left."""
    try:
        os.killpg(process, 0)
    except ProcessLookupError:
        return True
    return False


def send(running: subprocess.Popen[str], number: int) -> None:
    """Ctrl-C is for all, what shall end is told to `mopsus debug` alone."""
    (os.killpg if number == signal.SIGINT else os.kill)(running.pid, number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("hooks", ["--hooks", "--no-hooks"])
def test_without_a_prompt_the_run_ends_with_a_report(hooks, number, tmp_path):
    moments = random.Random(f"{hooks} {number}")
    for _ in range(2):
        with session(tmp_path, "--batch", "--json", hooks) as running:
            times = moments.randrange(1, 20)
            read_until(running, "on and on", times)
            send(running, number)
            _, report = running.communicate(timeout=120)
            assert running.returncode == 128 + number
            found = json.loads(report)
            assert found["program"]["stop"]["reason"] == "interrupted"
            assert found["stats"]["events"] >= EVERY * times
            assert found["verdicts"] == []
            assert is_gone(running.pid)


@pytest.mark.parametrize("hooks", ["--hooks", "--no-hooks"])
def test_at_the_prompt_the_program_stops_and_goes_on(hooks, tmp_path):
    moments = random.Random(hooks)
    with session(tmp_path, hooks) as running:
        assert running.stdin is not None
        running.stdin.write("run\n" + "continue\n" * 20)  # more than needed: the program hears an interrupt, too
        running.stdin.flush()
        said = ""
        for _ in range(5):
            said += read_until(running, "on and on", moments.randrange(1, 20))
            send(running, signal.SIGINT)
            said += read_until(running, "received signal SIGINT")
        said += read_until(running, "on and on", moments.randrange(1, 20))
        send(running, signal.SIGTERM)
        rest, errors = running.communicate(timeout=120)
        assert is_gone(running.pid)
        assert running.returncode == 0
        assert not [each for each in ("Exception", "internal-error", "Stopped") if each in said + rest + errors]


ENDLESS = """
    initialization {{ import pathlib }}
    state init {{
        transition {{
            event toggle(light)
            success {{
                pathlib.Path("{begun}").touch()
                while True: pass
            }} init
        }}
    }}
"""


@pytest.mark.parametrize(("options", "number"), [(["--batch"], signal.SIGTERM), ([], signal.SIGINT)])
def test_code_of_a_property_that_does_not_end_is_cut_off(options, number, tmp_path):
    """The first Ctrl-C once did nothing, and from a terminal no other one did."""
    begun = tmp_path / "begun"
    with session(tmp_path, *options, text=ENDLESS.format(begun=begun)) as running:
        assert running.stdin is not None
        if not options:
            running.stdin.write("run\n")
            running.stdin.flush()
        while not begun.exists():
            assert running.poll() is None
            time.sleep(0.02)
        send(running, number)
        if not options:
            read_until(running, "Stopped: interrupted")
        _, errors = running.communicate(timeout=120)
        assert running.returncode == 128 + number
        assert is_gone(running.pid)
        assert "program.c:5 · interrupted" in errors
