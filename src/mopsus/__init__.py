"""Runtime verification for Python: specifications in, verdicts out, with an explanation.

What is listed in `__all__` is the public interface. Importing this package costs next to nothing, because every
pytest run in an environment that has it does so: names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mopsus.events.component.api import mailbox, watch_components
    from mopsus.events.weave.api import install, weave
    from mopsus.model import MopsusError, Severity, Spec, Verdict, WitnessEvent
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
    "install",
    "load",
    "mailbox",
    "param",
    "parse",
    "property",
    "specification",
    "var",
    "watch_components",
    "weave",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    _MODEL = ("MopsusError", "Severity", "Spec", "Verdict", "WitnessEvent")
    _SPEC = ("event", "load", "param", "parse", "property", "specification", "var")
    _HOMES = {"Monitor": "mopsus.monitor"} | dict.fromkeys(_MODEL, "mopsus.model") | dict.fromkeys(_SPEC, "mopsus.spec")
    _HOMES |= dict.fromkeys(("install", "weave"), "mopsus.events.weave.api")
    _HOMES |= dict.fromkeys(("mailbox", "watch_components"), "mopsus.events.component.api")

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
