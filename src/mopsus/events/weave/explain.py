"""Stage 4: how each event of a program is observed, said in words: the mechanism, the places, and what is not seen."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from mopsus.events.weave import bare, ends
from mopsus.events.weave.joinpoints import Operation
from mopsus.events.weave.weaver import Outcome, Weaver
from mopsus.spec import program
from mopsus.spec.printer import print_pointcut
from mopsus.spec.program import Dotted

_MOST = 8
"""Places of one event that are listed; there may be hundreds."""

_INVISIBLE = {
    "iter": "iteration that C code begins by itself, such as sum(x) or list(x)",
    "next": "iteration inside of C code, such as sum(it), unless the iterator was made in rewritten code or is a value "
    "of another event; steps of a generator that yield from delegates to",
    "get": "getattr(x, name), and access from C code",
    "set": "setattr(x, name, value), and access from C code",
    "delete": "delattr(x, name), and access from C code",
    "getitem": "operator.getitem, and access from C code",
    "setitem": "operator.setitem, and access from C code",
    "delitem": "operator.delitem, and access from C code",
    "enter": "contextlib.ExitStack, and direct calls of __enter__",
    "exit": "contextlib.ExitStack, and direct calls of __exit__",
    "raising": "exceptions that operators, C code and generator.throw raise",
    "handling": "except clauses in code that is not rewritten, and contextlib.suppress",
    "awaiting": "what the event loop awaits by itself",
    "new": "objects that displays such as [] and {} or C code make",
}
"""What rewritten code cannot show, by join point."""


@dataclass(frozen=True, slots=True)
class Explained:
    """How one case of one event is observed."""

    spec: str
    event: str
    pointcut: str
    mechanism: str
    places: tuple[str, ...]
    remarks: tuple[str, ...]


def explained(weaver: Weaver) -> list[Explained]:
    """How each event is observed, in the order of the specs."""
    listed = [
        Explained(
            outcome.cut.spec.name,
            outcome.cut.event.name,
            " && ".join(map(print_pointcut, outcome.cut.case.points)),
            _mechanism(outcome, weaver),
            tuple(outcome.places),
            tuple(_remarks(outcome, weaver)),
        )
        for outcome in weaver.outcomes
    ]
    return list(dict.fromkeys(listed))  # the beginning and the end of a control flow are observed alike


def explain(weaver: Weaver) -> str:
    """The same as a text."""
    lines: list[str] = []
    before = ""
    for each in explained(weaver):
        if each.spec != before:
            lines.append(f"{each.spec}:")
            before = each.spec
        lines.append(f"  {each.event}: {each.pointcut}")
        lines.append(f"    {each.mechanism}")
        lines += [f"    at {place}" for place in each.places[:_MOST]]
        if len(each.places) > _MOST:
            lines.append(f"    and {len(each.places) - _MOST} more places")
        lines += [f"    {remark}" for remark in each.remarks]
    return "\n".join(lines)


def _mechanism(outcome: Outcome, weaver: Weaver) -> str:
    used = []
    if outcome.places:
        used.append("advice on " + ("functions and methods" if outcome.cut.kind != "new" else "__init__"))
    if outcome.rewrites:
        means = "sys.monitoring in code" if _is_heard(outcome, weaver) else "rewritten code"
        within = dict.fromkeys(outcome.rewrites[0].within)
        used.append(f"{means} of " + ("modules " + ", ".join(within) if within else "the program's own modules"))
    if outcome.cut.kind == "endProgram":
        used.append("the end of the program")
    return " and ".join(used) if used else "not observed"


def _is_heard(outcome: Outcome, weaver: Weaver) -> bool:
    return outcome.cut.kind == Operation.RAISE and weaver.hears_exceptions


def _remarks(outcome: Outcome, weaver: Weaver) -> Iterator[str]:
    cut, resolver = outcome.cut, weaver.resolver
    for place, why in outcome.obstacles.items():
        yield f"not at {place}: {why}"
    if outcome.rewrites and not _is_heard(outcome, weaver):
        if cut.kind == Operation.RAISE and sys.version_info >= (3, 12):
            yield "sys.monitoring is not used: other tools have taken what is free of it"
        kind = outcome.rewrites[0].operation.value if cut.kind == "call" else cut.kind
        if kind in _INVISIBLE:
            yield f"invisible: {_INVISIBLE[kind]}; code that is not rewritten"
    if cut.kind == "endObject" and not ends.mortals(cut):
        yield "give the parameter a type: only ends of objects of known classes are seen"
    elif cut.kind == "endObject":
        for dotted in ends.mortals(cut):
            if any(not bare.is_open(cls) for cls in resolver.classes((replace(dotted, plus=None),))):
                yield f"not of {Dotted(dotted.parts)} itself: only ends of objects of classes made in Python are seen"
    elif cut.kind in program.CALLS:
        for dotted in _unseen(outcome):
            is_class = len(resolver.classes((dotted,))) > 0
            yield f"{dotted}: " + (
                f"it is a class, and making objects of it is new({dotted})"
                if is_class
                else "no such function or method"
            )
    elif cut.kind not in program.LIFES and not (outcome.places or outcome.rewrites or outcome.obstacles):
        yield "nothing of that name was defined or imported"


def _unseen(outcome: Outcome) -> Iterator[Dotted]:
    """The alternatives of a call that stand for nothing in the program."""
    for dotted in outcome.cut.case.points[0].argument if not outcome.rewrites else ():
        found = (*outcome.places, *outcome.obstacles)
        if not any(fnmatchcase(place.rpartition(".")[2], dotted.parts[-1]) for place in found):
            yield dotted
