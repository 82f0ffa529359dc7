"""Places of a Python program, and what is read there. On every interpreter, by whatever way it tells of them."""

from __future__ import annotations

import pytest
from interactive.python.logged import ARG1, ARG2, RESULT, call, name, plain, run

from mopsus.model import Place, PlaceKind, Reading, ReadingKind

pytestmark = pytest.mark.interpreter

QUEUE = """\
import sys

class Queue:
    def __init__(self, size):
        self.size = size
        self.items = []

    def push(self, item):
        self.items.append(item)
        return len(self.items)

def fact(n):
    return 1 if n <= 1 else n * fact(n - 1)

def main():
    q = Queue(2)
    for number in range(3):
        q.push(number * 10)
    print("fact", fact(4), sys.argv[1:])
    return 3

if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture
def hits(tmp_path):
    def of(text, points):
        result = run(tmp_path, text, points)
        assert result.stderr == ""
        return result.hits

    return of


def test_calls_are_told_with_their_arguments(hits):
    readings = [ARG2, name("item"), name("size"), Reading(ReadingKind.CALLER, inner=name("number"))]
    assert hits(QUEUE, {call("push"): readings}) == [
        ["call push", 8, 0, 0, 2, 0],
        ["call push", 8, 10, 10, 2, 1],
        ["call push", 8, 20, 20, 2, 2],
    ]


def test_returns_of_nested_calls_are_told_with_the_arguments_of_their_own_entry(hits):
    assert hits(QUEUE, {call("fact", after=True): [ARG1, RESULT]}) == [
        ["after call fact", 13, number, result] for number, result in [(1, 1), (2, 2), (3, 6), (4, 24)]
    ]


def test_arguments_are_those_of_the_entry_however_they_change(hits):
    text = "def f(x):\n    x = x + 1\n    return x\nf(1)\n"
    assert hits(text, {call("f", after=True): [ARG1, RESULT]}) == [["after call f", 3, 1, 2]]


def test_a_function_that_an_exception_ends_does_not_return(hits):
    text = "def f(x):\n    if x: raise ValueError\ntry:\n    f(1)\nexcept ValueError:\n    pass\nf(0)\n"
    assert hits(text, {call("f", after=True): [ARG1]}) == [["after call f", 2, 0]]


def test_a_class_is_called_when_it_makes_an_object(hits):
    assert hits(QUEUE, {call("Queue"): [ARG2]}) == [["call Queue", 4, 2]]


@pytest.mark.parametrize("what", ["Queue.push", "__main__.Queue.push", "Queue.pu*"])
def test_functions_have_several_names(hits, what):
    assert len(hits(QUEUE, {call(what): []})) == 3


def test_library_functions_are_named_in_full(hits):
    text = "import textwrap\ntextwrap.dedent('  x')\ndef dedent(): pass\ndedent()\n"
    assert [hit[0] for hit in hits(text, {call("textwrap.dedent"): [], call("dedent"): []})] == [
        "call textwrap.dedent",
        "call dedent",
    ]


def test_a_generator_starts_once_and_returns_once(hits):
    text = "def g(n):\n    for i in range(n): yield i\n    return 'done'\nassert list(g(3)) == [0, 1, 2]\n"
    assert hits(text, {call("g"): [ARG1], call("g", after=True): [RESULT]}) == [
        ["call g", 1, 3],
        ["after call g", 3, "done"],
    ]


def test_lines_are_told_before_they_run(hits):
    text = "total = 0\nfor i in range(3):\n    total += i\nprint(total)\n"
    points = {Place(PlaceKind.LINE, "3"): [name("total")], Place(PlaceKind.LINE, "program.py:4"): [name("total")]}
    assert hits(text, points) == [["line 3", 3, 0], ["line 3", 3, 0], ["line 3", 3, 1], ["line program.py:4", 4, 3]]


def test_writes_of_a_variable_before_and_after(hits):
    text = "count = 0\ndef f():\n    global count\n    count += 5\n    other = count\nf()\ncount = 7\n"
    points = {
        Place(PlaceKind.WRITE, "count"): [RESULT],
        Place(PlaceKind.WRITE, "count", after=True): [RESULT],
    }
    assert hits(text, points) == [
        ["write count", 1, "<unavailable>"],
        ["after write count", 2, 0],
        ["write count", 4, 0],
        ["after write count", 5, 5],
        ["write count", 7, 5],
        ["after write count", 7, 7],
    ]


def test_reads_and_accesses_of_a_local_variable(hits):
    text = "def f():\n    x = 1\n    y = x\n    return y\nf()\nx = 9\n"
    points = {Place(PlaceKind.READ, "f.x"): [RESULT], Place(PlaceKind.ACCESS, "f.x"): [RESULT]}
    assert sorted(hits(text, points)) == sorted(
        [["access f.x", 2, "<unavailable>"], ["access f.x", 3, 1], ["read f.x", 3, 1]]
    )


def test_attributes_of_all_objects_of_a_class_or_of_one(hits):
    text = (
        "class Box:\n    def __init__(self):\n        self.n = 0\n    def add(self):\n        self.n += 1\n"
        "class Other:\n    n = 0\n"
        "one, two, other = Box(), Box(), Other()\n"
        "one.add(); two.add(); other.n = 4\n"
    )
    of_class = Place(PlaceKind.WRITE, "Box.n", after=True)
    of_one = Place(PlaceKind.WRITE, "two.n", after=True)
    found = hits(text, {of_class: [RESULT], of_one: [RESULT]})
    assert [hit[2] for hit in found if hit[0] == "after write Box.n"] == [0, 0, 1, 1]
    assert [hit[2] for hit in found if hit[0] == "after write two.n"] == [1]


def test_updates_of_an_expression(hits):
    text = "def work(items):\n    for i in range(4):\n        if i % 2: items.append(i)\nwork([])\nwork([])\n"
    found = hits(text, {Place(PlaceKind.UPDATE, "len(items)", after=True): [RESULT]})
    assert [hit[2] for hit in found] == [1, 2, 1, 2]


EXCEPTIONS = """\
class Trouble(ValueError):
    pass

