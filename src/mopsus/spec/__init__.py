"""Stage 1: specifications from text and from classes: reading, checking, printing, diagnostics.

The names below are loaded when they are first used, because later stages need only small parts of this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.late import late_names

if TYPE_CHECKING:
    from mopsus.spec.classes import event, param, property, specification, var
    from mopsus.spec.diagnostics import render, render_all, suggest
    from mopsus.spec.errors import ArgumentError, SpecError
    from mopsus.spec.formula import locate
    from mopsus.spec.messages import MESSAGES
    from mopsus.spec.parser import SpecFile, load, load_file, parse, parse_file
    from mopsus.spec.printer import format_file, print_spec

__all__ = [
    "MESSAGES",
    "ArgumentError",
    "SpecError",
    "SpecFile",
    "event",
    "format_file",
    "load",
    "load_file",
    "locate",
    "param",
    "parse",
    "parse_file",
    "print_spec",
    "property",
    "render",
    "render_all",
    "specification",
    "suggest",
    "var",
]

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(
        __name__,
        {
            "classes": "event param property specification var",
            "diagnostics": "render render_all suggest",
            "errors": "ArgumentError SpecError",
            "formula": "locate",
            "messages": "MESSAGES",
            "parser": "SpecFile load load_file parse parse_file",
            "printer": "format_file print_spec",
        },
    )
