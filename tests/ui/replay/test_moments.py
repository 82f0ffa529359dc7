"""Moments of recorded runs against reading the whole recording for each."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from ui.recordings import MONITORS, light, recordings

from mopsus.decentral.simulate.recording import Observed, Recorded, Recording, Sent, Step
from mopsus.ui.replay.growth import MOST_POINTS, growth_chart, growth_lines, mark_round
from mopsus.ui.replay.moments import Moments
from mopsus.ui.replay.picture import MOST_ARROWS, Layout, draw_moment


@given(recording=recordings())
def test_a_moment_is_what_reading_everything_gives(recording):
    moments = Moments(recording)
    for now in range(recording.rounds + 1):
        moment = moments.at(now)
        messages = recording.messages
        assert list(moment.flying) == [m for m in messages if m.delivered and m.sent <= now < m.delivered]
        assert sorted(moment.delivered, key=messages.index) == [m for m in messages if m.delivered == now]
        assert list(moment.lost) == [m for m in messages if m.delivered is None and m.sent == now]
        assert list(moment.findings) == [found for found in recording.findings if found.round <= now]
        steps = {step.monitor: step for step in recording.steps if step.round <= now}
        assert moment.steps == steps
        assert moment.ran == {step.monitor for step in recording.steps if step.round == now}
        assert moment.observed == {each.component: each.values for each in recording.observations if each.time == now}
        for who in MONITORS:
            assert (who in moment.down) == _befallen(recording, now, who, "crash", "restart")
            assert (who in moment.apart) == _befallen(recording, now, who, "partition", "heal")


def _befallen(recording, now, who, begins, ends):
    kinds = [each.kind for each in recording.faults if each.round <= now and who in each.who]
    return [kind for kind in kinds if kind in (begins, ends)][-1:] == [begins]


@given(recording=recordings())
def test_the_next_event_is_the_next_verdict_or_fault(recording):
    moments = Moments(recording)
    events = {each.round for each in (*recording.findings, *recording.faults)}
    for now in range(recording.rounds + 1):
        following = [number for number in range(now + 1, recording.rounds + 1) if number in events]
        assert moments.next_event(now) == (following or [recording.rounds])[0]


@given(recording=recordings())
def test_the_chart_has_the_size_of_every_round(recording):
    lines = growth_lines(recording)
    for name in MONITORS:
        size = 0
        for now in range(1, recording.rounds + 1):
            size = next((s.entries for s in recording.steps if (s.round, s.monitor) == (now, name)), size)
            shown = [entries for when, entries in lines.get(name, []) if when <= now]
            assert (shown or [0])[-1] == size


def test_a_long_line_keeps_its_peaks():
    sizes = [number % 7 + 100 * (number == 31_415) for number in range(1, 40_000)]
    steps = [Step(number, "main", entries=size, states=[0]) for number, size in enumerate(sizes, 1)]
    long = msgspec.structs.replace(light(), rounds=40_000, steps=steps)
    (line,) = growth_lines(long).values()
    assert len(line) <= MOST_POINTS
    assert max(size for _, size in line) == max(sizes)


def test_a_round_is_marked_in_the_chart():
    chart = growth_chart(light())
    mark_round(chart, 3)
    mark_round(chart, 4)
    assert [mark["xAxis"] for mark in chart["series"][-1]["markLine"]["data"]] == [4]


@given(recording=recordings())
def test_every_message_of_a_moment_is_drawn(recording):
    layout = Layout(recording)
    moments = Moments(recording)
    for now in range(recording.rounds + 1):
        moment = moments.at(now)
        drawn = draw_moment(layout, moment).partition('<g class="legend">')[0]
        assert drawn.count("<circle") == len([*moment.flying, *moment.delivered, *moment.lost])


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 11, 1000])
def test_boxes_of_components_do_not_overlap(count):
    recording = _many(count)
    layout = Layout(recording)
    boxes = [(corner.x, corner.y, layout.tall(name)) for name, corner in layout.corners.items()]
    assert len(boxes) == count
    for number, (x, y, tall) in enumerate(boxes):
        assert x >= 0
        assert y >= 0
        assert x + 190 <= layout.width
        assert y + tall <= layout.height
        for other_x, other_y, other_tall in boxes[number + 1 : number + 60]:
            apart = abs(x - other_x) >= 190 or y + tall <= other_y or other_y + other_tall <= y
            assert apart, (number, x, y, other_x, other_y)


def test_of_many_messages_the_rest_is_told():
    recording = _many(300, messages=True)
    picture = draw_moment(Layout(recording), Moments(recording).at(1))
    drawn, _, legend = picture.partition('<g class="legend">')
    assert drawn.count("<circle") == MOST_ARROWS
    assert "Memory</text>" not in drawn
    assert "Memory</text>" in legend
    assert "and 99 messages more" in picture


def test_names_cannot_be_markup():
    evil = '<script>alert("&")</script>'
    changed = Recording(
        title="",
        algorithm="",
        components={evil: [evil]},
        monitors=[Recorded(evil, evil, "python")],
        rounds=1,
        length=1,
        messages=[Sent(1, 2, evil, evil, evil, text=evil)],
        observations=[Observed(1, evil, {evil: True})],
    )
    picture = draw_moment(Layout(changed), Moments(changed).at(1))
    assert "<script" not in picture
    assert picture.count('"') % 2 == 0


def _many(count, messages=False):

    names = [f"c{number}" for number in range(count)]
    return Recording(
        title="",
        algorithm="",
        components={name: [] for name in names},
        monitors=[Recorded(f"m{name}", name, "python") for name in names],
        rounds=1,
        length=1,
        messages=[Sent(1, 2, f"m{name}", "mc0", "Memory") for name in names[1:]] if messages else [],
    )
