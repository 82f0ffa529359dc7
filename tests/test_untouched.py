"""A program may put something else in the place of any function, which is nothing to its monitors."""

from __future__ import annotations

import builtins
import os
import subprocess
import sys
import threading
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from unittest import mock

import pytest

import mopsus
from mopsus.events.weave import hook
from mopsus.events.weave.cache import CodeCache
from mopsus.model import Verdict

REPLACED = [
    (builtins, "open"),
    *((os, name) for name in ("open", "write", "replace", "unlink", "symlink", "readlink", "makedirs", "listdir")),
    *((os, name) for name in ("getpid", "getuid", "getcwd", "urandom", "environ")),
    (os.path, "expanduser"),
    (threading, "main_thread"),
]
MISUSE = """
import os
numbers = [1, 2, 3]
for number in numbers:
    numbers.remove(number)
os.putenv("UNTOUCHED", "1")
"""


def test_nothing_that_a_test_replaces_is_called_for_a_monitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "untouched_misuse.py").write_text(MISUSE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(hook._FINDER, "cache", CodeCache(tmp_path / "kept"))
    verdicts: list[Verdict] = []
    with mopsus.weave(contracts="UnsafeIter,PutenvBypassed", on_verdict=verdicts.append) as watched:
        for _ in ("cold", "warm"):
            with ExitStack() as stack:
                mocks = {name: stack.enter_context(mock.patch.object(holder, name)) for holder, name in REPLACED}
                stack.enter_context(mock.patch.dict(sys.__dict__))
                del sys._getframe
                import_module("untouched_misuse")
                called = {name: each.mock_calls for name, each in mocks.items() if each.mock_calls}
            assert called == {}
            del sys.modules["untouched_misuse"]
    assert sorted(verdict.spec for verdict in verdicts) == ["PutenvBypassed"] * 2 + ["UnsafeIter"] * 2
    assert not watched.faults
    assert len(list((tmp_path / "kept").iterdir())) == 1


TESTED = """
from unittest.mock import mock_open, patch

def test_reading():
    with patch("builtins.open", mock_open(read_data="x")) as opened:
        import untouched_lazy
        assert untouched_lazy.first(open("file"))
    opened.assert_called_once_with("file")

def test_process(monkeypatch):
    def fails(*given):
        raise ZeroDivisionError
    for name in ("listdir", "getpid", "urandom"):
        monkeypatch.setattr(f"os.{name}", fails)
    numbers = [1, 2, 3]
    for number in numbers:
        numbers.remove(number)
"""


def test_tests_that_replace_functions_have_the_same_outcome(tmp_path: Path) -> None:
    (tmp_path / "test_replacing.py").write_text(TESTED)
    (tmp_path / "untouched_lazy.py").write_text("def first(lines):\n    for line in lines:\n        return line\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--mopsus-contracts", "UnsafeIter"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=environment | {"XDG_CACHE_HOME": str(tmp_path)}
    )
    assert "2 passed" in ended.stdout, ended.stdout + ended.stderr
    assert "in test_replacing.py::test_process" in ended.stdout
