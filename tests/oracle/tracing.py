"""Which monitor hears of which event of a log: the definition, read line by line, however slow.

`replay` is the table of components and tracers with its list of waiting events, as the reference describes them. The
tracer of a component is whoever monitors it: itself, the leader of its group, or nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import TypeAlias

from mopsus.events.component.occurrence import Function, Kind, Occurrence
from mopsus.model.term import Pid

Selects: TypeAlias = "Callable[[Function], bool]"
Delivery: TypeAlias = "tuple[Pid | None, Occurrence]"


def replay(
    log: Sequence[Occurrence], roots: Iterable[Pid], selects: Selects, *, groups: bool
) -> tuple[list[Delivery], list[Occurrence]]:
    """Every delivery, to whom, in order; and what is left waiting."""
    tracers: dict[Pid, Pid | None] = dict.fromkeys(roots)
    waiting: list[Occurrence] = []
    delivered: list[Delivery] = []

    def deliver(event: Occurrence) -> None:
        tracer = tracers[event.subject]
        delivered.append((tracer, event))
        if event.kind is Kind.FORK and event.other not in tracers:
            assert event.other is not None
            assert isinstance(event.data, Function)
            tracers[event.other] = event.other if selects(event.data) else tracer if groups else None
        if event.kind is Kind.EXIT:
            del tracers[event.subject]

    def replay_waiting() -> None:
        again = True
        while again:
            again = False
            for position, event in enumerate(waiting):
                if event.subject in tracers:
                    del waiting[position]
                    deliver(event)
                    again = True
                    break

    for event in log:
        if event.subject not in tracers:
            waiting.append(event)
            continue
        deliver(event)
        if event.kind is Kind.FORK:
            replay_waiting()
    return delivered, waiting


def never_forked(log: Iterable[Occurrence]) -> list[Pid]:
    """The components that no fork of the log makes, in the order of their first events."""
    events = list(log)
    forked = {event.other for event in events if event.kind is Kind.FORK}
    return [pid for pid in dict.fromkeys(event.subject for event in events) if pid not in forked]


def random_log(random: Random, components: int, *, inits: float = 0.5, exits: float = 0.7) -> list[Occurrence]:
    """What the components of a random family do, in a random order that keeps each one's own.

    Functions are `w` and `h`. The first component is the root.
    """
    pids = [Pid(f"<0.{10 + number}.0>") for number in range(components)]
    lines: list[list[Occurrence]] = [[] for _ in pids]
    for number in range(1, components):
        parent = random.randrange(number)
        function = Function("m", random.choice("wh"), (number,))
        lines[parent].append(Occurrence(Kind.FORK, pids[parent], pids[number], function))
        if random.random() < inits:
            lines[number].append(Occurrence(Kind.INIT, pids[number], pids[parent], function))
    for number, own in enumerate(lines):
        for message in range(random.randrange(4)):
            at = random.randrange(own[:1] != [] and own[0].kind is Kind.INIT, len(own) + 1)
            if random.random() < 0.5:
                own.insert(at, Occurrence(Kind.SEND, pids[number], random.choice(pids), message))
            else:
                own.insert(at, Occurrence(Kind.RECV, pids[number], None, message))
        if random.random() < exits:
            own.append(Occurrence(Kind.EXIT, pids[number], None, "normal"))
    return interleave(random, lines)


def interleave(random: Random, lines: Sequence[Sequence[Occurrence]]) -> list[Occurrence]:
    """Some order of all of them that keeps the order of each list."""
    rest = [list(own) for own in lines if own]
    merged: list[Occurrence] = []
    while rest:
        own = random.choice(rest)
        merged.append(own.pop(0))
        if not own:
            rest.remove(own)
    return merged
