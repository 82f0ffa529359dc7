"""Stage 2: logics, which turn a formula over event names into a machine.

`compile_spec` makes the machines of a whole spec; `load_logic` finds a logic plugin. The names below are loaded when
they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.late import late_names

if TYPE_CHECKING:
    from mopsus.logics.compile import (
        CompiledSpec,
        compile_formula,
        compile_property,
        compile_spec,
        formula_categories,
        mentioned_events,
        property_categories,
    )
    from mopsus.logics.logic import FormulaError, Logic, LogicError, Request, Turn
    from mopsus.logics.machines.compare import distinguish
    from mopsus.logics.machines.draw import FORMATS, draw
    from mopsus.logics.messages import MESSAGES
    from mopsus.logics.registry import load_logic
    from mopsus.spec.logics import logic_names

__all__ = [
    "FORMATS",
    "MESSAGES",
    "CompiledSpec",
    "FormulaError",
    "Logic",
    "LogicError",
    "Request",
    "Turn",
    "compile_formula",
    "compile_property",
    "compile_spec",
    "distinguish",
    "draw",
    "formula_categories",
    "load_logic",
    "logic_names",
    "mentioned_events",
    "property_categories",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "compile": (
                "CompiledSpec compile_formula compile_property compile_spec formula_categories mentioned_events "
                "property_categories"
            ),
            "logic": "FormulaError Logic LogicError Request Turn",
            "machines.compare": "distinguish",
            "machines.draw": "FORMATS draw",
            "messages": "MESSAGES",
            "registry": "load_logic logic_names",
        },
    )
