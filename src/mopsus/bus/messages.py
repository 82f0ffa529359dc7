"""Stage 1: the errors of buses, by code, with what each means."""

from __future__ import annotations

from mopsus.model import MopsusError

MESSAGES = {
    "BUS-001": "A message bus cannot be reached, or refuses the token.",
    "BUS-002": "The package or program that a message bus needs is not installed.",
    "BUS-003": "A message is too large for what is to carry it.",
    "BUS-004": "What came from another process is not a message, or is one of another version.",
    "BUS-005": "The settings of a relay make no sense.",
}


class BusError(MopsusError):
    """Messages cannot be sent or understood."""

    code = "BUS-001"
