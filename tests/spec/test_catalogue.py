"""The sources keep two promises: every code has its sentence in the catalogue, and every error built is raised."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import mopsus
from mopsus.spec import MESSAGES

SOURCES = sorted(Path(mopsus.__file__).parent.rglob("*.py"))
CODE = re.compile(r"SPEC-\d{3}")


def test_every_code_is_in_the_catalogue_and_every_entry_is_used():
    texts = [path.read_text(encoding="utf-8") for path in SOURCES if path.name != "messages.py"]
    used = {code for text in texts for code in CODE.findall(text)}
    assert used == set(MESSAGES)


def test_entries_are_sentences_in_order():
    assert list(MESSAGES) == sorted(MESSAGES)
    assert all(CODE.fullmatch(code) and text.endswith(".") for code, text in MESSAGES.items())


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_exception_is_built_without_being_raised(path):
    """A statement that only builds an exception does nothing; it was meant to raise it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            assert not name.endswith(("Error", "Exception")), f"{path}:{node.lineno}"
