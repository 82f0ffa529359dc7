"""Properties of debuggers on woven programs: calls, arguments and results are as good; all else is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mopsus.spec import SpecError, parse, parse_file
from mopsus.spec.pointcuts import conjuncts
from mopsus.spec.woven import woven


def event_of(text):
    return parse(f"S(q) {{\n event e {text}\n event other(q)\n ere : e other }}")["S"].event("e")


def parts_of(event):
    return [(part.kind, part.argument) for part in conjuncts(event.pointcut)]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("before(q) : call(f) && value(q = arg 1)", "before(q) : call(f) && args(q, ..)"),
        ("before(q; n) : call(f) && value(n = arg 3, q = arg 1)", "before(q; n) : call(f) && args(q, _, n, ..)"),
        ("before(q; n) : call(f) && value(q = size : int, n = b)", "before(q; n) : call(f) && args(size=q, b=n, ..)"),
        ("before(q) : call(C.f) && value(q = self)", "before(q) : call(C.f) && target(q) && args(..)"),
        ("before(q) : call(f) && args(q)", "before(q) : call(f) && args(q)"),
        ("(q)", "(q)"),
    ],
)
def test_values_are_arguments(text, same):
    assert parts_of(woven(event_of(text))) == parts_of(event_of(same))


def test_the_value_of_a_call_is_its_result():
    given = woven(event_of("after(q; n) : call(f) && value(q = ret, n = arg 1)"))
    assert given.returning == "q"


@pytest.mark.parametrize(
    "text",
    [
        ': line("f.py:12")',
        'before() : write("x")',
        'before() : call(f) || read("x")',
        "before(q) : call(f) && value(q = *p)",
        'before(q) : call(f) && value(q = "a.b")',
        "before(q) : call(C.f) && value(q = arg 1)",
        "before(q) : call(f) && value(q = ret)",
        "before(q) : get(C.x) && value(q = ret)",
        "before(q; n) : call(f) && args(n) && value(q = arg 1)",
        "before(q) : (call(f) && value(q = arg 1)) || (call(g) && value(q = arg 2))",
    ],
)
def test_what_only_a_debugger_can_do_is_refused(text):
    with pytest.raises(SpecError) as caught:
        woven(event_of(text))
    assert caught.value.code == "SPEC-088"
    assert caught.value.hint


PROGRAM = """\
class Queue: pass
def queue_new(queue, size): return queue
def queue_push(queue): pass
q = queue_new(Queue(), 2)
for number in range(3): queue_push(q)
"""
PROPERTY = """\
slice on queue
initialization { n = 0 }
state init accepting {
    transition { after event queue_new(ret as queue, size) success { most = size } ready }
}
state ready accepting {
    transition { event queue_push(arg 1 as queue) { return n < most } success { n += 1 } failure full }
}
state full non-accepting
"""


def test_a_property_file_checks_a_program_as_it_runs(tmp_path):
    (tmp_path / "queue.prop").write_text(PROPERTY)
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mopsus", "run", "queue.prop", "--fail-on-violation", "--", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "queue/efsm  full" in done.stderr
    assert "program.py:5" in done.stderr


def test_a_property_that_needs_a_debugger_is_refused_at_its_place(tmp_path):
    (tmp_path / "lines.prop").write_text("state init {\n    transition { event line 3 success init }\n}\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mopsus", "run", "lines.prop", "--", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "error[SPEC-088]: only a debugger sees 'line'\n  --> lines.prop:2:18" in done.stderr
    assert parse_file((tmp_path / "lines.prop").read_text(), "lines.prop").specs["lines"].events[0].name == "line_3"
