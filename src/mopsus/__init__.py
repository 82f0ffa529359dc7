"""Runtime verification for Python: specifications in, verdicts out, with an explanation.

What is listed in `__all__` is the public interface. Importing this package is cheap: the names that
need a parser or the native core are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from mopsus.model import MopsusError, Severity, Spec, Verdict, WitnessEvent

if TYPE_CHECKING:
    from mopsus.monitor import Monitor
    from mopsus.spec import event, load, param, parse, property, specification, var

__all__ = [
    "Monitor",
    "MopsusError",
    "Severity",
    "Spec",
    "Verdict",
    "WitnessEvent",
    "event",
    "load",
    "param",
    "parse",
    "property",
    "specification",
    "var",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    _SPEC = ("event", "load", "param", "parse", "property", "specification", "var")
    _HOMES = {"Monitor": "mopsus.monitor"} | dict.fromkeys(_SPEC, "mopsus.spec")

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

    def _monitor(spec: Spec, *args: object, **options: object) -> object:
        """A new monitor for this spec; see `mopsus.Monitor`."""
        return import_module("mopsus.monitor").Monitor(spec, *args, **options)

    Spec.monitor = _monitor
