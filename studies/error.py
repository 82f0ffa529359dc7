"""What can go wrong in a study, and what to do about it."""

from __future__ import annotations

from mopsus import MopsusError


class StudyError(MopsusError):
    """A project cannot be had, or its tests cannot be run."""
