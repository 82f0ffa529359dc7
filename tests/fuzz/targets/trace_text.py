"""Blocks of CSV and JSON lines: the core says the same as the definition, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from fuzz.choices import Choices
from oracle.rows import Defined

from mopsus.events.trace import rows, text
from mopsus.events.trace.blocks import cut_blocks
from mopsus.events.trace.likeness import likeness
from mopsus.events.trace.needs import ColumnTypes, Needs, needs_of
from mopsus.events.trace.sources import UnreadableError
from mopsus.events.trace.survey import Survey
from mopsus.events.trace.text import CsvReader, JsonReader, TextReader
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
    compare(lambda types: CsvReader(header, needs, types), needs, rest, stop)


def check_json(block: bytes, needs: Needs, stop: bool) -> None:
    survey = Survey(needs)
    survey.see_objects("trace", block)
    survey.impossible(SPECS)
    compare(lambda types: JsonReader(needs, types), needs, block, stop)


def compare(open_reader: Callable[[ColumnTypes], TextReader], needs: Needs, block: bytes, stop: bool) -> None:
    quick = read(open_reader, needs, block, stop)
    with patch.object(text, "_core", Defined()):
        slow = read(open_reader, needs, block, stop)
    assert quick == slow


def read(open_reader: Callable[[ColumnTypes], TextReader], needs: Needs, block: bytes, stop: bool) -> Any:
    """The types of the columns, the number of rows, the bad ones and, as text, the good ones."""
    types = ColumnTypes(needs)
    reader = open_reader(types)
    reader.sample(block)
    parsed = reader.parse(block, stop=stop)
    return types.all_decided(), parsed.count, parsed.bad, repr(pa.record_batch(parsed.columns).to_pylist())


def assert_told(error: UnreadableError) -> None:
    assert str(error)
