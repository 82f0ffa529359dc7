"""Compiled contracts kept from one run to the next: reading and compiling the catalogue takes longer than the start of
a program does.

What is kept is plain data, from which objects of a few known classes are made; nothing is unpickled. It is valid for
the text that it was made from and for the sources that have compiled it.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from mopsus import model
from mopsus.kept import KeptFolder
from mopsus.logics import CompiledSpec
from mopsus.spec import program

_CLASSES: tuple[type[Any], ...] = (
    CompiledSpec,
    model.BindingMode,
    model.Code,
    model.Diagnostic,
    model.Event,
    model.Handler,
    model.Modifiers,
    model.Parameter,
    model.Pointcut,
    model.Property,
    model.Severity,
    model.Span,
    model.Spec,
    model.TableMachine,
    model.Variable,
    program.Arguments,
    program.Dotted,
)
"""What contracts are made of, besides plain data."""
_FIELDS = {cls: tuple(field.name for field in fields(cls)) for cls in _CLASSES if not issubclass(cls, Enum)}
_NUMBERS = {cls: number for number, cls in enumerate(_CLASSES)}
_COMPILERS = ("model", "spec", "logics")
"""The stages that make a compiled spec of a text."""


class CompiledContracts:
    """Compiled contracts by file and text."""

    def __init__(self, folder: Path | None = None) -> None:
        self._kept = KeptFolder("contracts", folder)

    def load(self, path: str, text: bytes) -> CompiledSpec | None:
        """What was stored; None if there is nothing."""
        data = self._kept.read(_name(path, text))
        if data is None:
            return None
        try:
            made = _made(marshal.loads(data))
        except (ArithmeticError, AttributeError, EOFError, LookupError, RecursionError, TypeError, ValueError):
            return None  # the checksum is right, but it was not written by `store`
        return made if isinstance(made, CompiledSpec) else None

    def store(self, path: str, text: bytes, compiled: CompiledSpec) -> None:
        """Keep a compiled contract."""
        self._kept.write(_name(path, text), marshal.dumps(_plain(compiled)))


def _name(path: str, text: bytes) -> str:
    """Of the file: spans have its path, so that the same text elsewhere is something else."""
    told = hashlib.blake2b(f"{_compiler()}{path}\n".encode(), digest_size=16)
    told.update(text)
    return told.hexdigest()


@cache
def _compiler() -> str:
    """What the outcome depends on beside the text: Python, and the sources that have made it."""
    home = os.path.dirname(os.path.dirname(__file__))
    sources = sorted(each for stage in _COMPILERS for each in _sources(f"{home}/{stage}"))
    return f"{sys.implementation.cache_tag}\n" + "".join(sources)


def _sources(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                found = entry.stat()
                yield f"{entry.path} {found.st_mtime_ns} {found.st_size}\n"
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _sources(entry.path)


def _plain(value: Any) -> Any:  # noqa: ANN401 - what is in a spec, and plain data, are anything
    """Plain data for a value: an object is a list of the number of its class and of what is in it."""
    match value:
        case Enum():
            return [_NUMBERS[type(value)], value.value]
        case tuple():
            return tuple(map(_plain, value))
        case dict():
            return {key: _plain(each) for key, each in value.items()}
    if (names := _FIELDS.get(type(value))) is None:
        return value
    return [_NUMBERS[type(value)], *(_plain(getattr(value, name)) for name in names)]


def _made(value: Any) -> Any:  # noqa: ANN401 - the same
    """The value that plain data stands for."""
    kind = type(value)
    if kind is list:
        cls = _CLASSES[value[0]]
        names = _FIELDS.get(cls)
        if names is None:
            return cls(value[1])
        return cls(**dict(zip(names, map(_made, value[1:]), strict=True)))
    if kind is tuple:
        return tuple(map(_made, value))
    if kind is dict:
        return {key: _made(each) for key, each in value.items()}
    return value
