"""Events found in whole columns are those found row by row, and several specs see one trace alike."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.rows import ROW, columns_of
from trace_support import HAS_NEXT, run_check, spec_of, without_pyarrow

from mopsus import _core
from mopsus.events.trace.needs import RELEASE, needs_of
from mopsus.events.trace.recognise import Recogniser, of_predicate
from mopsus.events.trace.rules import rules_of
from mopsus.model import Event, Pointcut
from mopsus.spec import parse
from mopsus.spec import predicate as p
from mopsus.spec.pointcuts import holds, named

COLUMNS = {
    "n": pa.int64(),
    "x": pa.float64(),
    "s": pa.string(),
    "b": pa.bool_(),
    "y": pa.binary(),
    "event": pa.string(),
}
BIG = [2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
VALUES = {
    "n": st.one_of(st.integers(-3, 3), st.sampled_from(BIG)),
    "x": st.one_of(st.sampled_from([0.0, -0.0, 1.0, 1.5, float("inf"), float("nan")]), st.sampled_from(BIG).map(float)),
    "s": st.sampled_from(["", "a", "ab", "ba", "é", "1"]),
    "b": st.booleans(),
    "y": st.sampled_from([b"", b"a"]),
    "event": st.sampled_from(["e", "f", "g", "#release"]),
}
fields = st.sampled_from([*COLUMNS, "missing"]).map(p.Field)
literals = st.one_of(VALUES["n"], VALUES["x"].filter(lambda x: x == x), VALUES["s"], VALUES["b"]).map(p.Literal)
sides = st.one_of(st.tuples(fields, literals), st.tuples(literals, fields), st.tuples(fields, fields))
operators = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
leaves = st.one_of(
    st.builds(lambda op, pair: p.Compare(op, *pair), operators, sides),
    st.builds(p.In, fields, st.lists(literals, min_size=1, max_size=3).map(tuple), st.booleans()),
    st.builds(p.IsNull, fields),
    st.builds(p.Call, st.sampled_from(["startswith", "endswith", "contains"]), fields, VALUES["s"]),
    st.builds(p.Call, st.just("matches"), fields, st.sampled_from(["^a", "b$", r"\d", "(?=a)a.", ""])),
    fields,
    st.booleans().map(p.Literal),
)
predicates = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(p.Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: p.And(tuple(each))),
        st.lists(inner, min_size=2, max_size=3).map(lambda each: p.Or(tuple(each))),
    ),
    max_leaves=6,
)
primitives = st.one_of(
    predicates.map(lambda tree: Pointcut("row", argument=tree)),
    st.lists(st.sampled_from(["e", "f", "g"]), min_size=1, max_size=2).map(lambda names: named(*names)),
)
pointcuts = st.recursive(
    primitives,
    lambda inner: st.one_of(
        st.tuples(inner).map(lambda one: Pointcut("not", one)),
        st.tuples(inner, inner).map(lambda two: Pointcut("and", two)),
        st.tuples(inner, inner).map(lambda two: Pointcut("or", two)),
    ),
    max_leaves=3,
)
binds = st.sampled_from(["n", "x", "s", "b", "y"])


@st.composite
def specs(draw):
    events = []
    column = draw(binds)  # the columns of one parameter have one type, which the readers see to
    for name in ("e", "f", "g")[: draw(st.integers(1, 3))]:
        pointcut = draw(st.one_of(st.none(), pointcuts))
        parameters = draw(st.sampled_from([(), ("v",)]))
        if parameters:
            bind = Pointcut("bind", argument=(("v", column),))
            pointcut = bind if pointcut is None else Pointcut("and", (pointcut, bind))
        events.append(Event(name, parameters, pointcut=pointcut))
    return spec_of(*events)


row_lists = st.lists(
    st.fixed_dictionaries({name: st.one_of(st.none(), values) for name, values in VALUES.items()}), max_size=8
)


def events_of(spec, row):
    """The events that a row is, and their values, by the definition of pointcuts."""
    name = row["event"]
    for rule in rules_of(spec):
        if holds(rule.pointcut, name or "", row):
            yield rule.event, {each: row.get(column) for each, column in rule.columns.items()}
    if name == RELEASE:
        columns = {rule.columns[each]: each for rule in rules_of(spec) for each in rule.columns}
        yield RELEASE, {each: row[column] for column, each in columns.items()}


@settings(max_examples=300, deadline=None)
@given(spec=specs(), rows=row_lists, numbered=st.booleans(), nameless=st.booleans())
def test_columns_and_rows_agree(spec, rows, numbered, nameless):
    recogniser = Recogniser(spec, nameless=nameless)
    table = pa.Table.from_pylist(rows, pa.schema(COLUMNS))
    numbers = [10 + 3 * k for k in range(len(rows))] if numbered else range(10, 10 + len(rows))
    if numbered:
        table = table.append_column(ROW, pa.array([number - 9 for number in numbers], pa.int64()))
    columns = columns_of(table, 10) if rows else columns_of(pa.record_batch([[] for _ in COLUMNS], pa.schema(COLUMNS)))
    expected = [
        (number, event, repr({name: value for name, value in values.items() if value is not None}))
        for number, row in zip(numbers, rows, strict=True)
        for event, values in events_of(spec, row)
    ]
    found = recogniser.find(columns)
    assert _core.count_events([found], len(rows)) == len({number for number, *_ in expected})
    assert recogniser.takes(columns) == (recogniser.plain and not (nameless and any(not row["event"] for row in rows)))
    seen = pa.record_batch(found.events())
    parameters = {event.name: event.parameters for event in spec.events}
    parameters[RELEASE] = tuple(parameter.name for parameter in spec.parameters)
    assert expected == [
        (row[ROW], row["event"], repr({name: row[name] for name in parameters[row["event"]] if row[name] is not None}))
        for row in seen.to_pylist()
    ]


def marks_of(test, batch):
    """Which rows of a batch satisfy a predicate."""
    found = _core.Recogniser([("e", of_predicate(test), [])], [], []).find(columns_of(batch))
    numbers = pa.record_batch(found.events()).column(ROW).to_pylist()
    return [number in numbers for number in range(1, batch.num_rows + 1)]


EXTREMES = [*BIG, -(2**63) + 1, -(2**53) - 1, 0, 1, -1]
NUMBERS = [*EXTREMES, *map(float, EXTREMES), 0.5, -0.5, 2**63, -(2**63) - 1, 2**64, 10**400, -(10**400), -0.0]
NUMBERS += [float("inf"), -float("inf"), float("nan"), 5e-324, 1.7976931348623157e308, int(1.7976931348623157e308) + 1]


@pytest.mark.parametrize("type", [int, float])
def test_no_number_is_rounded_when_it_is_compared(type):
    values = [each for each in NUMBERS if each.__class__ is type and (type is float or -(2**63) <= each < 2**63)]
    rows = [{"n": value} for value in [*values, None]]
    batch = pa.RecordBatch.from_pylist(rows, pa.schema({"n": pa.int64() if type is int else pa.float64()}))
    for literal in NUMBERS:
        for op in ("==", "!=", "<", "<=", ">", ">="):
            for test in (
                p.Compare(op, p.Field("n"), p.Literal(literal)),
                p.Compare(op, p.Literal(literal), p.Field("n")),
            ):
                assert marks_of(test, batch) == [p.evaluate(test, row) for row in rows], test


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_points_in_time_are_compared_as_seconds(unit):
    moments = pa.array([0, 1_500, -1_500, None], pa.int64()).cast(pa.timestamp("ms"))
    if unit == "s":
        moments = pa.array([0, 1, -2, None], pa.int64())
    batch = pa.record_batch({"time": moments.cast(pa.timestamp(unit))})
    seconds = [0, 1, -2, None] if unit == "s" else [0, 1.5, -1.5, None]
    for literal in (0, 1, 1.5, -1.5, -2):
        test = p.Compare("<=", p.Field("time"), p.Literal(literal))
        assert marks_of(test, batch) == [p.evaluate(test, {"time": each}) for each in seconds]


LOG = """when,msg,job,n,event
1,lease granted,j1,1,
2,noise,j1,x,
3,job done,j1,2,
4,job done,j2,2,
5,,j1,,#release
"""
LEASES = parse(
    """
    Leases(id) {
        event lease(id) : row(msg == "lease granted") && bind(id = job)
        event done(id) : row(endswith(msg, "done")) && bind(id = job)
        event first() : row(msg == "job done" and job == "j1")
        ere : lease done
    }
    """
)["Leases"]


@pytest.mark.parametrize("arrow", [True, False])
def test_a_log_in_its_own_words(tmp_path, arrow, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(LOG)
    if not arrow:
        without_pyarrow(monkeypatch)
    result, [monitor] = run_check([LEASES], path)
    assert result.error is None
    assert monitor.events == [
        ("lease", {"id": "j1"}, 1),
        ("done", {"id": "j1"}, 3),
        ("first", {}, 3),
        ("done", {"id": "j2"}, 4),
        ("#release", {"id": "j1"}, 5),
    ]
    assert (result.rows, result.ignored) == (5, 1)


@pytest.mark.parametrize("log", ["msg,job,i\njob done,j1,\n", "msg,job,i,event\njob done,j1,,\n,,7,next\n"])
@pytest.mark.parametrize("arrow", [True, False])
def test_a_row_without_a_name_is_no_mistake_beside_specs_that_need_none(tmp_path, log, arrow, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(log)
    if not arrow:
        without_pyarrow(monkeypatch)
    named = spec_of(Event("next", ("i",)), name="Named")
    result, monitors = run_check([named, LEASES], path)
    assert result.error is None
    events = {monitor.spec.name: [name for name, *_ in monitor.events] for monitor in monitors}
    assert events == {"Named": ["next"] if "next" in log else [], "Leases": ["done", "first"]}


def test_text_comparisons_read_numbers_as_text():
    test = p.And((p.Compare("==", p.Field("code"), p.Literal("404")), p.Compare(">", p.Field("size"), p.Literal(3))))
    needs = needs_of([spec_of(Event("e", pointcut=Pointcut("row", argument=test)))])
    assert needs.declared["code"].value == "str"
    assert "size" not in needs.declared
    assert not needs.named_only


@pytest.mark.parametrize("arrow", [True, False])
def test_all_specs_stop_at_the_same_row(tmp_path, arrow, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("event,i,k\nnext,1,1\nhasnext,2,2\nother,3,3\nopen,4,\nnext,,5\nnext,6,6\n")
    if not arrow:
        without_pyarrow(monkeypatch)
    opens = spec_of(Event("open", ("k",)), name="Opens")
    for order in ([HAS_NEXT, opens], [opens, HAS_NEXT]):
        result, monitors = run_check(order, path)
        assert result.error is not None
        assert (result.error.row, result.error.column) == (4, "k")
        assert {monitor.spec.name: len(monitor.events) for monitor in monitors} == {"HasNext": 2, "Opens": 0}
        assert (result.rows, result.ignored) == (3, 1)
    result, _ = run_check([HAS_NEXT, opens], path, bad_rows="skip")
    assert result.error is None
    assert (result.rows, result.ignored, result.bad_rows) == (6, 1, 2)


def test_a_spec_whose_events_never_occur(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("event,i\nnexxt,1\n")
    result, _ = run_check([HAS_NEXT], path)
    [unseen] = result.unseen
    assert (unseen.event, unseen.possible) == (None, True)
    assert "`nexxt`" in unseen.message
    assert result.ignored == 1


def test_release_rows_reach_the_monitor_unchanged(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("event,i\nnext,1\n#release,1\n#release,\n")
    result, [monitor] = run_check([HAS_NEXT], path)
    assert monitor.events == [("next", {"i": 1}, 1), ("#release", {"i": 1}, 2), ("#release", {}, 3)]
    assert result.ignored == 0
