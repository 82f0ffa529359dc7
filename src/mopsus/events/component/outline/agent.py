"""Stage 4: the program's side: hooks that tell a monitor in another process what components do, while there is one.

It is started before the program's own code, in its first process by `program.py` and in others by the environment. It
has no thread and takes no signal. Every event looks at a word in memory that is shared; when a monitor comes or goes
the word changes, and whoever meets the change first opens a ring to the monitor, or closes it.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading

from mopsus import _core
from mopsus.events.component import hooks
from mopsus.events.component.hooks.wiring import Undo
from mopsus.events.component.outline import wire as wire
from mopsus.events.component.outline.session import FOLDER, Session

_WANTED = "MOPSUS_SUBPROCESSES"


class Agent:
    """What tells of the components of this process."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.RLock()
        self._renewing = False
        self._undo: Undo = lambda: None
        self._outlet = _core.Outlet(session.board, self._renew)

    def start(self) -> None:
        """Hook the libraries that run components."""
        self._undo = hooks.install(self._outlet.emit, envelopes=self._session.envelopes)
        os.register_at_fork(after_in_child=self._after_fork)
        atexit.register(self.end)

    def _renew(self) -> None:
        """A monitor has come or gone."""
        board = self._outlet.board
        with self._lock:
            generation = board.generation
            # Another thread may have been here first; or this one is, and a finaliser has something to tell.
            if generation == self._outlet.known or self._renewing:
                return
            self._renewing = True
            try:
                if generation % 2:
                    self._open(generation)
                else:
                    self._outlet.close(generation, True)
            finally:
                self._renewing = False

    def _open(self, generation: int) -> None:
        ring = self._session.new_ring(generation)
        self._outlet.open(ring, self._session.spill(ring), generation)
        self._session.publish(ring)
        self._outlet.board.enlist()
        self._outlet.begin()

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._renewing = False
        self._outlet.forget()

    def stop(self) -> None:
        """Take the hooks away again."""
        self._undo()
        self.end()

    def end(self) -> None:
        """Nothing more will be told of this process. Safe to call twice."""
        self._outlet.close(self._outlet.board.generation, True)


_agent: Agent | None = None


def start_agent(session: Session) -> Agent:
    """Begin to tell of this process."""
    global _agent
    if _agent is None:
        _agent = Agent(session)
        _agent.start()
    return _agent


def start_in_child() -> None:
    """Begin to tell of this process, if it was told to: as `multiprocessing` starts them, or any if that is wanted."""
    folder = os.environ.get(FOLDER)
    spawned = any("--multiprocessing-fork" in word or "multiprocessing.forkserver" in word for word in sys.orig_argv)
    if folder and (spawned or os.environ.get(_WANTED)):
        try:
            start_agent(Session(folder))
        except (OSError, ValueError) as error:  # whoever watched may be gone
            sys.stderr.write(f"mopsus: this process is not watched: {error}\n")
