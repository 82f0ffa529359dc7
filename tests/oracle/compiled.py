"""From a spec to what the oracles need of it, through the logics that users run."""

from __future__ import annotations

from functools import lru_cache

from oracle.slicing import Subject
from oracle.strategies import resets

from mopsus.logics import CompiledSpec, compile_spec
from mopsus.model import Spec


@lru_cache(maxsize=64)
def compiled(spec: Spec) -> CompiledSpec:
    """The compiled spec, remembered because the same spec is tried on many traces."""
    return compile_spec(spec)


def subject_of(spec: Spec) -> Subject:
    return Subject.of(spec, compiled(spec).machines, resets(spec))
