"""Stage 0: what a monitor may keep, unless it is told otherwise."""

HISTORY = 32
"""How many events a witness holds."""

MAX_LIVE = 50_000_000
"""How many monitors of a spec may be live at a time. They take some gigabytes then, and a spec that has come so far
mostly makes one for each combination of values."""
