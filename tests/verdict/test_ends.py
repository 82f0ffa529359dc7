"""What is presumed at the end of a trace: of whom, and how it is counted."""

from __future__ import annotations

import pytest

from mopsus.logics import compile_spec
from mopsus.model import BindingMode, Event, Handler, Modifiers, Parameter, Property, Spec
from mopsus.verdict import Ending, Endings, Presumption, presume


def compiled(*properties, binding=BindingMode.ANY):
    spec = Spec(
        "Files",
        parameters=(Parameter("f"), Parameter("g")),
        events=(Event("open", ("f",)), Event("close", ("f", "g"))),
        properties=properties,
        modifiers=Modifiers(binding=binding),
    )
    return compile_spec(spec, at_end=True)


ERE = Property("paired", "ere", "(open close)*", (Handler("match"), Handler("fail")))
FSM = Property("order", "fsm", "s [ open -> t ] t [ close -> s ]")


def after(machine, *word):
    state = machine.initial
    for event in word:
        state = machine.table[state][machine.alphabet.index(event)]
    return state


def test_the_undecided_are_presumed_to_be_what_they_would_be():
    found = compiled(ERE)
    machine = found.machines[0]
    instances = [
        ({"f": 1}, (after(machine, "open"),)),
        ({"f": 2}, (after(machine, "open", "close"),)),
        ({"f": 3}, (after(machine, "close"),)),
    ]
    assert list(presume(found, instances)) == [
        Presumption("Files", "paired", {"f": 1}, False),
        Presumption("Files", "paired", {"f": 2}, True),  # the third has failed for good
    ]


def test_a_logic_without_presumptions_leaves_it_unknown():
    found = compiled(FSM)
    machine = found.machines[0]
    instances = [({"f": 1}, (after(machine, "open"),)), ({"f": 2}, (after(machine, "close"),))]
    assert list(presume(found, instances)) == [Presumption("Files", "order", {"f": 1}, None)]


def test_a_machine_of_another_kind_leaves_it_unknown():
    assert list(presume(compiled(FSM), [({}, (None,))])) == [Presumption("Files", "order", {}, None)]


def test_several_properties_of_one_instance():
    found = compiled(ERE, FSM)
    states = tuple(after(machine, "open") for machine in found.machines)
    assert [each.truth for each in presume(found, [({"f": 1}, states)])] == [False, None]


@pytest.mark.parametrize(
    ("binding", "kept"),
    [
        (BindingMode.ANY, [{"f": 1}, {"f": 2}, {"f": 1, "g": 1}]),
        (BindingMode.FULL, [{"f": 1, "g": 1}]),
        (BindingMode.MAXIMAL, [{"f": 2}, {"f": 1, "g": 1}]),
    ],
)
def test_only_those_count_that_may_report(binding, kept):
    found = compiled(ERE, binding=binding)
    state = after(found.machines[0], "open")
    instances = [({"f": 1}, (state,)), ({"f": 2}, (state,)), ({"f": 1, "g": 1}, (state,))]
    assert [each.binding for each in presume(found, instances)] == kept


def test_values_of_different_types_are_different_instances():
    found = compiled(ERE, binding=BindingMode.MAXIMAL)
    state = after(found.machines[0], "open")
    instances = [({"f": 1}, (state,)), ({"f": True, "g": 1}, (state,))]
    assert len(list(presume(found, instances))) == 2


def test_endings_count_and_keep_the_first_few():
    endings = Endings()
    for number in range(5):
        endings.add(Presumption("A", "p", {"f": number}, True))
    endings.add(Presumption("B", "q", {}, None))
    endings.add(Presumption("A", "p", {"f": 9}, False))
    assert list(endings) == [
        Ending("A", "p", False, 1, [{"f": 9}]),
        Ending("A", "p", True, 5, [{"f": 0}, {"f": 1}, {"f": 2}]),
        Ending("B", "q", None, 1, [{}]),
    ]
