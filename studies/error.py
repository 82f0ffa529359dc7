"""What can go wrong in a study, and what to do about it."""

from __future__ import annotations

from mopsus import MopsusError


class StudyError(MopsusError):
    """A study cannot be carried out: a project cannot be had, its tests cannot be run, a run has failed."""
