"""Monitors that run, made from their parts alone.

The same object takes its turns in the simulator and on a host. Inside, inputs and peers are numbers; `Running` has
their names.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from mopsus import _core
from mopsus.decentral.algorithms.algorithm import PYTHON, Algorithm, AlgorithmError, Me, Part, Turn
from mopsus.decentral.algorithms.pauses import moves
from mopsus.decentral.core import compiled
from mopsus.model import MopsusError


class Stepping(Protocol):
    """What takes turns, with numbers for inputs and peers: a monitor of the core, or one written in Python."""

    def step(self, time: int, seen: _core.Memory, inbox: Sequence[tuple[int, _core.Content]]) -> _core.Step:
        """A turn."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a monitor did in a turn."""

    outbox: tuple[tuple[str, _core.Content], ...]
    finding: tuple[int, bool] | None
    """The timestamp since which the verdict is known, and the verdict."""
    stop: bool
    """All monitors are done."""
    again: bool
    """It wants another turn soon, even if there is nothing new."""
    answers: tuple[tuple[int, int, bool], ...]
    """Its verdicts for timestamps, from the first to the last of a stretch."""


class Running:
    """A monitor that runs. It is a function of its turns: whoever repeats them has the same monitor again."""

    def __init__(self, part: Part, monitor: Stepping) -> None:
        self.part = part
        self.monitor = monitor
        self._inputs = {name: number for number, name in enumerate(part.inputs)}
        self._peers = {name: number for number, name in enumerate(part.peers)}
        self.moves = self._inputs.get(moves(part.place), _core.NOTHING)
        """The input that says whether its component observes anything at all."""
        self._automaton = None if part.automaton is None else compiled(part.automaton)

    def seen(self, time: int, event: Mapping[str, bool]) -> _core.Memory:
        """What its component observes at a timestamp, as a turn takes it."""
        memory = _core.Memory()
        if self.moves != _core.NOTHING:
            memory.add(time, self.moves, bool(event))
        if not event:
            memory.add(time, _core.NOTHING, False)
        for name, value in event.items():
            memory.add(time, self._inputs.get(name, _core.SOMETHING), value)
        return memory

    def step(self, time: int, seen: _core.Memory, inbox: Sequence[tuple[str, _core.Content]]) -> Taken:
        """A turn. `time` is the last timestamp that there are observations of."""
        step = self.monitor.step(time, seen, [(self._peers[name], content) for name, content in inbox])
        return Taken(
            tuple((self.part.peers[to], content) for to, content in step.outbox),
            step.finding,
            step.stop,
            step.again,
            tuple(step.answers),
        )

    @property
    def encoding(self) -> _core.Ehe | None:
        """That of a monitor written in Python, if it has one."""
        return self.monitor.encoding if isinstance(self.monitor, PythonMonitor) else None

    def data(self, content: _core.Content) -> int:
        """The size of a message that it sends, as experiments count it."""
        return _core.message_data(content, self.part.inputs)

    def load(self, data: bytes) -> _core.Content:
        """A message to it, saved by `save_message`. `KnowledgeError` if it is damaged."""
        return _core.load_message(self._automaton, data)


def build(part: Part, algorithm: Algorithm) -> Running:
    """The monitor that a part describes. `AlgorithmError` if it describes none."""
    if part.kind == PYTHON:
        return Running(part, PythonMonitor(part, algorithm))
    make = _KINDS.get(part.kind)
    if make is None:
        raise AlgorithmError(f"part '{part.name}' is a '{part.kind}'", hint=f"there is: {', '.join((*_KINDS, PYTHON))}")
    return Running(part, make(part))


