"""Algorithms that are written in Python: one file, two methods."""

from __future__ import annotations

import msgspec
import pytest
from decentral.support import OWN, PROPOSITIONS, traces
from hypothesis import given
from hypothesis import strategies as st
from logics.temporal_formulas import formulas
from oracle.decentral import run_centralized

from mopsus import _core
from mopsus.decentral import DecentralError, System, monitor_of, specification_of
from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Algorithm, AlgorithmError, Part, Task, set_up
from mopsus.decentral.algorithms.build import build
from mopsus.decentral.algorithms.orchestration import Orchestration
from mopsus.decentral.measures.points import Listener, Points
from mopsus.decentral.simulate.network import Network
from mopsus.decentral.simulate.run import simulate
from mopsus.decentral.specification import Specification
from mopsus.logics.temporal.syntax import FUTURE

SYSTEM = System(OWN)
TASK = Task(specification_of({"root": "F(a0 & b0)"}), SYSTEM)
TRACES = {
    "A": [{"a0": True, "a1": False}] * 3,
    "B": [{"b0": False}, {"b0": True}, {"b0": True}],
    "C": [{"c0": True}] * 3,
}


class Tell(Algorithm):
    """Everyone tells everyone what it sees, as plain data; whoever knows the verdict says so."""

    def setup(self, task):
        automaton = task.whole().automaton
        return [Part(place, place, "python", automaton, automaton.inputs) for place in task.system.components]

    def step(self, me, turn):
        told = [each for each in turn.seen.observations() if each[1] < len(me.part.inputs)]
        for other in me.part.peers if told else ():
            if other != me.part.name:
                turn.send(other, told)
        me.memory.merge(turn.seen)
        for sender, observations in turn.inbox:
            assert sender in me.part.peers
            for time, put, value in observations:
                me.memory.add(time, put, value)
        while me.ehe.end < turn.time:
            me.ehe.tick()
        for time, put, value in me.memory.observations():
            if me.ehe.start < time and put < len(me.part.inputs):
                me.ehe.learn(time, put, value)
        while True:
            verdict = me.ehe.verdict(me.ehe.resolved)
            if verdict is not None:
                turn.found(verdict, me.ehe.resolved)
                turn.abort()
                return
            if not me.ehe.resolve():
                return


class PassOn(Tell):
    """The encoding itself goes round, and memories are told by the second component."""

    def step(self, me, turn):
        for _, content in turn.inbox:
            if hasattr(content, "nodes"):
                me.ehe.merge(content)
        turn.inbox = []
        place = me.part.peers.index(me.part.name)
        super().step(me, turn)
        turn.outbox = [(me.part.peers[(place + 1) % len(me.part.peers)], me.ehe.copy())] if me.ehe.end else []


@pytest.mark.parametrize("algorithm", [Tell(), PassOn()], ids=["tell", "pass on"])
@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6), trace=traces(6))
def test_its_verdict_is_that_of_whoever_sees_everything(algorithm, formula, trace):
    monitor = monitor_of("root", formula)
    task = Task(Specification({"root": monitor}), SYSTEM)
    observed = {name: [events[name] for events in trace] for name in OWN}
    outcome = simulate(set_up(algorithm, task), task, observed, algorithm=algorithm)
    assert outcome.verdict == run_centralized(monitor.automaton, trace)[0]


def test_measures_look_at_points():
    class Everything(Listener):
        def __init__(self):
            self.lines = []

        def run_start(self, algorithm, parts, task):
            self.lines.append(f"start {algorithm} {len(parts)}")

        def round(self, time):
            self.lines.append(f"round {time}")

        def step(self, time, monitor):
            self.lines.append(f"step {monitor}")

        def send(self, time, source, target, kind, data, size):
            self.lines.append(f"send {source} {target} {kind} {data} {size}")

        def deliver(self, time, source, target, kind):
            self.lines.append(f"deliver {source} {target} {kind}")

        def resolve(self, time, monitor, before, resolved):
            self.lines.append(f"resolve {monitor} {before} {resolved}")

        def verdict(self, time, monitor, timestamp, value):
            self.lines.append(f"verdict {monitor} {timestamp} {value}")

        def run_end(self, outcome):
            self.lines.append(f"end {outcome.verdict}")

        def values(self):
            return {"lines": len(self.lines)}

    task = Task(specification_of({"root": "F(a0 & b0)"}), System({"A": ("a0",), "B": ("b0",)}))
    observed = {"A": [{"a0": True}, {"a0": True}], "B": [{"b0": False}, {"b0": True}]}
    listener = Everything()
    algorithm = load_algorithm("orch")
    outcome = simulate(
        set_up(algorithm, task), task, observed, algorithm=algorithm, name="orch", points=Points([listener])
    )
    assert listener.lines == [
        "start orch 2",
        "round 1",
        "step monitor A",
        "step monitor B",
        "send monitor B monitor A Memory 7 9",
        "round 2",
        "deliver monitor B monitor A Memory",
        "step monitor A",
        "resolve monitor A 0 1",
        "step monitor B",
        "send monitor B monitor A Memory 6 9",
        "round 3",
        "deliver monitor B monitor A Memory",
        "step monitor A",
        "resolve monitor A 1 2",
        "verdict monitor A 2 True",
        "end True",
    ]
    assert outcome.measures["lines"] == len(listener.lines)


