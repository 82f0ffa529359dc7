"""Stage 2: may a handler put its machine back into the initial state?

Asked at compile time because it changes what can still happen. Saying yes too often is safe:
it only makes the engine keep more instances.
"""

from __future__ import annotations

import re
from types import CodeType

from mopsus.model import Code

_IN_TEXT = re.compile(r"\b__RESET\b|\.\s*reset\b")


def may_reset(code: Code) -> bool:
    """Does the code name `__RESET` or an attribute `reset`, in text or in the function?"""
    if _IN_TEXT.search(code.text):
        return True
    if code.function is None:
        return False
    compiled = getattr(code.function, "__code__", None)
    # A callable whose code cannot be seen may do anything.
    return not isinstance(compiled, CodeType) or _names_reset(compiled)


def _names_reset(code: CodeType) -> bool:
    return not {"__RESET", "reset"}.isdisjoint(code.co_names) or any(
        _names_reset(constant) for constant in code.co_consts if isinstance(constant, CodeType)
    )
