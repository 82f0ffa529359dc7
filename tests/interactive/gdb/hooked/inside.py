"""Runs inside GDB: sessions one after the other, all with hooks or all with traps, and what was seen of each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gdb

order = json.loads(Path(hooked_order).read_text())  # noqa: F821 (GDB's Python has one namespace)
sys.path.insert(0, order["root"])

from mopsus.bus import pack  # noqa: E402
from mopsus.interactive.gdb.adapter import GdbDebugger  # noqa: E402
from mopsus.interactive.gdb.course import Course, is_alive  # noqa: E402
from mopsus.interactive.gdb.prefix import MonitorCommands  # noqa: E402
from mopsus.interactive.prepare import load_property  # noqa: E402
from mopsus.interactive.session import Session  # noqa: E402
from mopsus.model import Place  # noqa: E402


class Counted(Session):
    """Knows how often the program was stopped for it."""

    arrivals = 0

    def reached(self, place, read):
        self.arrivals += 1
        return super().reached(place, read)


class Noticing(GdbDebugger):
    """Knows how events were taken until the program ended."""

    def ended(self, status):
        inside.update(self.inside())
        super().ended(status)


def put(state):
    """Put all monitors that have this state into it, as a developer may at the prompt."""
    for watch in session.watches:
        if state in watch.states():
            watch.interface.set_current_state(state)


def stop_in_calls():
    """Stop between the instructions that make a call in the copy of a function's beginning."""
    for site in debugger.agent._hooked():
        code = gdb.selected_inferior().architecture().disassemble(site.copy.start, site.copy.stop - 1)
        for each in code:
            if site._beginning.half_made(each["addr"] - site.copy.start):
                gdb.Breakpoint(f"*{each['addr']}", gdb.BP_HARDWARE_BREAKPOINT)


def attempt(command):
    """What GDB says to a command, or why it refuses."""
    try:
        return gdb.execute(command, to_string=True)
    except gdb.error as error:
        return f"refused: {error}"


def _slices(watch):
    """Where its instances are, with their variables; those that have done nothing need not be there."""
    found = []
    for each in watch.monitor.slices():
        binding = {name: str(value) for name, value in watch.shown(each.binding).items()}
        variables = {name: value for name, value in each.environment.items() if not name.startswith("__")}
        if each.state != "init" or variables:
            found.append(f"{binding} {each.state} {variables}")
    return sorted(found)


def run(case):
    """One session: the program is run with its properties, and at each stop the next commands are given."""
    said.clear()
    session.verdicts.clear()
    session.warnings.clear()
    session.sight.doubts.clear()
    session.arrivals = 0
    inside.clear()
    attempt(f'file "{case["program"]}"')
    watches = []
    for each in case["properties"]:
        watches += load_property(session, each["file"], None, each["scenario"], quiet=each["quiet"])
    stops = [attempt(f"run {case['arguments']} > {case['output']}")]
    while is_alive() and len(stops) <= order["most_stops"]:
        commands = case["commands"][(len(stops) - 1) % len(case["commands"])]
        stops.append([(each, attempt(each)) for each in commands])
    if is_alive():
        inside.update(debugger.inside())
        attempt("kill")
    outcome = session.outcome()
    slices = [_slices(watch) for watch in watches]
    looked_for = {watch.spec.name: sorted(watch.looked_for) for watch in watches}
    for watch in watches:
        session.remove(watch)
    return {
        "stops": stops,
        "said": list(said),
        "slices": slices,
        "verdicts": [json.loads(pack(each)) for each in session.verdicts],
        "status": outcome.status,
        "warnings": [*session.warnings, *(each.text for each in session.sight.doubts)],
        "looked_for": looked_for,
        "counts": {name: each["seen"] for name, each in outcome.stats.items()},
        "arrivals": session.arrivals,
        "unhooked": {place.what: why for place, why in inside.items() if why is not None},
    }


for setting in (
    "confirm off",
    "pagination off",
    "width 0",
    "height 0",
    "debuginfod enabled off",
    "print thread-events off",
    "print entry-values no",
):
    gdb.execute(f"set {setting}")
said: list[str] = []
inside: dict[Place, str | None] = {}
debugger = Noticing(hooks=order["hooks"])
session = Counted(debugger)
debugger.driver, debugger.warn, debugger.tell, debugger.write = session, session.warn, said.append, said.append
course = Course(debugger, session)
MonitorCommands("verde", session, course)
for case in order["cases"]:
    found = run(case)
    with Path(order["found"]).open("a") as file:  # one by one: GDB may not live to tell all
        file.write(json.dumps(found, default=repr) + "\n")
