"""Stage 2: from a logic's plain automaton to the finished machine that the engine runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

from mopsus.logics.logic import Request
from mopsus.logics.machines.analyse import Analysis, analyse, final_categories
from mopsus.logics.machines.automaton import Automaton
from mopsus.logics.machines.minimise import minimise
from mopsus.logics.machines.suffix import UNDECIDED, match_suffixes
from mopsus.model import TableMachine


def finish(automaton: Automaton, request: Request, *, truth: Mapping[str, bool | None] | None = None) -> TableMachine:
    """The minimal machine for `request`, with its analyses.

    Anonymous states are called `s0`, `s1` and so on. If the end of traces is asked for, states keep what the logic
    presumes of them; where it presumes nothing, a state whose verdict may change is presumed to be what `truth`
    says of it now.
    """
    begins: frozenset[str] | None = None
    automaton = _presume(automaton, truth or {}) if request.at_end else replace(automaton, presumed=())
    if request.suffix:
        automaton, begins = match_suffixes(automaton, resets=bool(request.restart) or request.interrupted)
        begins = request.beginnings(begins)
    smallest = minimise(_open_silently(automaton, request), request.goal)
    analysis = analyse(smallest, request, begins)
    if smallest.presumed:
        analysis = _keep_ends(analysis, smallest, request)
    if truth:
        analysis = replace(analysis, creation=analysis.creation | _moving(smallest))
    return TableMachine(
        alphabet=smallest.alphabet,
        initial=smallest.initial,
        table=smallest.table,
        categories=smallest.categories,
        names=_name_all(smallest.names),
        goal=request.goal,
        final=analysis.final,
        creation=analysis.creation,
        enable=analysis.enable,
        coenable=analysis.coenable,
        alive=analysis.alive,
        truth=dict(truth or {}),
        after_report=smallest.after_report,
        every=request.every,
        presumed=smallest.presumed,
    )


def _moving(automaton: Automaton) -> frozenset[str]:
    """The events that make a difference when they come first.

    A pattern skips what cannot begin it. A formula is about all events: one that makes it true for good must be
    seen, or a later one would be taken for the first and might break it.
    """
    first = zip(automaton.alphabet, automaton.table[automaton.initial], strict=True)
    return frozenset(event for event, target in first if target != automaton.initial)


def _presume(automaton: Automaton, truth: Mapping[str, bool | None]) -> Automaton:
    """The automaton with what to presume of each state whose verdict is not final."""
    final = final_categories(automaton)
    presumed: list[bool | None] = []
    for state, categories in enumerate(automaton.categories):
        values = {value for category in categories if (value := truth.get(category)) is not None}
        now = automaton.presumed[state] if automaton.presumed else next(iter(values)) if len(values) == 1 else None
        presumed.append(None if final[state] - {UNDECIDED} else now)
    return replace(automaton, presumed=tuple(presumed) if any(each is not None for each in presumed) else ())


def _keep_ends(analysis: Analysis, automaton: Automaton, request: Request) -> Analysis:
    """The analysis, changed so that whoever may end undecided is kept to the end.

    Events that begin an instance remain the same, so that verdicts do; only where nothing can ever be reported,
    any event that leaves the formula undecided begins one.
    """
    endings = {True: "?true", False: "?false"}
    marked = replace(
        automaton,
        categories=tuple(
            categories if presumed is None else categories | {endings[presumed]}
            for categories, presumed in zip(automaton.categories, automaton.presumed, strict=True)
        ),
    )
    wider = analyse(marked, replace(request, goal=request.goal | set(endings.values())))
    return replace(wider, final=analysis.final, creation=analysis.creation or wider.creation)


def _name_all(names: Sequence[str]) -> tuple[str, ...]:
    taken = frozenset(names)
    fresh = (name for number in count() if (name := f"s{number}") not in taken)
    return tuple(name or next(fresh) for name in names)


def _open_silently(automaton: Automaton, request: Request) -> Automaton:
    """Give the automaton an initial state without categories if otherwise a verdict would never be heard.

    A final verdict is reported when it is entered. One that holds before the first event must be
    entered at the first event, because nothing is reported before it.
    """
    if not final_categories(automaton)[automaton.initial] & request.goal:
        return automaton
    return replace(
        automaton,
        initial=len(automaton.table),
        table=(*automaton.table, automaton.table[automaton.initial]),
        categories=(*automaton.categories, frozenset()),
        names=(*automaton.names, "start"),
        presumed=(*automaton.presumed, None) if automaton.presumed else (),
        after_report=(*automaton.after_report, automaton.initial) if automaton.after_report else (),
    )
