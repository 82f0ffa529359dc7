"""What is found does not depend on when the collector of garbage runs."""

import gc
import json
import subprocess
import sys

import pytest

import mopsus
from mopsus import _core

pytestmark = pytest.mark.interpreter

SPEC = """\
Doors(d: Door) {
    event open before(d) : call(Door.open) && target(d)
    ere : open open
}
"""
PROGRAM = """\
import gc

class Door:
    def open(self): pass

door = Door()

class Ring:
    def __init__(self):
        self.me, self.door = self, door
        {inside}

    def __del__(self):
        {afterwards}

def main():
    Ring()
    {then}

main()
"""


@pytest.mark.parametrize(
    ("inside", "afterwards", "line"),
    [("pass", "door.open(), door.open()", None), ("self.door.open()", "door.open()", 11)],
)
def test_what_the_collector_ends_is_told_with_its_last_use_or_no_place(tmp_path, inside, afterwards, line):
    (tmp_path / "doors.mop").write_text(SPEC)
    places = []
    for then in ("pass", "gc.collect()", "gc.disable()"):
        (tmp_path / "main.py").write_text(PROGRAM.format(inside=inside, afterwards=afterwards, then=then))
        command = [sys.executable, "-m", "mopsus", "run", "--json", "doors.mop", "--", "main.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        report = json.loads(done.stderr)
        places.append([each.get("location") for each in report["verdicts"]])
    expected = None if line is None else f"{tmp_path}/main.py:{line}"
    assert places == [[expected]] * 3


def test_the_collector_is_listened_to_only_while_something_is_woven():
    before = list(gc.callbacks)
    with mopsus.weave(mopsus.parse(SPEC)):
        assert gc.callbacks == [*before, _core.collector]
    assert gc.callbacks == before
    with mopsus.weave(mopsus.parse(SPEC)):
        gc.callbacks.clear()  # a program may do so
    gc.callbacks[:] = before
