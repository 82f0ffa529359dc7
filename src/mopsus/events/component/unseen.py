"""Stage 4: what of a spec about components was not seen: nobody that it is about, or none of its messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mopsus.model import Machine, Spec, SymbolicMachine, Unseen
from mopsus.model.symbolic import Modality
from mopsus.spec.component import is_hml

MESSAGES = {"send": "sent", "recv": "received"}
"""The events that are messages, and what is done with one."""


def find_unseen(spec: Spec, machines: Iterable[Machine], seen: Mapping[str, int], hint: str) -> list[Unseen]:
    """What of a spec was not seen. `seen` counts its events; `hint` says where to look if there was nobody."""
    if not any(seen.values()):
        reason = "no component does what it is about"
        return [Unseen(spec.name, reason=reason, hint=hint, span=spec.span)]
    if not is_hml(spec):
        return [Unseen(spec.name, event.name, span=spec.span) for event in spec.events if not seen.get(event.name)]
    asked = _asked(machines)
    if any(seen.get(name) for name in MESSAGES):
        return [Unseen(spec.name, name, span=spec.span) for name in asked if name in seen and not seen[name]]
    blind = "only what goes through a library that is observed is seen, and nothing of a transport beside it"
    if not any(seen.get(name) for name in asked) and (does := [MESSAGES[name] for name in asked if name in MESSAGES]):
        reason = f"nobody {' or '.join(does)} a message that could be seen"
        return [Unseen(spec.name, reason=reason, hint=blind, span=spec.span)]
    return [
        Unseen(
            spec.name, name, reason=f"nobody {MESSAGES[name]} a message that could be seen", hint=blind, span=spec.span
        )
        for name in asked
        if name in MESSAGES
    ]


def _asked(machines: Iterable[Machine]) -> list[str]:
    """The events that formulas speak of."""
    return list(
        dict.fromkeys(
            machine.alphabet[node.letter]
            for machine in machines
            if isinstance(machine, SymbolicMachine)
            for node in machine.nodes
            if isinstance(node, Modality) and node.letter is not None
        )
    )
