"""Messages arrive whole, wherever the stream that carries them is cut."""

from __future__ import annotations

import io
import itertools
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.bus import BusError, Frames, framed, read_frame, split_frames
from mopsus.bus import frames as module

BODIES = st.lists(st.binary(max_size=20), max_size=6)
DAMAGED = b"\xff\xff\xff\xff"


@given(BODIES, st.lists(st.integers(0, 200), max_size=6))
def test_what_is_fed_in_pieces_comes_out_as_it_was(bodies, cuts):
    stream = b"".join(map(framed, bodies))
    ends = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    frames = Frames()
    found = [body for start, end in itertools.pairwise(ends) for body in frames.feed(stream[start:end])]
    assert found == bodies
    assert not frames.begun


@given(BODIES, st.integers(0, 200))
def test_what_is_cut_off_is_not_given(bodies, cut):
    stream = b"".join(map(framed, bodies))[:cut]
    whole = 0
    while sum(len(body) + module.HEADER for body in bodies[: whole + 1]) <= len(stream) and whole < len(bodies):
        whole += 1
    frames = Frames()
    assert frames.feed(stream) == bodies[:whole]
    assert [body for body, _ in split_frames(stream)] == bodies[:whole]
    source = io.BytesIO(stream)
    found = []
    while (body := read_frame(source.read)) is not None:
        found.append(body)
    assert found == bodies[:whole]
    assert frames.begun == (len(stream) > sum(len(body) + module.HEADER for body in bodies[:whole]))


def test_one_message_is_read_and_nothing_beyond_it():
    source = io.BytesIO(framed(b"one") + framed(b"two"))
    assert read_frame(source.read) == b"one"
    assert source.read() == framed(b"two")


@pytest.mark.parametrize(
    "read",
    [
        lambda data: Frames().feed(data),
        lambda data: [*split_frames(data)],
        lambda data: read_frame(io.BytesIO(data).read),
    ],
)
def test_a_length_that_cannot_be_meant_is_refused(read):
    with pytest.raises(BusError, match="damaged") as found:
        read(DAMAGED + b"abc")
    assert found.value.code == "BUS-004"


def test_messages_before_damaged_bytes_are_given():
    frames = Frames()
    assert frames.feed(framed(b"one") + framed(b"two") + DAMAGED) == [b"one", b"two"]
    with pytest.raises(BusError, match="damaged"):
        frames.feed(b"")


def test_a_length_is_not_reserved_before_the_bytes_come():
    header = module.MOST.to_bytes(module.HEADER, "big")
    asked = []

    def read(most):
        asked.append(most)
        return header if len(asked) == 1 else b"x" if len(asked) < 100 else b""

    tracemalloc.start()
    try:
        assert read_frame(read) is None
        assert Frames().feed(header + b"x") == []
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert max(asked) <= module.PIECE


def test_a_message_that_is_too_long_is_not_sent(monkeypatch):
    monkeypatch.setattr(module, "MOST", 3)
    assert framed(b"abc")[module.HEADER :] == b"abc"
    with pytest.raises(BusError, match="longer") as found:
        framed(b"abcd")
    assert found.value.code == "BUS-003"
