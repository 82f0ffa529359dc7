"""Tests of Python itself, rewritten: their outcome is what it is without monitoring."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.interpreter

MODULES = ["generators", "yield_from", "coroutines", "asyncgen", "iter", "iterlen", "unpack", "with", "raise"]

RUNNER = """
import importlib, json, sys, unittest
import mopsus

SPEC = '''
Everything(x, y) {
    event iter after(x) : iter(x) && within(test.*)
    event step before(x) : next(x) && within(test.*)
    event end after(x) raising(y) : next(x) && within(test.*)
    event item before(x) : getitem() && target(x) && within(test.*)
    event enter before(x) : enter(x) && within(test.*)
    event leave after(x) : exit(x) && within(test.*)
    event raised before(x) : raising(x) && within(test.*)
    event caught before(x) : handling(x) && within(test.*)
    event waits before(x) : awaiting(x) && within(test.*)
    event waited after(x) returning(y) : awaiting(x) && within(test.*)
    event gives before() : yielding(*) && within(test.*)
    event resumes before() : resuming(*) && within(test.*)
}
'''

def outcome(name):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module("test.test_" + name)).run(result)
    return result.testsRun, sorted(str(test) for test, _ in result.failures + result.errors)

names = sys.argv[2:]
if sys.argv[1] == "plain":
    outcomes, events = [outcome(name) for name in names], 0
else:
    with mopsus.weave(mopsus.parse(SPEC)) as woven:
        outcomes, events = [outcome(name) for name in names], woven.monitors["Everything"].stats().events
print(json.dumps([outcomes, events]))
"""


def outcomes(how: str) -> tuple[list[object], int]:
    """What comes out of the tests, and how many events there were."""
    command = [sys.executable, "-W", "ignore", "-c", RUNNER, how, *MODULES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found, events = json.loads(done.stdout.splitlines()[-1])
    return found, events


@pytest.mark.skipif(importlib.util.find_spec("test.test_generators") is None, reason="needs the tests of Python")
def test_the_outcome_is_the_same() -> None:
    plain, _ = outcomes("plain")
    woven, events = outcomes("woven")
    assert woven == plain
    assert events > 10_000
