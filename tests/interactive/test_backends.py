"""Which debugger a program needs."""

from __future__ import annotations

import sys

import pytest

from mopsus.interactive.backends import find_program, is_compiled, is_python, load_backend
from mopsus.interactive.debugger import DebuggerError


@pytest.fixture
def program(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return make


def test_a_program_of_the_processor_is_known_by_its_content(program):
    assert is_compiled(program("a.py", b"\x7fELF\x02\x01"))
    assert not is_compiled(program("b", b"#!/bin/sh\n"))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.py", b"", True),
        ("tool", b"#!/usr/bin/env python3\nprint()\n", True),
        ("tool", b"#!/bin/sh\npython3 x\n", False),
        ("tool", b"\x7fELF", False),
        ("tool", b"", False),
    ],
)
def test_a_python_program_is_known_by_name_or_first_line(program, name, content, expected):
    assert is_python(program(name, content)) is expected


def test_a_folder_with_a_main_module_is_a_python_program(tmp_path):
    assert not is_python(tmp_path)
    (tmp_path / "__main__.py").touch()
    assert is_python(tmp_path)


def test_a_program_is_looked_for_as_a_shell_does(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    tool = tmp_path / "tool"
    tool.touch(0o755)
    assert find_program("tool") == tool
    assert find_program(sys.executable).samefile(sys.executable)
    with pytest.raises(DebuggerError, match="there is no program"):
        find_program("./tool2")


def test_an_unknown_debugger_is_refused_with_those_that_there_are():
    with pytest.raises(DebuggerError, match="there is no debugger 'lldb'") as caught:
        load_backend("lldb")
    assert "gdb, python" in caught.value.hint
