"""Outline gives the verdicts that inline and offline give for the same run: watched, recorded and told at once."""

from __future__ import annotations

import json
import os
import queue
import threading
from collections import Counter

import pytest
from events.component import component_programs
from events.component.test_component_same import PROPERTIES, known, offline
from events.component.test_log_logics import LOGICS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mopsus
from mopsus import _core
from mopsus.events.component.outline.agent import Agent
from mopsus.events.component.outline.session import Session
from mopsus.events.component.record import Recorder
from mopsus.run.sidecar import Terms, start_sidecars

pytestmark = pytest.mark.interpreter

MOP = f"""
Turns(p) {{
  event got(p) : recv(p, _) && runs({component_programs.MODULE}.act*)
  event sent(p) : send(p, _, _) && runs({component_programs.MODULE}.act*)
  ere : got* (sent | epsilon) (sent | epsilon)
  @fail {{}}
}}
"""


class Specs:
    """What a monitor process needs to know of a command."""

    endings = None

    def __init__(self, specs):
        self.specs = {spec.name: spec for spec in specs}

    def open_monitor(self, spec, on_verdict):
        return spec.monitor(on_verdict)

    def hand_over(self, post):
        """Only specs with code of their own have faults to send."""


class Beside:
    """Monitor processes that watch this process while it is entered; `found` is what they say."""

    def __init__(self, specs, monitors=1, **how):
        self._specs, self._terms = Specs(specs), Terms(monitors=monitors, **how)
        self.found = []

    def __enter__(self):
        self._session = Session.create(envelopes=self._terms.envelopes)
        self._session.set_main(os.getpid())
        self._sidecars = start_sidecars(self._session, self._specs, self._terms)
        self._agent = Agent(self._session)
        self._agent.start()
        return self

    def __exit__(self, *error):
        self._agent.stop()
        _core.Board.open(self._session.board).dismiss()
        for sidecar in self._sidecars:
            while not sidecar.gone:
                self.found += sidecar.read()
            sidecar.wait()
            assert sidecar.last is not None
        self._session.remove()


@pytest.fixture(scope="module")
def specs(tmp_path_factory):
    path = tmp_path_factory.mktemp("specs") / "same.hml"
    path.write_text(PROPERTIES)
    return [*mopsus.load(path).values(), *mopsus.parse(MOP).values()]


def three_ways(specs, program, folder, monitors):
    """The verdicts of a run by monitors in its processes, by those beside it, and of its log."""
    log, sink = folder / "log", folder / "verdicts"
    sink.write_bytes(b"")
    recorder = Recorder(str(log))
    hook, threading.excepthook = threading.excepthook, lambda args: None
    quiet, errors, out = os.dup(2), os.open(os.devnull, os.O_WRONLY), os.open(sink, os.O_WRONLY | os.O_APPEND)
    os.dup2(errors, 2)  # processes say there why they failed
    try:
        with (
            Beside(specs, monitors) as beside,
            mopsus.weave(*specs, on_verdict=lambda found: os.write(out, json.dumps(known(found)).encode() + b"\n")),
        ):
            recorder.start()
            component_programs.run(program)
            recorder.stop()
    finally:
        threading.excepthook = hook
        os.dup2(quiet, 2)
        for each in (quiet, errors, out):
            os.close(each)
    inline = {tuple(json.loads(line)) for line in sink.read_text().splitlines()}
    return inline, set(map(known, beside.found)), offline(specs, log.read_text().splitlines())


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), monitors=st.sampled_from([1, 3]))
def test_random_programs(specs, tmp_path_factory, data, monitors):
    program = data.draw(component_programs.programs())
    inline, outline, log = three_ways(specs, program, tmp_path_factory.getbasetemp(), monitors)
    assert inline == outline == log


# ---- every logic


def worker(jobs, replies):
    while (job := jobs.get()) is not None:
        for _ in range(2 if job[1] == 2 else 1):
            replies.put(("done", job[1]))


@pytest.fixture(scope="module")
def by_logic():
    """By logic, what was found within and beside."""
    text = "{}(p) {{ event got(p; id) : recv(p, ('job', id)) event done(p; id) : send(p, _, ('done', id)) {} }}"
    parsed = [mopsus.parse(text.format(f"In_{name}", LOGICS[name].replace("{{", "{"))) for name in LOGICS]
    specs = [spec for each in parsed for spec in each.values()]
    within = []
    with Beside(specs) as beside, mopsus.weave(*specs, on_verdict=within.append):
        replies, inboxes = queue.Queue(), [queue.Queue(), queue.Queue()]
        threads = [threading.Thread(target=worker, args=(inbox, replies)) for inbox in inboxes]
        for thread in threads:
            thread.start()
        for job in (1, 2, 3):
            inboxes[0].put(("job", job))
        inboxes[1].put(("job", 1))
        for inbox in inboxes:
            inbox.put(None)
        for thread in threads:
            thread.join()
    return [Counter(map(known, found)) for found in (within, beside.found)]


@pytest.mark.parametrize("logic", LOGICS)
def test_every_logic_beside_a_program(by_logic, logic):
    within, beside = ({key: n for key, n in found.items() if key[0] == f"In_{logic}"} for found in by_logic)
    assert beside == within
    assert beside
