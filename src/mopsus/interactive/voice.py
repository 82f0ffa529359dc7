"""What a session says: to the developer, if somebody is there, and what must not be lost, for its outcome."""

from __future__ import annotations

from mopsus.interactive import telling
from mopsus.interactive.debugger import Debugger
from mopsus.model import Code, Fault, Faults, Span
from mopsus.monitor.faults import FaultBook


class Voice:
    """Tells things through a debugger; warnings and faults are told once."""

    def __init__(self, debugger: Debugger) -> None:
        self.debugger = debugger
        self.silent = False
        """With nobody at the prompt nothing is told: all of it is in the outcome."""
        self.warnings: dict[str, None] = {}
        self.faults = Faults()
        """Errors in the code of properties, scenarios and callbacks."""

    def tell(self, text: str) -> None:
        """A few lines for the developer."""
        if not self.silent:
            self.debugger.write(text)

    def print(self, *values: object, sep: str = " ", end: str = "\n", **_: object) -> None:
        """What `print` does in the code of properties and scenarios: the output of the program stays its own."""
        self.debugger.write((sep.join(map(str, values)) + end).removesuffix("\n"))

    def warn(self, text: str) -> None:
        """Tell this, once."""
        if text not in self.warnings:
            self.warnings[text] = None
            self.tell(f"warning: {text}")

    def fault(self, error: BaseException, fault: Fault) -> None:
        """An error in the code of a property, scenario or callback: tell it, once for each place in it."""
        if self.faults.add(fault):
            self.tell(telling.fault_text(error))

    def fault_in(self, error: BaseException, spec: str, code: str, file: str | None = None) -> None:
        """An error in code that is not a monitor's own, and in which file that code is."""
        source = None if file is None else Code("", Span(file, 1, 1, 1, 1))
        self.fault(error, FaultBook(spec).add(error, code, source, None, None)[0])
