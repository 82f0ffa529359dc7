"""What all forms of specification files have in common: monitors of texts, with the place of what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from mopsus.decentral.automaton import Automaton
from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load.written import Written
from mopsus.decentral.specification import Monitor, Specification
from mopsus.decentral.synthesis import REFERENCE, references_in
from mopsus.decentral.system import System
from mopsus.logics.logic import FormulaError, LogicError
from mopsus.logics.ltl.syntax import parse_over_propositions
from mopsus.logics.temporal.syntax import Formula

_NAME = re.compile(r"[\w.-]+")
"""More than a formula can refer to: specifications of one formula are often called by a number."""

Synthesis: TypeAlias = Callable[[Formula], Automaton]
"""Makes the automaton of a formula over propositions."""

Calls: TypeAlias = "Sequence[tuple[str, str]]"
"""What a specification's class is called with, in order: the names of its methods, and their one argument."""

Converter: TypeAlias = Callable[[Calls], Automaton]
"""Makes the automaton of a specification of a further class."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a file has: a specification, and the system that it is about if the file says so."""

    specification: Specification
    system: System | None = None


def formula_monitor(name: Written, text: Written, place: str | None, synthesis: Synthesis) -> Monitor:
    """The monitor of a formula over propositions. `DecentralError` where it is wrong."""
    try:
        formula = parse_over_propositions(text.text)
        automaton = synthesis(formula)
    except LogicError as error:
        raise located(error, text) from error
    return Monitor(name.text, automaton, references_in(formula), place, formula, name.span())


def located(error: LogicError, text: Written) -> DecentralError:
    """The error of a formula at its place in the file."""
    code = error.code if error.code.startswith("DECENTRAL") else "DECENTRAL-036"
    if not isinstance(error, FormulaError):
        return text.error(error.message, code=code, hint=error.hint)
    return text.error(error.message, code=code, hint=error.hint, offset=error.offset, length=error.length)


def check_new(name: Written, taken: Collection[str], what: str) -> None:
    """`DecentralError` if there is one of this name already, or the name is none."""
    if name.text in taken:
        raise name.error(f"there are two {what}s '{name.text}'", code="DECENTRAL-033", hint="rename one of them")
    if not _NAME.fullmatch(name.text):
        raise name.error(
            f"'{name.text}' cannot be the name of a {what}",
            code="DECENTRAL-032",
            hint="a name has letters, digits, '_', '-' and '.' only",
        )


def converted_monitor(
    name: Written, automaton: Automaton, place: str | None = None, names: Mapping[str, str] | None = None
) -> Monitor:
    """The monitor of an automaton. `names` are other names for its inputs; one that begins with `@` is a reference."""
    given = [(names or {}).get(each, each) for each in automaton.inputs]
    bare = [each.removeprefix(REFERENCE) for each in given]
    if len(set(bare)) < len(bare):
        twice = next(each for each in bare if bare.count(each) > 1)
        raise name.error(
            f"'{twice}' stands for two inputs of monitor '{name.text}'",
            code="DECENTRAL-012",
            hint="each event needs a proposition or a monitor of its own",
        )
    references = frozenset(each[1:] for each in given if each.startswith(REFERENCE))
    return Monitor(name.text, replace(automaton, inputs=tuple(bare)), references, place, span=name.span())
