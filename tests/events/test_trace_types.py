"""Column types: the rule for undeclared ones, and the same values, types and errors with and without pyarrow."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from oracle.rows import infer_from_values
from trace_support import plain, read_rows, row_by_row, run_check, spec_of, without_pyarrow

from mopsus import _core
from mopsus.events.trace import blocks, needs_of
from mopsus.events.trace.columns import ColumnType, convert_value, infer_from_cells, parse_cell
from mopsus.events.trace.needs import ColumnTypeError
from mopsus.model import Event, Pointcut, TraceError
from mopsus.spec.pointcuts import named

INT, FLOAT, BOOL, STR, BYTES = ColumnType


@pytest.mark.parametrize(
    ("cells", "type"),
    [
        ("1 -2 0", INT),
        ("9223372036854775807", INT),
        ("9223372036854775808", STR),
        ("1 2.5", FLOAT),
        ("1e3 0.5", FLOAT),
        ("true False TRUE", BOOL),
        ("true 1", STR),
        ("007", STR),
        ("+1", STR),
        ("0x10", STR),
        ("nan", STR),
        ("inf", STR),
        ("1. .5", STR),
        ("1 a", STR),
        ("", None),
    ],
)
def test_inference_from_cells(cells, type):
    assert infer_from_cells(cell.encode() for cell in cells.split(" ")) is type


@pytest.mark.parametrize(
    ("values", "type"),
    [
        ([1, None], INT),
        ([1, 2.0], FLOAT),
        ([True], BOOL),
        ([True, 1], STR),
        (["1"], STR),
        ([1, "a"], STR),
        ([2**63], STR),
        ([[1], {}], None),
        ([[1], 1], INT),
    ],
)
def test_inference_from_values(values, type):
    assert infer_from_values(values) is type


@pytest.mark.parametrize(
    ("values", "type"),
    [
        ("1 null", INT),
        ("1 2.0", FLOAT),
        ("true 1", STR),
        ("9223372036854775808", STR),
        ("[1] {}", None),
        ('[1] "a"', STR),
    ],
)
def test_inference_by_the_core(values, type):
    lines = "".join(f'{{"x":{value}}}\n' for value in values.split())
    assert _core.infer_json_lines(lines.encode(), ["x"]) == [type and type.value]


@pytest.mark.parametrize(
    ("cell", "type", "value"),
    [
        (b"", STR, None),
        (b"007", INT, 7),
        (b" 7\t", INT, 7),
        (b"0xff", INT, 255),
        (b"0xFFFFFFFFFFFFFFFF", INT, -1),
        (b"0" * 5000 + b"7", INT, 7),
        (b"+1.5", FLOAT, 1.5),
        (b"-Infinity", FLOAT, -math.inf),
        (b"1", BOOL, True),
        (b"FALSE", BOOL, False),
        (b"\xff", BYTES, b"\xff"),
    ],
)
def test_cells(cell, type, value):
    assert parse_cell(cell, type) == value


@pytest.mark.parametrize(
    ("cell", "type"), [(b"+1", INT), (b"1_0", INT), (b"9" * 5000, INT), (b"1_0", FLOAT), (b"yes", BOOL), (b"\xff", STR)]
)
def test_meaningless_cells(cell, type):
    with pytest.raises(ValueError, match=r"."):
        parse_cell(cell, type)


@pytest.mark.parametrize(
    ("value", "type", "converted"),
    [(5, STR, "5"), (True, STR, "true"), ("5", INT, 5), (5, FLOAT, 5.0), ("x", BYTES, b"x"), (1.5, STR, "1.5")],
)
def test_values(value, type, converted):
    found = convert_value(value, type)
    assert (found, found.__class__) == (converted, converted.__class__)


@pytest.mark.parametrize(
    ("value", "type"), [(True, INT), (1.0, INT), ("", INT), ([1], STR), (2**70, INT), ("\ud800", STR)]
)
def test_meaningless_values(value, type):
    with pytest.raises(ValueError, match=r"."):
        convert_value(value, type)


SPEC = spec_of(Event("e", ("a", "b")), Event("f", ("a",)))
TYPES = [None, "int", "float", "bool", "str", "bytes"]

NUMBERS = ["1", "-1", "007", "+1", "1.5", ".5", "5.", "1e400", "nan", "NaN(1)", "inf", "0x1F", "9223372036854775808"]
QUOTED = ['"', '""', '"a""b"', '"a,b"', '"a\nb"', '"x"y', 'x"y', '"\r\n"', '" 1"']
odd_cells = st.sampled_from(["", " ", "true", "TRUE", "0", "é", "a\rb", "\x00", *NUMBERS, *QUOTED])
cells = st.one_of(odd_cells, st.text(alphabet='ab1.,"\r\n é-', max_size=6))
csv_rows = st.lists(st.tuples(st.sampled_from(["e", "f", "g", "", '"e"', "#release"]), cells, cells), max_size=12)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=csv_rows,
    types=st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES)),
    newline=st.sampled_from(["\n", "\r\n"]),
    end=st.booleans(),
    skip=st.booleans(),
)
@example(rows=[("e", '"', "1"), ("e", "2", "3")], types=(None, None), newline="\n", end=False, skip=True)
def test_csv_is_the_same_by_block_and_by_row(tmp_path, rows, types, newline, end, skip):
    path = tmp_path / "t.csv"
    text = newline.join(["event,a,x,b", *(f"{event},{a},x,{b}" for event, a, b in rows)]) + newline * end
    path.write_bytes(text.encode())
    assert_same(path, types, skip)


json_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(["1", "1.5", "true", "", "é"]),
    st.just([1]),
    st.just({"a": 1}),
)
json_rows = st.lists(
    st.fixed_dictionaries({}, optional={"event": st.sampled_from(["e", "f", "g"]), "a": json_values, "b": json_values}),
    max_size=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=json_rows, types=st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES)), skip=st.booleans())
def test_json_is_the_same_with_and_without_pyarrow(tmp_path, rows, types, skip):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({"event": "e", **row}) + "\n" for row in rows))
    assert_same(path, types, skip)


def assert_same(path, types, skip) -> None:
    spec = spec_of(*SPEC.events, a=types[0], b=types[1])
    fast = outcome(spec, path, skip)
    for slower in (without_pyarrow, row_by_row):
        with pytest.MonkeyPatch.context() as patch:
            slower(patch)
            assert outcome(spec, path, skip) == fast


def outcome(spec, path, skip):
    options = {"skip": skip}
    try:
        rows = plain(read_rows(spec, path, **options))
        failure = None
    except TraceError as error:
        rows, failure = [], (error.message, error.row, error.column)
    result, [monitor] = run_check([spec], path, bad_rows="skip" if skip else "stop")
    error = result.error
    typed = [[(name, repr(value)) for name, value in row.items()] for row in rows]
    events = [
        (event, {name: repr(value) for name, value in values.items()}, row) for event, values, row in monitor.events
    ]
    return typed, failure, events, error and (error.row, error.column), result.bad_rows, result.rows, result.ignored


def test_types_come_from_the_first_block_with_a_value(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 64)
    path = tmp_path / "t.csv"
    path.write_text("event,a,b\n" + "f,x,\n" * 50 + "e,y,1\n" * 50 + "e,z,q\n")
    for patched in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if patched:
                without_pyarrow(patch)
            result, [monitor] = run_check([SPEC], path)
            assert result.error is not None
            assert (result.error.row, result.error.column) == (101, "b")
            assert "first block" in result.error.message
            assert monitor.events[-1] == ("e", {"a": "y", "b": 1}, 100)


def test_types_hold_for_all_files_of_a_run(tmp_path):
    (tmp_path / "1.csv").write_text("event,a\nf,x\n")
    (tmp_path / "2.csv").write_text("event,a\nf,1\n")
    (tmp_path / "3.jsonl").write_text('{"event":"f","a":1}\n')
    result, [monitor] = run_check([SPEC], tmp_path)
    assert result.error is None
    assert [values for _, values, _ in monitor.events] == [{"a": "x"}, {"a": "1"}, {"a": "1"}]


def test_columns_of_one_parameter_have_one_type(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("event,p,q\nopen,1,\nclose,,x\n")
    bind = [Pointcut("bind", argument=(("a", column),)) for column in ("p", "q")]
    spec = spec_of(
        Event("open", ("a",), pointcut=Pointcut("and", (named("open"), bind[0]))),
        Event("close", ("a",), pointcut=Pointcut("and", (named("close"), bind[1]))),
    )
    _, [monitor] = run_check([spec], path)
    assert monitor.events == [("open", {"a": "1"}, 1), ("close", {"a": "x"}, 2)]


def test_specs_that_disagree_about_a_column():
    with pytest.raises(ColumnTypeError, match="column `a` is int in spec A and str in spec B"):
        needs_of([spec_of(Event("e", ("a",)), name="A", a="int"), spec_of(Event("e", ("a",)), name="B", a="str")])
