"""What a session says: to the developer, if somebody is there, and what must not be lost, for its outcome."""

from __future__ import annotations

from mopsus.interactive import telling
from mopsus.interactive.debugger import Debugger


class Voice:
    """Tells things through a debugger; warnings and faults are told once."""

    def __init__(self, debugger: Debugger) -> None:
        self.debugger = debugger
        self.silent = False
        """With nobody at the prompt nothing is told: all of it is in the outcome."""
        self.warnings: dict[str, None] = {}
        self._faults: set[str] = set()

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

    def fault(self, error: BaseException, whose: str) -> None:
        """Tell of an error in the code of a property, scenario or callback, once for each place in it."""
        place, text = telling.fault_text(error)
        if place not in self._faults:
            self._faults.add(place)
            self.tell(text)
            self.warn(f"{whose}: {type(error).__name__}: {error} ({place})")
