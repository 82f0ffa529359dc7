"""JSON lines as the core decodes them are what Python's `json` reads, also when they are damaged."""

from __future__ import annotations

import json
import random
from unittest.mock import patch

import pyarrow as pa
import pytest
from oracle.rows import Defined
from trace_support import read_rows, run_check, spec_of

from mopsus import _core
from mopsus.events.trace import needs_of, text
from mopsus.events.trace.needs import ColumnTypes
from mopsus.events.trace.rows import decode_line
from mopsus.model import Event, Pointcut
from mopsus.spec.pointcuts import named
from mopsus.spec.predicate import Compare, Field, Literal

BIND = Pointcut("bind", argument=(("p", "a"), ("q", "a.b"), ("r", "c.d.e")))
EVENT = Event("x", ("p", "q", "r"), pointcut=Pointcut("and", (named("x"), BIND)))
TYPES = [None, "int", "float", "bool", "str", "bytes"]
NUMBERS = [
    "0",
    "-0",
    "7",
    "-1",
    "9223372036854775807",
    "9223372036854775808",
    "1" * 30,
    "1" * 4301,
    "1.5",
    "-0.0",
    "1e5",
]
NUMBERS += [
    "1E+400",
    "5e-324",
    "1e-400",
    "0.1",
    "2.2250738585072011e-308",
    "NaN",
    "Infinity",
    "-Infinity",
    "123456789012345678",
]
WRONG = ["01", "1.", ".5", "+1", "1e", "-", "nan", "tru", "Null", "'a'", "", "-NaN", "0x1", "1_0", "\u0661"]
STRINGS = [
    "",
    "x",
    "7",
    "-1.5",
    "true",
    "é",
    "\U0001f600",
    '"',
    "\\",
    "/",
    "\b\f\n\r\t",
    "\x00",
    "\x7f",
    "a" * 40,
    "a" * 7 + '"',
]
RAW = [
    r'"\u00e9"',
    r'"\ud83d\ude00"',
    r'"\ud83d"',
    r'"\ude00\ud83d"',
    r'"\u12"',
    r'"\x"',
    r'"\/"',
    '"a\tb"',
    '"a',
    r'"\"',
]


def draw_value(rng: random.Random, depth: int = 0) -> str:
    match rng.randrange(8):
        case 0 | 1:
            return rng.choice(NUMBERS)
        case 2:
            return json.dumps(rng.choice(STRINGS), ensure_ascii=rng.random() < 0.5)
        case 3:
            return rng.choice(["true", "false", "null"])
        case 4:
            return rng.choice([*RAW, *WRONG]) if rng.random() < 0.3 else '"x"'
        case 5 if depth < 3:
            return "[" + ",".join(draw_value(rng, depth + 1) for _ in range(rng.randrange(3))) + "]"
    return draw_object(rng, depth + 1) if depth < 3 else "1"


def draw_object(rng: random.Random, depth: int = 0) -> str:
    def space() -> str:
        return rng.choice(["", "", "", " ", "\t", " \r"])

    keys = ["event", "a", "b", "a.b", "c", "d", "e", "c.d.e", "", r"\u0061", "é", r"\ud800"]
    members = [
        f'{space()}"{rng.choice(keys)}"{space()}:{space()}{draw_value(rng, depth)}{space()}'
        for _ in range(rng.randrange(6))
    ]
    if depth == 0 and rng.random() < 0.9:
        members.insert(rng.randrange(len(members) + 1), '"event": "x"')
    return "{" + ",".join(members) + "}"


