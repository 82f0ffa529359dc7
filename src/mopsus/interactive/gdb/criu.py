"""Checkpoints by CRIU, which writes a whole process to files and makes it again from them.

CRIU and GDB both trace the program, and only one can: GDB lets go of it meanwhile. It works where CRIU supports the
kernel, with the rights that it needs. `why_not` says whether that is so.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache

import gdb

from mopsus.interactive.debugger import CheckpointError


@dataclass(frozen=True, slots=True, eq=False)
class Image:
    """A process in files."""

    process: int
    thread: int
    folder: tempfile.TemporaryDirectory[str]


@cache
def why_not() -> str | None:
    """Why CRIU cannot be used here; None if it can."""
    if shutil.which("criu") is None:
        return "criu is not installed"
    done = subprocess.run(["criu", "check"], capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return f"`criu check` fails: {_complaint(done.stdout + done.stderr)}"


def take() -> Image:
    """Write the stopped program to files. `CheckpointError` says why that cannot be."""
    if (reason := why_not()) is not None:
        hint = "use another kind: `set mopsus-checkpoints auto`"
        raise CheckpointError(f"CRIU cannot be used here: {reason}", hint=hint)
    image = Image(
        gdb.selected_inferior().pid, gdb.selected_thread().ptid[1], tempfile.TemporaryDirectory(prefix="mopsus-")
    )
    gdb.execute("queue-signal SIGSTOP")  # so that it does not run when GDB lets go of it
    gdb.execute("detach", to_string=True)
    try:
        _criu("dump", image, "--tree", str(image.process), "--leave-stopped")
    finally:
        _attach(image)
    return image


def restore(image: Image) -> None:
    """End the program as it is now, and make it again from the files."""
    if gdb.selected_inferior().pid:
        gdb.execute("kill", to_string=True)
    _criu("restore", image, "--restore-detached", "--leave-stopped")
    _attach(image)


def discard(image: Image) -> None:
    image.folder.cleanup()


def _criu(what: str, image: Image, *options: str) -> None:
    words = ["criu", what, "--images-dir", image.folder.name, "--shell-job", "--file-locks", *options]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        hint = "use another kind: `set mopsus-checkpoints auto`"
        raise CheckpointError(f"criu {what} failed: {_complaint(done.stdout + done.stderr)}", hint=hint)


def _attach(image: Image) -> None:
    gdb.execute(f"attach {image.process}", to_string=True)
    gdb.execute("handle SIGSTOP nostop noprint nopass", to_string=True)  # those by which it stands still are to come
    next(each for each in gdb.selected_inferior().threads() if each.ptid[1] == image.thread).switch()


def _complaint(text: str) -> str:
    """The line that says most: CRIU begins with details and ends with the consequence."""
    lines = [line for line in text.splitlines() if line.startswith("Error")] or text.splitlines()
    return lines[-1].strip() if lines else "it said nothing"
