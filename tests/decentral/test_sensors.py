"""Recordings of sensors: what they say at each time, how fast they change, and what is wrong with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.sensors import (
    Gaps,
    Sensor,
    change_gaps,
    parse_time,
    poll,
    polling_step,
    read_switch,
    read_threshold,
)

times = st.lists(st.integers(0, 30), max_size=8).map(sorted)


def recording(tmp_path, *rows):
    file = tmp_path / "sensor.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


@given(times=times, data=st.data(), default=st.booleans(), step=st.integers(1, 5))
def test_values_are_held(times, data, default, step):
    values = data.draw(st.lists(st.booleans(), min_size=len(times), max_size=len(times)))
    sensor = Sensor("p", tuple(times), tuple(values), default)
    for number, event in enumerate(poll([sensor], 2, step, 10)):
        known = [value for time, value in zip(times, values, strict=True) if time <= 2 + number * step]
        assert event == {"p": known[-1] if known else default}


def test_words_and_thresholds(tmp_path):
    file = recording(tmp_path, "time,value", "0,ON", "10,off", "", "20,Open", "30,CLOSED")
    assert read_switch(file, "door", default=True) == Sensor(
        "door", (0, 10, 20, 30), (True, False, True, False), default=True
    )
    file = recording(tmp_path, "2016-11-21 09:00:00,20.5", "2016-11-21T09:00:10,19.5", "2016-11-21T10:00:20+01:00,20")
    start = parse_time("2016-11-21T09:00:00Z")
    assert read_threshold(file, "hot", 20) == Sensor("hot", (start, start + 10, start + 20), (True, False, False))
    assert read_threshold(file, "cold", 20, above=False).values == (False, True, False)
    sensors = [read_threshold(file, "hot", 20), read_threshold(file, "cold", 20, above=False)]
    assert list(poll(sensors, start, 10, 2)) == [{"hot": True, "cold": False}, {"hot": False, "cold": True}]


def test_how_fast_sensors_change():
    fast = Sensor("fast", (0, 3, 4, 9), (True, False, False, True))
    slow = Sensor("slow", (5, 105), (True, False))
    still = Sensor("still", (7,), (True,))
    same = Sensor("same", (1, 2, 3), (False, False, False))
    assert change_gaps([fast, slow, still, same]) == {"fast": Gaps(3, 6), "slow": Gaps(100, 100)}
    assert polling_step([fast, slow, still]) == 3
    assert polling_step([still]) is None


@given(times=times, data=st.data())
def test_no_sensor_changes_twice_in_a_step(times, data):
    values = data.draw(st.lists(st.booleans(), min_size=len(times), max_size=len(times)))
    sensor = Sensor("p", tuple(times), tuple(values))
    step = polling_step([sensor])
    if step is not None:
        polled = [sensor.at(time) for time in range(31)]
        changes = [time for time, value in enumerate(polled) if value is not (polled[time - 1] if time else False)]
        for start in range(31):
            assert sum(start <= change < start + step for change in changes) <= 1
        assert any(start + step in changes for start in changes)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (["0,maybe"], 1),
        (["0,ON", "1"], 2),
        (["0,ON", "x,OFF"], 2),
        (["5,ON", "4,OFF"], 2),
        (["0,ON", "inf,OFF"], 2),
    ],
)
def test_bad_rows(tmp_path, rows, line):
    with pytest.raises(DecentralError) as caught:
        read_switch(recording(tmp_path, *rows), "p")
    assert (caught.value.code, caught.value.place.line) == ("DECENTRAL-042", line)


def test_bad_numbers_and_files(tmp_path):
    with pytest.raises(DecentralError):
        read_threshold(recording(tmp_path, "0,nan"), "p", 1)
    with pytest.raises(DecentralError) as caught:
        read_switch(tmp_path / "nothing", "p")
    assert caught.value.code == "DECENTRAL-040"
    (tmp_path / "x").write_bytes(b"0,ON\n\xff")
    with pytest.raises(DecentralError) as caught:
        read_switch(tmp_path / "x", "p")
    assert caught.value.code == "DECENTRAL-042"
