"""Nothing that is written is lost or comes twice, whatever the bus and death do."""

from __future__ import annotations

import contextlib
import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mopsus.bus import BusError, Correspondence
from mopsus.bus.mail import VERSION, WINDOW, Frame, bytes_of, frame_of


class End:
    """An end with a memory that survives it: what it wrote, and what it received, in order."""

    def __init__(self, name):
        self.name = name
        self.history = []
        self.rise()

    def rise(self):
        self.mail = Correspondence("session", self.name)
        for deed, what in self.history:
            getattr(self.mail, deed)(what)

    def do(self, deed, what):
        self.history.append((deed, what))
        getattr(self.mail, deed)(what)


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(0, 40), deaths=st.integers(0, 3))
def test_everything_comes_once(seed, count, deaths):
    draw = random.Random(seed)
    ends = {"a": End("a"), "b": End("b")}
    other = {"a": "b", "b": "a"}
    got = {"a": [], "b": []}
    to_write = {name: [b"%d" % number for number in range(count)] for name in ends}
    on_the_way = []
    now = 0.0
    while any(to_write.values()) or any(end.mail.unacknowledged for end in ends.values()):
        now += draw.random()
        name = draw.choice("ab")
        end = ends[name]
        if to_write[name] and draw.random() < 0.5:
            end.do("write", to_write[name].pop(0))
        for frame in end.mail.due(now, resend_s=1.0):
            on_the_way += [(other[name], frame_of(bytes_of(frame)))] * draw.choice([0, 1, 1, 1, 2])
        if on_the_way and draw.random() < 0.8:
            target, frame = on_the_way.pop(draw.randrange(len(on_the_way)))
            reader = ends[target]
            reader.mail.acknowledged(frame, now)
            if frame.number and reader.mail.is_new(frame.number):
                reader.do("received", frame.number)
                got[target].append((frame.number, frame.body))
        if deaths and draw.random() < 0.05:
            deaths -= 1
            ends[name].rise()
    for name in ends:
        assert sorted(got[name]) == [(number + 1, b"%d" % number) for number in range(count)]


def test_no_more_than_a_window_is_on_its_way():
    one, other = Correspondence("s", "a"), Correspondence("s", "b")
    for number in range(WINDOW + 10):
        one.write(b"%d" % number)
    first = list(one.due(0.0, 1.0))
    assert len(first) == WINDOW
    assert list(one.due(0.5, 1.0)) == []
    assert list(one.due(1.0, 1.0)) == first  # again
    for frame in first[1:]:  # the oldest is lost
        other.received(frame.number)
    (answer,) = other.due(1.0, 1.0)
    assert (answer.upto, len(answer.beyond)) == (0, WINDOW - 1)
    one.acknowledged(answer, 1.0)
    assert list(one.due(1.5, 1.0)) == []
    assert list(one.due(2.0, 1.0)) == [first[0]]


def test_who_begins_again_need_not_send_all_again():
    one, other = Correspondence("s", "a"), Correspondence("s", "b")
    for number in range(1, 1001):
        one.write(b"x")
        other.received(number)
    assert len(list(one.due(0.0, 1.0))) == WINDOW
    (answer,) = other.due(0.0, 1.0)
    one.acknowledged(answer, 0.0)
    assert one.unacknowledged == 0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no message"),
        (b"\xc1", "no message"),
        (msgspec.msgpack.encode(["x"]), "no message"),
        (b"\x96\x01\xa1\xff", "no message"),  # a text that is not UTF-8
        (bytes_of(Frame(VERSION + 1, "s", "far", 1, b"", 0)), f"'far' has version {VERSION + 1}"),
    ],
)
def test_what_is_no_frame(data, said):
    with pytest.raises(BusError, match=said) as caught:
        frame_of(data)
    assert caught.value.code == "BUS-004"


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes_are_a_frame_or_refused(data):
    with contextlib.suppress(BusError):
        frame_of(data)
