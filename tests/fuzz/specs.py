"""What holds for every text of a specification, whatever its language."""

from __future__ import annotations

from dataclasses import replace

from fuzz.errors import check_error

from mopsus.logics import compile_spec, load_logic
from mopsus.model import MopsusError, Property, Spec
from mopsus.spec import format_file, parse_file


def check_spec(text: str, name: str) -> None:
    """It is refused with places that are there; or it prints as the same specs, always the same way, and compiles."""
    try:
        read = parse_file(text, name)
        printed = format_file(text, name)
    except MopsusError as error:
        check_error(error, text)
        return
    again = parse_file(printed, name)
    assert meaning(again.specs) == meaning(read.specs), "what is printed means something else"
    assert format_file(printed, name) == printed, "what is printed is printed in another way"
    for spec in read.specs.values():
        try:
            compile_spec(spec, read.source)
        except MopsusError as error:
            check_error(error, text)


def meaning(specs: dict[str, Spec]) -> list[Spec]:
    """The specs; formulas of `.hml` texts, which are laid out anew, in their canonical form."""
    return [
        replace(spec, properties=tuple(replace(each, formula=_canonical(each)) for each in spec.properties))
        for spec in specs.values()
    ]


def _canonical(each: Property) -> str:
    if each.logic not in ("shml", "maxhml"):
        return each.formula
    logic = load_logic(each.logic)
    try:
        return str(logic.print(logic.parse(each.formula, ())))
    except MopsusError as error:
        return str(error.code)
