"""Real monitors over real traces: the same verdicts from every format, with and without pyarrow."""

from __future__ import annotations

import random

import pytest
from trace_support import compressed, without_pyarrow, write_as

from mopsus.events.trace import check
from mopsus.events.trace.session import Sorter
from mopsus.spec import parse

SPECS = list(
    parse(
        """
        Unsafe(c, i) {
            event create(c, i)
            event update(c)
            event use(i)
            ere : create use* update+ use
        }

        Twice(i) {
            event use(i) : row(event == "use" and x > 2) && bind(i = i)
            ere : use use
        }
        """
    ).values()
)


def make_rows():
    rng = random.Random(3)
    rows = []
    for _ in range(3000):
        event = rng.choice(["create", "use", "use", "update", "noise"])
        row = {"event": event, "c": None, "i": None, "x": rng.randrange(5), "time": len(rows) / 2, "location": None}
        row["c"] = rng.randrange(40) if event != "use" else None
        row["i"] = f"i{rng.randrange(60)}" if event != "update" else None
        row["location"] = f"app.py:{rng.randrange(9)}"
        rows.append(row)
    return rows


ROWS = make_rows()
COLUMNS = ["event", "c", "i", "x", "time", "location"]


def verdicts_of(path, **options):
    found = []
    result = check(SPECS, [str(path)], on_verdict=found.append, **options)
    assert result.error is None
    return found, result


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    found, result = verdicts_of(write_as("csv", tmp_path_factory.mktemp("reference"), ROWS, COLUMNS))
    assert len(found) > 100
    assert {verdict.spec for verdict in found} == {"Unsafe", "Twice"}
    assert result.ignored == sum(row["event"] == "noise" for row in ROWS)
    return found


def test_verdicts_come_in_the_order_of_the_rows(reference):
    rows = [verdict.row for verdict in reference]
    assert rows == sorted(rows)


def test_a_flood_of_verdicts_comes_as_it_comes(tmp_path, monkeypatch, reference):
    monkeypatch.setattr(Sorter, "MOST", 7)
    found, _ = verdicts_of(write_as("csv", tmp_path, ROWS, COLUMNS))
    assert by_spec(found) == by_spec(reference)
    assert found[:7] == sorted(found[:7], key=lambda verdict: verdict.row)


@pytest.mark.parametrize("format", ["jsonl", "parquet", "arrow", "stream"])
def test_every_format_gives_the_same_verdicts(tmp_path, format, reference):
    path = write_as(format, tmp_path, ROWS, COLUMNS)
    assert by_spec(verdicts_of(path)[0]) == by_spec(reference)


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_the_same_verdicts_without_pyarrow(tmp_path, format, reference, monkeypatch):
    path = compressed(write_as(format, tmp_path, ROWS, COLUMNS), "gzip")
    _, fast = verdicts_of(path)
    without_pyarrow(monkeypatch)
    found, slow = verdicts_of(path)
    assert by_spec(found) == by_spec(reference)
    assert (slow.rows, slow.ignored) == (fast.rows, fast.ignored)


def by_spec(verdicts):
    """Within a batch one spec comes after the other; what each of them says does not change."""
    return {name: [verdict for verdict in verdicts if verdict.spec == name] for name in ("Unsafe", "Twice")}


def test_the_place_of_a_verdict(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("event,i,x\nuse,1,3\nuse,1,4\n")
    [fast], _ = verdicts_of(path)
    without_pyarrow(monkeypatch)
    [slow], _ = verdicts_of(path)
    assert fast == slow
    assert (fast.row, fast.location) == (2, f"{path}:2")
    assert [event.row for event in fast.witness] == [1, 2]


@pytest.mark.parametrize("arrow", [True, False])
def test_the_real_complaint_about_a_row(tmp_path, arrow, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("event,i,c\nuse,1,\ncreate,1,\n")
    if not arrow:
        without_pyarrow(monkeypatch)
    for specs in (SPECS, SPECS[:1]):
        error = check(specs, [str(path)], on_verdict=print).error
        assert error is not None
        assert (error.message, error.column, error.row) == (
            f"{path}, row 2: event `create` has no value for `c`",
            "c",
            2,
        )
        assert error.hint


BOUND = "S(i) { event e(i) : row(x == 1) && bind(i = req.ip) ere : e e }"


@pytest.mark.parametrize("arrow", [True, False])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("i,x\n7,2\n7,1\n", "there is no column `req.ip`, which event `e` needs"),
        ("i,x,req.ip\n7,2,\n7,1,\n", "event `e` has no value for `i`, which is `req.ip`"),
        ('{"i": 7, "x": 2}\n{"i": 7, "x": 1}\n', "event `e` has no value for `i`, which is `req.ip`"),
    ],
)
@pytest.mark.parametrize("others", [[], SPECS[1:]])
def test_a_complaint_is_about_the_column_that_a_parameter_is_bound_to(
    tmp_path, arrow, text, message, others, monkeypatch
):
    """It named the parameter, so that a column which was there was said to be missing."""
    path = tmp_path / "t"
    path.write_text(text)
    if not arrow:
        without_pyarrow(monkeypatch)
    error = check([*parse(BOUND).values(), *others], [str(path)], on_verdict=print).error
    assert error is not None
    assert (error.message, error.column, error.row) == (f"{path}, row 2: {message}", "req.ip", 2)


def test_max_violations(tmp_path, reference):
    path = write_as("csv", tmp_path, ROWS, COLUMNS)
    found, result = verdicts_of(path, max_violations=7)
    assert len(found) == 7
    assert result.full


def test_an_error_of_the_callback_is_raised(tmp_path):
    def refuse(verdict):
        raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk full"):
        check(SPECS, [str(write_as("csv", tmp_path, ROWS, COLUMNS))], on_verdict=refuse)


def test_progress_and_times_that_are_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("event,i,x,time\nuse,1,3,noon\n")
    seen = []
    _, result = verdicts_of(path, progress=seen.append)
    assert (seen[-1].rows, seen[-1].bytes_done, seen[-1].bytes_total) == (1, path.stat().st_size, path.stat().st_size)
    assert "TRACE-008" in {warning.code for warning in result.warnings}
