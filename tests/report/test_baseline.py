"""Accepted violations: known again after edits, and never more than what is listed."""

import json
import sysconfig
from pathlib import Path

import pytest

from mopsus.model import Verdict
from mopsus.report import ReportError
from mopsus.report.baseline import Accepted, Fingerprint, Fingerprints, read_baseline, write_baseline

SOURCE = """\
import queue

class Shop:
    def sell(self):
        def pay():
            raise ValueError
        return pay()

    async def close(self):
        pass

shop = Shop()
"""


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "src" / "shop.py"
    path.parent.mkdir()
    path.write_text(SOURCE, "utf-8")
    return path


def verdict(location, **changes):
    fields = {"spec": "Stock", "property": "ere", "category": "match", **changes}
    row = fields.pop("row", None)
    return Verdict(truth=None, final=True, binding={}, location=location, time=None, witness=(), row=row, **fields)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (1, "src/shop.py"),
        (3, "src/shop.py::Shop"),
        (4, "src/shop.py::Shop.sell"),
        (6, "src/shop.py::Shop.sell.pay"),
        (7, "src/shop.py::Shop.sell"),
        (10, "src/shop.py::Shop.close"),
        (12, "src/shop.py"),
        (99, "src/shop.py"),
    ],
)
def test_the_place_is_the_file_and_the_function(shop, tmp_path, line, place):
    assert Fingerprints(tmp_path)(verdict(f"{shop}:{line}")) == ("Stock", "ere", "match", place)


def test_an_edit_elsewhere_in_the_file_changes_nothing(shop, tmp_path):
    before = Fingerprints(tmp_path)(verdict(f"{shop}:6"))
    other = tmp_path / "later"
    edited = other / "src" / "shop.py"
    edited.parent.mkdir(parents=True)
    edited.write_text("import sys\n\nprint(sys.argv)\n" + SOURCE, "utf-8")
    assert Fingerprints(other)(verdict(f"{edited}:9")) == before


@pytest.mark.parametrize(
    ("location", "place"),
    [
        (sysconfig.get_path("purelib") + "/pkg/mod.py:3", "pkg/mod.py"),
        ("/elsewhere/mod.py:3", "/elsewhere/mod.py"),
        ("<string>:3", "<string>"),
        ("checkout page", "checkout page"),
        (None, ""),
    ],
)
def test_other_places(tmp_path, location, place):
    assert Fingerprints(tmp_path)(verdict(location)).place == place


def test_the_standard_library_is_the_same_everywhere(tmp_path):
    assert Fingerprints(tmp_path)(verdict(json.__file__ + ":1")).place == "json/__init__.py"


def test_an_environment_below_the_root_is_no_part_of_the_project(tmp_path, monkeypatch):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / ".venv" / "lib"))
    assert Fingerprints(tmp_path)(verdict(f"{tmp_path}/.venv/lib/pkg/mod.py:3")).place == "pkg/mod.py"


def test_a_row_of_a_trace_is_known_by_its_trace(tmp_path):
    assert Fingerprints(tmp_path)(verdict("log.csv:7", row=7)).place == "log.csv"


@pytest.mark.parametrize("source", ["def f(:\n", "\0", "x = " + "(" * 5000])
def test_a_source_that_cannot_be_parsed_leaves_the_file(tmp_path, source):
    path = tmp_path / "odd.py"
    path.write_text(source, "utf-8")
    assert Fingerprints(tmp_path)(verdict(f"{path}:1")).place == "odd.py"


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "baseline.json"
    keys = [Fingerprint("B", "ere", "match", "b.py::f"), Fingerprint("A", "ltl", "violation", "ü.py")]
    write_baseline(path, [*keys, keys[0]])
    assert [entry.fingerprint for entry in read_baseline(path)] == sorted(keys)
    assert path.read_text("utf-8").count("\n") > 10  # a line for each key, so that differences can be read


def test_reasons_stay(tmp_path):
    path = tmp_path / "baseline.json"
    known = Accepted("A", "ere", "match", "a.py", reason="until the pool is gone")
    write_baseline(path, [known.fingerprint, Fingerprint("B", "ere", "match", "b.py")], [known])
    assert [entry.reason for entry in read_baseline(path)] == ["until the pool is gone", ""]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is no baseline"),
        ('{"version": 1, "accepted": [{"spec": "\udcff"}]}', "is no baseline"),  # not UTF-8
        ("[]", "is no baseline"),
        ('{"version": 1}', "accepted"),
        ('{"version": 2, "accepted": []}', "version 2"),
        ('{"version": 1, "accepted": [{"spec": 3}]}', "accepted"),
        ('{"version": 1, "accepted": [{"spec": "A", "property": "p", "category": "c", "line": 3}]}', "line"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, text, says):
    path = tmp_path / "baseline.json"
    path.write_text(text, "utf-8", errors="surrogateescape")
    with pytest.raises(ReportError, match=says) as caught:
        read_baseline(path)
    assert caught.value.code == "REPORT-005"


def test_a_missing_file_is_refused():
    with pytest.raises(ReportError, match="cannot read the baseline"):
        read_baseline(Path("nowhere.json"))
