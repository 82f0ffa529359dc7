"""Stage 5: what to make of verdicts: which are the same finding, and how each came about."""

from mopsus.model.text import default_message
from mopsus.verdict.explain import Explanation, Step, explain, plain_text
from mopsus.verdict.grouping import Group, GroupKey, Groups

__all__ = ["Explanation", "Group", "GroupKey", "Groups", "Step", "default_message", "explain", "plain_text"]
