"""Code of properties, scenarios and function files that does not come to an end when somebody wants that."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from types import FrameType

_OURS = str(Path(__file__).parents[1])
_LIBRARY = (sysconfig.get_paths()["stdlib"], "<")


def is_in_users_code(frame: FrameType | None) -> bool:
    """Is that at work, in a process where we are, or the library for it? Not if we are at work for it: to be cut off
    there would do harm."""
    while frame is not None and frame.f_code.co_filename.startswith(_LIBRARY):
        frame = frame.f_back
    return frame is not None and not frame.f_code.co_filename.startswith(_OURS)
