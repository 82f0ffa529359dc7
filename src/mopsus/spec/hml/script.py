"""Stage 1: an `.hml` text as a specification: its forms become properties over the events of components.

`with module:function(arguments) monitor formula, with … check formula.` A formula stays text; `monitor` asks for logic
`shml`, `check` for `maxhml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from mopsus.model import Event, Handler, Parameter, Property, Spec
from mopsus.spec.errors import Findings
from mopsus.spec.formula import normalise_form
from mopsus.spec.hml.events import COMPONENT, FIELDS
from mopsus.spec.hml.tokens import CLOSERS, OPENERS, Token, tokens

SUFFIX = ".hml"

LOGICS = {"monitor": ("shml", "inconclusive"), "check": ("maxhml", "acceptance")}
"""What follows the selection of a form: its logic, and what that reports beside `rejection`."""


@dataclass(frozen=True, slots=True)
class Form:
    """The tokens of a form from `with` on, without what ends it; `word` is the number of `monitor` or `check`."""

    tokens: tuple[Token, ...]
    word: int


@dataclass(frozen=True, slots=True)
class Script:
    """The forms of a text, and all its tokens."""

    forms: tuple[Form, ...]
    tokens: tuple[Token, ...]


def is_script(filename: str) -> bool:
    """Is a file of this name an `.hml` text?"""
    return filename.endswith(SUFFIX)


def read_script(findings: Findings) -> Script:
    """Cut the text of `findings.source` into forms; what is wrong between them is reported."""
    found = tokens(findings.source.text)
    for token in found:
        if token.kind == "unclosed":
            what = "string" if token.text == '"' else "quoted atom"
            findings.error_at("SPEC-070", f"this {what} is never closed", token.start, token.end, f"add {token.text}")
            return Script((), tuple(found))
    code = [token for token in found if token.kind != "comment"]
    starts = [number for number, token in enumerate(code) if token.kind == "word" and token.text == "with"]
    if not starts or starts[0] > 0:
        first = code[0] if code else Token("mark", "", 0)
        hint = "write: with module:function(_) monitor formula."
        findings.error_at("SPEC-070", "a form begins with 'with'", first.start, max(first.end, 1), hint)
    forms = []
    for start, end in pairwise([*starts, len(code)]):
        inner = _ended(code[start:end], last=end == len(code), findings=findings)
        word = _logic_word(inner, findings)
        if word is not None and _balanced(inner, findings):
            forms.append(Form(tuple(inner), word))
    return Script(tuple(forms), tuple(found))


def make_spec(script: Script, findings: Findings) -> Spec:
    """The specification of a text: one property for each of its forms."""
    source = findings.source
    properties: list[Property] = []
    for form in script.forms:
        first, last = form.tokens[0], form.tokens[-1]
        text, _ = normalise_form(source.text[first.start : last.end])
        logic, other = LOGICS[form.tokens[form.word].text]
        name = _unique(_function_name(form), {prop.name for prop in properties})
        handlers = (Handler("rejection"), Handler(other))
        properties.append(Property(name, logic, text, handlers, source.span(first.start, last.end)))
    return Spec(
        _identifier(PurePath(source.file).stem) or "components",
        (Parameter(COMPONENT),),
        events=tuple(
            Event(name, (COMPONENT,), creation=name == "start", fields=fields) for name, fields in FIELDS.items()
        ),
        properties=tuple(properties),
    )


def _ended(inner: list[Token], *, last: bool, findings: Findings) -> list[Token]:
    """The tokens of a form without the comma, or at the end the period, behind it."""
    wanted, other = (".", ",") if last else (",", ".")
    end = inner[-1]
    if len(inner) > 1 and end.text == wanted:
        return inner[:-1]
    if last:
        message, hint = "the last form is not ended", "add '.'"
    else:
        message, hint = "two forms are not separated", "write ',' between them"
    if end.text == other:
        findings.error_at("SPEC-070", message, end.start, end.end, f"write '{wanted}' instead of '{other}'")
        return inner[:-1]
    findings.error_at("SPEC-070", message, end.end, end.end + 1, hint)
    return inner


def _logic_word(form: list[Token], findings: Findings) -> int | None:
    """The number of `monitor` or `check` in a form: a word where an expression has ended."""
    depth = 0
    for number, token in enumerate(form):
        if token.kind == "mark":
            depth += (token.text in OPENERS) - (token.text in CLOSERS)
        elif depth == 0 and token.text in LOGICS and _ends_selection(form, number):
            return number
    end = form[-1].end
    hint = "write: with module:function(_) monitor formula"
    findings.error_at("SPEC-070", "this form has neither 'monitor' nor 'check'", form[0].start, end, hint)
    return None


def _balanced(form: list[Token], findings: Findings) -> bool:
    """Are all brackets of a form closed? If not, it is reported."""
    opened: list[Token] = []
    for token in form:
        if token.text in OPENERS and token.kind == "mark":
            opened.append(token)
        elif token.text in CLOSERS and token.kind == "mark":
            wanted = OPENERS[opened.pop().text] if opened else ""
            if token.text != wanted:
                hint = f"write '{wanted}'" if wanted else "remove it"
                findings.error_at("SPEC-070", f"'{token.text}' closes nothing", token.start, token.end, hint)
                return False
    if opened:
        first = opened[-1]
        hint = f"add '{OPENERS[first.text]}'"
        findings.error_at("SPEC-070", f"this '{first.text}' is never closed", first.start, first.end, hint)
    return not opened


def _ends_selection(form: list[Token], number: int) -> bool:
    return any(token.text == ")" for token in form[:number]) and form[number - 1].operand


def _function_name(form: Form) -> str:
    """The function of a form, as an identifier: what stands before the first parenthesis."""
    for before, token in pairwise(form.tokens):
        if token.text == "(":
            return _identifier(before.text.strip("'")) or "form"
    return "form"


def _identifier(text: str) -> str:
    name = re.sub(r"\W+", "_", text).strip("_")
    return f"_{name}" if name[:1].isdigit() else name


def _unique(name: str, taken: set[str]) -> str:
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found
