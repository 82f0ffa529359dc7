"""Witnesses of debugged programs have the values that their events carried."""

from mopsus.interactive import remembered
from mopsus.interactive.remembered import Remembered
from mopsus.model import Address, Verdict, WitnessEvent
from mopsus.model.text import show_binding


def verdict(*rows):
    witness = tuple(WitnessEvent("push", {"queue": 1}, "queue.c:20", None, row) for row in rows)
    return Verdict("queue", "efsm", "overflow", None, True, {"queue": 1}, "queue.c:20", None, witness, row=rows[-1])


def test_a_witness_has_the_fields_of_its_events_and_no_numbers():
    memory = Remembered()
    numbers = [memory.add(("letter",), (letter,), 0) for letter in "abc"]
    found = memory.complete(verdict(numbers[0], numbers[2]))
    assert [event.binding for event in found.witness] == [{"queue": 1, "letter": "a"}, {"queue": 1, "letter": "c"}]
    assert found.row is None
    assert {event.row for event in found.witness} == {None}


def test_what_may_change_is_not_remembered():
    memory = Remembered()
    number = memory.add(("text", "items", "thing"), ("short", [1], object()), 0)
    assert memory.complete(verdict(number)).witness[0].binding == {"queue": 1, "text": "short"}


def test_old_events_lose_their_fields_first(monkeypatch):
    monkeypatch.setattr(remembered, "LIMIT", 2)
    memory = Remembered()
    numbers = [memory.add(("letter",), (letter,), 0) for letter in "abc"]
    bindings = [event.binding for event in memory.complete(verdict(*numbers)).witness]
    assert [binding.get("letter") for binding in bindings] == [None, "b", "c"]


def test_addresses_are_shown_as_such_wherever_a_parameter_is_one():
    memory = Remembered()
    number = memory.add(("queue", "place"), (Address(1), Address(0x6000)), 1)
    shown = memory.complete(verdict(number))
    assert show_binding(shown.binding) == "queue=0x1"
    assert show_binding(shown.witness[0].binding) == "queue=0x1, place=0x6000"
    assert shown.binding == {"queue": 1}


def test_a_number_is_no_address_because_another_event_has_one():
    memory = Remembered()
    numbers = [memory.add(("queue",), (value,), 1) for value in (1, Address(1), 1)]
    shown = memory.complete(verdict(*numbers))
    assert show_binding(shown.binding) == "queue=1"
    assert [show_binding(event.binding) for event in shown.witness] == ["queue=1", "queue=0x1", "queue=1"]
