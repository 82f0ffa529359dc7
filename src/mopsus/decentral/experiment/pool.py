"""Processes that do many small pieces of work, of which some may fail or even end the process that does them.

Every piece is answered for itself. What ends its process is a failure of that piece only: the others of its batch are
done by a new process. Workers end with the process that started them, even if it is killed.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, TypeAlias, TypeVar

from mopsus.model import MopsusError
from mopsus.stopping import SIGNALS

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a piece of work has no answer."""

    message: str


Opener: TypeAlias = Callable[[], Callable[[Item], Answer]]
"""Called once in each process; makes what does the pieces. Both must go to another process, as pickles."""


def carry_out(
    batches: Iterable[Sequence[Item]], opener: Opener[Item, Answer], processes: int
) -> Iterator[tuple[Item, Answer | Failed]]:
    """Each piece with its answer, as they come. The pieces of a batch are done one after the other by one process."""
    waiting = deque(deque(batch) for batch in batches if batch)
    # Only what is given to a process goes there: a worker has no end of another's pipe, and sees when ours is gone.
    context = multiprocessing.get_context("spawn")
    workers = [_Worker(context, opener) for _ in range(min(processes, len(waiting)))]
    try:
        busy: dict[Connection, _Worker[Item, Answer]] = {}
        for worker in workers:
            worker.take(waiting.popleft())
            busy[worker.connection] = worker
        while busy:
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                worker = busy.pop(connection)
                item = worker.batch.popleft()
                answer: Answer | Failed
                try:
                    answer = connection.recv()
                except (EOFError, ConnectionError):
                    answer = Failed(f"its process ended {worker.ending()}")
                    if worker.batch:
                        waiting.appendleft(worker.batch)
                    if waiting:
                        worker.restart()
                yield item, answer
                if not worker.batch and waiting:
                    worker.take(waiting.popleft())
                if worker.batch:
                    busy[worker.connection] = worker
    finally:
        for worker in workers:
            worker.stop()


class _Worker(Generic[Item, Answer]):
    """A process, and what it has been given and not answered yet."""

    connection: Connection
    process: BaseProcess

    def __init__(self, context: multiprocessing.context.SpawnContext, opener: Opener[Item, Answer]) -> None:
        self._context = context
        self._opener = opener
        self.batch: deque[Item] = deque()
        self._start()

    def restart(self) -> None:
        """Begin anew, with nothing to do, after the process has ended."""
        self.connection.close()
        self.batch = deque()
        self._start()

    def take(self, batch: deque[Item]) -> None:
        """Give it a batch to do."""
        self.batch = batch
        with suppress(ConnectionError):  # a process that has ended is noticed when it should answer
            self.connection.send(list(batch))

    def ending(self) -> str:
        """How its process ended."""
        self.process.join()
        code = self.process.exitcode
        if code is not None and code < 0:
            return f"by {signal.Signals(-code).name}"
        return f"with status {code}"

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.connection.close()
        self.process.kill()
        self.process.join()

    def _start(self) -> None:
        self.connection, theirs = self._context.Pipe()
        self.process = self._context.Process(target=_serve, args=(theirs, self._opener), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the process can say what it makes of them
        try:
            self.process.start()
        finally:
            theirs.close()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, opener: Opener[Item, Answer]) -> None:
    """What a worker does: batch by batch, until nobody is there to give it one."""
    for number in SIGNALS:  # whoever started it decides what is to be done
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    do: Callable[[Item], Answer | Failed]
    try:
        do = opener()
    except Exception as error:
        refusal = _failure(error)

        def do(item: Item) -> Answer | Failed:
            return refusal

    with suppress(EOFError, ConnectionError):
        while True:
            for item in connection.recv():
                connection.send(_attempt(do, item))


def _attempt(do: Callable[[Item], Answer | Failed], item: Item) -> Answer | Failed:
    try:
        return do(item)
    except Exception as error:  # one piece that fails must not take the others with it
        return _failure(error)


def _failure(error: Exception) -> Failed:
    return Failed(str(error) if isinstance(error, MopsusError) else f"{type(error).__name__}: {error}")
