"""What pages are made of: tables, and sections of a text that are written anew while people write the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

_SECTION = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> str:
    """A table; `sides` has an `l` or `r` for each column."""
    rules = ["---" if side == "l" else "---:" for side in sides]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |".replace("  ", " ") for row in (head, rules, *cells))


def filled(text: str, sections: Mapping[str, Callable[[], str]]) -> str:
    """The text with every marked section written anew."""
    return _SECTION.sub(lambda match: f"{match[1]}\n{sections[match[2]]()}\n\n{match[3]}", text)
