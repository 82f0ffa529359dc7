"""Runtime verification for Python: specifications in, verdicts out, with an explanation.

What is listed in `__all__` is the public interface. Importing this package costs next to nothing, because every
pytest run in an environment that has it does so: names are loaded when they are first used.
"""

from __future__ import annotations

from mopsus.late import late_names

TYPE_CHECKING = False  # `typing` takes longer to load than all of this
if TYPE_CHECKING:
    from mopsus.events.component.api import mailbox, watch_components
    from mopsus.events.weave.api import install, weave
    from mopsus.model import MopsusError, Severity, Spec, Verdict, WitnessEvent
    from mopsus.monitor import Monitor
    from mopsus.spec import event, load, param, parse, property, specification, var
    from mopsus.spec.hml.predicates import predicate

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
    "predicate",
    "property",
    "specification",
    "var",
    "watch_components",
    "weave",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "events.component.api": "mailbox watch_components",
            "events.weave.api": "install weave",
            "model": "MopsusError Severity Spec Verdict WitnessEvent",
            "monitor": "Monitor",
            "spec": "event load param parse property specification var",
            "spec.hml.predicates": "predicate",
        },
    )
