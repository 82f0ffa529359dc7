"""Specs that are not needed until a module is loaded, and where what happens within a library is located."""

from __future__ import annotations

import importlib
import os
import sys
import threading

import pytest
from events.woven import program  # noqa: F401 - a fixture

import mopsus
from mopsus.events.weave.weaver import Weaver
from mopsus.monitor import Monitor
from mopsus.spec import parse

pytestmark = pytest.mark.interpreter

SPEC = """
Calls(x) {{
    event call before(x) : call({module}.work) && args(x)
    ere : call
}}
"""


@pytest.fixture
def library(program):  # noqa: F811
    """The name of a module that nobody has loaded."""
    return program("def work(x): return x\n")


def test_a_spec_is_made_when_its_module_is_loaded(library, program):  # noqa: F811
    made = []

    def make():
        monitor = Monitor(parse(SPEC.format(module=library))["Calls"])
        made.append(monitor)
        return {"Calls": monitor}

    weaver = Weaver({}, {library: make})
    weaver.start()
    try:
        importlib.import_module(program("pass\n"))
        assert made == []
        assert weaver.monitors == {}
        module = importlib.import_module(library)
        assert len(made) == 1
        module.work(1)
        assert [dict(each.binding) for each in made[0].verdicts] == [{"x": 1}]
        assert weaver.monitors == {"Calls": made[0]}
    finally:
        weaver.stop()


def test_a_spec_of_a_module_that_is_loaded_already_is_there_at_once(library):
    module = importlib.import_module(library)
    monitor = Monitor(parse(SPEC.format(module=library))["Calls"])
    weaver = Weaver({}, {library: lambda: {"Calls": monitor}})
    weaver.start()
    try:
        module.work(1)
    finally:
        weaver.stop()
    assert len(monitor.verdicts) == 1


def test_what_happens_in_a_library_is_located_at_its_caller(program):  # noqa: F811
    inner = program("def work(x): return x\n")
    outer = program(f"import {inner}\n\ndef call(x):\n    return {inner}.work(x)\n")
    module = importlib.import_module(outer)
    folder = os.path.dirname(module.__file__) + "/"
    monitor = Monitor(parse(SPEC.format(module=inner))["Calls"])
    weaver = Weaver({"Calls": monitor})
    weaver.start()
    try:
        module.call(1)
        monitor.look_beyond(folder)
        module.call(2)
        line = sys._getframe().f_lineno - 1
    finally:
        weaver.stop()
    assert [each.location for each in monitor.verdicts] == [f"{module.__file__}:4", f"{__file__}:{line}"]


def test_without_other_code_the_place_is_the_innermost_one(program):  # noqa: F811
    module = importlib.import_module(program("def work(x): return x\n\ndef call():\n    return work(1)\n"))
    monitor = Monitor(parse(SPEC.format(module=module.__name__))["Calls"])
    monitor.look_beyond("/")
    weaver = Weaver({"Calls": monitor})
    weaver.start()
    try:
        thread = threading.Thread(target=module.call)
        thread.start()
        thread.join()
    finally:
        weaver.stop()
    assert monitor.verdicts[0].location == f"{module.__file__}:4"


def test_the_end_of_the_program_has_no_place():
    spec = parse("S() {\n event over before() : endProgram()\n ere : over\n}")["S"]
    with mopsus.weave(spec) as woven:
        pass
    assert [each.location for each in woven.verdicts] == [None]


def test_methods_of_a_hidden_object_are_functions_of_their_module(program):  # noqa: F811
    name = program("class Hidden:\n    def draw(self, n): return n\n\ndraw = Hidden().draw\n")
    module = importlib.import_module(name)
    spec = parse(f"S(n) {{\n event draw before(n) : call({name}.draw) && args(n)\n ere : draw\n}}")["S"]
    before = module.draw
    with mopsus.weave(spec) as woven:
        assert module.draw(3) == 3
    assert [dict(each.binding) for each in woven.verdicts] == [{"n": 3}]
    assert module.draw is before


# ---- contracts


def test_weave_takes_contracts_and_its_own_specs(program):  # noqa: F811
    text = "def prune(words):\n    for word in words:\n        words.remove(word){}\n"
    bad, ignored = program(text.format("")), program(text.format("  # mopsus: ignore[UnsafeIter]"))
    with mopsus.weave(contracts="iteration") as woven:
        for name in (bad, ignored):
            importlib.import_module(name).prune(["a", "an", "and"])
    assert [each.spec for each in woven.verdicts] == ["UnsafeIter"]
    assert woven.suppressed == {"UnsafeIter": 1}


def test_a_decorated_function_is_watched_against_contracts_in_every_call(program):  # noqa: F811
    woven = mopsus.weave(contracts="UnsafeIter")

    @woven
    def run():
        name = program("words = ['a', 'an', 'and']\nfor word in words:\n    words.remove(word)\n")
        importlib.import_module(name)

    run()
    run()
    assert [each.spec for each in woven.verdicts] == ["UnsafeIter"] * 2


def test_wrong_contracts_are_refused():
    with pytest.raises(mopsus.MopsusError, match="no contract 'nothing'"):
        mopsus.weave(contracts="nothing")
    with pytest.raises(mopsus.MopsusError, match="nothing to weave"):
        mopsus.weave()


LEFT = """
Left(s: {module}.Thing) {{
    creation event used after(s) : call({module}.Thing.use) && target(s)
    event given_up before(s) : endObject(s)
    event over before() : endProgram()
    ere : used+ (given_up | over)
}}
"""


@pytest.mark.parametrize("kept", [False, True])
def test_what_comes_to_its_end_is_located_where_it_was_used_last(program, kept):  # noqa: F811
    library = program("class Thing:\n    def use(self): pass\n")
    user = program(
        f"from {library} import Thing\nkept = []\ndef work():\n    thing = Thing()\n    thing.use()\n"
        f"    {'kept.append(thing)' if kept else 'pass'}\n\nwork()\n"
    )
    importlib.import_module(library)
    with mopsus.weave(parse(LEFT.format(module=library))["Left"]) as woven:
        module = importlib.import_module(user)
    (verdict,) = woven.verdicts
    assert verdict.location == f"{module.__file__}:5"
    assert verdict.witness[-1].event == ("over" if kept else "given_up")
    assert verdict.witness[-1].location == (None if kept else f"{module.__file__}:8")
