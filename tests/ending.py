"""How tests end what they have started, whatever has become of it: one that fails must not wait for ever."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PATIENCE_S = 60.0
"""How long a process that was killed may take to be gone."""
_SESSION = 3
"""The place of a process's session among the fields of its state, behind its name."""


def end_all(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """Kill a process that was started in a session of its own, and whatever it has started there: a debugged program is
    in another group, and may outlive its debugger."""
    for member in [process.pid, *session_of(process.pid)]:
        with suppress(ProcessLookupError):
            os.kill(member, signal.SIGKILL)
    process.wait(PATIENCE_S)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):  # what was not written yet goes nowhere
                stream.close()


def session_of(leader: int) -> Iterator[int]:
    """All processes of a session."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[_SESSION]) == leader:
                yield int(folder.name)


def end_kindly(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> str | bytes:
    """Ask a server to end; all that it has said. One that does not is killed, and the test has failed."""
    process.terminate()
    try:
        said, complaints = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return complaints if complaints is not None else said
