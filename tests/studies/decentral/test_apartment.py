"""The home is recorded as it is described, its specifications are those of the thesis, detection is counted right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies.decentral.apartment import aras, recordings
from studies.decentral.apartment.detection import Quality, quality
from studies.decentral.apartment.home import SECONDS, SPECS, load_home
from studies.decentral.apartment.specs import GROUPS, LISTED, depth, part, propositions, references, whole
from studies.decentral.thesis import load_thesis

from mopsus.decentral import DecentralError, load_specification
from mopsus.decentral.sensors import change_gaps, polling_step

DAY = "2017-01-31"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("home")
    recordings.generate_day(DAY, made)
    return made


def test_both_files_have_the_same_specifications():
    from_toml, from_xml = whole()[0], load_specification(SPECS.with_suffix(".xml")).specification
    assert from_toml.monitors.keys() == from_xml.monitors.keys()
    for name, monitor in from_toml.monitors.items():
        assert monitor.formula == from_xml.monitors[name].formula, name
        assert monitor.automaton == from_xml.monitors[name].automaton, name


def test_needs_of_specifications():
    specification, _ = whole()
    needs = {
        name: (
            len(specification.monitors[name].references),
            len(propositions(name, specification)),
            depth(name, specification),
        )
        for name in LISTED
    }
    # The thesis counts the toilet's sensor as a reference here, but not among the messages.
    assert needs == {name: tuple(given) for name, given in load_thesis().apartment.needs.items()} | {
        "toilet": (0, 1, 0)
    }
    assert len(LISTED) == 22


def test_references_of_groups():
    specification, system = whole()
    counts = {name: references(part(group, specification, system)[0]) for name, group in GROUPS.items()}
    assert counts == {"ADL": 24, "ADL+H": 39, "ADL+2": 41, "ADL+M": 47}


def test_replayed_recordings_are_the_signals(folder):
    home = load_home()
    _, system = whole()
    traces = recordings.replay(folder, DAY, system)
    signals = recordings.generate_signals(home, DAY)
    assert all(len(trace) == SECONDS for trace in traces.values())
    for component, names in system.components.items():
        for name in names:
            true = {second for begin, end in signals[name] for second in range(begin, end)}
            assert {second for second, event in enumerate(traces[component]) if event[name]} == true, name


def test_sensors_change_no_faster_than_the_published_ones(folder):
    home = load_home()
    loaded = recordings.load_sensors(folder, [sensor.proposition for sensor in home.sensors])
    least = {sensor.proposition: sensor.least_s for sensor in home.sensors}
    assert sum(isinstance(sensor.csv, int) for sensor in home.sensors) == 27
    assert all(gaps.least >= least[name] for name, gaps in change_gaps(loaded.values()).items())
    assert polling_step(loaded.values()) == 1.0


def test_annotations_are_the_schedule(folder):
    found = recordings.annotated(folder, DAY)
    assert found["napping"] == [(25_800, 27_900)]
    assert "sitting" not in found
    assert sum(map(len, found.values())) == 20


@pytest.mark.parametrize("row", ["2017-01-31 08:00:00,napping", "soon,later,napping"])
def test_an_annotation_that_is_wrong_is_shown(tmp_path, row):
    (tmp_path / recordings.ANNOTATIONS).write_text(f"begin,end,activity\n{row}\n")
    with pytest.raises(DecentralError, match="begin, end and activity") as caught:
        recordings.annotated(tmp_path, DAY)
    assert caught.value.place.line == 2


intervals = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=4)


@given(intervals, intervals)
def test_quality_counts_seconds(told, real):
    def holds(second, among):
        return any(begin <= second < end for begin, end in among)

    pairs = [(holds(second, told), holds(second, real)) for second in range(20)]
    found = quality(told, real)
    assert found == Quality(pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True)))
    if found.right:
        harmonic = 2 / (1 / found.precision + 1 / found.recall)
        assert found.f1 == pytest.approx(harmonic)


def test_nothing_told_has_no_precision():
    assert quality([], [(0, 3)]).precision is None
    assert quality([(0, 3)], []).recall is None
    assert quality([], []).f1 == 0.0


def test_the_other_home_is_read_as_it_is_written(tmp_path):
    system = load_specification(aras.SPECS).system
    aras.generate_day(7, tmp_path)
    traces = aras.read_day(tmp_path, 7, system)
    assert {len(trace) for trace in traces.values()} == {aras.SECONDS}
    rows = aras.path_of(tmp_path, 7).read_text().splitlines()
    for second in range(0, aras.SECONDS, 997):
        seen = traces["kitchen"][second] | traces["bedroom"][second]
        assert rows[second] == " ".join("01"[seen[name]] for name in aras.COLUMNS)


@pytest.mark.parametrize("row", ["1 0", "1 0 2 0 0"])
def test_a_row_that_is_wrong_is_shown(tmp_path, row):
    aras.path_of(tmp_path, 1).write_text(f"0 0 0 0 0\n{row}\n")
    with pytest.raises(DecentralError, match="no 0 or 1") as caught:
        aras.read_day(tmp_path, 1, load_specification(aras.SPECS).system)
    assert caught.value.place.line == 2


def test_a_day_that_is_not_there(tmp_path):
    with pytest.raises(DecentralError, match=r"cannot read the recording .*DAY_3\.txt"):
        aras.read_day(tmp_path, 3, load_specification(aras.SPECS).system)
