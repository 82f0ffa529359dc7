"""The live view of a session in the process of the program: what it asks for is done at the prompt.

A bell rings in the main thread when the view has asked for something. If the program runs then, it stops where it is,
as by Ctrl-C; if the prompt waits for a line, it is called away from that. In the middle of anything else it waits until
that is done.
"""

from __future__ import annotations

import threading
from collections import deque
from types import FrameType
from typing import TYPE_CHECKING

from mopsus.interactive.live.wire import NO_PROMPT, Request, Wish
from mopsus.interactive.python.bell import Bell, take_all
from mopsus.interactive.python.prompt import Asked
from mopsus.model import MopsusError

if TYPE_CHECKING:
    from mopsus.interactive.live.view import View
    from mopsus.interactive.python.adapter import PythonDebugger
    from mopsus.interactive.session import Session


class Viewing:
    """Serves the view of a session."""

    def __init__(self, session: Session, debugger: PythonDebugger, *, has_prompt: bool) -> None:
        """Without a prompt, the view only looks."""
        self._session = session
        self._has_prompt = has_prompt
        self._debugger = debugger
        self._asked: deque[Request] = deque()
        self._looks = False
        """Does the view wait for a picture?"""
        self.program_runs = False
        """Has it begun, and not ended?"""
        self._bell: Bell | None = None
        session.live.attend = self._attend

    def about_to_ask(self) -> None:
        """The prompt is about to wait for a line."""
        self._session.live.stands()
        take_all()
        self._looks = False

    def is_called(self) -> bool:
        """Is there anything to be done?"""
        return bool(self._asked)

    def serve(self) -> bool:
        """Do what was asked for. Does the program go on after it?"""
        while self._asked:
            if self._do(self._asked.popleft()):
                return True
        return False

    def be_program(self) -> None:
        """A checkpoint has come back, and with it this process: the view is this one's from now on. What it had asked
        for when the checkpoint was taken is long done."""
        self._asked.clear()
        if self._bell is not None and self._session.live.view is not None:
            self._bell.hang()

    def _attend(self, view: View) -> None:
        if self._bell is not None:
            self._bell.take_down()
        if threading.current_thread() is threading.main_thread():
            self._bell = Bell(view, self._rung, self._hear)
        else:
            self._session.tell("The program does not stand in its main thread: nothing can be asked for in this view.")

    def _hear(self) -> None:
        view = self._session.live.view
        if view is not None:
            requests = view.requests()
            self._asked += [each for each in requests if each.wish is not Wish.LOOK]
            self._looks |= any(each.wish is Wish.LOOK for each in requests)
        if (view is None or view.gone) and self._bell is not None:
            self._bell.take_down()

    def _rung(self, frame: FrameType) -> None:
        if not self.program_runs:
            return
        if not self._has_prompt:
            self._refuse(NO_PROMPT)
        if self._debugger.stands_elsewhere():
            self._refuse("the program stands in another thread than its main one")
        elif self._asked and self._debugger.prompt_waits():
            raise Asked
        else:
            self._debugger.call(frame, self._answer)

    def _answer(self) -> bool:
        """The program is held. Does it stay there?"""
        self._asked = deque(each for each in self._asked if each.wish is not Wish.CONTINUE)  # it does already
        if self._asked:
            self._session.tell("\nThe program is interrupted; `continue` lets it go on.")
            return True
        if self._looks:
            self._looks = False
            self._session.live.look()
        return False

    def _refuse(self, why: str) -> None:
        while self._asked:
            self._session.live.refuse(self._asked.popleft().wish, why)

    def _do(self, request: Request) -> bool:
        try:
            match request.wish:
                case Wish.CONTINUE:
                    self._debugger.go_on()
                    return True
                case Wish.CHECKPOINT:
                    self._session.command("checkpoint")
                case Wish.RESTORE:
                    self._session.command(f"checkpoint-restart {request.number}")
        except MopsusError as error:
            self._session.tell(str(error))
            self._session.live.refuse(request.wish, str(error))
        return False
