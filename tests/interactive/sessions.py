"""Sessions over the toy machine, made from texts."""

from __future__ import annotations

from typing import Any

from interactive.toy import Toy, ToyDebugger

import mopsus
from mopsus.interactive.scenario.syntax import parse_scenario
from mopsus.interactive.session import Session


def make(
    program: Toy,
    *properties: str,
    scenario: str | None = None,
    functions: dict[str, Any] | None = None,
    quiet: bool = True,
    kind: type[ToyDebugger] = ToyDebugger,
    **options: Any,
) -> tuple[Session, Any]:
    """A session that has not started, with a monitor for each property, and its debugger."""
    debugger = kind(program)
    session = Session(debugger, **options)
    debugger.driver = session
    for text in properties:
        for spec in mopsus.parse(text).values():
            session.add(spec, None if scenario is None else parse_scenario(scenario, "s.scn"), functions, quiet)
    return session, debugger


def start(*given: Any, **options: Any) -> tuple[Session, Any]:
    """A session whose monitors have started; the program has not."""
    session, debugger = make(*given, **options)
    session.start()
    return session, debugger
