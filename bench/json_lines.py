"""JSON lines from a file into columns, against draining the reader of pyarrow on the same file."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.json
from harness import Goal, Row, Side, measure, quotients

from mopsus.events.trace.blocks import BLOCK, cut_blocks
from mopsus.events.trace.needs import ColumnTypes, Needs, needs_of
from mopsus.events.trace.text import JsonReader
from mopsus.spec import parse

LINES = 600_000
SPEC = "Unsafe(c, i) { event create(c, i)\n event update(c)\n event use(i)\n ere : create use* update+ use }"
DRAINING = "draining pyarrow.json"


def bare(rng: random.Random, row: int) -> dict[str, Any]:
    """A row of which everything is read."""
    return {
        "event": rng.choice(["create", "use", "update"]),
        "c": rng.randrange(1 << 40),
        "i": f"it{rng.randrange(1000)}",
    }


def log(rng: random.Random, row: int) -> dict[str, Any]:
    """A row of a log in which most is for others."""
    user = {"name": f"user {rng.randrange(1000)}", "groups": ["a", "b"], "address": "10.0.0.7"}
    return {"time": row / 1000, "level": "info", **bare(rng, row), "user": user, "message": 'what happened, "in words"'}


CASES = {"rows of three values": bare, "rows of a log, half of it unread": log}


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    result = []
    specs = list(parse(SPEC).values())
    with tempfile.TemporaryDirectory() as scratch:
        for name, make in CASES.items():
            path = Path(scratch) / "trace.jsonl"
            rng = random.Random(1)
            with path.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(make(rng, row)) + "\n" for row in range(int(LINES * scale)))
            size = path.stat().st_size / 1e6
            needs = needs_of(specs)
            timings = measure(
                {
                    "ours": Side(partial(_decode, path, needs)),
                    DRAINING: Side(partial(_drain, path)),
                },
                rounds=7,
            )
            ours, theirs = timings["ours"], timings[DRAINING]
            if ours.value != theirs.value:
                raise RuntimeError(f"{ours.value} rows, and {theirs.value} of pyarrow's")
            result.append(
                Row(
                    case=name,
                    unit="MB/s",
                    ours=size / median(ours.seconds),
                    base=DRAINING,
                    theirs=size / median(theirs.seconds),
                    ratio=quotients(theirs.seconds, ours.seconds),
                    goal=Goal("≥", 0.5),
                )
            )
    return result


def _decode(path: Path, needs: Needs, _: object) -> int:
    reader = JsonReader(needs, ColumnTypes(needs))
    count = 0
    for block in cut_blocks(_pieces(path), quotes=False):
        reader.sample(block)
        count += reader.parse(block, stop=True).columns.num_rows
    return count


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(BLOCK):
            yield piece


def _drain(path: Path, _: object) -> int:
    options = pyarrow.json.ReadOptions(block_size=BLOCK)
    with pyarrow.json.open_json(path, read_options=options) as batches:
        return sum(batch.num_rows for batch in batches)
