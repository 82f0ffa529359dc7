"""Processes that a Python program makes, and the program that it becomes by `exec`: nobody watches them, which is said.

The interpreter tells of most of them by audit events. Of the processes that `multiprocessing` starts anew it does not,
so the function that does it is in the place of another one.
"""

from __future__ import annotations

import _posixsubprocess
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from mopsus.interactive.follow import Escaped

_HELPER = "multiprocessing.resource_tracker"
"""What this process does is no work of the program's."""


class Escapes:
    """Counts them, from `start` to `stop`."""

    def __init__(self, escaped: Escaped, is_meant: Callable[[], bool], becoming: Callable[[], object]) -> None:
        """`is_meant`: is it the program that does something here? `becoming` is called when it becomes another one."""
        self._escaped, self._is_meant, self._becoming = escaped, is_meant, becoming
        self._runs = False
        self._start_anew = _posixsubprocess.fork_exec
        self._start_other = subprocess._fork_exec  # type: ignore[attr-defined]  # the same, under another name

    def start(self) -> None:
        self._runs = True
        _posixsubprocess.fork_exec = self._started_anew
        subprocess._fork_exec = self._started_other  # type: ignore[attr-defined]
        sys.addaudithook(self._heard)

    def stop(self) -> None:
        self._runs = False
        _posixsubprocess.fork_exec = self._start_anew
        subprocess._fork_exec = self._start_other  # type: ignore[attr-defined]

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if not event.startswith("os.") or not self._runs or not self._is_meant():
            return
        match event:
            case "os.fork" | "os.forkpty":
                self._escaped.children += 1
            case "os.system" | "os.posix_spawn":
                self._escaped.started += 1
            case "os.exec":
                self._escaped.became = os.fsdecode(arguments[0])  # type: ignore[arg-type]  # a path
                self._becoming()

    def _started_anew(self, arguments: Any, *others: Any) -> Any:  # noqa: ANN401 - whatever it takes
        if self._is_meant() and not any(_HELPER in os.fsdecode(each) for each in arguments):
            self._escaped.children += 1
        return self._start_anew(arguments, *others)

    def _started_other(self, *arguments: Any) -> Any:  # noqa: ANN401 - whatever it takes
        if self._is_meant():
            self._escaped.started += 1
        return self._start_other(*arguments)
