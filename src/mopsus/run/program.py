"""A Python program that runs in this process, watched from within: a source of events."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from mopsus import _core
from mopsus.contracts.catalogue import by_module, loops_of
from mopsus.events.component.watching import InlineProgram, Watching
from mopsus.events.weave.launch import INTERRUPTED, Ended, launch
from mopsus.events.weave.weaver import Weaver
from mopsus.model import Fault, RunResult
from mopsus.run.children import Children, Order, seen_events, unwatched_processes
from mopsus.run.lending import lent
from mopsus.run.source import SourceKind
from mopsus.stopping import flush_output

if TYPE_CHECKING:
    from mopsus.contracts import Contract
    from mopsus.events.weave.launch import Program
    from mopsus.logics import CompiledSpec
    from mopsus.model import Spec
    from mopsus.monitor import Monitor
    from mopsus.run.run import Run


class WovenProgram:
    """A program that is woven, with the components and the processes that it makes.

    `order` is what processes are told that begin anew. The program may end anywhere: by a signal, or by `os._exit`. The
    run is then finished where it is.
    """

    endless = False

    def __init__(
        self, program: Program, order: Order, contracts: Sequence[Contract] = (), *, explain_weaving: bool = False
    ) -> None:
        self._program, self._order, self._contracts = program, order, contracts
        self._explain = explain_weaving
        self._ends = ExitStack()
        self._ended = Ended(0)
        self._elsewhere = 0
        """Events in processes that the program has started."""
        self._run: Run
        self._weaver: Weaver
        self._children: Children
        self._own: list[Monitor] = []
        """The monitors of specs that were given. Contracts are about what many programs do not do."""

    def why_not(self, spec: Spec) -> str:
        """The weaver finds out which events cannot happen."""
        return ""

    def open(self, run: Run) -> None:
        """Open monitors; those of contracts when the program loads what they are about."""
        self._run = run
        monitors = {each.name: run.open_monitor(each, run.take) for each in run.specs.values()}
        self._own = [*monitors.values()]
        self._weaver = Weaver(monitors, by_module(self._contracts, self._open_contract), loops_of(self._contracts))
        self._children = Children(self._order, run.hand_over, lambda: self._weaver.monitors.values())
        self._started = time.perf_counter()

    def _open_contract(self, compiled: CompiledSpec) -> Monitor:
        self._run.add_spec(compiled)
        return self._run.open_monitor(compiled.spec, self._run.take, trusted=True)

    def feed(self) -> None:
        """Run the program. A process that it has forked ends here."""
        watching = Watching(groups=self._order.groups, envelopes=self._order.envelopes)
        self._ends.enter_context(self._children)  # until the end: what they have written is read there
        try:
            with lent(self._end_killed), InlineProgram(self._program, self._own, watching) as inline:
                _core.before_exit(self._end_at_once)
                self._ended = inline.end(launch(self._program, self._weaver))
                _core.before_exit(None)
        except KeyboardInterrupt:  # one more, when the program had ended
            _core.before_exit(None)
            self._ended = Ended(INTERRUPTED, interrupted=True)
        for monitor in self._weaver.monitors.values():
            monitor.close()
        if self._children.outbox is not None:
            self._children.end_fork()
            flush_output()
            os._exit(self._ended.status)

    def _end_killed(self, number: int) -> None:
        """The program dies of a signal, wherever it is just now: what we do then is no part of it."""
        _core.unobserved(self._conclude, Ended(128 + number, interrupted=True))

    def _end_at_once(self, status: int) -> int:
        """The program ends by `os._exit`, wherever it is just now."""
        _core.before_exit(None)
        return self._conclude(Ended(status))

    def _conclude(self, ended: Ended) -> int:
        """Report what was found; the status. A process that the program has forked leaves that to the first one."""
        if self._children.outbox is not None:
            self._children.end_fork()
            return ended.status
        self._ended = ended
        return self._run.finish(self.end())

    def end(self) -> RunResult:
        """Return what was counted here and in other processes, and what could not be seen or never was."""
        from mopsus.events.weave.unseen import add_seen, find_unseen
        from mopsus.model.unseen import by_spec, with_conditions

        elapsed = time.perf_counter() - self._started
        self._collect()
        self._children.close()
        if self._explain:
            from mopsus.events.weave.explain import explain

            sys.stderr.write(f"{explain(self._weaver)}\n")
        seen = add_seen(seen_events(self._own), self._children.seen)
        found = find_unseen(self._weaver, seen, whole=not self._elsewhere)
        unseen = by_spec(found, [monitor.spec for monitor in self._own])
        unseen += self._run.unseen_in_components(seen)
        stats = {name: monitor.stats() for name, monitor in self._weaver.monitors.items()}
        return RunResult(
            sources=[self._program.name],
            stats=stats,
            rows=self._elsewhere + sum(each.events for each in stats.values()),
            warnings=unwatched_processes(self._children.unwatched),
            unseen=with_conditions(unseen, stats),
            interrupted=self._ended.interrupted,
            elapsed_s=elapsed,
            program=self._ended.status,
        )

    def _collect(self) -> None:
        """Take the verdicts and faults of other processes."""
        for told, events in self._children.messages():
            self._elsewhere += events
            if isinstance(told, Fault):
                self._run.take_fault(None, told)
            elif told is not None:
                self._run.take(told)

    def close(self) -> None:
        """Take no more from any process."""
        self._ends.close()


SOURCE = SourceKind("program", "a Python program, watched from within", WovenProgram)
