"""Stage 4: the errors of weaving, by code, with what each means."""

from __future__ import annotations

MESSAGES = {
    "WEAVE-001": "There is no program of that name that could be run.",
    "WEAVE-002": "What was given to be woven is no specification, or none that speaks of a running program.",
}
