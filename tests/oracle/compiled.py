"""From a spec to what the oracles need of it, through the logics that users run."""

from __future__ import annotations

from oracle.slicing import Subject
from oracle.strategies import resets

from mopsus.logics import compile_spec
from mopsus.model import Spec


def subject_of(spec: Spec) -> Subject:
    return Subject.of(spec, compile_spec(spec), resets(spec))
