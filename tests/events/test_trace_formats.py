"""Every format and compression gives the same events; bad input is told apart to the row."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from trace_support import (
    HAS_NEXT,
    compressed,
    plain,
    read_rows,
    run_check,
    spec_of,
    without_pyarrow,
    write_arrow,
    write_as,
    write_csv,
    write_parquet,
)

import mopsus
from mopsus import _core
from mopsus.events.trace import Format, check, expand
from mopsus.model import Event, Pointcut, TraceError
from mopsus.spec.pointcuts import named

UNSAFE = spec_of(Event("create", ("c", "i")), Event("update", ("c",)), Event("use", ("i",)), name="Unsafe")
ROWS = [
    {
        "event": name,
        "c": k // 7 if name != "use" else None,
        "i": f"it{k % 11}" if name != "update" else None,
        "x": k / 4,
    }
    for k, name in enumerate(["create", "use", "update"] * 1500)
]
EXPECTED = [
    (
        row["event"],
        {name: row[name] for name in {"create": ("c", "i"), "update": ("c",), "use": ("i",)}[row["event"]]},
        number,
    )
    for number, row in enumerate(ROWS, 1)
]


@pytest.fixture(params=["with pyarrow", "without pyarrow"])
def engine(request, monkeypatch):
    if request.param == "without pyarrow":
        without_pyarrow(monkeypatch)
    return request.param


@pytest.mark.parametrize("how", ["plain", "gzip", "gzips", "zstd", "zstds"])
@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "arrow", "stream"])
def test_round_trip(tmp_path, format, how):
    path = compressed(write_as(format, tmp_path, ROWS, ["event", "c", "i", "x"]), how)
    result, [monitor] = run_check([UNSAFE], path)
    assert result.error is None
    assert monitor.events == EXPECTED
    assert (result.rows, result.ignored, result.bad_rows) == (len(ROWS), 0, 0)
    assert monitor.closed


@pytest.mark.parametrize("how", ["plain", "gzip", "gzips"])
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_round_trip_without_pyarrow(tmp_path, format, how, monkeypatch):
    path = compressed(write_as(format, tmp_path, ROWS, ["event", "c", "i", "x"]), how)
    without_pyarrow(monkeypatch)
    result, [monitor] = run_check([UNSAFE], path)
    assert result.error is None
    assert monitor.events == EXPECTED


@pytest.mark.parametrize("arrow", [True, False])
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path, format, arrow, monkeypatch):
    path = write_as(format, tmp_path, ROWS, ["event", "c", "i", "x"])
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    if not arrow:
        without_pyarrow(monkeypatch)
    result, [monitor] = run_check([UNSAFE], path)
    assert result.error is None
    assert monitor.events == EXPECTED


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "arrow", "stream"])
def test_standard_input(tmp_path, format, monkeypatch):
    data = write_as(format, tmp_path, ROWS, ["event", "c", "i", "x"]).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    result, [monitor] = run_check([UNSAFE], "-")
    assert result.error is None
    assert monitor.events == EXPECTED


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_binary_formats_name_the_extra(tmp_path, format, monkeypatch):
    path = write_as(format, tmp_path, ROWS[:3], ["event", "c", "i"])
    without_pyarrow(monkeypatch)
    monkeypatch.setattr("mopsus.events.trace.binary.require", require_nothing)
    result, _ = run_check([UNSAFE], path)
    assert result.error is not None
    assert result.error.code == "TRACE-003"
    assert "mopsus[trace]" in result.error.hint


def require_nothing(module: str, purpose: str):
    from mopsus.events.trace import arrow

    return arrow.require(module, purpose)


def test_zstd_names_the_extra(tmp_path, monkeypatch):
    path = compressed(write_csv(tmp_path / "t", ROWS[:3], ["event", "c", "i"]), "zstd")
    without_pyarrow(monkeypatch)
    result, _ = run_check([UNSAFE], path)
    assert result.error is not None
    assert result.error.code == "TRACE-003"
    assert result.error.file == str(path)


def test_forced_format(tmp_path):
    path = tmp_path / "t"
    path.write_text('{"event,i\nnext,1\n')
    error, _ = bad(path, format=Format.CSV)
    assert "the columns are" in error.message


def test_forced_format_is_believed(tmp_path):
    path = tmp_path / "t"
    path.write_text("event,i\nnext,1\n")
    result, _ = run_check([HAS_NEXT], path, format=Format.JSONL)
    assert result.error is not None
    assert result.error.row == 1
    assert "JSON" in result.error.message


def test_folders_and_patterns(tmp_path):
    for name in ("b.csv", "a.csv", "deep/c.csv", ".hidden.csv", "x.mop"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("event,i\nnext,1\n")
    folder = tmp_path / "logs"
    names = [str(folder / name) for name in ("a.csv", "b.csv", "deep/c.csv")]
    assert [source.name for source in expand([str(folder)])] == names
    assert [source.name for source in expand([str(folder / "*.csv")])] == names[:2]
    result, [monitor] = run_check([HAS_NEXT], folder)
    assert monitor.events == [("next", {"i": 1}, 1)] * 3
    assert result.rows == 3


@pytest.mark.parametrize("argument", ["missing.csv", "no*.csv", "empty"])
def test_nothing_there(tmp_path, argument):
    (tmp_path / "empty").mkdir()
    (tmp_path / "mising.csv").touch()
    with pytest.raises(TraceError) as caught:
        expand([str(tmp_path / argument)])
    assert caught.value.code == "TRACE-002"
    if argument == "missing.csv":
        assert "mising.csv" in caught.value.hint


def test_standard_input_only_once():
    with pytest.raises(TraceError, match="only once"):
        run_check([HAS_NEXT], "-", "-")


def test_an_empty_trace_is_a_warning(tmp_path, engine):
    path = tmp_path / "t.csv"
    path.touch()
    result, _ = run_check([HAS_NEXT], path)
    assert result.error is None
    assert {warning.code for warning in result.warnings} == {"TRACE-007"}
    assert [unseen.event for unseen in result.unseen] == [None]


TYPED = spec_of(*HAS_NEXT.events, i="int")


def bad(path: Path, spec=TYPED, **options):
    result, [monitor] = run_check([spec], path, **options)
    assert result.error is not None
    assert result.error.file == str(path)
    return result.error, monitor


BAD_CSV = {
    "too few fields": (b"next", None, "1 field, but the header has 2"),
    "too many fields": (b"next,1,2", None, "3 fields"),
    "not UTF-8": (b"n\xff,1", "event", "UTF-8"),
    "no number": (b"next,abc", "i", "abc"),
    "too large": (b"next,9223372036854775808", "i", "64 bits"),
    "no value": (b"next,", "i", "i"),
    "unclosed quote": (b'next,"1', None, "quote"),
    "carriage return": (b"next,1\rnext,2", None, "carriage return"),
}


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("what", BAD_CSV)
def test_bad_csv_rows(tmp_path, what, newline, engine):
    line, column, message = BAD_CSV[what]
    good = [b"next,%d" % k for k in range(1, 4001)]
    path = tmp_path / "t.csv"
    path.write_bytes(newline.join([b"event,i", *good[:2500], line, *([] if what == "unclosed quote" else good)]))
    error, monitor = bad(path)
    assert error.row == 2501
    assert error.column == column
    assert message in error.message or what == "no value"
    assert error.hint or what == "no value"  # a monitor notices that, and this one has no hints
    assert monitor.events == [("next", {"i": k}, k) for k in range(1, 2501)]


@pytest.mark.parametrize("what", [what for what in BAD_CSV if what != "unclosed quote"])
def test_skipped_csv_rows(tmp_path, what, engine):
    line, *_ = BAD_CSV[what]
    path = tmp_path / "t.csv"
    path.write_bytes(b"\n".join([b"event,i", b"next,1", line, b"next,3", b"", line, b"next,5"]))
    result, [monitor] = run_check([TYPED], path, bad_rows="skip")
    assert result.error is None
    assert monitor.events == [("next", {"i": k}, k) for k in (1, 3, 5)]
    assert result.bad_rows == 2
    assert "TRACE-009" in {warning.code for warning in result.warnings}


DEEP = b'{"event":"next","i":1,"z":' + b"[" * 500 + b"]" * 500 + b"}"
BAD_JSON = {
    "no object": (b"[1]", None, "JSON"),
    "no JSON": (b'{"event":"next",', None, "JSON"),
    "two objects": (b'{"event":"next","i":1}{"event":"next","i":2}', None, "JSON"),
    "no number": (b'{"event":"next","i":"abc"}', "i", "abc"),
    "a fraction": (b'{"event":"next","i":1.5}', "i", "whole"),
    "no value": (b'{"event":"next","i":null}', "i", "i"),
    "no key": (b'{"event":"next"}', "i", "i"),
    "nested": (b'{"event":"next","i":[1]}', "i", "single"),
    "not UTF-8": (b'{"event":"n\xff","i":1}', "event", "UTF-8"),
    "too deep": (
        b'{"event":"next","i":1,"z":' + b"[" * 500 + b"]" * 500 + b"}",
        None,
        "levels of nesting at character 526",
    ),
    "no event": (b'{"i":1}', "event", "event"),
}


@pytest.mark.parametrize("what", BAD_JSON)
def test_bad_json_rows(tmp_path, what, engine):
    line, column, message = BAD_JSON[what]
    good = [json.dumps({"event": "next", "i": k, "z": {"a": [k]}}).encode() for k in range(1, 1001)]
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\n".join([*good[:500], line, *good]))
    error, monitor = bad(path)
    assert error.row == 501
    assert error.column == column
    assert message in error.message
    assert monitor.events == [("next", {"i": k}, k) for k in range(1, 501)]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_a_value_that_no_event_needs_may_be_anything(tmp_path, name, engine):
    path = tmp_path / name
    if name == "t.csv":
        path.write_text("event,i,c\nuse,1,\nupdate,x,1\nother,y,z\nuse,2,q\n")
    else:
        path.write_text(
            '{"event":"use","i":1}\n{"event":"update","i":"x","c":1}\n'
            '{"event":"other","i":[],"c":"z"}\n{"event":"use","i":2,"c":"q"}\n'
        )
    spec = spec_of(Event("update", ("c",)), Event("use", ("i",)), i="int", c="int")
    result, [monitor] = run_check([spec], path)
    assert result.error is None
    assert monitor.events == [("use", {"i": 1}, 1), ("update", {"c": 1}, 2), ("use", {"i": 2}, 4)]
    assert result.ignored == 1


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_a_missing_column_is_an_error_when_an_event_needs_it(tmp_path, name, engine):
    rows = [{"event": "use", "i": 1}, {"event": "update", "i": 2}]
    path = write_as(name.removeprefix("t."), tmp_path, rows, ["event", "i"])
    if name == "t.parquet" and engine == "without pyarrow":
        pytest.skip("needs pyarrow")
    error, monitor = bad(path, UNSAFE)
    assert (error.row, error.column) == (2, "c")
    assert monitor.events == [("use", {"i": 1}, 1)]


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_no_event_column(tmp_path, format):
    path = write_as(format, tmp_path, [{"name": "use", "i": 1}], ["name", "i"])
    error, _ = bad(path, UNSAFE)
    assert "`event`" in error.message
    assert "`name`" in error.message


def test_other_separators_are_noticed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("event;i\nnext;1\n")
    error, _ = bad(path)
    assert "semicolons" in error.hint


@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_truncated_compression(tmp_path, how):
    lines = [f"next,{k}" for k in range(1, 200_001)]
    data = "\n".join(["event,i", *lines, ""]).encode()
    packed = gzip.compress(data) if how == "gzip" else zstandard.compress(data)
    path = tmp_path / "t.csv.z"
    path.write_bytes(packed[: len(packed) * 2 // 3])
    error, monitor = bad(path)
    assert "ends too early" in error.message
    assert error.row == len(monitor.events) + 1 > 50_000
    assert [row for *_, row in monitor.events] == list(range(1, len(monitor.events) + 1))


def test_damaged_gzip(tmp_path):
    packed = bytearray(gzip.compress(os.urandom(100_000)))
    packed[50_000] ^= 0xFF
    path = tmp_path / "t.gz"
    path.write_bytes(packed)
    result, _ = run_check([HAS_NEXT], path)
    assert result.error is not None


@pytest.mark.parametrize("format", ["parquet", "arrow", "stream"])
def test_truncated_binary(tmp_path, format):
    path = write_as(format, tmp_path, ROWS, [])
    path.write_bytes(path.read_bytes()[:-100])
    result, _ = run_check([UNSAFE], path)
    assert result.error is not None
    assert result.error.code == "TRACE-002"
    assert result.error.file == str(path)


def test_a_crash_of_the_decoder_is_an_error(tmp_path, monkeypatch):
    decoder = tmp_path / "crash.py"
    decoder.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    monkeypatch.setattr("mopsus.events.trace.binary.DECODER", decoder)
    error, _ = bad(write_parquet(tmp_path / "t.parquet", ROWS[:3]), UNSAFE)
    assert "SIGSEGV" in error.message


def second(number: float) -> datetime:
    return datetime(1970, 1, 1) + timedelta(seconds=number)


def test_binary_types_are_normalised(tmp_path):
    table = pa.table(
        {
            "event": pa.array(["e", "e"], pa.large_string()),
            "a": pa.array([1, 2], pa.uint8()),
            "b": pa.array([1.5, 2], pa.float32()),
            "c": pa.array(["x", "y"]).dictionary_encode(),
            "d": pa.array([b"x", b"y"], pa.large_binary()),
            "f": pa.array([True, False]),
            "time": pa.array([1_000_000, 2_500_000], pa.timestamp("us")),
        }
    )
    path = tmp_path / "t.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    spec = spec_of(Event("e", ("a", "b", "c", "d", "f")))
    assert plain(read_rows(spec, path)) == [
        {"#row": 1, "event": "e", "a": 1, "b": 1.5, "c": "x", "d": b"x", "f": True, "time": second(1)},
        {"#row": 2, "event": "e", "a": 2, "b": 2.0, "c": "y", "d": b"y", "f": False, "time": second(2.5)},
    ]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_keep_their_unit(tmp_path, unit):
    rows = {"event": ["ask", "answer", "ask", "answer"], "i": [1, 1, 2, 2], "time": [0, 2, 3, 6]}
    table = pa.table(rows).set_column(2, "time", pa.array([second(at) for at in rows["time"]], pa.timestamp(unit)))
    pq.write_table(table, tmp_path / "t.parquet")
    text = "S(i) { event ask(i)\n event answer(i)\n mtl : unit ms; answer => once[0,2500] ask }"
    found = []
    result = check([mopsus.parse(text)["S"]], [str(tmp_path / "t.parquet")], on_verdict=found.append)
    assert result.error is None
    assert [(verdict.binding, verdict.time) for verdict in found] == [({"i": 2}, 6000)]


def test_a_predicate_sees_timestamps_as_seconds(tmp_path):
    table = pa.table({"time": pa.array([second(1), second(2.5)], pa.timestamp("us")), "i": [1, 2]})
    pq.write_table(table, tmp_path / "t.parquet")
    spec = mopsus.parse("S(i) { event late(i) : row(time > 2)\n ere : late\n @match }")["S"]
    found = []
    check([spec], [str(tmp_path / "t.parquet")], on_verdict=found.append)
    assert [verdict.binding for verdict in found] == [{"i": 2}]


def test_binary_columns_take_the_declared_type(tmp_path):
    path = write_arrow(tmp_path / "t", [{"event": "e", "a": 7, "b": "8"}, {"event": "e", "a": 9, "b": "x"}])
    spec = spec_of(Event("e", ("a", "b")), a="str", b="int")
    error, monitor = bad(path, spec)
    assert monitor.events == [("e", {"a": "7", "b": 8}, 1)]
    assert (error.row, error.column) == (2, "b")


def test_nested_values_are_refused(tmp_path):
    path = write_arrow(tmp_path / "t", [{"event": "use", "i": [1]}])
    error, _ = bad(path, UNSAFE)
    assert "`i`" in error.message


def test_the_decoder_starts_without_mopsus(tmp_path):
    path = write_parquet(tmp_path / "t.parquet", ROWS[:3])
    code = Path(sys.modules["mopsus.events.trace.binary"].__file__).with_name("decode.py")
    done = subprocess.run(
        [sys.executable, "-I", str(code), "parquet", str(path), '["event"]'], capture_output=True, check=True
    )
    assert pa.ipc.open_stream(done.stdout).read_all().num_rows == 3


def test_a_byte_order_mark_and_quoted_names(tmp_path, engine):
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbf"event","i, j",i\r\n"next","a\r\nb","1"\r\nnext,c,2\r\n')
    result, [monitor] = run_check([HAS_NEXT], path)
    assert result.error is None
    assert monitor.events == [("next", {"i": 1}, 1), ("next", {"i": 2}, 2)]


def test_nested_json_fields(tmp_path, engine):
    path = tmp_path / "t.jsonl"
    path.write_text('{"event":"e","a.b":1}\n{"event":"e","a":{"b":2}}\n{"event":"e","a":3}\n')
    bind = Pointcut("bind", argument=(("p", "a.b"),))
    spec = spec_of(Event("e", ("p",), pointcut=Pointcut("and", (named("e"), bind))))
    error, monitor = bad(path, spec)
    assert monitor.events == [("e", {"p": 1}, 1), ("e", {"p": 2}, 2)]
    assert error.row == 3


def test_rows_under_a_header_without_names_are_bad(tmp_path):
    """A header whose quote is not closed has no names."""
    path = tmp_path / "t.csv"
    path.write_text('"event\nnext,1\n')
    error, _ = bad(path)
    assert "no column `event`" in error.message
    assert _core.infer_csv(b"1,2\n", 0, []) is None
    with pytest.raises(IndexError):
        _core.read_csv(b"1,2\n", 0, [("i", "int", False, False)], [0], lambda at, offset: (None, at + 4))
