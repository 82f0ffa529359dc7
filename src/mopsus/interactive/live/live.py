"""Who looks at a session while it runs: a view in the browser, the terminal, or nobody.

Pictures never slow the program down by much: while it runs there are at most so many in a second, and making them takes
a small part of the time. What is left out is seen in the next picture, and at every stop there is one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mopsus.interactive.live.painter import Painter
from mopsus.interactive.live.picture import Course, Picture
from mopsus.interactive.live.text import draw_monitor, wants_colour
from mopsus.interactive.live.wire import Refused, Wish

if TYPE_CHECKING:
    from mopsus.interactive.debugger import Where
    from mopsus.interactive.live.view import View
    from mopsus.interactive.session import Session
    from mopsus.interactive.watch import Move, Watch

_PAUSE_S = 0.05
"""Between two pictures of a program that runs."""
_FIRST = 1000
"""So many events of each monitor are seen one by one; then what can be stepped inside of the program is."""
_SHARE = 20
"""Making pictures takes one part in so many of the time."""


class Live:
    """Everything that looks at one session. While nobody does, it does nothing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.title = ""
        """How the program was called."""
        self.python: str | None = None
        """The interpreter for the view; None: it is looked for."""
        self.attend: Callable[[View], object] = lambda view: None
        """Told of a view that was opened: from now on its requests are to be served."""
        self.view: View | None = None
        self.in_terminal = False
        """Draw at every stop."""
        self._painter: Painter | None = None
        self._due = 0.0
        self._last: Picture | None = None
        self._moved = True
        self._back: int | None = None

    def open(self) -> str:
        """Show a view; its address. `ViewError` says why that cannot be."""
        from mopsus.interactive.live.view import View, find_python  # only now: the program's process is not ours

        view, address = View.start(self.python or find_python())
        if self.view is not None:
            self.view.end()
        self.view = view
        self._paint()
        self.attend(view)
        for watch in self._session.watches:
            watch.told_first = _FIRST
        self._session.later(self._session.feeding.update)
        return address

    def close(self) -> None:
        """Have no view any more."""
        if self.view is not None:
            self.view.close()
            self.view = None

    def draw(self, number: int) -> str:
        """One monitor for the terminal."""
        picture = self._begun().paint(self._course())
        monitor = next(each for each in picture.monitors if each.number == number)
        return draw_monitor(monitor, colour=wants_colour(sys.stdout))

    # ---- what the session tells

    def happened(
        self, watch: Watch, event: str, values: Mapping[str, object], where: Where, moves: Sequence[Move]
    ) -> None:
        """A monitor was told of an event."""
        if self._looked_at:
            self._begun().happened(watch, event, values, where, moves)
            self._moved, self._back = True, None
        if watch.told_first:
            watch.told_first -= 1
            if not watch.told_first:
                self._session.later(self._session.feeding.update)

    def glance(self) -> None:
        """The program runs, and something has changed."""
        if self._looked_at and time.monotonic() >= self._due:
            self.look(harmless=False)

    def look(self, *, harmless: bool = True) -> None:
        """The program runs: how does it stand? `harmless`: it may be anywhere, so nothing of it is run for this. Too
        soon after the last picture, which may have taken long to make, it is that one again."""
        if self.view is None:
            return
        began = time.monotonic()
        if harmless and self._last is not None and began < self._due:
            self.view.send(self._last)
        else:
            self._last = self._begun().paint(Course.RUNNING, harmless=harmless)
            self.view.send(self._last)
            self._due = began + max(_PAUSE_S, _SHARE * (time.monotonic() - began))
        self._see_whether_gone()

    def goes_on(self) -> None:
        """The program is about to run."""
        self._moved, self._back = True, None
        self.look(harmless=False)

    def stands(self) -> None:
        """The program stands still, and the developer may ask for anything."""
        if not self._looked_at:
            return
        if self.view is not None:
            self._paint()
        if self.in_terminal and self._moved:
            for watch in self._session.watches:
                self._session.debugger.write(self.draw(watch.number))
        self._moved = False
        self._see_whether_gone()

    def ended(self, status: int | None) -> None:
        """The program has ended."""
        if self.view is not None:
            self.view.send(self._begun().paint(Course.ENDED, status=status), surely=True)
        self._moved = True

    def began(self) -> None:
        """The monitors are as at the beginning."""
        if self._painter is not None:
            self._painter.began()

    def went_back(self, number: int) -> None:
        """The session is where it was at a checkpoint."""
        self._moved, self._back = True, number
        if self._painter is not None:
            self._painter.went_back(number)

    def refuse(self, wish: Wish, why: str) -> None:
        """The view has asked for something that cannot be."""
        if self.view is not None:
            self.view.send(Refused(wish, why), surely=True)

    def lasting(self) -> tuple[Any, ...] | None:
        """What outlives a restore where the session itself goes back, and the line with it."""
        return None if self._painter is None else self._painter.lasting()

    def regain(self, lasting: tuple[Any, ...] | None) -> None:
        """Know that again."""
        if lasting is not None:
            self._begun().regain(lasting)

    # ---- how it works

    @property
    def _looked_at(self) -> bool:
        return self.view is not None or self.in_terminal

    def _begun(self) -> Painter:
        if self._painter is None:
            self._painter = Painter(self._session, self.title)
        return self._painter

    def _course(self) -> Course:
        if self._session.over:
            return Course.ENDED
        return Course.STOPPED if self._session.started else Course.WAITING

    def _paint(self) -> None:
        assert self.view is not None
        reason = self._session.suspended or "" if self._back is None else f"back at checkpoint {self._back}"
        picture = self._begun().paint(self._course(), reason, self._session.status)
        self.view.send(picture, surely=True)

    def _see_whether_gone(self) -> None:
        if self.view is not None and self.view.gone:
            self.view = None
            self._session.tell("The live view is gone; `verde show-graph` opens it again.")
