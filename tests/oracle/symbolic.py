"""Formulas with data run by the real monitor, to be compared with the definitions."""

from __future__ import annotations

from collections.abc import Sequence

from mopsus.logics import compile_spec
from mopsus.logics.hml.formula import Whole
from mopsus.logics.hml.matching import Happening
from mopsus.logics.hml.printer import print_whole
from mopsus.model import Event, Handler, Parameter, Property, Spec, Verdict
from mopsus.monitor import Monitor
from mopsus.spec.hml.events import COMPONENT, FIELDS

WORKER = "<0.20.0>"


def spec_of(logic: str, formula: str) -> Spec:
    """A specification as an `.hml` text gives it, whose one property reports all that there is to say."""
    other = "acceptance" if logic == "maxhml" else "inconclusive"
    return Spec(
        "jobs",
        (Parameter(COMPONENT),),
        events=tuple(Event(name, (COMPONENT,), creation=name == "start", fields=each) for name, each in FIELDS.items()),
        properties=(Property("worker", logic, formula, (Handler("rejection"), Handler(other))),),
    )


def monitored(
    whole: Whole, word: Sequence[Happening], *, first_match: bool = False, history: int = 32
) -> tuple[list[str | None], list[Verdict]]:
    """The verdict before any event and after each, as `reference.verdicts` gives them, and all verdicts."""
    compiled = compile_spec(spec_of("maxhml" if whole.word == "check" else "shml", print_whole(whole)))
    if first_match:
        compiled = compile_spec(compiled.spec, first_match=True)
    return run(Monitor(compiled, history=history), word)


def run(monitor: Monitor, word: Sequence[Happening]) -> tuple[list[str | None], list[Verdict]]:
    """What a monitor says of one component."""
    said: list[str | None] = [None]
    for name, data in word:
        monitor.event(name)(WORKER, *data)
        said.append(monitor.verdicts[0].category if monitor.verdicts else None)
    return said, monitor.verdicts
