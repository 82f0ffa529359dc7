"""Stage 1: the events of components that forms of `.hml` files speak of: their fields, and their form as tuples."""

from __future__ import annotations

from collections.abc import Mapping

from mopsus.model.term import Atom

FIELDS: Mapping[str, tuple[str, ...]] = {
    "start": ("module", "function", "arguments"),
    "fork": ("subject", "child", "module", "function", "arguments"),
    "init": ("parent", "subject", "module", "function", "arguments"),
    "exit": ("subject", "reason"),
    "send": ("subject", "receiver", "message"),
    "recv": ("subject", "message"),
}
"""By event. `start` comes before any other, when a component becomes known."""

COMPONENT = "component"
"""The one parameter: whose events they are."""

SHAPES: Mapping[str, tuple[object, ...]] = {
    "start": (),
    "fork": (Atom("trace"), 0, Atom("spawn"), 1, (2, 3, 4)),
    "init": (Atom("trace"), 1, Atom("spawned"), 0, (2, 3, 4)),
    "exit": (Atom("trace"), 0, Atom("exit"), 1),
    "send": (Atom("trace"), 0, Atom("send"), 2, 1),
    "recv": (Atom("trace"), 0, Atom("receive"), 1),
}
"""As the tracing of Erlang's virtual machine reports them; a number is the field of that number."""
