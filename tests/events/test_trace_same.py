"""The same rows in every format: the same verdicts, counts and complaints, with and without pyarrow."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from trace_support import row_by_row, without_pyarrow

from mopsus.events.trace import check
from mopsus.spec import parse

ARROW = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "str": pa.string(), "bytes": pa.binary()}
DRAW = {
    "int": lambda rng: rng.choice([0, 1, 2, -1, 7, 2**53 + 1, 2**63 - 1, -(2**63)]),
    "float": lambda rng: rng.choice([0.0, -0.0, 0.5, 1e300, -2.5e-7, 3.0, 1e16]),
    "bool": lambda rng: rng.random() < 0.5,
    "str": lambda rng: rng.choice(["a", "ab", "é", 'q"q', "a,b", "line\nline", "x\\y", "\U0001f600", " a", "7x"]),
    "bytes": lambda rng: rng.choice([b"a", "é".encode(), b"b,b"]),
}
NAMES = ["p", "q", "r.s", "r.t", "u.v.w"]


@dataclass
class Trace:
    """Rows of columns whose types are drawn one by one."""

    types: dict[str, str]
    bound: list[str]
    """Columns that are a parameter of some spec."""
    declared: set[str]
    loose: set[str]
    """Columns written as text, with texts in them that their type refuses."""
    rows: list[dict[str, Any]]


def draw(rng: random.Random) -> Trace:
    names = rng.sample(NAMES, rng.randint(2, len(NAMES)))
    bound = rng.sample(names, rng.randint(1, min(3, len(names))))
    types = {name: rng.choice([type for type in DRAW if type != "bytes" or name in bound]) for name in names}
    declared = {name for name in bound if types[name] == "bytes" or rng.random() < 0.5}
    loose = {name for name in declared if types[name] in ("int", "float", "bool") and rng.random() < 0.3}
    nulls = {name: rng.choice([0.0, 0.0, 0.02, 0.3]) for name in names}
    rows = []
    for _ in range(rng.randint(1, 60)):
        row: dict[str, Any] = {"event": rng.choice(["e", "f", "noise"])}
        for name in names:
            value = DRAW[types[name]](rng)
            if name in loose:
                value = "odd" if rng.random() < 0.02 else str(value)
            row[name] = None if rng.random() < nulls[name] else value
        rows.append(row)
    return Trace(types, bound, declared, loose, rows)


def literal(type: str, rng: random.Random) -> str:
    value = DRAW["str" if type == "bytes" else type](rng)
    return repr(value)


def predicate(trace: Trace, rng: random.Random, depth: int = 2) -> str:
    name = rng.choice(list(trace.types))
    type = trace.types[name]
    if depth and rng.random() < 0.5:
        one, other = predicate(trace, rng, depth - 1), predicate(trace, rng, depth - 1)
        return rng.choice([f"({one} and {other})", f"({one} or {other})", f"not ({one})"])
    if type == "str":
        tests = ["startswith({}, 'a')", "contains({}, 'b')", "matches({}, '^a|é$')", "{} in ('a', 'ab')", "{} < 'b'"]
        return rng.choice(tests).format(name)
    if rng.random() < 0.2:
        return f"{name} is {rng.choice(['', 'not '])}None"
    if type == "bytes":
        return f"{name} is not None"
    op = rng.choice(["==", "!=", "<", "<=", ">", ">="])
    return f"{name} {op} {rng.choice([literal(type, rng), rng.choice(list(trace.types))])}"


def specs_for(trace: Trace, rng: random.Random) -> list[Any]:
    texts = []
    for number, name in enumerate(trace.bound):
        parameter = f"v: {trace.types[name]}" if name in trace.declared else "v"
        other = rng.choice(
            [f"row({predicate(trace, rng)})", 'named("f")', f'named("e") && row({predicate(trace, rng)})']
        )
        texts.append(
            f"S{number}({parameter}) {{ event e(v) : named('e') && bind(v = {name})\n"
            f"event f(v) : {other} && bind(v = {name})\n ere : e* f f\n @match }}"
        )
    return list(parse("\n".join(texts)).values())


def write_csv(path, trace: Trace) -> None:
    def cell(value: Any) -> bytes:
        data = b"" if value is None else value if isinstance(value, bytes) else str(value).encode()
        return b'"' + data.replace(b'"', b'""') + b'"' if any(sign in data for sign in b',"\n') else data

    names = list(trace.rows[0])
    lines = [",".join(names).encode(), *(b",".join(cell(row[name]) for name in names) for row in trace.rows)]
    path.write_bytes(b"\n".join(lines) + b"\n")


def write_json(path, trace: Trace, rng: random.Random) -> None:
    lines = []
    for row in trace.rows:
        items = [(name, value.decode() if isinstance(value, bytes) else value) for name, value in row.items()]
        rng.shuffle(items)
        found: dict[str, Any] = {}
        for name, value in items:
            if value is None and rng.random() < 0.5:
                continue
            place, last = found, name
            if "." in name and rng.random() < 0.7:
                *outer, last = name.split(".")
                for part in outer:
                    place = place.setdefault(part, {})
            place[last] = value
        lines.append(
            json.dumps(found, ensure_ascii=rng.random() < 0.5, separators=rng.choice([(",", ":"), (", ", " : ")]))
        )
    path.write_text("".join(line + rng.choice(["\n", "\r\n", "\n\n"]) for line in lines))


def write_binary(folder, trace: Trace) -> None:
    schema = {name: pa.string() if name in trace.loose else ARROW[type] for name, type in trace.types.items()}
    table = pa.Table.from_pylist(trace.rows, pa.schema({"event": pa.string(), **schema}))
    pq.write_table(table, folder / "t.parquet")
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def outcome(specs: list[Any], path, bad_rows: Any) -> Any:
    verdicts = []
    result = check(specs, [str(path)], on_verdict=verdicts.append, bad_rows=bad_rows)
    said = [error.message.replace(str(path), "t") for error in [*result.bad, *([result.error] if result.error else [])]]
    hints = [error.hint for error in [*result.bad, *([result.error] if result.error else [])]]
    seen = [(verdict.spec, verdict.category, verdict.row, repr(verdict.binding)) for verdict in verdicts]
    return seen, said, hints, (result.rows, result.ignored, result.bad_rows, result.violations)


@pytest.mark.parametrize("seed", range(40))
def test_text_says_the_same_in_every_format(tmp_path, seed):
    rng = random.Random(seed)
    trace = draw(rng)
    specs = specs_for(trace, rng)
    write_csv(tmp_path / "t.csv", trace)
    write_json(tmp_path / "t.jsonl", trace, rng)
    for bad_rows in ("stop", "skip"):
        expected = outcome(specs, tmp_path / "t.csv", bad_rows)
        assert outcome(specs, tmp_path / "t.jsonl", bad_rows) == expected
        for changed in (without_pyarrow, row_by_row):
            with pytest.MonkeyPatch.context() as patch:
                changed(patch)
                for name in ("t.csv", "t.jsonl"):
                    assert outcome(specs, tmp_path / name, bad_rows) == expected, (changed, name)


@pytest.mark.parametrize("seed", range(8))
def test_binary_files_say_the_same_as_text(tmp_path, seed):
    rng = random.Random(seed)
    trace = draw(rng)
    specs = specs_for(trace, rng)
    write_csv(tmp_path / "t.csv", trace)
    write_binary(tmp_path, trace)
    for name, bad_rows in (("t.arrow", "stop"), ("t.parquet", "skip")):
        assert outcome(specs, tmp_path / name, bad_rows) == outcome(specs, tmp_path / "t.csv", bad_rows)


def test_the_random_traces_are_not_all_alike():
    """Some have verdicts, some have bad rows, and some have neither."""
    drawn = [(draw(rng), rng) for rng in map(random.Random, range(40))]
    assert any(trace.loose for trace, _ in drawn)
    assert {type for trace, _ in drawn for type in trace.types.values()} == {*DRAW}
    assert {"." in name for trace, _ in drawn for name in trace.types} == {True, False}
