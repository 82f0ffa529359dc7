"""Stage 2: a formula's text in either syntax: one that begins with `with` is a form of an `.hml` file."""

from __future__ import annotations

import re

from mopsus.logics.hml.erlang import GAP, parse_form
from mopsus.logics.hml.formula import Whole
from mopsus.logics.hml.python import parse_mop

_FORM = re.compile(rf"{GAP.pattern}with\b")


def parse_whole(text: str, alphabet: tuple[str, ...]) -> Whole:
    """The formula that `text` denotes, or `FormulaError`. Whether it fits the events is found when it is compiled."""
    del alphabet  # how many fields an event has matters as much as that there is one
    return parse_form(text) if _FORM.match(text) else parse_mop(text)
