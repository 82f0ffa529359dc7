"""What tables for an agent are made of: what a cell says beside the row that follows."""

from __future__ import annotations

STOP = 1 << 31
"""Somebody reacts to the step."""
KEEP = 1 << 30
"""The step must be told, some time."""
CODE = 1 << 29
"""This is no row: here begins code that gives the cell."""
ONLY_BEGINS = 1 << 28
"""An instance begins, and makes no step."""
ROW = ONLY_BEGINS - 1


class NoStepperError(Exception):
    """Why a monitor can be stepped by nobody else, in words about it."""
