"""Decentralized specifications: monitors that read propositions and the verdicts of other monitors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.synthesis import from_formula, references_in
from mopsus.decentral.system import System
from mopsus.logics.ltl.syntax import parse_over_propositions
from mopsus.logics.temporal.syntax import Formula
from mopsus.logics.text import suggestion
from mopsus.model import Span

ROOT = "root"
"""What the root is called, if nobody says which monitor it is."""


@dataclass(frozen=True, slots=True)
class Monitor:
    """An automaton with a name. A reference stands for the verdict that the other monitor reaches when it is started
    at the timestamp at which the reference is read."""

    id: str
    automaton: Automaton
    references: frozenset[str] = frozenset()
    """The monitors that its formula refers to, even if no transition depends on them."""
    place: str | None = None
    """The component that it must be on; None: whichever fits."""
    formula: Formula | None = None
    """Over propositions; None if the automaton was made from something else."""
    span: Span | None = field(default=None, compare=False)
    """Where it is written."""

    @property
    def dependencies(self) -> frozenset[str]:
        """The monitors whose verdicts its transitions depend on."""
        return self.references.intersection(self.automaton.inputs)

    @property
    def propositions(self) -> frozenset[str]:
        """The propositions that its transitions depend on."""
        return frozenset(self.automaton.inputs) - self.references


@dataclass(frozen=True, slots=True)
class Specification:
    """Monitors by id. `DecentralError` if one refers to itself or to one that is not there.

    A specification of one monitor is a centralized one: it may read what it likes.
    """

    monitors: Mapping[str, Monitor]
    named_root: str | None = None
    """The monitor whose verdict is that of the specification; None: the one called `root`, else the only one that no
    other refers to."""

    def __post_init__(self) -> None:
        if self.named_root is not None and self.named_root not in self.monitors:
            raise DecentralError(
                f"there is no monitor '{self.named_root}' to be the root",
                hint=suggestion(self.named_root, self.monitors),
                code="DECENTRAL-024",
            )
        for monitor in self.monitors.values():
            for reference in sorted(monitor.references):
                if reference == monitor.id or reference not in self.monitors:
                    raise DecentralError(
                        f"monitor '{monitor.id}' refers to itself"
                        if reference == monitor.id
                        else f"monitor '{monitor.id}' refers to '{reference}', which does not exist",
                        hint="" if reference == monitor.id else suggestion(reference, self.monitors),
                        code="DECENTRAL-023",
                        place=monitor.span,
                    )

    @property
    def tops(self) -> tuple[str, ...]:
        """The monitors that no other refers to."""
        referred = frozenset[str]().union(*(monitor.references for monitor in self.monitors.values()))
        return tuple(name for name in self.monitors if name not in referred)

    @property
    def root(self) -> str:
        """The monitor whose verdict is that of the specification. `DecentralError` if it is not clear which one."""
        if self.named_root is not None:
            return self.named_root
        if ROOT in self.monitors:
            return ROOT
        if len(self.tops) == 1:
            return self.tops[0]
        raise DecentralError(
            "it is not said which monitor is the root",
            hint=f"call it '{ROOT}'" + (f"; no other refers to: {', '.join(self.tops)}" if self.tops else ""),
            code="DECENTRAL-024",
        )

    @property
    def centralized(self) -> bool:
        """Is it one monitor, which may read propositions of all components?"""
        return len(self.monitors) == 1

    def pins(self, system: System) -> Mapping[str, str]:
        """The component of each monitor that must be on a certain one: where its propositions are, or where it was
        placed. `DecentralError` if a monitor would have to be on two, or reads what nobody observes."""
        found: dict[str, str] = {}
        for monitor in self.monitors.values():
            owners = {_owner(monitor, name, system) for name in monitor.propositions}
            if monitor.place is not None:
                system.check(monitor.place, f"the placement of monitor '{monitor.id}'")
                if not self.centralized:
                    owners.add(monitor.place)
            if len(owners) > 1 and not self.centralized:
                about = " and ".join(f"'{owner}'" for owner in sorted(owners))
                raise DecentralError(
                    f"monitor '{monitor.id}' is about {about}, but can be on one component only",
                    hint="make a monitor on each component and refer to it with @",
                    code="DECENTRAL-022",
                    place=monitor.span,
                )
            if monitor.place is not None or (owners and not self.centralized):
                found[monitor.id] = monitor.place if monitor.place is not None else owners.pop()
        return found


def monitor_of(
    name: str,
    formula: Formula | str,
    *,
    place: str | None = None,
    timeout_s: float | None = None,
) -> Monitor:
    """A monitor of a formula over propositions and references. Errors as those of `from_formula`."""
    if isinstance(formula, str):
        formula = parse_over_propositions(formula)
    return Monitor(name, from_formula(formula, timeout_s=timeout_s), references_in(formula), place, formula)


def specification_of(formulas: Mapping[str, Formula | str], root: str | None = None) -> Specification:
    """The specification with a monitor for each formula."""
    return Specification({name: monitor_of(name, formula) for name, formula in formulas.items()}, root)


def _owner(monitor: Monitor, proposition: str, system: System) -> str:
    owner = system.owners.get(proposition)
    if owner is None:
        raise DecentralError(
            f"monitor '{monitor.id}' reads '{proposition}', which no component observes",
            hint=suggestion(proposition, system.owners),
            code="DECENTRAL-022",
            place=monitor.span,
        )
    return owner
