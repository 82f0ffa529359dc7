"""The live view of a session in GDB: what it asks for is done when GDB has time, whether the program runs or stands.

A thread waits for the view, and hands over to GDB's own: nothing of GDB may be touched from elsewhere. A program that
runs is interrupted first, and what was asked for is done at that stop. A program that goes on because of the view runs
behind the prompt, which GDB has shown already and does not take back.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import gdb

from mopsus.interactive.gdb.agent.threads import is_running
from mopsus.interactive.gdb.course import is_alive
from mopsus.interactive.live.wire import NO_PROMPT, Request, Wish
from mopsus.model import MopsusError

if TYPE_CHECKING:
    from mopsus.interactive.gdb.course import Course
    from mopsus.interactive.live.view import View
    from mopsus.interactive.session import Session

_PATIENCE_S = 3.0
"""So long a program may run on that was interrupted."""


class Viewing:
    """Serves the view of a session."""

    def __init__(self, session: Session, course: Course, *, has_prompt: bool) -> None:
        """Without a prompt, the view only looks: GDB has no time of its own, or an editor has the say."""
        self._session = session
        self._has_prompt = has_prompt
        self._course = course
        self._asked: deque[Request] = deque()
        self._paging: bool | None = None
        """While something is done for the view: whether output was shown page by page before."""
        session.live.attend = self._attend
        gdb.events.before_prompt.connect(self._at_prompt)
        gdb.events.stop.connect(self._at_stop)
        gdb.events.exited.connect(self._at_stop)

    def _attend(self, view: View) -> None:
        with _without_signals():
            threading.Thread(target=self._listen, args=(view,), daemon=True).start()

    def _listen(self, view: View) -> None:
        while requests := view.wait():
            for request in requests:
                gdb.post_event(partial(self._heed, request))

    def _at_prompt(self, *_: object) -> None:
        if self._asked:
            gdb.post_event(self._settle)
        self._session.live.stands()

    def _at_stop(self, *_: object) -> None:
        if self._paging is not None:
            gdb.post_event(self._settle)

    def _heed(self, request: Request) -> None:
        """From GDB's own thread, at the prompt or while the program runs."""
        try:
            self._obey(request)
        except KeyboardInterrupt:  # which was for the program
            if is_running():
                gdb.execute("interrupt")

    def _obey(self, request: Request) -> None:
        live = self._session.live
        if not self._has_prompt and request.wish is not Wish.LOOK:
            live.refuse(request.wish, NO_PROMPT)
        elif request.wish is Wish.LOOK:
            if is_running() or self._course.unsettled:
                live.look()
            else:
                live.stands()
        elif is_running():
            if request.wish is not Wish.CONTINUE:
                self._asked.append(request)
                self._interrupt()
        else:
            self._asked.append(request)
            if not self._course.unsettled:  # otherwise there is a prompt soon
                self._stop_paging()
                gdb.write("\n")
                self._settle()

    def _interrupt(self) -> None:
        """GDB may lose one, if the program has just begun to run: then there is another, after a while."""
        gdb.execute("interrupt")
        again = threading.Timer(_PATIENCE_S, gdb.post_event, (self._insist,))
        again.daemon = True
        with _without_signals():
            again.start()

    def _insist(self) -> None:
        if self._asked and is_running():
            self._interrupt()

    def _settle(self) -> None:
        """As before a prompt: GDB shows none by itself after what it was not asked for at the prompt."""
        if is_running() or self._course.busy:
            return
        self._stop_paging()
        self._course.settle()
        self._do_asked()
        if is_running():
            return
        self._session.live.stands()
        gdb.write(str(gdb.parameter("prompt")))
        gdb.flush()
        gdb.set_parameter("pagination", self._paging)
        self._paging = None

    def _do_asked(self) -> None:
        while self._asked and not is_running():
            request = self._asked.popleft()
            try:
                self._do(request)
            except (MopsusError, gdb.error) as error:
                self._session.tell(str(error))
                self._session.live.refuse(request.wish, str(error))

    def _do(self, request: Request) -> None:
        """The program stands."""
        match request.wish:
            case Wish.CONTINUE:
                gdb.execute("continue" if is_alive() else "run")
            case Wish.CHECKPOINT:
                self._command("checkpoint")
            case Wish.RESTORE:
                self._command(f"checkpoint-restart {request.number}")

    def _stop_paging(self) -> None:
        """Nobody would turn the pages: the prompt is shown already."""
        if self._paging is None:
            self._paging = bool(gdb.parameter("pagination"))
        gdb.set_parameter("pagination", False)

    def _command(self, line: str) -> None:
        self._session.command(line)
        self._course.proceed(started=True)


@contextmanager
def _without_signals() -> Iterator[None]:
    """What is started meanwhile takes no signal: one that a thread of Python's took would be lost to GDB."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
