"""Stage 5: every message code of this stage, with the one sentence that the messages page shows."""

from __future__ import annotations

MESSAGES: dict[str, str] = {
    "VERDICT-001": "Warning: most slices met an event that the pattern has no room for, and were given up there.",
}
