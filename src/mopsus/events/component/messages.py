"""Stage 4: the errors of watching components, by code, with what each means."""

from __future__ import annotations

MESSAGES = {
    "COMPONENT-001": "None of the events of a specification happens in components, so that there is nothing to watch.",
}
