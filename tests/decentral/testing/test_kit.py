"""The test kit finds what is wrong with algorithms, and finds nothing wrong with those that are right."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from mopsus.decentral.algorithms import load_algorithm
from mopsus.decentral.algorithms.algorithm import Algorithm, Part
from mopsus.decentral.simulate.network import Network
from mopsus.decentral.specification import ROOT
from mopsus.decentral.system import System
from mopsus.decentral.testing import WrongVerdictError, check_algorithm, check_case, draw_cases
from mopsus.decentral.testing.cases import Case
from mopsus.logics.ltl.syntax import parse_over_propositions

RUNS = max(500, int(os.environ.get("MOPSUS_CASES", "0")) // 20)
SEED = int.from_bytes(os.urandom(4), "big") if os.environ.get("MOPSUS_RANDOM") else 0


@pytest.mark.parametrize("name", ["orch", "migr", "migrr"])
def test_algorithms_for_one_formula_find_its_verdict(name):
    checked = check_algorithm(load_algorithm(name), runs=RUNS, seed=SEED)
    assert checked.runs == RUNS
    assert checked.found > RUNS // 3
    assert checked.missed < RUNS // 3


@pytest.mark.parametrize("name", ["migr", "migrr"])
def test_migration_with_several_active_monitors_that_send_again(name):
    class Widely(type(load_algorithm(name))):
        def setup(self, task):
            active = min(2, len(task.system.components))
            return super().setup(replace(task, options={**task.options, "active": active}))

    check_algorithm(Widely(), runs=RUNS, seed=SEED, options={"patience": 4})


def test_choreography_finds_the_verdict_of_a_formula_or_none():
    checked = check_algorithm(load_algorithm("chor"), runs=RUNS, seed=SEED, complete=False)
    assert checked.found > RUNS // 3


@pytest.mark.parametrize("name", ["orch", "migr", "migrr", "chor", "general"])
def test_nothing_moves_in_pauses(name):
    algorithm = load_algorithm(name)
    settings = {"complete": name != "chor", "references": name == "general", "options": {"pauses": True}}
    check_algorithm(algorithm, runs=RUNS, seed=SEED, pauses=True, **settings)


@pytest.mark.parametrize("circles", [False, True])
def test_monitors_that_refer_to_each_other_find_what_references_mean(circles):
    checked = check_algorithm(load_algorithm("general"), runs=RUNS, seed=SEED, references=True, circles=circles)
    assert checked.found > RUNS // 3


class Told(Algorithm):
    """The last monitor is told everything, and concludes."""

    def setup(self, task):
        automaton = task.whole().automaton
        return [Part(place, place, "python", automaton, automaton.inputs) for place in task.system.components]

    def step(self, me, turn):
        chief = me.part.peers[-1]
        if me.part.name != chief:
            return turn.send(chief, turn.seen)
        for memory in (turn.seen, *(content for _, content in turn.inbox)):
            me.memory.merge(memory)
        if found := self.conclude(me, turn):
            turn.found(*found)
        return None

    def conclude(self, me, turn):
        return me.conclude(turn.time)


class Inverted(Told):
    def conclude(self, me, turn):
        found = me.conclude(turn.time)
        return found and (not found[0], found[1])


class Hasty(Told):
    """It takes silence for an answer: what it has not been told a round later is false."""

    def conclude(self, me, turn):
        found = me.conclude(turn.time)
        if found is None:
            for time, number in me.ehe.missing(me.ehe.end):
                if time < turn.time:
                    me.memory.add(time, number, False)
            found = me.conclude(turn.time)
        return found


class Blocked(Told):
    """It waits for its fellows to tell it in order."""

    def step(self, me, turn):
        for name, memory in turn.inbox:
            heard = me.state.setdefault(name, 0) + 1
            if any(time != heard for time, _, _ in memory.observations()):
                raise RuntimeError("out of order")
            me.state[name] = heard
        return super().step(me, turn)


class Silent(Told):
    def conclude(self, me, turn):
        return None


def test_a_right_algorithm_in_python_passes():
    assert check_algorithm(Told(), runs=RUNS // 2, seed=SEED).found


@pytest.mark.parametrize("algorithm", [Inverted(), Silent()], ids=["inverted", "silent"])
def test_a_wrong_algorithm_is_found_and_the_run_is_made_simple(algorithm):
    with pytest.raises(AssertionError, match="whoever sees everything finds") as caught:
        check_algorithm(algorithm, runs=100)
    case = caught.value.case
    assert caught.value.code == "DECENTRAL-061"
    assert case.network == Network()
    assert case.length <= 1
    assert not case.formulas["root"].parts


def test_an_algorithm_that_minds_faults_is_found_by_them_only():
    check_algorithm(Blocked(), runs=200, faults=False)
    with pytest.raises(WrongVerdictError) as caught:
        check_algorithm(Blocked(), runs=500)
    assert caught.value.case.network != Network()


def test_an_algorithm_that_takes_silence_for_an_answer_is_found_without_faults():
    with pytest.raises(WrongVerdictError) as caught:
        check_algorithm(Hasty(), runs=200, faults=False)
    assert not all(map(all, caught.value.case.traces.values()))


@pytest.mark.parametrize("network", [Network(), Network(delay=(1, 3), reorder=True)], ids=["clean", "slow"])
@pytest.mark.parametrize("name", ["orch", "migr", "migrr", "chor"])
@pytest.mark.parametrize("pauses", [False, True])
@pytest.mark.parametrize("formula", ["X X a0", "X X (a0 & b0)", "X a0 & X b0"])
def test_one_component_is_silent_where_another_moves(formula, name, pauses, network):
    # The monitors that a choreography made did not move where their own component was silent: it found the opposite.
    system = System({"A": ["a0"], "B": ["b0"]})
    traces = {
        "A": ({"a0": True}, {}, {"a0": False}, {"a0": True}),
        "B": ({"b0": True},) * 4,
    }
    case = Case({ROOT: parse_over_propositions(formula)}, system, traces, network, (), 0)
    assert case.expected is (None if formula == "X a0 & X b0" else False)
    options = {"pauses": pauses}
    assert check_case(load_algorithm(name), case, complete=name != "chor", options=options) in (None, case.expected)


def test_what_an_algorithm_raises_is_told_with_the_run():
    class Broken(Told):
        def conclude(self, me, turn):
            return 1 / 0

    with pytest.raises(WrongVerdictError, match="ZeroDivisionError: division by zero\nroot: ") as caught:
        check_algorithm(Broken(), runs=10)
    assert isinstance(caught.value.__cause__.__cause__, ZeroDivisionError)


def test_an_incomplete_algorithm_may_say_nothing():
    checked = check_algorithm(Silent(), runs=100, complete=False)
    assert checked.found == 0
    assert checked.missed == 100 - checked.open > 0


def test_cases_are_drawn_again_alike():
    assert list(draw_cases(20, seed=3)) == list(draw_cases(20, seed=3))
    assert list(draw_cases(20, seed=3)) != list(draw_cases(20, seed=4))


@pytest.mark.parametrize("references", [False, True])
def test_cases_have_everything_in_them(references):
    cases = list(draw_cases(300, seed=0, references=references))
    assert {case.expected for case in cases} == {True, False, None}
    assert {case.reliable for case in cases} == {True, False}
    assert {len(case.system.components) for case in cases} == {1, 2, 3, 4} - ({1} if references else set())
    assert any(case.network.partitions for case in cases)
    assert any(case.crashes for case in cases)
    assert all(len(case.formulas) == (len(case.system.components) if references else 1) for case in cases)


def test_one_run_can_be_tried_alone():
    case = next(case for case in draw_cases(50, seed=0) if case.expected is not None and case.reliable)
    assert check_case(Told(), case) == case.expected
    with pytest.raises(WrongVerdictError):
        check_case(Inverted(), case)
