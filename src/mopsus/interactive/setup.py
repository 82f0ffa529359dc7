"""What a debugging session is to be, as plain data, for the way into the process of a debugger."""

from __future__ import annotations

from dataclasses import dataclass

from mopsus.interactive.follow import Follow


@dataclass(frozen=True, slots=True)
class Watched:
    """A file of properties, with the scenario that reacts to them and the functions that they call, if any."""

    file: str
    scenario: str | None = None
    functions: str | None = None
    quiet: bool = False
    """Say nothing at its events; verdicts and stops are told all the same."""


@dataclass(frozen=True, slots=True)
class Setup:
    """All that `mopsus debug` was told."""

    properties: tuple[Watched, ...]
    program: tuple[str, ...] = ()
    """The program and its arguments."""
    process: int | None = None
    """A running process to attach to instead."""
    batch: bool = False
    """Show no prompt: end at the first stop."""
    history: int = 32
    record: str | None = None
    """Where to write the events, for `mopsus check`."""
    outcome: str | None = None
    """Where to write what became of it."""
    allow_code: bool = True
    channel: int | None = None
    """The descriptor of a line to an editor, which takes the place of the prompt."""
    stop_on_entry: bool = False
    """With an editor: stop where the program begins."""
    hooks: bool = True
    """Step monitors inside of the program where that can be done."""
    follow: Follow = Follow.PARENT
    """Which process is watched when the program makes another one of itself."""
    handing_over: str | None = None
    """The folder where children are handed over that get sessions of their own."""
    legacy: str | None = None
    """The file with what the session of such a child begins with."""
    allow_silent: bool = False
    """Go on if no event of a property can happen."""
    stop_at_fault: bool = False
    """Stop the program where code of a property raises an error."""
    graph: bool = False
    """Show the live view."""
    text_graph: bool = False
    """Draw the properties in the terminal at every stop."""
    python: str | None = None
    """The interpreter that `mopsus debug` runs in, and with it the live view."""

    @property
    def has_prompt(self) -> bool:
        """Does the developer sit at a prompt, in a terminal?"""
        return not self.batch and self.channel is None
