"""Identifiers, the component that runs here, and the names of functions."""

import os
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mopsus.events.component.address import Mailbox, told
from mopsus.events.component.identity import NOBODY, _paired, current, enter, new_pid, signature
from mopsus.model.term import Pid

pytestmark = pytest.mark.interpreter

numbers = st.integers(0, 10**30)


@settings(deadline=None)
@given(numbers, numbers, numbers, numbers)
def test_different_processes_have_different_numbers(a, b, c, d):
    assert (_paired(a, b) == _paired(c, d)) == ((a, b) == (c, d))


@settings(deadline=None)
@given(numbers, st.integers(1))
def test_only_the_first_process_is_number_0(node, serial):
    assert _paired(node, serial) > 0


def test_a_forked_process_gives_other_identifiers():
    before = new_pid()
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(theirs, new_pid().encode())
        os._exit(0)
    os.waitpid(child, 0)
    first = os.read(ours, 100).decode()
    assert len({before, first, new_pid()}) == 3
    assert first.split(".")[0] != before.split(".")[0]
    os.close(ours)
    os.close(theirs)


def test_every_thread_has_its_own_component():
    found = []
    threads = [threading.Thread(target=lambda: found.append(current()), name=f"T{k}") for k in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    assert [component.name for component in found] == ["T0", "T1", "T2"]
    assert len({component.pid for component in (*found, current())}) == 4


def test_where_nobody_runs():
    before = enter(NOBODY)
    try:
        assert current() is None
    finally:
        enter(before)


@pytest.mark.parametrize("how", ["script", "module", "package"])
def test_the_module_of_a_main_program(tmp_path, how):
    code = "from mopsus.events.component.identity import signature\ndef f(): pass\nprint(signature(f).module)\n"
    (tmp_path / "pkg").mkdir()
    for name in ("app.py", "pkg/__main__.py", "pkg/__init__.py"):
        (tmp_path / name).write_text(code if "init" not in name else "")
    arguments = {"script": ["app.py"], "module": ["-m", "app"], "package": ["-m", "pkg"]}[how]
    done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ("pkg" if how == "package" else "app")


def test_functions_that_are_none_of_python():
    assert signature(len, ("x",))[:2] == ("builtins", "len")
    assert signature([].append, (1,))[:2] == ("builtins", "list.append")


def test_an_owner_that_is_not_the_only_one():
    box = Mailbox("box")
    one, two = Pid("<0.1.0>"), Pid("<0.2.0>")
    box.taken_by(one)
    assert box.address() == one
    box.taken_by(two)
    channel = box.address()
    assert channel not in (one, two)
    box.taken_by(one)
    assert box.address() == channel


def test_two_consumers_before_anything_is_sent():
    box = Mailbox("box")
    box.taken_by(Pid("<0.1.0>"))
    box.taken_by(Pid("<0.2.0>"))
    assert box.address() not in ("<0.1.0>", "<0.2.0>")


def test_a_declared_owner_stays():
    box = Mailbox("box")
    box.declare(Pid("<0.9.0>"))
    box.taken_by(Pid("<0.1.0>"))
    box.taken_by(Pid("<0.2.0>"))
    assert box.address() == "<0.9.0>"


def test_a_message_without_addresses_is_the_same_object():
    deep: list = [1]
    deep.append(deep)
    for message in (1, "x", (1, (2, [3])), {"k": [object()]}, deep):
        assert told(message) is message
