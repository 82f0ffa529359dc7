"""Stage 5: what to make of verdicts: which are the same finding, and how each came about.

The names below are loaded when they are first used: a run without findings explains none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.late import late_names

if TYPE_CHECKING:
    from mopsus.verdict.code import code_of
    from mopsus.verdict.ends import Ending, Endings, Presumption, presume
    from mopsus.verdict.explanation import Explanation, Step, explain, plain_text, witness_turns
    from mopsus.verdict.grouping import Group, GroupKey, Groups
    from mopsus.verdict.turns import show_turn

__all__ = [
    "Ending",
    "Endings",
    "Explanation",
    "Group",
    "GroupKey",
    "Groups",
    "Presumption",
    "Step",
    "code_of",
    "explain",
    "plain_text",
    "presume",
    "show_turn",
    "witness_turns",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "code": "code_of",
            "ends": "Ending Endings Presumption presume",
            "explanation": "Explanation Step explain plain_text witness_turns",
            "grouping": "Group GroupKey Groups",
            "turns": "show_turn",
        },
    )
