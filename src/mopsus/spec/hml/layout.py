"""Stage 1: `.hml` texts in canonical layout. Only space changes, so whatever reads the text reads it afterwards.

A form has its selection on a line, `monitor` or `check` on the next, then its formula, two columns in. What is in
parentheses of a formula and does not fit on a line has each of its parts on lines of their own. A comment stays beside
what it is written beside, else before what follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mopsus.spec.errors import Findings
from mopsus.spec.hml.script import Script, read_script
from mopsus.spec.hml.tokens import CLOSERS, INFIX, OPENERS, Token, tokens
from mopsus.spec.source import Source

_WIDTH = 100
_STEP = "  "


@dataclass(slots=True)
class _Leaf:
    """A token, or an opening bracket with all up to its closing one, and the comments that belong to it."""

    text: str
    operand: bool = False
    """Can an expression or a formula end with it?"""
    inner: list[_Leaf] | None = None
    closing: _Leaf | None = None
    above: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)


def format_script(script: Script, text: str) -> str:
    """The text of a script that was read without errors, in canonical layout; ends with a line end."""
    # A comment within a line moves before it, and then the line may fit where it did not.
    while (laid := _laid_out(script, text)) != text:
        text = laid
        script = read_script(Findings(Source(text, "")))
    return text


def _laid_out(script: Script, text: str) -> str:
    leaves, ending = _leaves(script.tokens, text)
    blocks: list[list[str]] = []
    for form in script.forms:
        end = len(form.tokens)  # there the comma or the period is
        blocks.append(_form_lines(leaves[:end], form.word, leaves[end]))
        leaves = leaves[end + 1 :]
    if ending:
        blocks.append(ending)
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _leaves(tokens: Sequence[Token], text: str) -> tuple[list[_Leaf], list[str]]:
    """The tokens with their comments, and the comments at the end."""
    leaves: list[_Leaf] = []
    waiting: list[str] = []
    last = 0
    for token in tokens:
        if token.kind != "comment":
            leaves.append(_Leaf(token.text, token.operand, above=waiting))
            waiting = []
        elif leaves and not waiting and "\n" not in text[last : token.start]:
            leaves[-1].beside.append(token.text.rstrip())
        else:
            waiting.append(token.text.rstrip())
        last = token.end
    return leaves, waiting


def _nested(leaves: list[_Leaf]) -> list[_Leaf]:
    """The same with what is in brackets inside of them."""
    levels: list[list[_Leaf]] = [[]]
    for leaf in leaves:
        if leaf.text in OPENERS:
            leaf.inner = []
            levels[-1].append(leaf)
            levels.append(leaf.inner)
        elif leaf.text in CLOSERS:
            levels.pop()
            levels[-1][-1].closing = leaf
        else:
            levels[-1].append(leaf)
    return levels[0]


def _form_lines(leaves: list[_Leaf], word: int, end: _Leaf) -> list[str]:
    # What ends the form comes before the comments beside its last token.
    beside = leaves[-1].beside + end.beside
    leaves[-1].beside = []
    lines = [
        *_line(_nested(leaves[:word]), "", formula=False),
        *_line([leaves[word]], "", formula=False),
        *_block(_nested(leaves[word + 1 :]), _STEP),
    ]
    lines[-1] = "  ".join([lines[-1] + end.text, *beside])
    return lines + end.above


# ---- lines -------------------------------------------------------------------------------------


def _block(leaves: list[_Leaf], indent: str) -> list[str]:
    """A formula, on one line if it fits."""
    if not _commented_inside(leaves) and len(indent) + len(_inline(leaves, formula=True)) <= _WIDTH:
        return _line(leaves, indent, formula=True)
    parts = _parts(leaves)
    if len(parts) > 1:
        return [line for part in parts for line in _block(part, indent)]
    last = next((k for k in reversed(range(len(leaves))) if leaves[k].text == "(" and leaves[k].inner), None)
    if last is None:
        return _line(leaves, indent, formula=True)
    return _broken(leaves[:last], leaves[last], leaves[last + 1 :], indent)


def _broken(before: list[_Leaf], bracket: _Leaf, after: list[_Leaf], indent: str) -> list[str]:
    """A bracket on lines of its own: what comes before it, its parts, and what closes it."""
    assert bracket.inner is not None
    assert bracket.closing is not None
    inner = bracket.inner
    named = 2 if len(inner) > 1 and inner[1].text == "." else 0  # the variable of a fixed point
    opening = [*before, _Leaf("(", above=bracket.above, beside=bracket.beside), *inner[:named]]
    closing = [bracket.closing, *after]
    closing[0].operand = True
    return [
        *_line(opening, indent, formula=True),
        *_block(inner[named:], indent + _STEP),
        *_line(closing, indent, formula=True),
    ]


def _parts(leaves: list[_Leaf]) -> list[list[_Leaf]]:
    """What is separated by commas, else by `or`, else by `and`; the comma ends a part, the words begin one."""
    for separator in (",", "or", "and"):
        parts: list[list[_Leaf]] = [[]]
        for number, leaf in enumerate(leaves):
            if leaf.text != separator or (separator == "and" and _is_prefix(leaves, number)):
                parts[-1].append(leaf)
            elif separator == ",":
                parts[-1].append(leaf)
                parts.append([])
            else:
                parts.append([leaf])
        if len(parts) > 1:
            return [part for part in parts if part]
    return [leaves]


def _is_prefix(leaves: Sequence[_Leaf], number: int) -> bool:
    """Does this `and` stand before its list, and not between two formulas?"""
    before = leaves[number - 1] if number else None
    return before is None or before.text in ("[", ">", ".", ",", "and", "or")


def _line(leaves: list[_Leaf], indent: str, *, formula: bool) -> list[str]:
    """One line, after the comments that are in it; those beside its end stay there."""
    above = [comment for leaf in _flat(leaves) for comment in (*leaf.above, *leaf.beside)]
    beside = _last(leaves).beside if leaves else []
    above = above[: len(above) - len(beside)]
    text = indent + _inline(leaves, formula=formula)
    return [*(indent + comment for comment in above), "  ".join([text, *beside])]


def _last(leaves: Sequence[_Leaf]) -> _Leaf:
    return leaves[-1].closing or leaves[-1]


def _commented_inside(leaves: list[_Leaf]) -> bool:
    """Are there comments that would not stay where they are if this were one line?"""
    first, last = leaves[0] if leaves else None, _last(leaves) if leaves else None
    return any((leaf.above and leaf is not first) or (leaf.beside and leaf is not last) for leaf in _flat(leaves))


def _flat(leaves: Sequence[_Leaf]) -> Iterator[_Leaf]:
    for leaf in leaves:
        yield leaf
        if leaf.inner is not None:
            yield from _flat(leaf.inner)
        if leaf.closing is not None:
            yield leaf.closing


# ---- space within a line -----------------------------------------------------------------------


def _inline(leaves: Sequence[_Leaf], *, formula: bool) -> str:
    text = ""
    for number, leaf in enumerate(leaves):
        before = leaves[number - 1] if number else None
        if before is not None:
            spaced = _space_in_formula(leaves, number) if formula else _space_in_term(leaves, number)
            text += " " * (spaced or _run_together(_last(leaves[:number]), leaf))
        text += leaf.text
        if leaf.inner is not None:
            text += _inline(leaf.inner, formula=formula and leaf.text == "(")
            text += leaf.closing.text if leaf.closing else ""
    return text


def _run_together(before: _Leaf, leaf: _Leaf) -> bool:
    """Would the two be other tokens without a space between them? `:` and `==` would."""
    return tokens(before.text + leaf.text)[0].text != before.text


def _space_in_formula(leaves: Sequence[_Leaf], number: int) -> bool:
    before, leaf = leaves[number - 1], leaves[number]
    if leaf.text in (",", ".", ")", ">") or before.text in ("<", "("):
        return False
    if before.text in ("[", ">"):  # a modality
        return leaf.text in ("max", "and")
    if leaf.text == "(":
        prefix = before.text == "max" or (before.text == "and" and _is_prefix(leaves, number - 1))
        return not prefix and before.text != "."
    return True


def _space_in_term(leaves: Sequence[_Leaf], number: int) -> bool:
    before, leaf = leaves[number - 1], leaves[number]
    if leaf.text in (",", ";", ":") or before.text in (":", "^"):
        return False
    if leaf.text == "(":
        return not (before.operand and before.text not in INFIX)
    sign = before.text in ("+", "-") and not (number > 1 and _ends_operand(leaves[number - 2]))
    return not sign


def _ends_operand(leaf: _Leaf) -> bool:
    return leaf.operand or leaf.inner is not None
