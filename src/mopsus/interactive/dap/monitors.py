"""Monitors as an editor shows them: as variables that can be opened, and as plain data; and stops that they caused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mopsus.interactive import telling
from mopsus.interactive.dap.channel import Message
from mopsus.interactive.dap.workbench import Caught, Inside, Stopped, Variable
from mopsus.model import Acceptance
from mopsus.model.text import printable, show_binding, show_value
from mopsus.verdict import explain

if TYPE_CHECKING:
    from mopsus.interactive.session import Session
    from mopsus.interactive.watch import Watch

SCENARIO = "scenario"
"""The reason of a stop that a scenario asked for, or a step of a monitor."""


def stop_of(session: Session, thread: int | None) -> Stopped | None:
    """Why the session keeps the program where it is; None if it does not. A verdict is shown as an exception is: that
    is what editors have for something that went wrong, with a text and with details."""
    reason = session.suspended
    if reason is None:
        return None
    explained = [
        explain(verdict, watch.machine(verdict.property), session.history, watch.spec)
        for watch, verdict in session.told_verdicts
    ]
    if not explained:
        return Stopped(SCENARIO, thread, reason)
    witness = [line for each in explained for line in telling.explanation_lines(each)]
    first = session.told_verdicts[0][1]
    name = f"{first.spec}: {first.category}"
    caught = Caught(name, reason, "\n".join(witness))
    return Stopped("exception", thread, reason, name, caught=caught)


@dataclass(frozen=True, slots=True)
class Monitors(Inside):
    """All monitors of a session."""

    session: Session

    def members(self) -> Sequence[Variable]:
        return [
            Variable(f"#{watch.number}", telling.states_line(watch), "monitor", Slices(watch), constant=True)
            for watch in self.session.watches
        ]


class Slices(Inside):
    """The slices of a monitor."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._slices = list(watch.monitor.slices())
        self.indexed = len(self._slices)

    def members(self) -> Sequence[Variable]:
        return ()

    def elements(self, start: int, count: int) -> Sequence[Variable]:
        states = self._watch.states()
        found = []
        for each in self._slices[start : start + count]:
            mark = states.get(each.state, Acceptance.NEUTRAL).value
            shown = printable(each.state) + (f" ({mark})" if mark else "")
            inside = Environment(each.environment) if _own(each.environment) else None
            name = show_binding(self._watch.shown(each.binding)) or "without parameters"
            found.append(Variable(name, shown, "slice", inside, constant=True))
        return found


@dataclass(frozen=True, slots=True)
class Environment(Inside):
    """The variables of a slice."""

    variables: Mapping[str, Any]

    def members(self) -> Sequence[Variable]:
        return [
            Variable(name, show_value(value), type(value).__name__, constant=True)
            for name, value in _own(self.variables).items()
        ]


def monitors_of(session: Session) -> list[Message]:
    """All that is known of the monitors now."""
    return [
        {
            "number": watch.number,
            "spec": watch.spec.name,
            "states": {name: each.value for name, each in watch.states().items()},
            "slices": [
                {
                    "binding": {name: show_value(value) for name, value in watch.shown(each.binding).items()},
                    "state": each.state,
                    "environment": {name: show_value(value) for name, value in _own(each.environment).items()},
                }
                for each in watch.monitor.slices()
            ],
        }
        for watch in session.watches
    ]


def checkpoints_of(session: Session) -> list[Message]:
    """The checkpoints that there are."""
    return [
        {"number": each.number, "where": telling.where_text(each.where), "states": each.states}
        for each in session.checkpoints
    ]


def _own(environment: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in environment.items() if not name.startswith("__")}
