"""Runs inside GDB: commands that save the program and bring it back, without any monitor: `save a`, `back a`,
`drop a`."""

from __future__ import annotations

import sys

import gdb

sys.path.insert(0, saving_root)  # noqa: F821 (GDB's Python has one namespace)

from mopsus.interactive.debugger import CheckpointError
from mopsus.interactive.gdb.checkpoint import ProgramCheckpoints

checkpoints = ProgramCheckpoints()
kept = {}


class Saving(gdb.Command):
    def __init__(self, name, action):
        super().__init__(name, gdb.COMMAND_USER)
        self._action = action

    def invoke(self, argument, from_tty):
        try:
            self._action(argument)
        except CheckpointError as error:
            gdb.write(f"refused: {error.message}; {error.hint}\n")


Saving("save", lambda name: kept.update({name: checkpoints.take()}))
Saving("back", lambda name: checkpoints.restore(kept[name]))
Saving("drop", lambda name: checkpoints.discard(kept.pop(name)))
Saving("kind", lambda name: gdb.write(f"kind: {type(kept[name]).__name__}\n"))
Saving("ended", lambda _: gdb.write(f"ended: {checkpoints.program_ended}\n"))
