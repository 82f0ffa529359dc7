"""Runs a scenario: its reactions, the callbacks of its points, and what it has put off.

All code of a scenario shares one namespace, so what one reaction assigns, the next one sees. A fault in it is told
once, counted, and changes nothing: the program goes on as if the reaction had ended there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any

from mopsus.interactive.scenario.api import Api
from mopsus.interactive.scenario.model import Moment, Reaction, Scenario
from mopsus.model import Code, Place

if TYPE_CHECKING:
    from mopsus.interactive.session import Session
    from mopsus.interactive.watch import Move, Watch


@dataclass(frozen=True, slots=True, eq=False)
class ScenarioPoint:
    """A point that a scenario has set, and what it does when the program comes there (None: it stops)."""

    place: Place
    callback: Callable[[], object] | None


class Engine:
    """The scenario of one monitor, at work."""

    def __init__(self, scenario: Scenario, session: Session, watch: Watch) -> None:
        self.points: list[ScenarioPoint] = []
        self._session, self._watch = session, watch
        self.scenario = scenario
        self._reactions = [(reaction, _compiled(reaction.code)) for reaction in scenario.reactions]
        self.names: dict[str, Any] = {"__name__": scenario.file}
        """The namespace of its code."""
        self.api = Api(session, watch, self)
        self.names.update(self.api.names())
        self.names.update(old_state=None, new_state=None, binding={})
        self._given = frozenset(self.names)

    def variables(self) -> dict[str, Any]:
        """What its code has assigned."""
        return {name: value for name, value in self.names.items() if name not in self._given and name != "__builtins__"}

    def regain(self, variables: Mapping[str, Any], points: Iterable[ScenarioPoint]) -> None:
        """Have these variables and points, whatever it had."""
        for name in self.variables():
            del self.names[name]
        self.names.update(variables)
        self.points[:] = points
        self._session.points.want(self, [each.place for each in self.points])

    def begin(self) -> None:
        """Run the initialization; points of an earlier run are gone."""
        self.points.clear()
        self._session.points.want(self, ())
        if self.scenario.initialization is not None:
            self.run(_compiled(self.scenario.initialization))

    def react(self, move: Move) -> None:
        """Every reaction that this move triggers, in the order of writing."""
        for reaction, code in self._reactions:
            if _triggers(reaction, move):
                with self.states(move.old, move.new, move.binding):
                    self.run(code)

    def reached(self, place: Place) -> None:
        """The program is where the scenario has points."""
        for point in [each for each in self.points if each.place == place]:
            if point.callback is None:
                self._session.suspend(f"a point of the scenario at {place.what}")
            else:
                self.run(point.callback)

    def bound(self, callback: Callable[[], object]) -> Callable[[], None]:
        """The callback, to be run later, with the states as they are now."""
        old, new, binding = (self.names[name] for name in ("old_state", "new_state", "binding"))

        def run() -> None:
            with self.states(old, new, binding):
                self.run(callback)

        return run

    def run(self, code: CodeType | Callable[[], object]) -> None:
        """Run some code of the scenario, whatever it does."""
        try:
            if isinstance(code, CodeType):
                exec(code, self.names)
            else:
                code()
        except Exception as error:
            self._session.fault_in(error, self._watch.spec.name, "scenario", self.scenario.file)

    @contextmanager
    def states(self, old: str | None, new: str | None, binding: Mapping[str, object]) -> Iterator[None]:
        """What `old_state`, `new_state` and `binding` stand for meanwhile."""
        given = {"old_state": old, "new_state": new, "binding": dict(binding)}
        before = {name: self.names.get(name) for name in given}
        self.names.update(given)
        try:
            yield
        finally:
            self.names.update(before)


def _compiled(code: Code) -> CodeType:
    line = code.span.line - 1 if code.span else 0
    return compile("\n" * line + code.text, code.span.file if code.span else "<scenario>", "exec")


def _triggers(reaction: Reaction, move: Move) -> bool:
    if reaction.moment is Moment.ENTERING:
        return reaction.concerns(move.new, move.entered)
    return move.old is not None and reaction.concerns(move.old, move.left)
