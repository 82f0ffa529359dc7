"""Stage 4: Ctrl-C between two batches instead of anywhere.

In the middle of a batch an interrupt would hit a handler or a report that is half written, and a
monitor treats it like any other fault of theirs.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """While entered, Ctrl-C waits for the end of `deferred`; a second one does not wait.

    Outside of the main thread, or where somebody else handles the signal, it does nothing.
    """

    def __init__(self) -> None:
        self._installed = False
        self._deferring = False
        self._pending = False

    def __enter__(self) -> Interrupts:
        ours = threading.current_thread() is threading.main_thread()
        if ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(self, *exception: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """An interrupt that comes in here is raised at the end of it."""
        self._deferring = True
        try:
            yield
        finally:
            self._deferring = False
        if self._pending:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self._deferring or self._pending:
            raise KeyboardInterrupt
        self._pending = True
