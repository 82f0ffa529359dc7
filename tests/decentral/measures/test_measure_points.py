"""Listeners are called at the points that they have a method for, and measures keep what they are told."""

from __future__ import annotations

import pytest

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.measures.groups import (
    STOCK,
    Measure,
    MeasureGroup,
    column_filter,
    count,
    greatest,
    least,
    measure_groups,
    total,
)
from mopsus.decentral.measures.points import POINTS, Listener, Points


class Traffic(MeasureGroup):
    def __init__(self):
        self.sent = Measure("sent", "messages", 0, count)
        self.volume = Measure("volume", "their size", 0, total)
        self.small = Measure("small", "the smallest", None, least)
        self.large = Measure("large", "the largest", None, greatest)

    def send(self, time, source, target, kind, data, size):
        self.sent.update()
        self.volume.update(data)
        self.small.update(data)
        self.large.update(data)


class Rounds(Listener):
    def __init__(self):
        self.times = []

    def round(self, time):
        self.times.append(time)

    def send(self, time, *rest):
        self.times.append(-time)


def test_points_are_the_methods_of_a_listener():
    assert [name for name in vars(Listener) if not name.startswith("_")] == [*POINTS, "values"]


def test_only_who_listens_is_called():
    assert all(Points().handler(point) is None for point in POINTS)
    traffic, rounds = Traffic(), Rounds()
    points = Points([traffic, rounds])
    assert {point for point in POINTS if points.handler(point)} == {"round", "send"}
    assert points.handler("round") == rounds.round
    points.handler("round")(1)
    for data in (5, 3, 9):
        points.handler("send")(2, "m0", "m1", "Ehe", data, 2 * data)
    assert rounds.times == [1, -2, -2, -2]
    assert points.values() == {"sent": 3, "volume": 17, "small": 3, "large": 9}


def test_stock_measures_are_chosen_by_group():
    columns = ["msg_num", "msg_Ehe", "simp_max", "delay_gap_sum", "verdict"]
    assert list(filter(column_filter(["communication"]), columns)) == ["msg_num", "msg_Ehe"]
    assert list(filter(column_filter(["run", "history"]), columns)) == ["delay_gap_sum", "verdict"]
    assert list(filter(column_filter(STOCK), columns)) == columns
    assert not column_filter(STOCK)("alg")


def test_groups_of_users_are_found_in_files(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from mopsus.decentral.measures.groups import MeasureGroup\nclass Mine(MeasureGroup): pass\nother = 3\n"
    )
    (found,) = measure_groups(["run", "mine.py:Mine"], tmp_path)
    assert issubclass(found, MeasureGroup)
    assert measure_groups(["mine.py:Mine"], tmp_path) == [found]  # its file is run once
    (tmp_path / "broken.py").write_text("1 / 0")
    for name, says in [
        ("rnu", "there is no 'rnu'"),
        ("mine.py:Yours", "has no 'Yours'"),
        ("mine.py:other", "no group of measures"),
        ("none.py:Mine", "there is no file"),
        ("broken.py:Mine", "ZeroDivisionError"),
    ]:
        with pytest.raises(DecentralError, match=says):
            measure_groups([name], tmp_path)
