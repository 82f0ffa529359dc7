"""What a library catches by itself is no finding; what it only passes on is one."""

import asyncio
import socket
import sys

import pytest

import mopsus
from mopsus.monitor.caught import is_caught

pytestmark = pytest.mark.interpreter

LIBRARY = """
from contextlib import suppress

def guarded(ask):
    try:
        return ask()
    except (KeyError, OSError):
        return None

def guarded_by_its_caller(ask):
    try:
        return unguarded(ask)
    except OSError:
        return None

def unguarded(ask):
    return ask()

def suppressed(ask):
    with suppress(OSError):
        return ask()

def raised_again(ask):
    try:
        return ask()
    except OSError as error:
        raise ValueError from error

def all_caught(ask):
    try:
        return ask()
    except Exception:
        return None

def others_caught(ask):
    try:
        return ask()
    except ValueError:
        return None

def in_a_handler(ask):
    try:
        raise KeyError
    except KeyError:
        return ask()
    except OSError:
        return None

def inner_first(ask):
    try:
        try:
            return ask()
        except ConnectionError:
            raise
    except OSError:
        return None
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("caught") / "library.py"
    path.write_text(LIBRARY)
    names = {}
    exec(compile(LIBRARY, str(path), "exec"), names)
    return names, str(path)


@pytest.mark.parametrize(
    ("function", "caught"),
    [
        ("guarded", True),
        ("guarded_by_its_caller", True),
        ("suppressed", True),
        ("unguarded", False),
        ("raised_again", False),
        ("all_caught", False),
        ("others_caught", False),
        ("in_a_handler", False),
        ("inner_first", False),
    ],
)
def test_only_handlers_that_name_the_exception_and_end_it_count(library, function, caught):
    names, path = library
    found = []
    names[function](lambda: found.append(is_caught(sys._getframe(1), ConnectionError(), path.__eq__)))
    assert found == [caught]


def test_the_program_does_not_catch_for_a_library(library):
    names, path = library
    found = []
    names["guarded"](lambda: found.append(is_caught(sys._getframe(0), OSError(), path.__eq__)))
    assert found == [False]


def test_a_loop_that_writes_to_its_closed_pipe_does_nothing_wrong():
    loop = asyncio.new_event_loop()
    with mopsus.weave(contracts="SocketAfterClose") as woven:
        ours, theirs = socket.socketpair()
        pipe, loop._csock = loop._csock, ours
        ours.close()
        loop.call_soon_threadsafe(print)  # which is prepared for that
        assert woven.verdicts == []
        mine, other = socket.socketpair()
        mine.close()
        with pytest.raises(OSError, match="Bad file descriptor"):
            mine.send(b"x")
        assert [each.spec for each in woven.verdicts] == ["SocketAfterClose"]
    loop._csock = pipe
    loop.close()
    theirs.close()
    other.close()
