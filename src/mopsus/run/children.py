"""Processes that a watched program starts: how they come to be watched, and how their verdicts come back.

A forked process goes on being watched by its copy of the monitors. One that `multiprocessing` spawns begins anew, as
does any other Python process if the environment variable MOPSUS_SUBPROCESSES is set. All write their verdicts into a
folder, from which the process that was started first takes them when it ends.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from mopsus import untouched
from mopsus.model import Diagnostic, MopsusError
from mopsus.model.limits import MAX_LIVE
from mopsus.run.faults import FaultPost

if TYPE_CHECKING:
    from mopsus.logics import CompiledSpec
    from mopsus.model import Fault, Verdict
    from mopsus.monitor import Monitor

_ORDER = "MOPSUS_CHILDREN"
"""The environment variable that tells a process what to do."""
_WANTED = "MOPSUS_SUBPROCESSES"
_STARTUP = str(Path(__file__).with_name("startup"))
_UNWATCHED = "unwatched-"
"""How a file of the folder is called by which a process says that nobody watches it."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a process is told."""

    specs: list[str] = field(default_factory=list)
    history: int = 0
    max_live: int = MAX_LIVE
    allow_code: bool = True
    folder: str = ""
    groups: bool = False
    log: str | None = None
    """Where to write what components do; there are no specs then."""
    form: str = "hml"
    envelopes: bool = False
    first_match: bool = False
    contracts: str | None = None
    """Contracts that were chosen, as they were written."""
    stops: bool = False
    """Does monitoring end at the first error in the code of a spec?"""


@dataclass(frozen=True, slots=True)
class Counted:
    """The last that a process says."""

    events: int
    seen: Mapping[str, Mapping[str, int]]
    """By spec, how often each event was seen."""


