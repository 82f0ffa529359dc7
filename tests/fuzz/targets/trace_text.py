"""Blocks of CSV and JSON lines: the quick readers say the same as those that are written down row by row."""

from __future__ import annotations

from typing import Any

from fuzz.choices import Choices

from mopsus._core import Columns
from mopsus.events.trace import rows
from mopsus.events.trace.blocks import cut_blocks
from mopsus.events.trace.likeness import likeness
from mopsus.events.trace.needs import ColumnTypes, Needs, needs_of
from mopsus.events.trace.sources import UnreadableError
from mopsus.events.trace.survey import Survey
from mopsus.events.trace.text import CsvReader, JsonReader
from mopsus.spec import parse

SPECS = list(
    parse(
        "S(c: int, i, f: float) { event use(i); event create(c, i); event w(f) : row(level >= 3 and a.b == 'x')\n"
        "  ere : create use }"
    ).values()
)
NEEDS = needs_of(SPECS)


def one(data: bytes) -> None:
    choices = Choices(data)
    quotes, stop = choices.flag(), choices.flag()
    block = choices.rest()
    likeness(block)
    blocks = list(cut_blocks([block[:7], block[7:]], quotes=quotes))
    assert b"".join(blocks) == block or b"".join(blocks).rstrip(b"\n") == block.rstrip(b"\n")
    assert len(list(rows.record_lines(block, quotes=quotes))) <= block.count(b"\n") + 1
    try:
        check_csv(block, NEEDS, stop) if quotes else check_json(block, NEEDS, stop)
    except UnreadableError as error:
        assert_told(error)


def check_csv(block: bytes, needs: Needs, stop: bool) -> None:
    header, rest = rows.parse_header(block)
    types = ColumnTypes(needs)
    reader = CsvReader(header, needs, types)
    reader.sample(rest)
    slow = rows.CsvLayout.of(header, needs)
    compare(reader.parse(rest, stop=stop), rows.parse_csv(rest, slow, types, stop=stop), list(reader.present))


def check_json(block: bytes, needs: Needs, stop: bool) -> None:
    types = ColumnTypes(needs)
    reader = JsonReader(needs, types)
    survey = Survey(needs)
    survey.see_objects("trace", block)
    survey.impossible(SPECS)
    reader.sample(block)
    slow = rows.JsonLayout(needs)
    compare(reader.parse(block, stop=stop), rows.parse_jsonl(block, slow, types, stop=stop), list(reader.present))


def assert_told(error: UnreadableError) -> None:
    assert str(error)


def compare(quick: Any, slow: rows.ParsedRows, present: list[str]) -> None:
    assert quick.count == slow.count, (quick.count, slow.count)
    assert quick.bad == slow.bad
    if isinstance(quick.data, rows.Rows | Columns):
        return
    for name in present:
        values = quick.data.column(name).to_pylist()
        assert list(map(repr, values)) == list(map(repr, slow.rows.columns[name])), name
