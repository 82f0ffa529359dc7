"""Inline and offline give the same verdicts for the same run: random programs, watched and recorded at once."""

import json
import os
import threading

import pytest
from events.component import component_programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mopsus
from mopsus.events.component.dispatch import Dispatcher
from mopsus.events.component.feed import make_feed
from mopsus.events.component.log.text import parse_line
from mopsus.events.component.record import Recorder

pytestmark = pytest.mark.interpreter

M = f"'{component_programs.MODULE}'"
PROPERTIES = f"""
% What was received is not sent on.
with {M}:act(_, _, _)
monitor
  max(X. and(
    [_ ? {{v, N}}]max(Y. and([_:_ ! {{v, K}} when K =:= N]ff, [_ ? _]Y, [_:_ ! {{_, K}} when K =/= N]Y)),
    [_ <- _, {M}:act(_, _, _)]X, [_:_ ! _]X, [_ -> _, {M}:act(_, _, _)]X, [_ -> _, {M}:act_as_task(_, _, _)]X)),

with {M}:act_as_task(N, _, _) when N > 0
check
  max X.([{{_ ** R when R =/= normal}}]ff and [{{_ ? {{_, 3}}}}]ff and [{{_ ? {{_, V}} when V < 3}}]X
    and [{{_:_ ! _}}]X and [{{_ <- _, {M}:act_as_task(_, _, _)}}]X),

with {M}:act(_, _, _)
check
  [{{_ <- _, {M}:act(N, _, _)}}]([{{_:_ ! {{v, K}} when K >= N}}]ff or <{{_ ? _}}>tt).
"""
MOP = f"""
Turns(p) {{
  event got(p) : recv(p, _) && runs({component_programs.MODULE}.act*)
  event sent(p) : send(p, _, _) && runs({component_programs.MODULE}.act*)
  ere : got* (epsilon | sent)
  @fail {{}}
}}
"""


def offline(specs, lines):
    found = set()
    for spec in specs:
        with spec.monitor(lambda verdict: found.add(known(verdict))) as monitor:
            dispatcher = Dispatcher([make_feed(spec, monitor)])
            for line in lines:
                parsed = parse_line(line)
                assert parsed is not None
                dispatcher.post(parsed[0])
            dispatcher.finish()
    return found


def known(verdict):
    return (verdict.spec, verdict.property, verdict.category, *verdict.binding.values())


@pytest.fixture(scope="module")
def specs(tmp_path_factory):
    path = tmp_path_factory.mktemp("specs") / "same.hml"
    path.write_text(PROPERTIES)
    return [*mopsus.load(path).values(), *mopsus.parse(MOP).values()]


def both(specs, program, folder):
    """The verdicts of a run inline, of all its processes, and those of its log."""
    verdicts, log = folder / "verdicts", folder / "log"
    sink = os.open(verdicts, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    recorder = Recorder(str(log))
    hook, threading.excepthook = threading.excepthook, lambda args: None
    quiet, errors = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(errors, 2)  # processes say there why they failed
    try:
        with mopsus.weave(
            *specs, on_verdict=lambda verdict: os.write(sink, json.dumps(known(verdict)).encode() + b"\n")
        ):
            recorder.start()
            component_programs.run(program)
            recorder.stop()
    finally:
        threading.excepthook = hook
        os.dup2(quiet, 2)
        for each in (sink, quiet, errors):
            os.close(each)
    inline = {tuple(json.loads(line)) for line in verdicts.read_text().splitlines()}
    return inline, offline(specs, log.read_text().splitlines())


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_threads_and_tasks(specs, tmp_path_factory, data):
    program = data.draw(component_programs.programs(kinds=("thread", "task")))
    inline, log = both(specs, program, tmp_path_factory.getbasetemp())
    assert inline == log


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_processes_too(specs, tmp_path_factory, data):
    program = data.draw(component_programs.programs())
    inline, log = both(specs, program, tmp_path_factory.getbasetemp())
    assert inline == log


def test_there_is_something_to_compare(specs, tmp_path):
    """Verdicts of each property, so that nothing above is equal because it is empty."""
    program = component_programs.Program(
        (
            (("send", 0, 2), ("send", 0, 2), ("recv", 0, 0), ("send", 0, 2), ("thread", 1, 0), ("process", 2, 0)),
            (("recv", 0, 0), ("recv", 0, 0), ("task", 3, 0)),
            (("send", 1, 3), ("task", 4, 0)),
            (("raise", 0, 0),),
            (("send", 1, 3), ("recv", 1, 0), ("recv", 1, 0)),
        )
    )
    inline, log = both(specs, program, tmp_path)
    assert inline == log
    assert {(spec, prop, category) for spec, prop, category, *_ in inline} >= {
        ("same", "act", "rejection"),
        ("same", "act_as_task", "rejection"),
        ("same", "act_2", "rejection"),
        ("Turns", "ere", "fail"),
    }
