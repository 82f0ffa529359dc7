"""Runs inside GDB: a driver that only writes down what it is told. `observe` begins, `observed` ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gdb

order = json.loads(Path(observer_order).read_text())  # noqa: F821 (GDB's Python has one namespace)
sys.path.insert(0, order["root"])

from mopsus.interactive.gdb.adapter import GdbDebugger  # noqa: E402
from mopsus.model import Place, PlaceKind, Reading, ReadingKind, Unavailable  # noqa: E402


def reading(data):
    kind, text, index, inner, wanted = data
    return Reading(ReadingKind(kind), text, index, inner and reading(inner), wanted)


def shown(value):
    return f"<unavailable: {value.why}>" if isinstance(value, Unavailable) else value


class Observer:
    def __init__(self):
        self.found = []

    def reached(self, place, read):
        name = f"{'after ' if place.after else ''}{place.kind} {place.what}"
        self.found.append((name, [shown(read(each)) for each in places[place]]))
        return False

    def resuming(self):
        return False

    def stopped(self): ...

    def ended(self, status):
        self.found.append(("end", [status]))


class Observe(gdb.Command):
    def __init__(self):
        super().__init__("observe", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        for each, readings in places.items():
            debugger.set_point(each, readings)


class Observed(gdb.Command):
    def __init__(self):
        super().__init__("observed", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        observer.found.append(("open calls", [debugger.calls.open]))
        Path(order["found"]).write_text(json.dumps(observer.found, default=repr))


places = {
    Place(PlaceKind(kind), what, after): [reading(each) for each in readings]
    for (kind, what, after), readings in order["places"]
}
observer = Observer()
debugger = GdbDebugger()
debugger.driver = observer
debugger.warn = lambda text: observer.found.append(("warning", [text]))
Observe()
Observed()
