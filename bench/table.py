"""The results as tables for people, and the page of the documentation that shows them.

python bench/table.py            write the page anew from the stored results
python bench/table.py --check    say whether the page is what the results say, by the exit status
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
TIMES = "\N{MULTIPLICATION SIGN}"
PAGE = HERE.parent / "docs" / "benchmarks.md"
SECTION = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def markdown(result: Mapping[str, Any]) -> str:
    """What one benchmark gave, as Markdown tables."""
    return "\n\n".join([of_rows(result["rows"]), *map(matrix, result.get("matrices", ()))])


def matrix(of: Mapping[str, Any]) -> str:
    """A table of numbers."""

    def cell(value: float | Sequence[float]) -> str:
        if isinstance(value, Sequence):
            return " / ".join(map(cell, value))
        return f"{value:,}" if isinstance(value, int) else number(value)

    lines = [f"| {of['title']} | {' | '.join(of['columns'])} |", "|---|" + "---:|" * len(of["columns"])]
    lines += [f"| {name} | {' | '.join(map(cell, values))} |" for name, values in of["lines"].items()]
    return "\n".join(lines)


def of_rows(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows of one benchmark as a Markdown table."""
    lines = ["| case | Mopsus | compared with | | ratio | goal | |", "|---|---:|---|---:|---:|---:|---|"]
    for row in rows:
        cells = [
            row["case"],
            f"{number(row['ours'])} {row['unit']}",
            row["base"] or "",
            "" if row["theirs"] is None else number(row["theirs"]),
            ratio(row["ratio"]),
            goal(row),
            {True: "met", False: "**missed**", None: ""}[row["met"]],
        ]
        lines.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(lines)


def ratio(values: Sequence[float] | None) -> str:
    """The median, and the range of the rounds where there is one."""
    if values is None:
        return ""
    middle, low, high = map(number, values)
    return f"{middle}{TIMES}" if low == high else f"{middle}{TIMES} ({low} to {high})"


def goal(row: Mapping[str, Any]) -> str:
    """The bound, with the unit of what it bounds."""
    if row["goal"] is None:
        return ""
    sign, value, of = row["goal"]["sign"], row["goal"]["value"], row["goal"]["of"]
    return f"{sign} {value:g}{TIMES if of == 'ratio' else ''}"


def number(value: float) -> str:
    """About three digits that matter, and never an exponent."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    decimals = 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 4
    return f"{value:.{decimals}f}"


def made_with(result: Mapping[str, Any]) -> str:
    """Where and when a benchmark was run."""
    of = result["environment"]
    return (
        f"Measured on {of['date']} at commit `{of['commit']}`: {of['cpu']}, {of['cores']} cores, {of['memory']}; "
        f"Python {of['python']}, pyarrow {of['pyarrow']}."
    )


def page(text: str, results: Mapping[str, Any]) -> str:
    """The page with every marked section filled from the results."""

    def fill(match: re.Match[str]) -> str:
        opening, name, closing = match.groups()
        if name not in results:
            return f"{opening}\nNot measured yet.\n\n{closing}"
        return f"{opening}\n{markdown(results[name])}\n\n{made_with(results[name])}\n\n{closing}"

    return SECTION.sub(fill, text)


def write_page(*, check: bool = False) -> bool:
    """Write the page anew, or only look; whether it was up to date."""
    before = PAGE.read_text(encoding="utf-8")
    after = page(before, json.loads(RESULTS.read_text(encoding="utf-8")))
    if not check and after != before:
        PAGE.write_text(after, encoding="utf-8")
    return after == before


if __name__ == "__main__":
    checking = "--check" in sys.argv[1:]
    current = write_page(check=checking)
    sys.exit(0 if current or not checking else f"{PAGE} is not what {RESULTS} says: run python bench/table.py")
