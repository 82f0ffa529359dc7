"""What counts as raising, where that is told, and by what means."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress

import pytest
from events.woven import Recorder, program, recorded

import mopsus
from mopsus.events.weave import exceptions

pytestmark = pytest.mark.interpreter

__all__ = ["program", "recorded"]  # fixtures

HEARD = sys.version_info >= (3, 12)
heard = pytest.mark.skipif(not HEARD, reason="the interpreter tells of exceptions from 3.12 on")

EVENT = "event raised before(e) : raising(e)"


@pytest.fixture(params=["heard", "rewritten"])
def means(request, monkeypatch):
    """Both ways of finding out, on every version that has both."""
    if request.param == "rewritten":
        monkeypatch.setattr(exceptions, "_FREE", ())
    elif not HEARD:
        pytest.skip("there is only one way")
    return request.param


def told(program, text, header="R(e)", event=EVENT):
    """The exceptions that a program raises in its function `run`, as text."""
    name = program(text)
    with Recorder(header, event) as seen:
        module = importlib.import_module(name)
        with suppress(BaseException):
            module.run()
    return [repr(values[0]) if values else "" for _, *values in seen]


STATEMENTS = {
    "raised": ("raise ValueError(1)", ["ValueError(1)"]),
    "class": ("raise KeyError", ["KeyError()"]),
    "cause": ("raise ValueError(1) from KeyError(2)", ["ValueError(1)"]),
    "assert": ("assert 1 == 1, 'no'\nassert not run, 'message'", ["AssertionError('message')"]),
    "assert by itself": ("assert not run", ["AssertionError()"]),
    "bare": ("try:\n    raise ValueError(1)\nexcept ValueError:\n    raise", ["ValueError(1)"]),
    "again by name": ("try:\n    raise ValueError(1)\nexcept ValueError as e:\n    raise e", ["ValueError(1)"] * 2),
    "passing": ("def f(): raise ValueError(1)\ndef g(): f()\ng()", ["ValueError(1)"]),
    "in what is raised": ("def f(): raise ValueError(1)\nraise f()", ["ValueError(1)"]),
    "finally": ("try:\n    raise ValueError(1)\nfinally:\n    pass", ["ValueError(1)"]),
    "not handled": ("try:\n    raise ValueError(1)\nexcept KeyError:\n    pass", ["ValueError(1)"]),
    "with": ("import contextlib\nwith contextlib.nullcontext():\n    raise ValueError(1)", ["ValueError(1)"]),
    "group": ("try:\n    raise ValueError(1)\nexcept* KeyError:\n    pass", ["ValueError(1)"]),
    "context manager": (
        "import contextlib\n@contextlib.contextmanager\ndef m():\n    yield\nwith m():\n    raise ValueError(1)",
        ["ValueError(1)"],
    ),
    "delegated": (
        "def f():\n    yield from g()\ndef g():\n    raise ValueError(1)\n    yield\nlist(f())",
        ["ValueError(1)"],
    ),
    "loops end": ("for x in [1]: pass\n[*map(str, 'ab')]\ndef g(): yield 1\nfor x in g(): pass\nlist(g())", []),
    "generators are closed": ("def g():\n    try: yield 1\n    finally: pass\nfor x in g(): break", []),
    "iterator": (
        "class I:\n    def __iter__(self): return self\n    def __next__(self): raise StopIteration\nfor _ in I(): 0",
        ["StopIteration()"],
    ),
    "async": (
        "import asyncio\nasync def g(): yield 1\nasync def f():\n    async for x in g(): pass\n    await h()\n"
        "async def h(): raise ValueError(1)\nasyncio.run(f())",
        ["ValueError(1)"],
    ),
    "future": (
        "import asyncio\nasync def f(): raise ValueError(1)\nasync def g(): await asyncio.create_task(f())\n"
        "asyncio.run(g())",
        ["ValueError(1)"],
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(program, means, name):
    text, expected = STATEMENTS[name]
    assert told(program, "def run():\n" + "".join(f"    {line}\n" for line in text.splitlines())) == expected


@heard
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / 0", ["ZeroDivisionError('division by zero')"]),
        ("{}[5]", ["KeyError(5)"]),
        ("int('x')", ["ValueError(\"invalid literal for int() with base 10: 'x'\")"]),
        ("import mopsus_nonsuch", ["ModuleNotFoundError(\"No module named 'mopsus_nonsuch'\")"]),
        ("[].x", ["AttributeError(\"'list' object has no attribute 'x'\")"]),
        ("getattr([], 'x', 0), hasattr([], 'x')", []),
        ("next(iter([]))", []),
        ("sorted([3, 1], key=lambda x: x / 0)", ["ZeroDivisionError('division by zero')"]),
        ("json.loads('{')", []),
        ("g = gen(); next(g); g.throw(KeyError(1))", ["KeyError(1)"]),
        ("a, b = [1]", ["ValueError('not enough values to unpack (expected 2, got 1)')"]),
        ("sys.exit(3)", ["SystemExit(3)"]),
        ("raise 5", ["TypeError('exceptions must derive from BaseException')"]),
    ],
)
def test_operators_and_c_code(program, text, expected):
    assert told(program, f"import json, sys\ndef gen():\n    yield\ndef run():\n    {text}\n") == expected


def test_asserts_are_left_out_where_python_leaves_them_out(tmp_path):
    (tmp_path / "s.mop").write_text("S(e) { event r before(e) : raising(e) { print('told', repr(e)) } }")
    (tmp_path / "app.py").write_text("assert (print('asked'), 0)[1], 'no'\n")
    for option, expected in (("-B", "asked\ntold AssertionError('no')\n"), ("-O", "")):
        command = [sys.executable, option, "-m", "mopsus", "run", "--quiet", "s.mop", "--", "app.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.stdout == expected, done.stderr


def test_types_and_places(program, means):
    name = program("def one():\n    raise KeyError(1)\ndef two():\n    raise ValueError(2)\n")
    with (
        Recorder("A", f"event raised before() : raising(KeyError) && within({name}.*)") as typed,
        Recorder("B(e: ValueError)", EVENT) as bound,
        Recorder("C(e)", EVENT + f" && within({name}.one)") as within,
        Recorder("D(e)", EVENT + f" && cflow(call({name}.two))") as flow,
        Recorder("E(e)", EVENT + " && threadName('other')") as threads,
    ):
        module = importlib.import_module(name)
        for function in (module.one, module.two):
            with pytest.raises(LookupError if function is module.one else ValueError):
                function()

        def work():
            with pytest.raises(KeyError):
                module.one()

        thread = threading.Thread(target=work, name="other")
        thread.start()
        thread.join()
    assert typed.names == ["raised"] * 2
    found = [[repr(e) for _, e in each] for each in (bound, within, flow, threads)]
    assert found == [["ValueError(2)"], ["KeyError(1)"] * 2, ["ValueError(2)"], ["KeyError(1)"]]


def test_the_line_that_raised(program, means):
    name = program("def run():\n    x = 1\n    assert (x ==\n        2), 'no'\ndef call():\n    run()\n")
    spec = mopsus.parse("S(e) { event r before(e) : raising(e) ere : r @match }")
    with mopsus.weave(spec) as woven, pytest.raises(AssertionError):
        importlib.import_module(name).call()
    assert [verdict.location.rpartition(":")[2] for verdict in woven.verdicts] == ["3"]


def test_moments(program, means):
    name = program("def run():\n    raise ValueError(1)\n")
    with (
        Recorder("A(e)", "event after after(e) : raising(e)") as after,
        Recorder("B(e)", "event around around(e) : raising(e)") as around,
        pytest.raises(ValueError, match="1") as caught,
    ):
        importlib.import_module(name).run()
    assert (after.seen, around.seen) == ([("after", caught.value)], [("around", caught.value)])


@pytest.mark.parametrize(("instead", "raised"), [("KeyError(2)", KeyError), ("None", ValueError)])
def test_another_exception_in_place_of_one(program, means, instead, raised):
    name = program("def run():\n    raise ValueError(1)\n")
    spec = mopsus.parse(f"S(e) {{ event r around(e) : raising(e) {{ __SKIP({instead}) }} }}")
    with mopsus.weave(spec), pytest.raises(raised) as caught:
        importlib.import_module(name).run()
    assert [entry.lineno + 1 for entry in caught.traceback][-1] == 2


def test_handlers_raise_for_themselves(program, means):
    name = program("def run():\n    raise ValueError(1)\n")
    text = "S(e) { event r before(e) : raising(e) { raise KeyError(2) } }"
    with mopsus.weave(mopsus.parse(text)) as woven:
        with pytest.raises(ValueError, match="1"):
            importlib.import_module(name).run()
        stats = woven.monitors["S"].stats()
    assert stats.events == 1


def test_a_wish_to_stop_is_granted(program, means):
    name = program("def run():\n    raise ValueError(1)\n")
    text = "S(e) { event r before(e) : raising(e) { raise SystemExit(7) } }"
    with mopsus.weave(mopsus.parse(text)), pytest.raises(SystemExit) as caught:
        importlib.import_module(name).run()
    assert caught.value.code == 7


def test_within_names_modules_of_the_library(means, monkeypatch):
    monkeypatch.delitem(sys.modules, "ipaddress", raising=False)
    with Recorder("R(e)", EVENT + " && within(ipaddress)") as seen:
        addresses = importlib.import_module("ipaddress")
        with pytest.raises(ValueError, match="does not appear"):
            addresses.ip_address("x")
    assert "does not appear" in str(seen.seen[-1][1])


# ---- the interpreter tells ----


def tools():
    return [sys.monitoring.get_tool(tool) for tool in range(6)]


@heard
def test_the_tool_is_free_again(program):
    before = tools()
    with Recorder("A(e)", EVENT):
        with Recorder("B(e)", EVENT):
            assert tools().count("mopsus") == 1
        assert tools().count("mopsus") == 1
    assert tools() == before
    with Recorder("N", "event called before() : call(list.append)"):
        assert tools() == before


def test_the_end_of_the_interpreter_is_clean(tmp_path):
    (tmp_path / "s.mop").write_text("S(e) { event r before(e) : raising(e) { print('told') } }")
    (tmp_path / "late.py").write_text(
        "class Late:\n    def __del__(self):\n        try: raise KeyError\n        except KeyError: print('late')\n"
    )
    (tmp_path / "app.py").write_text(
        "import mopsus\nwoven = mopsus.weave('s.mop').start()\nimport late, builtins\nbuiltins.kept = late.Late()\n"
        "late.Late()\n"
    )
    done = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:2] == ["told", "late"]
    assert done.stdout.splitlines()[-1] == "late"


@contextmanager
def taken(*numbers):
    for tool in numbers:
        sys.monitoring.use_tool_id(tool, "other")
    try:
        yield
    finally:
        for tool in numbers:
            sys.monitoring.free_tool_id(tool)


@heard
def test_code_is_rewritten_if_no_tool_is_free(program):
    name = program("def run():\n    try: 1 / 0\n    except ZeroDivisionError: raise ValueError(1)\n")
    with taken(3, 4), Recorder("R(e)", EVENT) as seen:
        said = seen.woven.explain()
        module = importlib.import_module(name)
        with pytest.raises(ValueError, match="1"):
            module.run()
    assert "rewritten code of the program's own modules" in said
    assert "other tools have taken what is free" in said
    assert [repr(e) for _, e in seen] == ["ValueError(1)"]
    # Once a tool is free, what was rewritten is told once all the same.
    with Recorder("R(e)", EVENT) as again, pytest.raises(ValueError, match="1"):
        module.run()
    assert [type(e).__name__ for _, e in again] == ["ZeroDivisionError", "ValueError"]


@heard
def test_other_tools_hear_as_before(program):
    name = program("def inner():\n    raise ValueError(1)\ndef run():\n    inner()\n")
    seen = []
    module = importlib.import_module(name)
    events = sys.monitoring.events
    with taken(2):
        sys.monitoring.register_callback(2, events.RAISE, lambda code, offset, error: seen.append(code.co_name))
        sys.monitoring.set_events(2, events.RAISE)
        try:
            with Recorder("R(e)", EVENT) as told, pytest.raises(ValueError, match="1"):
                module.run()
            assert [each for each in seen if each in ("inner", "run")] == ["inner", "run"]
            seen.clear()
            with pytest.raises(ValueError, match="1"):
                module.run()
        finally:
            sys.monitoring.set_events(2, 0)
    assert "inner" in seen
    assert len(told.seen) == 1


@heard
def test_explained(program):
    with Recorder("R(e)", EVENT) as seen:
        assert "sys.monitoring in code of the program's own modules" in seen.woven.explain()
    with Recorder("R(e)", EVENT + " && within(shop.*)") as seen:
        assert "sys.monitoring in code of modules shop" in seen.woven.explain()


def test_explained_when_the_program_has_ended(tmp_path):
    (tmp_path / "s.mop").write_text("S(e) { event r before(e) : raising(e) ere : r r r }")
    (tmp_path / "app.py").write_text("try:\n    raise ValueError\nexcept ValueError:\n    pass\n")
    command = [sys.executable, "-m", "mopsus", "run", "--explain-weaving", "s.mop", "--", "app.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    means = "sys.monitoring in code" if HEARD else "rewritten code"
    assert f"{means} of the program's own modules" in done.stdout + done.stderr
    assert "1 event " in done.stdout + done.stderr


@heard
def test_modules_that_were_imported_before(program):
    module = importlib.import_module(program("def run():\n    raise ValueError(1)\n"))
    with Recorder("R(e)", EVENT) as seen, pytest.raises(ValueError, match="1"):
        module.run()
    assert len(seen.seen) == 1


@heard
def test_code_of_many_functions_that_die(program):
    name = program(
        "def run():\n    names = {'__name__': 'made', '__file__': __file__}\n"
        "    exec('def f(): raise ValueError(1)', names)\n    names['f']()\n"
    )
    with Recorder("R(e)", EVENT) as seen:
        module = importlib.import_module(name)
        for _ in range(200):
            with pytest.raises(ValueError, match="1"):
                module.run()
    assert len(seen.seen) == 200


def test_tasks_that_are_cancelled(program, means):
    name = program("""
        import asyncio
        async def wait(future):
            await future
        async def main():
            task = asyncio.create_task(wait(asyncio.get_running_loop().create_future()))
            await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                return "cancelled"
    """)
    with Recorder("R(e)", EVENT) as seen:
        module = importlib.import_module(name)
        assert asyncio.run(module.main()) == "cancelled"
    assert [type(e).__name__ for _, e in seen] == (["CancelledError"] if means == "heard" else [])
