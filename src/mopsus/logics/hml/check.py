"""Stage 2: what is odd about a formula that is not wrong."""

from __future__ import annotations

from collections.abc import Iterator

from mopsus.logics.hml.formula import Whole
from mopsus.logics.hml.scope import unused_binders
from mopsus.logics.logic import Request
from mopsus.model import Remark


def remarks(whole: Whole, *, linear: bool, request: Request) -> Iterator[Remark]:
    """Findings about a formula, in the order of its text."""
    for binder in unused_binders(whole):
        yield Remark(
            "LOGIC-084",
            f"variable '{binder.name}' is never read",
            "write '_' for a value that does not matter, or begin the name with '_'",
            binder.offset,
            len(binder.name),
        )
