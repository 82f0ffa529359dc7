"""Stage 1: specifications from text and from classes: reading, checking, printing, diagnostics."""

from mopsus.spec.classes import event, param, property, specification, var
from mopsus.spec.diagnostics import render, render_all, suggest
from mopsus.spec.errors import ArgumentError, SpecError
from mopsus.spec.formula import locate
from mopsus.spec.messages import MESSAGES
from mopsus.spec.parse import SpecFile, load, load_file, parse, parse_file
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
