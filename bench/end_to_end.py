"""`mopsus check` of a CSV file in a fresh process, against a fresh process that only reads the file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

import pyarrow.csv
from harness import Goal, Row, measure, process, quotients
from hasnext import ITERATORS
from specs import ADVANCED_ONCE, ASKED_ONCE, HAS_NEXT
from traces import has_next

from mopsus.events.trace.blocks import BLOCK

EVENTS = 10_000_000
DRAIN = f"""
import sys
from pyarrow import csv
for batch in csv.open_csv(sys.argv[1], read_options=csv.ReadOptions(block_size={BLOCK})):
    pass
"""
READING = "draining pyarrow.csv"


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    result = []
    with tempfile.TemporaryDirectory() as scratch:
        one, three = Path(scratch) / "one.mop", Path(scratch) / "three.mop"
        one.write_text(HAS_NEXT, encoding="utf-8")
        three.write_text(HAS_NEXT + ADVANCED_ONCE + ASKED_ONCE, encoding="utf-8")
        for iterators in ITERATORS:
            path = Path(scratch) / "trace.csv"
            pyarrow.csv.write_csv(has_next(int(EVENTS * scale), iterators).table("int64"), path)
            check = ("-m", "mopsus", "check")
            sides = {
                "default options": process(*check, str(one), str(path)),
                "history off": process(*check, "--history", "0", str(one), str(path)),
                "three specs": process(*check, str(three), str(path)),
                READING: process("-c", DRAIN, str(path)),
            }
            timings = measure(sides, rounds=5)
            read = timings.pop(READING)
            result += [
                Row(
                    case=f"{iterators:,} iterators, {name}",
                    unit="s",
                    ours=median(timing.seconds),
                    base=READING,
                    theirs=median(read.seconds),
                    ratio=quotients(timing.seconds, read.seconds),
                    goal=None if name == "three specs" else Goal("≤", 1.5),
                )
                for name, timing in timings.items()
            ]
    return result