class Outbox:
    """Where one process writes; the file is made when there is something to write."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file = -1
        self._writer = 0
        self._closed = False
        self._faults = FaultPost(self.add)
        self.add_fault = self._faults.add
        """Write that code of a spec has raised an error."""

    def add(self, told: Verdict | Fault | Counted) -> None:
        """Write a message, at once: the process may end at any time."""
        if self._closed:
            return
        from mopsus.bus.codec import pack
        from mopsus.bus.frames import framed

        if self._writer != untouched.getpid():  # the file of a process that this one was forked from is not its own
            self._writer = untouched.getpid()
            path = f"{self._folder}/{self._writer}-{untouched.urandom(4).hex()}"
            self._file = untouched.open_descriptor(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        untouched.write(self._file, framed(pack(told)))

    def close(self, events: int, seen: Mapping[str, Mapping[str, int]]) -> None:
        """Write how many events there were, and which, the last thing to say."""
        self._faults.close()
        self.add(Counted(events, seen))
        self._closed = True


def read_messages(folder: str, known: dict[str, int]) -> Iterator[Verdict | Fault | Counted]:
    """What all processes have written, beyond what is `known` of each file, which is brought up to date. A message that
    was cut off is left out."""
    for name in sorted(untouched.listdir(folder)):
        path, at = f"{folder}/{name}", known.get(name, 0)
        if untouched.stat(path).st_size <= at:
            continue
        from mopsus.bus.codec import unpack
        from mopsus.bus.frames import split_frames
        from mopsus.bus.messages import BusError
        from mopsus.model import Fault, Verdict

        with untouched.open_file(path, "rb") as file:
            data = file.read()
        with suppress(BusError):
            for body, end in split_frames(data, at):
                known[name] = end
                with suppress(BusError):
                    yield unpack(Verdict | Fault | Counted, body)


class Children:
    """The processes that a program starts while this is entered.

    `forked` is called in a process that was forked, with what takes its verdicts from then on; `monitors` are
    those of this process. `order` is told to processes that begin anew, with a folder to write to.
    """

    def __init__(
        self, order: Order, forked: Callable[[Outbox], object], monitors: Callable[[], Iterable[Monitor]]
    ) -> None:
        self._order = order
        self._forked, self._monitors = forked, monitors
        self.seen: dict[str, Counter[str]] = {}
        """By spec, how often each event was seen in the processes that have come to their end."""
        self.unwatched = 0
        """How many Python processes were started that nobody watches, as far as `messages` has found out."""
        self._inherited = 0
        self._folder: str | None = None
        self._known: dict[str, int] = {}
        self._unread: OSError | None = None
        """Why not all was read that there was to read; it is tried again."""
        self._before: dict[str, str | None] = {}
        self._process = os.getpid()
        self.outbox: Outbox | None = None
        """Where verdicts go, in a process that was forked."""

    @property
    def first(self) -> bool:
        """Is this the process that was started first, not one forked from it?"""
        return untouched.getpid() == self._process

    def __enter__(self) -> Children:
        name = f"mopsus-{self._process}-{os.urandom(8).hex()}"
        self._folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", name)
        os.mkdir(self._folder, 0o700)
        order = replace(self._order, folder=self._folder)
        paths = os.environ.get("PYTHONPATH")
        self._set(_ORDER, json.dumps(asdict(order)))
        self._set("PYTHONPATH", _STARTUP if not paths else _STARTUP + os.pathsep + paths)
        os.register_at_fork(before=self._before_fork, after_in_child=self._after_fork)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take no more from any process. Safe to call twice."""
        folder, self._folder = self._folder, None
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if folder is not None and self.first:
            if self._unread is not None:
                _say(f"not all is known of processes that were started: {self._unread}")
            shutil.rmtree(folder, ignore_errors=True)

    def messages(self) -> Iterator[tuple[Verdict | Fault | None, int]]:
        """What came back since this was asked last: a verdict, a fault, or a number of events."""
        if self._folder is not None:
            for message in self._read(self._folder):
                if not isinstance(message, Counted):
                    yield message, 0
                    continue
                for name, counts in message.seen.items():
                    self.seen.setdefault(name, Counter()).update(counts)
                yield None, message.events

    def _read(self, folder: str) -> Iterator[Verdict | Fault | Counted]:
        try:
            yield from read_messages(folder, self._known)
            self.unwatched = sum(name.startswith(_UNWATCHED) for name in untouched.listdir(folder))
            self._unread = None
        except OSError as error:  # the program plays another file system, has no files left, or is another user by now
            self._unread = error

    def _set(self, name: str, value: str) -> None:
        self._before[name] = os.environ.get(name)
        os.environ[name] = value

    def end_fork(self) -> None:
        """In a process that was forked: say how many events there were. Safe to call twice."""
        if self.outbox is not None:
            monitors = [*self._monitors()]
            self.outbox.close(count_events(monitors) - self._inherited, seen_events(monitors))

    def _before_fork(self) -> None:
        util = sys.modules.get("multiprocessing.util")
        if self._folder is not None and util is not None:
            # Its processes end without a word to anybody but their own finalizers, which are made after the fork.
            util.register_after_fork(self, lambda self: util.Finalize(None, self.end_fork, exitpriority=-1000))

    def _after_fork(self) -> None:
        if self._folder is not None:
            self._inherited = count_events(self._monitors())
            self.outbox = Outbox(self._folder)
            self._forked(self.outbox)


def start_child() -> None:
    """Begin to watch this process, if it was told to."""
    text = os.environ.get(_ORDER)
    spawned = any("--multiprocessing-fork" in word or "multiprocessing.forkserver" in word for word in sys.orig_argv)
    if not text:
        return
    if not (spawned or os.environ.get(_WANTED)):
        _say_unwatched(text)
        return
    try:
        _watch(Order(**json.loads(text)), spawned)
    except (MopsusError, OSError, ValueError, TypeError) as error:
        _say(f"this process is not watched: {error}")


def _say(text: str) -> None:
    sys.stderr.write(f"mopsus: {text}\n")


