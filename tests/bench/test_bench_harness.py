"""Ratios, goals and tables are what they say, on numbers made up for the purpose."""

import pytest


def test_a_ratio_is_the_median_of_the_rounds(module):
    harness = module("harness")
    ours, theirs = harness.Timing([1.0, 2.0, 4.0], 7), harness.Timing([2.0, 2.0, 40.0], 7)
    row = harness.speed_row("case", 1_000_000, ours, "base", theirs)
    assert (row.ours, row.theirs, row.ratio) == (0.5, 0.5, (2.0, 1.0, 10.0))


@pytest.mark.parametrize(
    ("sign", "of", "met"), [("≥", "ratio", True), ("≤", "ratio", False), ("≥", "ours", False), ("≤", "ours", True)]
)
def test_a_goal_bounds_the_ratio_or_ours(module, sign, of, met):
    harness = module("harness")
    row = harness.Row("case", "s", 1.0, "base", 9.0, (4.0, 1.0, 9.0), harness.Goal(sign, 3.0, of))
    assert row.met is met


def test_sides_that_find_different_things_are_no_result(module):
    harness = module("harness")
    with pytest.raises(AssertionError, match="disagree"):
        harness.agree({"ours": harness.Timing([1.0], 3), "theirs": harness.Timing([1.0], 4)})


def test_sides_are_measured_by_turns_and_the_first_round_does_not_count(module):
    harness = module("harness")
    order = []
    sides = {name: harness.Side(order.append, prepare=lambda name=name: name) for name in "ab"}
    timings = harness.measure(sides, rounds=2)
    assert order == ["a", "b"] * 3
    assert all(len(timing.seconds) == 2 for timing in timings.values())


def test_a_matrix_has_a_line_for_each_thing_and_shows_whole_numbers_whole(module):
    table = module("table")
    shown = table.matrix({"title": "t", "columns": ["a", "b"], "lines": {"x": [0.25, [12345, 0]]}})
    assert shown.splitlines() == ["| t | a | b |", "|---|---:|---:|", "| x | 0.25 | 12,345 / 0 |"]


def test_a_missed_goal_is_marked(module):
    table = module("table")
    row = {"case": "c", "unit": "s", "ours": 1234.5, "base": "b", "theirs": 0.5, "ratio": [2, 1, 3], "met": False}
    shown = table.of_rows([row | {"goal": {"sign": "≤", "value": 1.5, "of": "ratio"}}]).replace(table.TIMES, "x")
    assert shown.splitlines()[2] == "| c | 1,234 s | b | 0.50 | 2.00x (1.00 to 3.00) | ≤ 1.5x | **missed** |"


def test_the_bare_loop_and_the_loop_by_hand_count_the_same(module):
    pytest.importorskip("numpy")
    hasnext, native, specs, traces = map(module, ("hasnext", "native", "specs", "traces"))
    trace = traces.has_next(2_000, 10)
    loop = native.step_loop(trace.event, trace.columns["i"].astype("int32"), specs.HAS_NEXT_TABLE, specs.UNSAFE)
    assert loop() == hasnext.by_hand(*trace.lists()) > 100


def test_a_story_is_told_in_order_and_its_objects_are_its_own(module):
    pytest.importorskip("numpy")
    traces = module("traces")
    story = traces.unsafe_map_iterator_story(release=True)
    trace = traces.interleave(story, 5_000, live=70)
    events, maps, collections, iterators = trace.lists()
    tellings = {}
    for event, *values in zip(events, maps, collections, iterators, strict=True):
        (number,) = {value // 7 for value in values if value is not None}
        step = {name: value % 7 for name, value in zip("mci", values, strict=True) if value is not None}
        tellings.setdefault(number, []).append((event, step))
    assert len(tellings) > 10
    assert all(told == story[: len(told)] for told in tellings.values())
