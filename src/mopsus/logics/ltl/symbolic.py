"""Stage 2: monitors of linear temporal logic over valuations of propositions.

Here a letter is the set of propositions that are true at a step, and transitions are labelled with Boolean
functions. Decentralized monitoring stands on these. Labels are BDDs of the
package `dd`, an optional part of the installation; they are made when asked for, from the decision diagrams
that the synthesis works with.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any, NamedTuple

from mopsus.logics.logic import LogicError
from mopsus.logics.ltl.determine import Deterministic, determine
from mopsus.logics.ltl.letters import Valuations, Work
from mopsus.logics.ltl.syntax import parse_over_propositions
from mopsus.logics.machines.automaton import reaching
from mopsus.logics.temporal.syntax import Formula, Op
from mopsus.logics.tree import walk


class Transition(NamedTuple):
    """The letters that satisfy `label` lead to `target`."""

    label: Any
    """A function of the monitor's `manager`."""
    target: int


class SymbolicMonitor:
    """A minimal complete deterministic monitor. States are numbered from 0, the initial one."""

    initial = 0

    def __init__(self, verdicts: tuple[bool | None, ...], steps: tuple[int, ...], letters: Valuations) -> None:
        self.verdicts = verdicts
        """Of each state: True, False, or None while it is not known; known ones are final."""
        self.propositions = tuple(sorted(letters.propositions))
        """Those that the formula speaks of."""
        self.steps = steps
        """Of each state, a diagram of `letters` whose values are states."""
        self.letters = letters

    @property
    def states(self) -> range:
        return range(len(self.verdicts))

    def step(self, state: int, letter: Collection[str]) -> int:
        """The state after `letter`, the propositions that are true now; propositions of no concern may be in it."""
        names = self.letters.propositions
        diagram = self.steps[state]
        while diagram >= 0:
            level, low, high = self.letters.node(diagram)
            diagram = high if names[level] in letter else low
        return ~diagram

    def targets(self, state: int) -> tuple[int, ...]:
        """The states that some letter leads to."""
        return tuple(self.letters.values(self.steps[state]))

    @cached_property
    def undecidable(self) -> frozenset[int]:
        """The states from which no verdict can be reached any more."""
        decided = [state for state in self.states if self.verdicts[state] is not None]
        return frozenset(self.states) - reaching([self.targets(state) for state in self.states], decided)

    @property
    def monitorable(self) -> bool:
        """Can a verdict be reached at all?"""
        return self.initial not in self.undecidable

    @cached_property
    def manager(self) -> Any:  # noqa: ANN401 - of a package without types that may not be installed
        """The BDD manager of all labels (`dd.autoref.BDD`). `LogicError` if the package is not installed."""
        try:
            from dd import autoref
        except ImportError as error:
            raise LogicError(
                "labels of monitors over propositions need the package 'dd'",
                code="LOGIC-018",
                hint="install it with: pip install 'mopsus[decentral]'",
            ) from error
        manager = autoref.BDD()
        manager.declare(*self.letters.propositions)
        return manager

    def transitions(self, state: int) -> tuple[Transition, ...]:
        """The transitions of a state, one for each target. Their labels exclude each other and cover all letters."""
        labels = self._labels(self.steps[state])
        return tuple(Transition(labels[target], target) for target in self.targets(state))

    @cached_property
    def _known_labels(self) -> dict[int, dict[int, Any]]:
        return {}

    def _labels(self, diagram: int) -> dict[int, Any]:
        """For each value of a diagram, the function that is true of the letters that have it."""
        manager = self.manager
        if diagram < 0:
            return {~diagram: manager.true}
        known = self._known_labels.get(diagram)
        if known is None:
            level, low, high = self.letters.node(diagram)
            if_false, if_true = self._labels(low), self._labels(high)
            name, never = self.letters.propositions[level], manager.false
            known = self._known_labels[diagram] = {
                # The manager has the propositions in the same order, so this takes constant time.
                value: manager.find_or_add(name, if_false.get(value, never), if_true.get(value, never))
                for value in if_false | if_true
            }
        return known


def synthesise(
    formula: Formula | str, propositions: tuple[str, ...] | None = None, *, timeout_s: float | None = None
) -> SymbolicMonitor:
    """The minimal monitor of a formula over valuations of `propositions` (None: those that it speaks of).

    It may have a verdict before the first letter. `FormulaError` if the formula is wrong, `LogicError` if its monitor
    or the way to it is too large, or it takes longer than `timeout_s`.
    """
    if isinstance(formula, str):
        formula = parse_over_propositions(formula, propositions)
    # Propositions that stand together in the formula stay together in the diagrams, which keeps them small.
    spoken = tuple(dict.fromkeys(part.name for part in walk(formula) if part.op is Op.ATOM))
    work = Work(timeout_s)
    letters = Valuations(spoken, work)
    return minimise(determine(formula, letters, work), letters)


def minimise(monitor: Deterministic[int], letters: Valuations) -> SymbolicMonitor:
    """Merge states that no continuation tells apart (partition refinement), and number them breadth first."""
    block_of = _numbered(monitor.verdicts)
    while True:
        memo: dict[int, int] = {}
        finer = _numbered(
            [
                (block, letters.map(block_of.__getitem__, step, memo))
                for block, step in zip(block_of, monitor.steps, strict=True)
            ]
        )
        if max(finer) == max(block_of):
            break
        block_of = finer
    member = {block: state for state, block in reversed(list(enumerate(block_of)))}
    order = {block_of[0]: 0}
    queue = [block_of[0]]
    for block in queue:  # grows while it is walked
        for target in letters.values(monitor.steps[member[block]]):
            if block_of[target] not in order:
                order[block_of[target]] = len(order)
                queue.append(block_of[target])
    final: dict[int, int] = {}
    return SymbolicMonitor(
        tuple(monitor.verdicts[member[block]] for block in queue),
        tuple(
            letters.map(lambda state: order[block_of[state]], monitor.steps[member[block]], final) for block in queue
        ),
        letters,
    )


def _numbered(keys: list[Any]) -> list[int]:
    """A number for each key; equal keys have equal numbers."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]
