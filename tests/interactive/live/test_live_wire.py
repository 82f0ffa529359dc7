"""What goes between a debugger and its view arrives as it was, and never keeps the debugger waiting."""

from __future__ import annotations

import contextlib
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mopsus.bus import Frames, framed, pack, unpack
from mopsus.interactive.live import view as live_view
from mopsus.interactive.live.picture import (
    Automaton,
    Course,
    Happened,
    Monitor,
    Node,
    Now,
    Picture,
    Place,
    Program,
    Said,
    Saved,
    Slice,
    Source,
)
from mopsus.interactive.live.view import View
from mopsus.interactive.live.wire import (
    Failed,
    Ready,
    Refused,
    Request,
    Wish,
)
from mopsus.model.drawing import Edge

text = st.text(max_size=4)
few = st.integers(0, 9)
maybe = st.none() | few
texts = st.dictionaries(text, text, max_size=2)


def tuples(of: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(of, max_size=2).map(tuple)


places = st.builds(Place, st.none() | text, maybe, st.none() | text, st.none() | text)
programs = st.builds(Program, st.sampled_from(Course), text, text, tuples(text), places, maybe)
automata = st.builds(
    Automaton, text, tuples(st.builds(Node, text, text)), tuples(st.builds(Edge, few, text, few)), maybe, text
)
slices = st.builds(Slice, text, texts, text, maybe, maybe, maybe, texts)
now = st.builds(Now, text, st.dictionaries(few, few, max_size=2), tuples(few), tuples(few))
said = st.builds(Said, text, st.booleans(), text, texts, places, tuples(text))
monitors = st.builds(
    Monitor, few, text, tuples(automata), tuples(now), tuples(slices), few, few, tuples(said), few, st.booleans()
)
events = st.builds(Happened, few, few, text, texts, places, st.none() | st.floats(0, 1e9))
sources = st.none() | st.builds(Source, text, few, tuples(text), few)
pictures = st.builds(
    Picture,
    few,
    text,
    programs,
    sources,
    tuples(monitors),
    tuples(events),
    few,
    tuples(st.builds(Saved, few, places, text)),
)


@settings(max_examples=25)
@given(picture=pictures)
def test_pictures_arrive_as_they_were(picture):
    assert unpack(Picture | Refused, pack(picture)) == picture


@pytest.mark.parametrize(
    "message", [Ready("http://x"), Failed("no\nway"), Request(Wish.RESTORE, 3), Request(Wish.LOOK)]
)
def test_what_a_view_says_arrives(message):
    assert unpack(Ready | Failed | Request, pack(message)) == message


def test_a_refusal_arrives():
    refused = Refused(Wish.CHECKPOINT, "threads")
    assert unpack(Picture | Refused, pack(refused)) == refused


def picture_of(serial: int, size: int) -> Picture:
    return Picture(serial, "gdb", Program(Course.RUNNING, "x" * size))


@pytest.fixture
def line():
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with ours, theirs:
        yield View(ours), theirs


def all_of(line: socket.socket) -> bytes:
    """What has arrived."""
    received = b""
    with contextlib.suppress(BlockingIOError):
        while True:
            received += line.recv(65536, socket.MSG_DONTWAIT)
    return received


def test_a_view_that_does_not_read_misses_pictures_and_never_parts_of_one(line):
    view, theirs = line
    for serial in range(1000):
        view.send(picture_of(serial, serial * 7 % 999))
    assert not view.gone
    received = all_of(theirs)
    view.send(picture_of(1000, 1), surely=True)  # and the rest of what was begun
    received += all_of(theirs)
    serials = [unpack(Picture, each).serial for each in Frames().feed(received)]
    assert serials == sorted(serials)
    assert 1 < len(serials) < 1000
    assert serials[-1] == 1000


def test_a_view_that_does_not_even_take_the_picture_of_a_stop_is_given_up(line, monkeypatch):
    monkeypatch.setattr(live_view, "_PATIENCE_S", 0.01)
    view, _ = line
    while not view.gone:
        view.send(picture_of(1, 9999), surely=True)
    view.send(picture_of(2, 1))  # which goes nowhere


def test_a_view_that_is_gone_is_noticed_by_whoever_sends_or_reads(line):
    view, theirs = line
    restore = framed(pack(Request(Wish.RESTORE, 2)))
    theirs.sendall(framed(pack(Request(Wish.LOOK))) + restore[:5])
    assert view.requests() == [Request(Wish.LOOK)]
    theirs.sendall(restore[5:])
    assert view.requests() == [Request(Wish.RESTORE, 2)]
    assert not view.gone
    theirs.close()
    assert view.requests() == []
    assert view.gone


def test_a_view_that_cannot_be_started_says_why(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no module named so' >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(live_view.ViewError, match="did not start: no module named so"):
        View.start(str(python))


@pytest.mark.parametrize("said", [b"\xff" * 9, framed(b"{}"), framed(pack(Refused(Wish.LOOK, "no")))])
def test_a_view_that_says_what_cannot_be_read_is_given_up(line, said):
    view, theirs = line
    theirs.sendall(said)
    assert view.requests() == []
    assert view.gone
    assert theirs.recv(1) == b""
