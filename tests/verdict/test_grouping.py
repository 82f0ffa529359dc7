"""Which verdicts are one finding, and that findings never fill the memory."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.model import Severity, Verdict, WitnessEvent
from mopsus.verdict import Groups
from mopsus.verdict.grouping import KEPT_TEXT, group_key, shape


def verdict(location=None, row=None, events=(), spec="S", severity=Severity.ERROR, **binding):
    witness = tuple(WitnessEvent(name, binding, None, None, None) for name in events)
    return Verdict(spec, "p", "match", None, True, binding, location, None, witness, severity, row)


def test_a_program_place_is_a_finding_whatever_led_there():
    groups = Groups()
    groups.add(verdict("app.py:3", 10, ("a", "b")))
    groups.add(verdict("app.py:3", 25, ("b",)))
    groups.add(verdict("app.py:4", 26, ("b",)))
    assert [(group.key.place, group.count) for group in groups] == [("app.py:3", 2), ("app.py:4", 1)]


@pytest.mark.parametrize("location", [None, "trace.csv:{row}"])
def test_rows_of_a_trace_are_grouped_by_shape(location):
    groups = Groups()
    for row, events in [(3, "ab"), (7, "abbb"), (9, "b")]:
        groups.add(verdict(location and location.format(row=row), row, tuple(events)))
    assert [(group.key.shape, group.count) for group in groups] == [
        (("a", "b"), 2),
        (("b",), 1),
    ]


def test_a_place_that_merely_looks_like_a_row_stays():
    assert group_key(verdict("app.py:12", 2)).place == "app.py:12"
    assert group_key(verdict("trace.csv:12", 12)).place == "trace.csv"


def test_errors_come_before_warnings_before_notes():
    groups = Groups()
    for severity in (Severity.NOTE, Severity.ERROR, Severity.WARNING, Severity.ERROR):
        groups.add(verdict(f"{severity.value}{len(groups)}", severity=severity))
    assert [group.key.place for group in groups] == ["error1", "error3", "warning2", "note0"]
    assert (groups.violations, groups.unique_violations) == (2, 2)


def test_long_texts_are_not_kept():
    groups = Groups()
    group = groups.add(verdict("x" * 10_000, None, ("e",), v="y" * 10_000, w=("z" * 10_000,)))
    (example,) = group.examples
    kept = [example.location, example.binding["v"], example.binding["w"][0], example.witness[0].binding["v"]]
    assert [len(text) for text in kept] == [KEPT_TEXT] * 4
    assert len(group.key.place) == KEPT_TEXT


@given(st.lists(st.tuples(st.sampled_from("ST"), st.integers(0, 9)), max_size=60), st.integers(1, 4), st.integers(1, 5))
def test_counts_are_exact_and_memory_bounded(items, examples, limit):
    groups = Groups(examples, limit)
    for spec, place in items:
        groups.add(verdict(f"place{place}", spec=spec))
    found = list(groups)
    assert len(found) <= limit + 2  # one more for the rest of each spec
    assert all(len(group.examples) == min(group.count, examples) for group in found)
    assert all(group.more == group.count - len(group.examples) for group in found)
    by_spec = Counter()
    for group in found:
        by_spec[group.key.spec] += group.count
    assert by_spec == Counter(spec for spec, _ in items)
    if len(set(items)) <= limit:
        wanted = Counter((spec, f"place{place}") for spec, place in items)
        assert {(group.key.spec, group.key.place): group.count for group in found} == wanted


@pytest.mark.parametrize(
    ("events", "expected"),
    [("", ""), ("abc", "abc"), ("nn", "n"), ("hnn", "hn"), ("hnhnhnn", "hn"), ("cuiuu", "ciu"), ("cuiuui", "cui")],
)
def test_shape(events, expected):
    assert shape(events) == tuple(expected)


@given(st.text("abcd"), st.text("abcd"))
def test_what_came_before_a_whole_story_does_not_change_its_shape(before, story):
    whole = shape(before + story)
    assert whole[len(whole) - len(shape(story)) :] == shape(story)
    assert sorted(whole) == sorted(set(before + story))


@given(st.text("ab", min_size=1, max_size=4), st.integers(1, 6), st.integers(1, 6))
def test_how_often_a_loop_ran_does_not_matter(loop, some, others):
    assert shape(loop * some) == shape(loop * others)


def test_a_verdict_may_stand_for_many():
    groups = Groups()
    same = verdict("app.py:3", i=1)
    assert groups.add(same, 1000).count == 1000
    assert groups.add(same).count == 1001
    assert (groups.violations, groups.unique_violations) == (1001, 1)
    assert len(next(iter(groups)).examples) == 2