def damaged(rng: random.Random, data: bytes) -> bytes:
    found = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(found) + 1)
        match rng.randrange(4):
            case 0:
                found[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del found[at : at + rng.randint(1, 4)]
            case 2:
                found[at:at] = rng.choice([b"\n", b"{", b"}", b"\xff", b'"', b"\\", b",", b"\xc3\xa9", b"\xed\xa0\x80"])
            case 3:
                found = found[:at]
    return bytes(found)


def outcome(block: bytes, types: list[str | None], *, stop: bool):
    spec = spec_of(EVENT, **dict(zip("pqr", types, strict=True)))
    needs = needs_of([spec])
    decided = ColumnTypes(needs)
    reader = text.JsonReader(needs, decided)
    reader.sample(block)
    parsed = reader.parse(block, stop=stop)
    return decided.all_decided(), parsed.count, parsed.bad, repr(pa.record_batch(parsed.columns).to_pylist())


@pytest.mark.parametrize("seed", range(8))
def test_lines_mean_what_json_says(seed):
    rng = random.Random(seed)
    good = 0
    for _ in range(150):
        block = "".join(
            draw_object(rng) + rng.choice(["\n", "\r\n", "\n \n"]) for _ in range(rng.randrange(8))
        ).encode()
        if rng.random() < 0.4:
            block = damaged(rng, block)
        types = [rng.choice(TYPES) for _ in "pqr"]
        stop = rng.random() < 0.2
        quick = outcome(block, types, stop=stop)
        with patch.object(text, "_core", Defined()):
            assert outcome(block, types, stop=stop) == quick, block
        good += quick[1] - len(quick[2])
    assert good > 50


def test_an_ordinary_line_never_asks_the_definition():
    """Else nothing above would compare anything."""
    line = b'{"event":"x","a":1,"c":{"d":{"e":"\\u00e9"}},"z":[1,{"y":null}]}\n'
    fields = [("event", "str", True, True), ("a", "int", False, False), ("c.d.e", "str", False, False)]
    columns, count = _core.read_json_lines(line, fields, lambda at, offset: pytest.fail("it is not odd"))
    assert (count, columns.first()) == (1, {"event": "x", "a": 1, "c.d.e": "é"})


def test_a_field_that_is_not_utf_8_harms_only_who_reads_it(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"event":"x","p":1,"other":"\xff"}\n{"event":"x","p":"\xff"}\n')
    spec = spec_of(Event("x", ("p",)), p="str")
    result, [monitor] = run_check([spec], path)
    assert monitor.events == [("x", {"p": "1"}, 1)]
    assert result.error is not None
    assert (result.error.row, result.error.column) == (2, "p")
    assert "declare `p: bytes`" in result.error.hint
    rows = read_rows(spec_of(Event("x", ("p",)), p="bytes"), path)
    assert [row["p"] for row in rows] == [b"1", b"\xff"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"a":1', "Expecting ',' delimiter at character 7"),
        (b"[1]", "it holds something else"),
        (b'{"a":' + b"[" * 500 + b"]" * 500 + b"}", "more than 500 levels of nesting at character 505"),
        (b'{"a":"' + b"[" * 600 + b'"', "Expecting ',' delimiter at character 608"),
        (b'{"a":' + b"1" * 4301 + b"}", "a whole number of more than 4,300 digits"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_with_its_place(line, message):
    with pytest.raises(ValueError, match="^" + message.replace("[", r"\[") + "$"):
        decode_line(line)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_a_field_without_a_value_is_none(tmp_path, name):
    """Without pyarrow it was once a bad row."""
    path = tmp_path / name
    path.write_text("p,m,kind\n1,,a\n" if name == "t.csv" else '{"p":1,"kind":"a"}\n')
    kind = Pointcut("row", argument=Compare("==", Field("kind"), Literal("a")))
    result, [monitor] = run_check([spec_of(Event("x", ("p",), fields=("m",), pointcut=kind))], path)
    assert result.error is None
    assert [event for event, *_ in monitor.events] == ["x"]


def test_an_error_of_the_definition_goes_through_the_core():
    def fail(at: int, offset: int) -> None:
        raise KeyError("the definition")

    with pytest.raises(KeyError, match="the definition"):
        _core.read_json_lines(b"[1]\n", [("x", "str", False, False)], fail)
    with pytest.raises(ValueError, match="a value for each column"):
        _core.read_json_lines(b"[1]\n", [("x", "str", False, False)], lambda at, offset: ((), at + 1))
