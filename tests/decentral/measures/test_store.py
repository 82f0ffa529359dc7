"""Results in SQLite: columns as measures appear, whole runs only, and the same as Parquet."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.measures.store import Failure, RunKey, Store, write_parquet

ONE = RunKey("", "a.xml", 0, "orch")
TWO = RunKey("", "a.xml", 1, "orch")
THREE = RunKey("", "a.xml", 1, "chor")


def rows(path, query):
    with sqlite3.connect(path) as connection:
        found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_columns_are_added_as_measures_appear(tmp_path):
    path = tmp_path / "r.db"
    with Store(path) as store:
        store.write([(ONE, {"comps": 3, "msg_num": 4, "verdict": True})])
        store.write([(TWO, {"comps": 3, "msg_num": 6, "verdict": None}), (THREE, {"comps": 3, 'odd "name"': 0.5})])
        assert store.columns() == ["series", "spec", "trace", "alg", "comps", "msg_num", "verdict", 'odd "name"']
        assert store.finished() == {ONE, TWO, THREE}
    averages = rows(path, "SELECT alg, comps, avg(msg_num), count(*) FROM bench GROUP BY alg, comps ORDER BY alg")
    assert averages == [("chor", 3, None, 1), ("orch", 3, 5.0, 2)]
    assert rows(path, "SELECT verdict FROM bench WHERE alg = 'orch'") == [(1,), (None,)]


KEYS = st.builds(RunKey, st.just(""), st.sampled_from("ab"), st.integers(0, 3), st.sampled_from("xy"))
MEASURED = st.dictionaries(
    st.sampled_from(["n", "share", 'odd "name"', "a b", "select"]),
    st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
)


@given(st.lists(st.lists(st.tuples(KEYS, MEASURED), max_size=4), max_size=4))
def test_a_database_has_what_was_written(batches):
    """Compared with a dictionary of rows; a batch with a run that is there already is not written at all."""
    expected: dict[RunKey, dict] = {}
    with Store(Path(":memory:")) as store:
        for batch in batches:
            runs = [run for run, _ in batch]
            if len({*runs}) < len(runs) or any(run in expected for run in runs):
                with pytest.raises(DecentralError):
                    store.write(batch)
            else:
                store.write(batch)
                expected.update(batch)
        assert store.finished() == expected.keys()
        columns = store.columns()[4:]
        assert set(columns) <= {name for batch in batches for _, measured in batch for name in measured}
        found = {RunKey(*row[:4]): row[4:] for row in store.select([*RunKey._fields, *columns])}
        assert found == {run: tuple(row.get(name) for name in columns) for run, row in expected.items()}


def test_all_of_a_batch_or_none(tmp_path):
    with Store(tmp_path / "r.db") as store:
        store.write([(ONE, {"n": 1})])
        with pytest.raises(DecentralError, match="UNIQUE"):
            store.write([(TWO, {"n": 1, "new": 2}), (ONE, {"n": 2, "new": 2})])
        assert store.finished() == {ONE}
        store.write([(TWO, {"n": 1, "new": 2})])
        assert store.finished() == {ONE, TWO}


def test_a_failure_is_kept_until_the_run_succeeds(tmp_path):
    with Store(tmp_path / "r.db") as store:
        store.write([(ONE, {})], [Failure(TWO, "no trace"), Failure(THREE, "no trace")])
        store.write([], [Failure(TWO, "still none")])
        assert store.failures() == [Failure(THREE, "no trace"), Failure(TWO, "still none")]
        store.write([(TWO, {})])
        assert store.failures() == [Failure(THREE, "no trace")]
    assert str(TWO) == "a.xml trace 1 orch"
    assert str(TWO._replace(series="small")) == "small a.xml trace 1 orch"


def test_results_are_of_one_experiment(tmp_path):
    path = tmp_path / "r.db"
    with Store(path) as store:
        assert store.title() == "r"
        store.claim("Lamps", {"small": "1"})
    with Store(path) as store:
        store.claim("More lamps", {"small": "1", "large": "2"})
        assert store.title() == "More lamps"
    with Store(path) as store:
        store.claim("Lamps", {"large": "2"})
    with Store(path) as store, pytest.raises(DecentralError, match="other settings"):
        store.claim("Lamps", {"small": "2"})
    assert [each.name for each in tmp_path.iterdir()] == ["r.db"]


def test_results_can_be_read_while_they_are_written(tmp_path):
    path = tmp_path / "r.db"
    with Store(path) as store:
        store.write([(ONE, {"n": 1})])
        with Store(path, must_exist=True) as reader:
            assert reader.finished() == {ONE}
            store.write([(TWO, {"n": 2})])
            assert reader.finished() == {ONE, TWO}
        store.write([(THREE, {"n": 3})])
    assert [each.name for each in tmp_path.iterdir()] == ["r.db"]


def test_only_one_process_adds_results(tmp_path):
    path = tmp_path / "r.db"
    with Store(path) as store:
        store.claim("Lamps", {"": "1"})
        with Store(path) as other, pytest.raises(DecentralError, match="another process is writing"):
            other.claim("Lamps", {"": "1"})
        store.write([(ONE, {"n": 1})])
    with Store(path) as store:
        store.claim("Lamps", {"": "1"})


def test_parquet_has_the_same_rows(tmp_path):
    import pyarrow.parquet as parquet

    with Store(tmp_path / "r.db") as store:
        store.write([(ONE, {"n": 1, "share": 0, "mixed": "a", "never": None})])
        store.write([(TWO, {"n": 2, "share": 0.5, "mixed": 3, "never": None}), (THREE, {"n": 3})])
        assert write_parquet(store, tmp_path / "r.parquet", rows_at_once=2) == 3
    table = parquet.read_table(tmp_path / "r.parquet")
    assert table.column("trace").to_pylist() == [1, 0, 1]
    assert table.column("n").to_pylist() == [3, 1, 2]
    assert table.column("share").to_pylist() == [None, 0.0, 0.5]
    assert table.column("mixed").to_pylist() == [None, "a", "3"]
    assert table.column("never").to_pylist() == [None] * 3


def test_what_is_no_database_of_results_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("not a database at all, but long enough to be taken for one" * 20)
    for name, must_exist in (("text.db", False), ("text.db", True), ("none.db", True), ("no/r.db", False)):
        with pytest.raises(DecentralError) as caught:
            Store(tmp_path / name, must_exist=must_exist)
        assert caught.value.code == "DECENTRAL-082"
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE bench (a)")
    other.commit()
    other.close()
    with pytest.raises(DecentralError, match="no database of results"):
        Store(tmp_path / "other.db")


def test_a_damaged_database_is_refused_whatever_is_asked(tmp_path):
    path = tmp_path / "r.db"
    with Store(path) as store:
        store.write([(RunKey("s", "a.xml", number, "orch"), {"text": "x" * 200}) for number in range(100)])
        store.claim("title", {"s": "1"})
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE bench SET alg = CAST(x'ff' AS TEXT) WHERE trace = 3")
    connection.close()
    with Store(path) as store, pytest.raises(DecentralError, match=r"cannot use .*UTF-8"):
        store.finished()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with Store(path, must_exist=True) as store:
        for ask in (store.finished, store.failures, store.types, store.title, lambda: list(store.select(["alg"]))):
            with pytest.raises(DecentralError, match="malformed") as caught:
                ask()
            assert caught.value.code == "DECENTRAL-082"
        with pytest.raises(DecentralError, match="malformed"):
            store.claim("title", {"s": "1"})
