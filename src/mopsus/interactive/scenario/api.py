"""The functions that the code of a scenario can call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mopsus.interactive.messages import ScenarioError
from mopsus.model import Place, PlaceKind

if TYPE_CHECKING:
    from mopsus.interactive.checkpoints import Checkpoint
    from mopsus.interactive.scenario.engine import Engine, ScenarioPoint
    from mopsus.interactive.session import Session
    from mopsus.interactive.watch import Watch

Callback = Callable[[], object]

_LINE = re.compile(r"(?:.+:)?\d+")
_ACCESSES = {"r": PlaceKind.READ, "w": PlaceKind.WRITE, "rw": PlaceKind.ACCESS}


class Api:
    """Every public method is a function in the scenario."""

    def __init__(self, session: Session, watch: Watch, engine: Engine) -> None:
        self._session, self._watch, self._engine = session, watch, engine
        self._debugger = session.debugger

    def names(self) -> dict[str, Any]:
        """The namespace of a scenario."""
        public = {name: getattr(self, name) for name in dir(self) if not name.startswith("_") and name != "names"}
        return {**public, "monitor": self._watch.interface}

    # ---- the course of the program

    def suspend_execution(self) -> None:
        """Stop the program here, and give the developer the prompt."""
        self._session.suspend(f"the scenario of {self._watch.spec.name} stops the program here")

    def continue_execution(self) -> None:
        """Take back what stopped the program here."""
        self._session.unsuspend()

    def step(self) -> None:
        """One line, once what is being told is done; then the program stands still."""
        self._session.later(self._session.step)

    def after_breakpoint(self, callback: Callback) -> None:
        """Call this as soon as the debugger has done all it does at this point."""
        self._session.later(self._engine.bound(callback))

    # ---- checkpoints

    def checkpoint(self) -> Checkpoint:
        """Save the program and all monitors, as soon as the debugger can. Gives a handle to it at once."""
        return self._session.checkpoints.take_later()

    def checkpoints(self) -> list[int]:
        """The numbers of those that were taken."""
        return [each.number for each in self._session.checkpoints]

    def checkpoint_get_id(self, handle: Checkpoint) -> int:
        """The number by which `verde checkpoint-restart` knows it."""
        return handle.number

    def restore_checkpoint(self, handle: Checkpoint | int) -> None:
        """Bring program and monitors back, as soon as the debugger can."""
        number = handle if isinstance(handle, int) else handle.number
        self._session.later(lambda: self._session.restore(number))

    def discard_checkpoint(self, handle: Checkpoint | int) -> None:
        """Forget a checkpoint."""
        number = handle if isinstance(handle, int) else handle.number
        self._session.later(lambda: self._session.discard(number))

    # ---- points

    def set_breakpoint(self, where: str, callback: Callback | None = None) -> ScenarioPoint:
        """Call this whenever the program comes to a function, a line or `file:line`; without it, stop there."""
        kind = PlaceKind.LINE if _LINE.fullmatch(where) else PlaceKind.CALL
        return self._set(Place(kind, where), callback)

    def set_watchpoint(self, expression: str, mode: str = "w", callback: Callback | None = None) -> ScenarioPoint:
        """Call this whenever what the expression stands for is read (`r`), written (`w`), or either (`rw`)."""
        if mode not in _ACCESSES:
            raise ScenarioError(f"a watchpoint is for 'r', 'w' or 'rw', not {mode!r}")
        return self._set(Place(_ACCESSES[mode], expression, after=True), callback)

    def unset_breakpoint(self, point: ScenarioPoint | str) -> None:
        """Remove a point of this scenario: the one that was given, or all that are there."""
        engine = self._engine
        kept = [each for each in engine.points if each is not point and each.place.what != point]
        if len(kept) == len(engine.points):
            raise ScenarioError(f"the scenario has no point {point}", hint="give what setting it returned")
        engine.points[:] = kept
        self._session.points.want(engine, [each.place for each in kept])

    unset_watchpoint = unset_breakpoint

    def _set(self, place: Place, callback: Callback | None) -> ScenarioPoint:
        from mopsus.interactive.scenario.engine import ScenarioPoint

        if callback is not None and not callable(callback):
            raise ScenarioError(f"the callback of a point must be callable, not {callback!r}")
        point = ScenarioPoint(place, callback)
        self._engine.points.append(point)
        self._session.points.want(self._engine, [each.place for each in self._engine.points])
        return point

    # ---- the program

    def execute(self, command: str) -> str:
        """A command of the debugger's own; what it prints."""
        return self._debugger.execute(command)

    def get(self, expression: str) -> object:
        """The value of an expression of the program's language."""
        return self._debugger.get(expression)

    def set(self, expression: str, value: object) -> None:
        """Assign to a variable of the program."""
        self._debugger.set(expression, value)

    def get_memory(self, address: int, length: int = 1) -> bytes:
        return self._debugger.get_memory(address, length)

    def set_memory(self, address: int, data: bytes) -> None:
        self._debugger.set_memory(address, data)

    def get_pc(self) -> int:
        return self._debugger.get_pc()

    def set_pc(self, address: int) -> None:
        """Let the program go on elsewhere."""
        self._debugger.set_pc(address)

    def backtrace(self, limit: int = 20) -> list[str]:
        """The stack, innermost frame first; it is also printed."""
        lines = self._debugger.backtrace(limit)
        self._debugger.write("\n".join(lines))
        return lines

    # ---- the developer

    def print(self, *values: object, sep: str = " ", end: str = "\n") -> None:
        """A line for the developer."""
        self._session.print(*values, sep=sep, end=end)

    def ask(self, question: str) -> str:
        """What the developer answers."""
        return self._debugger.ask(question)
