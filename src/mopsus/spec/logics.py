"""Stage 1: which logics there are, known by name and imported by nobody here.

Those that come with Mopsus are listed, because reading the metadata of packages is slow and, in a source tree,
finds nothing; all others are entry points.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "mopsus.logics"

BUILT_IN: Mapping[str, str] = {
    "efsm": "mopsus.logics.efsm:LOGIC",
    "fsm": "mopsus.logics.fsm:LOGIC",
    "ere": "mopsus.logics.ere:LOGIC",
    "ptltl": "mopsus.logics.ptltl:LOGIC",
    "ltl": "mopsus.logics.ltl:LOGIC",
    "cfg": "mopsus.logics.cfg:CFG",
    "lr": "mopsus.logics.cfg:LR",
    "lr_lazy": "mopsus.logics.cfg:LR_LAZY",
    "lalr": "mopsus.logics.cfg:LALR",
    "lalr_lazy": "mopsus.logics.cfg:LALR_LAZY",
    "hoa": "mopsus.logics.hoa:LOGIC",
    "srs": "mopsus.logics.srs:LOGIC",
    "srs_scan": "mopsus.logics.srs:SCANNING",
    "mtl": "mopsus.logics.mtl:LOGIC",
    "ptcaret": "mopsus.logics.ptcaret:LOGIC",
    "shml": "mopsus.logics.hml:SHML",
    "maxhml": "mopsus.logics.hml:MAXHML",
}
"""The same as the entry points of our own distribution. A built-in name cannot be taken by another plugin."""


@cache
def plugins() -> Mapping[str, EntryPoint]:
    """The logics of other packages, by name."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in BUILT_IN}


def logic_names() -> tuple[str, ...]:
    """The names of all logics that are installed, sorted."""
    return tuple(sorted({*BUILT_IN, *plugins()}))