def _say_unwatched(order: str) -> None:
    """Let whoever reports know of this process, unless it is one that only tidies up after `multiprocessing`."""
    if any("resource_tracker" in word for word in sys.orig_argv):
        return
    with suppress(OSError, ValueError, KeyError):  # nobody may wait for it any more
        path = f"{json.loads(order)['folder']}/{_UNWATCHED}{os.getpid()}-{os.urandom(4).hex()}"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def unwatched_processes(count: int) -> list[Diagnostic]:
    """The warning that so many Python processes were not watched; none if there were none."""
    if not count:
        return []
    were = "processes that the program started were" if count > 1 else "process that the program started was"
    hint = f"set the environment variable {_WANTED}=1 to watch what such processes do"
    return [Diagnostic("CLI-006", f"{count:,} Python {were} not watched", hint=hint, warning=True)]


def _watch(order: Order, spawned: bool) -> None:
    if order.log is not None:
        _record(order.log, order.form, order.envelopes)
        return
    from mopsus import _core
    from mopsus.contracts import choose
    from mopsus.contracts.catalogue import by_module, loops_of
    from mopsus.events.component.identity import begin_apart
    from mopsus.events.component.watching import Watching, watch_inline
    from mopsus.events.weave.weaver import Weaver
    from mopsus.monitor import Monitor
    from mopsus.run.specs import load_specs

    outbox = Outbox(order.folder)

    def take_fault(error: BaseException, fault: Fault) -> None:
        outbox.add_fault(fault)
        if order.stops:
            for monitor in weaver.monitors.values():
                monitor.close()

    def open_monitor(compiled: CompiledSpec, *, trusted: bool = True) -> Monitor:
        monitor = Monitor(
            compiled, outbox.add, history=order.history, max_live=order.max_live, allow_code=order.allow_code or trusted
        )
        monitor.on_fault = take_fault
        return monitor

    compiled, _ = load_specs(
        [Path(path) for path in order.specs], allow_unmonitorable=True, first_match=order.first_match
    )
    monitors = {name: open_monitor(each, trusted=False) for name, each in compiled.items()}
    contracts = choose(order.contracts) if order.contracts else []
    weaver = Weaver(monitors, by_module(contracts, open_monitor), loops_of(contracts))
    weaver.start()
    if inline := watch_inline(weaver.monitors.values(), Watching(groups=order.groups, envelopes=order.envelopes)):
        begin_apart()

    process = os.getpid()

    def end_at_once(status: int) -> int:
        if untouched.getpid() == process:  # one that it has forked has counted what was before, too
            end()
        return status

    def end() -> None:
        _core.before_exit(None)
        if inline is not None:
            inline.stop()
        gc.collect()  # as where the program was started
        weaver.stop(ended=True)
        with suppress(OSError):  # whoever waited for it may be gone
            outbox.close(count_events(weaver.monitors.values()), seen_events(weaver.monitors.values()))

    atexit.register(end)
    _core.before_exit(end_at_once)
    if spawned:
        from multiprocessing import util

        weaver.watch_spawned()
        # The server that forks such processes is one of them; those that it forks do not come to `atexit`.
        util.register_after_fork(outbox, lambda outbox: util.Finalize(None, end, exitpriority=-1000))


def _record(log: str, form: str, envelopes: bool) -> None:
    """Write what components of this process do."""
    from typing import cast

    from mopsus.events.component.identity import begin_apart
    from mopsus.events.component.record import Format, Recorder

    begin_apart()
    Recorder(log, cast(Format, form), append=True).start(envelopes=envelopes)


def count_events(monitors: Iterable[Monitor]) -> int:
    """How many events monitors have taken."""
    return sum(monitor.stats().events for monitor in monitors)


def seen_events(monitors: Iterable[Monitor]) -> dict[str, Mapping[str, int]]:
    """By spec, how often each of its events was seen."""
    return {monitor.spec.name: monitor.stats().occurred for monitor in monitors}
