"""Weaving as a whole: it leaves no trace, several can be at once, and nothing of it harms the program."""

from __future__ import annotations

import asyncio
import builtins
import functools
import gc
import importlib
import inspect
import pickle
import subprocess
import sys
import threading

import pytest
from events.woven import Recorder, program, recorded

import mopsus

pytestmark = pytest.mark.interpreter

__all__ = ["program", "recorded"]  # fixtures

TEXT = '''
"""A module."""

class Base:
    """A class."""

    def method(self, a, b=2):
        """A method."""
        return a + b

class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)

class Made(Base, metaclass=Meta):
    pass

def function(x):
    """A function."""
    return x
'''


def spec(text):
    return mopsus.parse(text)


def test_everything_is_put_back(program):
    name = program(TEXT)
    module = importlib.import_module(name)
    watched = [vars(list), vars(builtins), vars(module), vars(module.Base), vars(threading.Thread), vars(threading)]
    before = [dict(each) for each in watched]
    path, paths = list(sys.meta_path), list(sys.path)
    text = f"""S(x) {{
        event a before(x) : call({name}.Base+.method) && target(x)
        event b before(x) : call(list.append) && target(x)
        event c before(x) : call({name}.function) && args(x)
        event d before(x) : call(builtins.len) && args(x)
        event e before(x) : startThread(x)
        event f after() returning(x) : new({name}.Base)
        ere : a b c d e f
    }}"""
    with mopsus.weave(spec(text)):
        assert vars(module.Base)["method"] is not before[3]["method"]
        assert [].append is not None
    after = [dict(each) for each in watched]
    # What differs is named: if this ever fails, it says what was left behind, or who else changed something meanwhile.
    changed = [
        (key, one.get(key, "nothing"), other.get(key, "nothing"))
        for one, other in zip(before, after, strict=True)
        for key in one.keys() | other.keys()
        if one.get(key, one) is not other.get(key, other) and not key.startswith("__mopsus")
    ]
    assert changed == []
    assert sys.meta_path == path
    assert sys.path == paths


def test_what_is_woven_looks_as_before(program):
    name = program(TEXT)
    module = importlib.import_module(name)
    signature, source = inspect.signature(module.Base.method), inspect.getsource(module.Base.method)
    with mopsus.weave(
        spec(f"S(x) {{ event a before(x) : call({name}.Base.method | {name}.function) && args(x, ..) ere : a }}")
    ):
        assert inspect.signature(module.Base.method) == signature
        assert inspect.getsource(module.Base.method) == source
        assert module.Base.method.__doc__ == "A method."
        assert module.function.__name__ == "function"
        assert module.function.__module__ == name
        assert pickle.loads(pickle.dumps(module.function)) is module.function
        assert functools.partial(module.function, 3)() == 3
        assert module.Made().method(1) == 3
        assert "method" in dir(module.Base)


def test_two_weavings_at_once(program):
    name = program(TEXT)
    module = importlib.import_module(name)
    event = f"event a before(x) : call({name}.Base.method) && target(x)"
    first, second = Recorder("A(x)", event), Recorder("B(x)", event)
    with first:
        module.Base().method(1)
        with second:
            module.Base().method(1)
        module.Base().method(1)
    module.Base().method(1)
    assert (len(first.seen), len(second.seen)) == (3, 1)


def test_decorator(program):
    name = program(TEXT)
    module = importlib.import_module(name)
    woven = mopsus.weave(spec(f"S(x) {{ event a before(x) : call({name}.Base.method) && target(x) ere : a a }}"))

    @woven
    def use(count):
        """What it does."""
        thing = module.Base()
        for _ in range(count):
            thing.method(1)
        return count

    assert use(2) == 2
    assert use(1) == 1
    assert [verdict.category for verdict in woven.verdicts] == ["match"]
    assert use.__doc__ == "What it does."


def test_decorated_coroutine(program):
    name = program(TEXT)
    module = importlib.import_module(name)
    woven = mopsus.weave(spec(f"S(x) {{ event a before(x) : call({name}.Base.method) && target(x) ere : a }}"))

    @woven
    async def use():
        await asyncio.sleep(0)
        return module.Base().method(1)

    assert asyncio.run(use()) == 3
    assert len(woven.verdicts) == 1