class Silent(Tell):
    step = Algorithm.step


class Lost(Tell):
    def step(self, me, turn):
        turn.send("nobody", 1)


class Broken(Tell):
    def step(self, me, turn):
        raise KeyError(turn.time)


class Opaque(Tell):
    def step(self, me, turn):
        turn.send(me.part.name, object())


class Twins(Tell):
    def setup(self, task):
        return [*super().setup(task)] * 2


class Strange(Tell):
    def setup(self, task):
        return [Part("one", "A", "wizard")]


class Deaf(Tell):
    def setup(self, task):
        return [Part("one", "A", "forwarder", peers=("two",)), Part("two", "B", "forwarder")]


class Elsewhere(Tell):
    def setup(self, task):
        return [Part("one", "Z", "python")]


class Bare(Tell):
    def setup(self, task):
        return [Part("one", "A", "python")]


@pytest.mark.parametrize(
    ("algorithm", "words"),
    [
        (Silent, "has no step"),
        (Lost, "'nobody', which it does not know"),
        (Broken, "part 'A' failed at timestamp 1: KeyError: 1"),
        (Opaque, "part 'A' failed at timestamp 1: TypeError"),
        (Twins, "no two of one name"),
        (Strange, "is a 'wizard'"),
        (Deaf, "'two', which does not know it"),
        (Elsewhere, "'Z', which is no component"),
        (Bare, "has no automaton"),
    ],
)
def test_mistakes_of_an_algorithm_are_said(algorithm, words):
    made = algorithm()
    with pytest.raises(DecentralError, match=words):
        simulate(set_up(made, TASK), TASK, TRACES, algorithm=made)


def test_algorithms_are_found_in_files(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from mopsus.decentral.algorithms.orchestration import Orchestration\n\n\n"
        "class Mine(Orchestration):\n    pass\n\n\nOTHER = 3\n"
    )
    mine = load_algorithm("mine.py:Mine", tmp_path)
    assert simulate(set_up(mine, TASK), TASK, TRACES, algorithm=mine).verdict is True
    with pytest.raises(AlgorithmError, match="not an algorithm"):
        load_algorithm("mine.py:OTHER", tmp_path)
    with pytest.raises(DecentralError, match="no 'Yours'"):
        load_algorithm("mine.py:Yours", tmp_path)


def test_a_monitor_is_the_same_wherever_its_turns_are_repeated():
    algorithm = load_algorithm("migr")
    part = set_up(algorithm, TASK)[0]
    outboxes = []
    for _ in range(2):
        monitor = build(part, algorithm)
        seen = [monitor.seen(time, event) for time, event in enumerate(TRACES["A"], 1)]
        taken = [monitor.step(time, memory, ()) for time, memory in enumerate(seen, 1)]
        outboxes.append(
            [(to, monitor.load(_core.save_message(content)).ehe) for each in taken for to, content in each.outbox]
        )
    assert outboxes[0] == outboxes[1] != []


class Concluding(Orchestration):
    """Orchestration whose first monitor is written in Python."""

    def setup(self, task):
        first, *others = super().setup(task)
        return [msgspec.structs.replace(first, kind="python"), *others]

    def step(self, me, turn):
        for memory in (turn.seen, *(content for _, content in turn.inbox)):
            me.memory.merge(memory)
        if found := me.conclude(turn.time):
            turn.found(*found)
            turn.abort()


@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6), trace=traces(8), delay=st.integers(1, 3))
def test_what_it_concludes_is_measured_and_explained_like_that_of_the_core(formula, trace, delay):
    task = Task(Specification({"root": monitor_of("root", formula)}), SYSTEM)
    observed = {name: [events[name] for events in trace] for name in OWN}
    outcomes = [
        simulate(set_up(each, task), task, observed, algorithm=each, network=Network(delay=(delay, delay)), record=True)
        for each in (Orchestration(), Concluding())
    ]
    assert outcomes[0].measures == outcomes[1].measures
    assert outcomes[0].explanation == outcomes[1].explanation
    assert outcomes[0].recording.steps == outcomes[1].recording.steps
