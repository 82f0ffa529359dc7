"""Stage 4: the program's side: hooks that tell a monitor in another process what components do, while there is one.

It is started before the program's own code, in its first process by whoever runs it and in others by the environment. It
has no thread and takes no signal. Every event looks at a word in memory that is shared; when a monitor comes or goes the
word changes, and whoever meets the change first opens a ring to the monitor, or closes it.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading

from mopsus import _core
from mopsus.events.component import hooks
from mopsus.events.component.outline import wire as wire
from mopsus.events.component.outline.session import FOLDER, MAIN, Session

_WANTED = "MOPSUS_SUBPROCESSES"


class Agent:
    """What tells of the components of this process."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = threading.RLock()
        self._renewing = False
        self._rings = 0
        self._outlet = _core.Outlet(session.board, self._renew)

    def start(self) -> None:
        """Hook the libraries that run components."""
        hooks.install(self._outlet.emit)
        os.register_at_fork(after_in_child=self._after_fork)
        atexit.register(self._end)

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
        self._rings += 1
        ring = self._session.new_ring(self._rings)
        self._outlet.open(ring, self._session.spill(ring), generation)
        self._session.publish(ring)
        self._outlet.board.enlist()
        self._outlet.begin()

    def _after_fork(self) -> None:
        self._lock = threading.RLock()
        self._renewing = False
        self._outlet.forget()

    def _end(self) -> None:
        board = self._outlet.board
        self._outlet.close(board.generation, True)
        if self._session.main == os.getpid() and not board.attended():
            self._session.remove()


def start_agent() -> None:
    """Begin to tell of this process, if it was told to."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return
    first = os.environ.pop(MAIN, None) is not None
    spawned = any("--multiprocessing-fork" in word or "multiprocessing.forkserver" in word for word in sys.orig_argv)
    if not (first or spawned or os.environ.get(_WANTED)):
        return
    session = Session(folder)
    try:
        if first:
            session.set_main(os.getpid())
        Agent(session).start()
    except (OSError, ValueError) as error:  # whoever watched may be gone
        print(f"mopsus: this process is not watched: {error}", file=sys.stderr)
