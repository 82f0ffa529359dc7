"""What a view asks of a debugger, and when it asks again."""

from __future__ import annotations

import socket
import time

import pytest
from ui import pictures

from mopsus.bus import Channel, pack, unpack
from mopsus.interactive.live.wire import Refused, Request, Wish
from mopsus.ui.live import connection
from mopsus.ui.live.connection import Connection


@pytest.fixture
def ends(monkeypatch):
    """A view, and the end of its debugger."""
    monkeypatch.setattr(connection, "OLD_S", 0.02)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Connection(ours), Channel(theirs)


def look_for_a_while(view):
    for _ in range(10):
        view.keep_up()
        time.sleep(0.01)


def test_what_is_not_answered_is_followed_by_one_look(ends):
    """A debugger that was about to wait for a line at a terminal did it when the next key was pressed."""
    view, debugger = ends
    view.ask(Wish.CHECKPOINT)
    look_for_a_while(view)
    asked = [unpack(Request, body) for body in debugger.arrived(5)]
    assert asked == [Request(Wish.CHECKPOINT, None), Request(Wish.LOOK, None)]


@pytest.mark.parametrize("answer", [Refused(Wish.CHECKPOINT, "no"), pictures.stopped()])
def test_what_is_answered_is_not_asked_again(ends, answer):
    view, debugger = ends
    view.ask(Wish.CHECKPOINT)
    debugger.send(pack(answer))
    while view.picture is None and not view.refusals:
        time.sleep(0.001)
    look_for_a_while(view)
    asked = [unpack(Request, body) for body in debugger.arrived(5)]
    assert asked == [Request(Wish.CHECKPOINT, None)]


def test_what_cannot_be_read_is_the_end_of_the_debugger(ends):
    view, debugger = ends
    debugger.send(b"{}")
    assert view.gone.wait(5)
