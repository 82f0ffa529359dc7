"""Frames of the agent on the stack, of calls whose return a hook waits for: the developer sees the program without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias, cast

import gdb
from gdb.FrameDecorator import FrameDecorator

from mopsus.interactive.gdb.agent.library import FILE
from mopsus.interactive.gdb.developer import before_command

if TYPE_CHECKING:
    from gdb.FrameDecorator import DAPFrameDecorator

    Frames: TypeAlias = Iterator[FrameDecorator | DAPFrameDecorator]


class _WithoutHooks:
    """A filter for `backtrace`. The others keep their numbers, by which `frame N` finds them."""

    def __init__(self) -> None:
        self.name = "mopsus-hooks"
        self.priority = 100
        self.enabled = True

    def filter(self, iterator: Frames) -> Frames:
        return (_Named(cast("FrameDecorator", each)) for each in iterator if not is_hook(each.inferior_frame()))


class _Named(FrameDecorator):
    """A frame with the name that `backtrace` gives it without filters: in C++, without the types of its arguments."""

    def function(self) -> str | None:
        name = super().function()
        if self.inferior_frame().name() is None:
            return "??"
        return _without_types(name) if isinstance(name, str) and ")" in name else name


def _without_types(name: str) -> str:
    """`f` of `f(int)`."""
    depth = 0
    for place in range(name.rindex(")"), -1, -1):
        depth += {")": 1, "(": -1}.get(name[place], 0)
        if depth == 0:
            return name[:place]
    return name


def hide_frames() -> None:
    """Let `backtrace`, `up` and `down` pass hooks over."""
    hidden = _WithoutHooks()
    if hidden.name in gdb.frame_filters:
        return
    gdb.frame_filters[hidden.name] = hidden
    before_command("up", "mopsus-going-up", lambda: _pass(gdb.selected_frame().older()))
    before_command("down", "mopsus-going-down", lambda: _pass(gdb.selected_frame().newer()))


def is_hook(frame: gdb.Frame | None) -> bool:
    return frame is not None and gdb.solib_name(frame.pc()) == str(FILE)


def _pass(neighbour: gdb.Frame | None) -> None:
    """Go to a hook that is in the way: the command goes on from there."""
    if neighbour is not None and is_hook(neighbour):
        neighbour.select()