def test_explanation_names_what_was_not_found(program):
    name = program(TEXT)
    importlib.import_module(name)
    text = f"""S(x) {{
        event a before(x) : call({name}.Base.method | {name}.Base.nothing | {name}.Made) && args(x, ..)
        event b before(x) : next(x)
        event c before(x) : call(list.__len__) && target(x)
        ere : a b c
    }}
    T(x: list) {{ event d before(x) : endObject(x) ere : d }}"""
    with mopsus.weave(spec(text)) as woven:
        said = woven.explain()
    assert f"at {name}.Base.method" in said
    assert f"{name}.Base.nothing: no such function or method" in said
    assert f"making objects of it is new({name}.Made)" in said
    assert "invisible: iteration inside of C code, such as sum(it)" in said
    assert "not at builtins.list.__len__" in said
    assert "not of list itself: only ends of objects of classes made in Python are seen" in said


def test_files_and_callbacks(program, tmp_path):
    name = program(TEXT)
    module = importlib.import_module(name)
    file = tmp_path / "s.mop"
    file.write_text(f"S(x) {{ event a before(x) : call({name}.Base.method) && target(x) ere : a }}")
    found = []
    with mopsus.weave(file, on_verdict=found.append) as woven:
        module.Base().method(1)
        assert woven.monitors["S"].stats().events == 1
        assert f"at {name}.Base.method" in woven.explain()
    assert len(found) == 1
    assert not woven.verdicts
    assert found[0].location.startswith(__file__)


@pytest.mark.parametrize("wrong", [(), (3,), ({},)])
def test_nothing_to_weave(wrong):
    with pytest.raises(mopsus.MopsusError) as caught:
        mopsus.weave(*wrong)
    assert caught.value.code == "WEAVE-002"


def test_specs_of_traces_only_are_refused():
    traces = spec('S(i) { event a(i) ere : a }\nT(i) { event b(i) : named("x") ere : b }')
    with pytest.raises(mopsus.MopsusError, match="no event of S, T is at a point of a program") as caught:
        mopsus.weave(traces)
    assert caught.value.code == "WEAVE-002"
    assert "mopsus check" in str(caught.value.hint)
    # In company they wait for events that somebody sends by hand.
    with mopsus.weave(traces, spec("U { event a after() : endProgram() ere : a }")) as woven:
        woven.monitors["S"].emit("a", i=1)
    assert [verdict.spec for verdict in woven.verdicts] == ["S", "U"]


def test_twice_at_once_is_refused():
    woven = mopsus.weave(spec("S { event a after() : endProgram() ere : a }"))
    with woven, pytest.raises(mopsus.MopsusError):
        woven.start()
    woven.stop()


def test_two_specs_of_one_name():
    one = spec("S { event a after() : endProgram() ere : a }")
    with pytest.raises(mopsus.MopsusError):
        mopsus.weave(one, one)


def test_handlers_may_call_what_is_watched(program):
    name = program(TEXT)
    text = f"""
    import {name}
    S(x) {{ event a before(x) : call({name}.Base.method) && target(x) {{ {name}.Base().method(1) }}
            ere : a  @match {{ x.method(1) }} }}
    """
    with mopsus.weave(spec(text)) as woven:
        importlib.import_module(name).Base().method(1)
    assert len(woven.verdicts) == 1


def test_objects_are_not_kept_alive(program):
    name = program(TEXT)
    with Recorder("R(x)", f"event a before(x) : call({name}.Base.method) && target(x)") as seen:
        module = importlib.import_module(name)
        for _ in range(100):
            module.Base().method(1)
        seen.seen.clear()
        gc.collect()
        assert sum(type(each) is module.Base for each in gc.get_objects()) == 0


def test_many_threads(program):
    name = program(TEXT)
    text = f"S(x) {{ event a before(x) : call({name}.Base.method) && target(x) ere : a a @match }}"
    with mopsus.weave(spec(text)) as woven:
        module = importlib.import_module(name)

        def work():
            for _ in range(200):
                thing = module.Base()
                thing.method(1)
                thing.method(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert woven.monitors["S"].stats().events == 1600
    assert len(woven.verdicts) == 800


def test_install_watches_to_the_end(tmp_path):
    (tmp_path / "s.mop").write_text("S { event end after() : endProgram() ere : end @match { print('ended') } }")
    (tmp_path / "app.py").write_text("import mopsus\nmopsus.install('s.mop')\nprint('running')\n")
    done = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout == "running\nended\n", done.stderr


def test_local_and_nested_classes(program):
    name = program(
        "class Outer:\n    class Inner:\n        def m(self):\n            return 1\n"
        "def make():\n    class Local:\n        def m(self):\n            return 2\n    return Local()\n"
    )
    with Recorder(
        "R(x)",
        "event inner before(x) : call(Outer.Inner.m) && target(x)",
        f"event made after() returning(x) : new({name}.Outer.Inner)",
        "event local before(x) : call(make.Local.m) && target(x)",
    ) as seen:
        module = importlib.import_module(name)
        module.Outer.Inner().m()
        module.make().m()
    assert seen.names == ["made", "inner", "local"]