class PythonMonitor:
    """A part whose algorithm says what it does."""

    def __init__(self, part: Part, algorithm: Algorithm) -> None:
        self._me = Me(part)
        self._algorithm = algorithm
        self._peers = {name: number for number, name in enumerate(part.peers)}

    def step(self, time: int, seen: _core.Memory, inbox: Sequence[tuple[int, _core.Content]]) -> _core.Step:
        peers, inputs = self._me.part.peers, len(self._me.part.inputs)
        own = _core.Memory([each for each in seen.observations() if each[1] < inputs])
        turn = Turn(time, own, [(peers[sender], _opened(content)) for sender, content in inbox])
        work = self._work()
        try:
            self._algorithm.step(self._me, turn)
            outbox = [(self._number(name), _wrapped(payload)) for name, payload in turn.outbox]
        except MopsusError:
            raise
        except Exception as error:  # it may fail in any way
            place = traceback.extract_tb(error.__traceback__)[-1]
            raise AlgorithmError(
                f"part '{self._me.part.name}' failed at timestamp {time}: {type(error).__name__}: {error}",
                hint=f"{place.filename}, line {place.lineno}",
            ) from error
        resolutions, dropped = self._me.concluded()
        evaluations, simplifications = (after - before for after, before in zip(self._work(), work, strict=True))
        return _core.Step(
            outbox,
            turn.finding,
            turn.stops,
            resolutions=resolutions,
            dropped=dropped,
            evaluations=evaluations,
            simplifications=simplifications,
        )

    @property
    def encoding(self) -> _core.Ehe | None:
        """What it knows of its automaton, if it keeps that as an encoding."""
        return self._me.encoding

    @property
    def length(self) -> int:
        """How many timestamps it holds whose states are not all known."""
        return 0 if self.encoding is None else self.encoding.end - self.encoding.start

    def _work(self) -> tuple[int, int]:
        return (0, 0) if self.encoding is None else (self.encoding.evaluations, self.encoding.simplifications)

    def _number(self, name: str) -> int:
        number = self._peers.get(name)
        if number is None:
            raise AlgorithmError(f"part '{self._me.part.name}' sends to '{name}', which it does not know")
        return number


def _wrapped(payload: object) -> _core.Content:
    if isinstance(payload, _core.Ehe):
        return _core.Encoding(payload)
    if isinstance(payload, _core.Memory):
        return payload.copy()
    if isinstance(payload, _core.Encoding | _core.Verdict | _core.Kill | _core.Acknowledgement):
        return payload
    return _core.Payload(msgspec.msgpack.encode(payload))


def _opened(content: _core.Content) -> object:
    if isinstance(content, _core.Payload):
        return msgspec.msgpack.decode(content.data)
    return content.ehe if isinstance(content, _core.Encoding) else content


def _orchestrator(part: Part) -> _core.DecentralMonitor:
    return _core.Orchestrator(_automaton(part))


def _forwarder(part: Part) -> _core.DecentralMonitor:
    return _core.Forwarder(part.peers.index(part.settings["to"]))


def _migrant(part: Part) -> _core.DecentralMonitor:
    owners = part.settings["owners"]
    return _core.Migrant(
        automaton=_automaton(part),
        owners=[part.peers.index(owners[name]) for name in part.inputs],
        count=len(part.peers),
        here=part.peers.index(part.name),
        round_robin=part.settings["way"] == "round robin",
        active=part.settings["active"],
        patience=part.settings["patience"],
    )


def _node(part: Part) -> _core.DecentralMonitor:
    settings = dict(part.settings)
    references = settings.pop("references")
    receivers = settings.pop("receivers")
    return _core.Node(
        automaton=_shape(part),
        references=[(part.inputs.index(name), part.peers.index(peer)) for name, peer in references.items()],
        receivers=[part.peers.index(peer) for peer in receivers],
        **settings,
    )


def _shape(part: Part) -> _core.Automaton:
    """Its automaton without names, of which a monitor that sends no encodings has no use: thousands may share it."""
    if part.automaton is None:
        raise AlgorithmError(f"part '{part.name}' has no automaton")
    return compiled(replace(part.automaton, inputs=tuple(map(str, range(len(part.automaton.inputs))))))


def _automaton(part: Part) -> _core.Automaton:
    if part.automaton is None:
        raise AlgorithmError(f"part '{part.name}' has no automaton")
    return compiled(part.automaton)


_KINDS: Mapping[str, Callable[[Part], _core.DecentralMonitor]] = {
    "orchestrator": _orchestrator,
    "forwarder": _forwarder,
    "migrant": _migrant,
    "node": _node,
}
"""The kinds of monitors in the core."""
