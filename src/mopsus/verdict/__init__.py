"""Stage 5: what to make of verdicts: which are the same finding, and how each came about."""

from mopsus.model.text import default_message
from mopsus.verdict.code import code_of, file_line
from mopsus.verdict.ends import Ending, Endings, Presumption, presume
from mopsus.verdict.explain import Explanation, Step, explain, plain_text, witness_turns
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
    "default_message",
    "explain",
    "file_line",
    "plain_text",
    "presume",
    "show_turn",
    "witness_turns",
]