def inner(kind):
    if kind: raise kind("no")

def outer(kind):
    try:
        inner(kind)
    except ValueError as error:
        print("caught", error)
    except KeyError: print("key")
    finally:
        print("finally")

for each in (Trouble, KeyError, None):
    outer(each)
"""


def test_exceptions_are_told_where_they_are_thrown_and_where_they_are_caught(hits):
    points = {
        Place(PlaceKind.THROW): [RESULT],
        Place(PlaceKind.THROW, "ValueError"): [name("kind")],
        Place(PlaceKind.CATCH): [],
        Place(PlaceKind.CATCH, "Trouble"): [],
    }
    assert [hit[:2] for hit in hits(EXCEPTIONS, points)] == [
        ["throw", 5],
        ["throw ValueError", 5],
        ["catch", 11],
        ["catch Trouble", 11],
        ["throw", 5],
        ["catch", 12],
    ]


def test_signals_are_told_before_the_programs_own_handler(hits):
    text = (
        "import os, signal\n"
        "got = []\n"
        "handler = lambda number, frame: got.append(number)\n"
        "signal.signal(signal.SIGUSR1, handler)\n"
        "assert signal.getsignal(signal.SIGUSR1) is handler\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
        "assert got == [signal.SIGUSR1]\n"
    )
    assert [hit[0] for hit in hits(text, {Place(PlaceKind.SIGNAL, "SIGUSR1"): [name("got")]})] == ["signal SIGUSR1"]


def test_every_thread_is_watched(hits):
    text = (
        "import threading\n"
        "def work(n): return n\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n"
        "for each in threads: each.start()\n"
        "for each in threads: each.join()\n"
    )
    assert sorted(hit[2] for hit in hits(text, {call("work"): [ARG1]})) == [0, 1, 2, 3]


def test_a_forked_process_is_not_debugged(hits):
    text = "import os\ndef f(): pass\nif os.fork() == 0:\n    f()\n    os._exit(0)\nos.wait()\nf()\n"
    assert len(hits(text, {call("f"): []})) == 1


def test_types_convert_and_what_is_not_there_is_unavailable(hits):
    text = "def f(x): pass\nf('12')\nf('x')\n"
    readings = [
        name("x", "int"),
        name("y"),
        Reading(ReadingKind.ARGUMENT, index=2),
        Reading(ReadingKind.EXPRESSION, "x * 2"),
    ]
    nothing = "<unavailable>"
    assert hits(text, {call("f"): readings}) == [
        ["call f", 1, 12, nothing, nothing, "1212"],
        ["call f", 1, nothing, nothing, nothing, "xx"],
    ]


@pytest.mark.parametrize(
    "text",
    [
        QUEUE,
        EXCEPTIONS,
        "import sys\nprint('x', file=sys.stderr)\nraise RuntimeError('end')\n",
        "import sys\nsys.exit('a message')\n",
        "import __main__, sys\nprint(__name__, __main__.__file__ == __file__, sys.path[0] in __file__)\n",
        "import atexit\natexit.register(print, 'bye')\nprint('hello')\n",
    ],
)
def test_output_and_status_are_those_of_a_plain_run(tmp_path, text):
    every = {
        call("*"): [ARG1],
        Place(PlaceKind.UPDATE, "kind"): [],
        Place(PlaceKind.THROW): [],
        Place(PlaceKind.WRITE, "error"): [RESULT],
    }
    watched, alone = run(tmp_path, text, every, "a"), plain(tmp_path, text, "a")
    assert (watched.stdout, watched.stderr, watched.status) == (alone.stdout, alone.stderr, alone.status)
