"""Orchestration and migration against the automaton that sees everything."""

from __future__ import annotations

import random

import pytest
from decentral.encodings import runs, states_of
from decentral.support import OWN, PROPOSITIONS, traces
from hypothesis import given
from hypothesis import strategies as st
from logics.temporal_formulas import formulas
from oracle.tables import LIGHT, Table

from mopsus import _core
from mopsus.decentral.core import KnowledgeError, compiled
from mopsus.decentral.synthesis import from_formula
from mopsus.logics.temporal.syntax import FUTURE


def core_of(automaton):
    return automaton.core if isinstance(automaton, Table) else compiled(automaton)


def orchestration(table, owners, components):
    return [_core.Orchestrator(core_of(table)), *(_core.Forwarder(0) for _ in range(1, components))]


def migration(table, owners, components, round_robin=False, active=1):
    first = 0 if round_robin else _core.Migrant.first(core_of(table), owners)
    begin = {(first + more) % components for more in range(active)}
    return [
        _core.Migrant(
            automaton=core_of(table),
            owners=owners,
            count=components,
            here=here,
            round_robin=round_robin,
            active=here in begin,
        )
        for here in range(components)
    ]


def simulate(monitors, owners, trace, delays, rounds):
    """Rounds until a finding: what was found, when, and how many messages were sent until then."""
    on_the_way = []
    sent = 0
    for now in range(1, rounds + 1):
        outboxes = []
        finding = None
        for here, monitor in enumerate(monitors):
            letter = trace[now - 1] if now <= len(trace) else ()
            seen = _core.Memory([(now, put, value) for put, value in enumerate(letter) if owners[put] == here])
            inbox = [(source, content) for when, source, to, content in on_the_way if when == now and to == here]
            step = monitor.step(min(now, len(trace)), seen, inbox)
            outboxes += [(here, to, content) for to, content in step.outbox]
            finding = finding or step.finding
        sent += len(outboxes)
        if finding:
            return finding, now, sent
        for source, to, content in outboxes:
            on_the_way += [(now + delay, source, to, content) for delay in delays()]
    return None, rounds, sent


def expected(table, trace):
    """When the verdict is known to whoever sees everything, and which it is."""
    for time, state in enumerate(states_of(table, trace)):
        if table.verdicts[state] is not None:
            return time, table.verdicts[state]
    return None


ALGORITHMS = {
    "orchestration": orchestration,
    "migration": migration,
    "two migrants": lambda *system: migration(*system, active=2),
    "round robin": lambda *system: migration(*system, round_robin=True),
    "two in turn": lambda *system: migration(*system, round_robin=True, active=2),
}


@pytest.mark.parametrize(
    ("name", "messages"), [("orchestration", 5), ("migration", 2), ("round robin", 4)], ids=lambda value: str(value)
)
def test_the_light_of_the_reference(name, messages):
    switch = (False, True, True, True, False)
    light = (False, False, True, False, True)
    trace = list(zip(switch, light, strict=True))
    owners = [0, 1]
    monitors = ALGORITHMS[name](LIGHT, owners, 2)
    assert expected(LIGHT, trace) == (4, False)
    assert simulate(monitors, owners, trace, lambda: [1], 20) == ((4, False), 5, messages)


@pytest.mark.parametrize("name", ALGORITHMS)
@given(case=runs(states=4, inputs=3, length=8), data=st.data())
def test_all_find_what_is_found_by_whoever_sees_everything(name, case, data):
    table, trace, _ = case
    components = data.draw(st.integers(1, 3))
    owners = data.draw(st.lists(st.integers(0, components - 1), min_size=table.inputs, max_size=table.inputs))
    monitors = ALGORITHMS[name](table, owners, components)
    finding, _, _ = simulate(monitors, owners, trace, lambda: [1], len(trace) + components + 1)
    assert (finding is None) == (expected(table, trace) is None)
    if finding:
        time, verdict = finding
        assert verdict == expected(table, trace)[1]
        assert time >= expected(table, trace)[0]  # timestamps may be skipped


@pytest.mark.parametrize("name", ALGORITHMS)
@given(case=runs(states=4, inputs=3, length=8), data=st.data(), seed=st.integers(0, 2**32))
def test_messages_may_be_late_out_of_order_and_doubled(name, case, data, seed):
    table, trace, _ = case
    owners = data.draw(st.lists(st.integers(0, 2), min_size=table.inputs, max_size=table.inputs))
    draw = random.Random(seed)
    monitors = ALGORITHMS[name](table, owners, 3)
    delays = lambda: [draw.randint(1, 4) for _ in range(draw.choice([1, 1, 2]))]  # noqa: E731
    # Doubled encodings go on both; a few rounds more than any way through all components takes.
    finding, _, _ = simulate(monitors, owners, trace, delays, len(trace) + 20)
    assert (finding is None) == (expected(table, trace) is None)
    assert finding is None or finding[1] == expected(table, trace)[1]


@pytest.mark.parametrize("name", ALGORITHMS)
@given(formula=formulas(FUTURE, atoms=PROPOSITIONS, max_leaves=6), trace=traces(8))
def test_formulas_over_three_components(name, formula, trace):
    automaton = from_formula(formula)
    owners = [next(number for number, own in enumerate(OWN.values()) if put in own) for put in automaton.inputs]
    letters = [[observed[put] for put in automaton.inputs] for observed in map(_together, trace)]
    state, verdicts = 0, [automaton.verdicts[0]]
    for observed in map(_together, trace):
        state = automaton.step(state, [put for put, value in observed.items() if value])
        verdicts.append(automaton.verdicts[state])
    monitors = ALGORITHMS[name](automaton, owners, len(OWN))
    finding, _, _ = simulate(monitors, owners, letters, lambda: [1], len(trace) + len(OWN) + 1)
    assert (finding and finding[1]) == verdicts[-1]
    assert finding is None or verdicts[finding[0]] == finding[1]


def _together(event):
    return {name: value for own in event.values() for name, value in own.items()}


def test_a_monitor_is_told_what_it_understands():
    with pytest.raises(KnowledgeError, match="told observations"):
        _core.Orchestrator(core_of(LIGHT)).step(1, _core.Memory(), [(1, _core.Encoding(_core.Ehe(core_of(LIGHT))))])
    migrant = migration(LIGHT, [0, 1], 2)[0]
    with pytest.raises(KnowledgeError, match="sent encodings"):
        migrant.step(1, _core.Memory(), [(1, _core.Memory())])
    with pytest.raises(KnowledgeError, match="every input has one owner"):
        migration(LIGHT, [0], 2)
    with pytest.raises(KnowledgeError, match="no monitor 2"):
        _core.Migrant(automaton=core_of(LIGHT), owners=[0, 2], count=2, here=0, round_robin=True, active=True)
