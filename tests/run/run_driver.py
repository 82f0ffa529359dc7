"""Takes a source to its end, in a process for each case, and writes what every sink was given.

    python run_driver.py WAY CASES

WAY names a source and its input. CASES are, as JSON, folders, each with the options of its run. What came out is in the
file `told-WAY.json` of the folder.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mopsus.run.sink
from mopsus.events.component.log.session import Dispatching
from mopsus.events.component.outline.session import Session
from mopsus.events.weave.launch import Program
from mopsus.interactive.backends import load_backend
from mopsus.interactive.setup import Setup, Watched
from mopsus.model import RunResult, Silence, Spec, Verdict
from mopsus.report import Options, Summary, format_names
from mopsus.report.journal import Journal
from mopsus.run import OnFault, Report, Run, RunOptions, Sink, Sinks, Source, load_source, load_specs
from mopsus.run.children import Order
from mopsus.run.recorded import LogReading
from mopsus.run.sidecar import Terms

PATIENCE_S = 60.0


class Spy:
    """A sink that passes everything on, and remembers what it was given."""

    def __init__(self, name: str, sink: Sink) -> None:
        self.name, self._sink = name, sink
        self.verdicts: list[Verdict] = []
        self.summaries: list[Summary] = []

    def add(self, verdict: Verdict) -> None:
        assert not self.summaries, "a verdict came after the end"
        self.verdicts.append(verdict)
        self._sink.add(verdict)

    def finish(self, summary: Summary) -> None:
        self.summaries.append(summary)
        self._sink.finish(summary)


class Begun:
    """A source that says when it is open, and how to begin what it waits for."""

    def __init__(self, source: Source, begin: Callable[[], object]) -> None:
        self._source, self._begin = source, begin
        self.endless = source.endless

    def why_not(self, spec: Spec) -> str:
        return self._source.why_not(spec)

    def open(self, run: Run) -> None:
        self._source.open(run)
        self._begin()

    def feed(self) -> None:
        self._source.feed()

    def end(self) -> RunResult:
        return self._source.end()

    def close(self) -> None:
        self._source.close()


def make_source(way: str, spec_file: Path, folder: Path, run: Run, options: RunOptions) -> Source:
    """The source of that name, over its input in the folder."""
    name, _, detail = way.partition("-")
    kind = load_source(name)
    specs, roots = list(run.specs.values()), Dispatching(roots=None)
    program = Program(str(folder / "main.py"), False, ())
    match name:
        case "recorded":
            return kind.make(specs, [str(folder / detail)], LogReading(dispatching=roots))
        case "followed":
            source: Any = kind.make(specs, folder / detail, LogReading(dispatching=roots))
            events = sum(bool(line.strip()) for line in (folder / detail).read_text().splitlines())
            return Begun(source, lambda: interrupt_when(lambda: rows(source) >= events - detail.endswith(".csv")))
        case "told":
            return kind.make("the producer", (folder / "log.txt").read_bytes().splitlines(keepends=True), roots)
        case "program":
            return kind.make(program, Order([str(spec_file)], stops=options.on_fault is OnFault.STOP))
        case "beside":
            return kind.make(program, Terms())
        case "attached":
            return attached(kind.make, program)
        case "debugged":
            setup = Setup(
                (Watched(str(spec_file)),),
                (program.name,),
                batch=True,
                allow_silent=options.silence.allowed,
                stop_at_fault=options.on_fault is OnFault.STOP,
                python=sys.executable,
            )
            return kind.make(load_backend("python"), setup)
    raise ValueError(f"no way to make {name}")


def rows(source: Any) -> int:
    return sum(one.rows for one in source.inputs)


def interrupt_when(condition: Callable[[], bool]) -> None:
    def wait() -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()


def attached(make: Callable[..., Source], program: Program) -> Source:
    """A program that does nothing until it is watched."""
    command = [sys.executable, "-m", "mopsus", "component", "start", "--", program.name, "wait"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    stdin = process.stdin
    assert process.stdout.readline() == b"ready\n"

    def begin() -> None:
        stdin.write(b"go\n")
        stdin.flush()

    return Begun(make(Session.find(process.pid), Terms()), begin)


def open_spied(spies: list[Spy]) -> None:
    """Let every report that a run opens be spied on."""
    opened = mopsus.run.sink.open_report

    def spied(name: str, destination: Any, options: Options | None = None) -> Spy:
        spies.append(Spy(name, opened(name, destination, options)))
        return spies[-1]

    mopsus.run.sink.open_report = spied


def plain(spy: Spy) -> dict[str, Any]:
    """What a sink was given, without what depends on the source: places, times, names of components."""
    (summary,) = spy.summaries
    return {
        "verdicts": [(each.spec, each.property, each.category, each.severity.value) for each in spy.verdicts],
        "occurred": {name: dict(counts["occurred"]) for name, counts in summary.stats.specs.items()},
        "unseen": sorted((each.spec, each.event or "", each.possible) for each in summary.refused),
        "faults": sorted((each.spec, each.error, each.count) for each in summary.faults),
        "complete": summary.complete,
        "interrupted": summary.interrupted,
    }


def main(way: str, folder: Path, fields: dict[str, Any]) -> None:
    strict, on_fault = fields.pop("strict", False), OnFault(fields.pop("on_fault", "report"))
    options = RunOptions(silence=Silence(strict=strict), on_fault=on_fault, **fields)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    spies: list[Spy] = []
    open_spied(spies)
    out = folder / f"reports-{way}"
    out.mkdir()
    reports = [Report(name, str(out / name)) for name in format_names()]
    journal = Spy("journal", Journal(out / "journal"))
    spec = folder / "spec.mop"
    run = Run(load_specs([spec]), options, Sinks(reports, Options(), [journal]))
    status = run.go(make_source(way, spec, folder, run, options))
    told = {"status": status, "sinks": {spy.name: plain(spy) for spy in [*spies, journal]}}
    (folder / f"told-{way}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    # What is imported is shared; what a run leaves behind is not.
    for case, given in json.loads(sys.argv[2]).items():
        child = os.fork()
        if child == 0:
            try:
                main(sys.argv[1], Path(case), given)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(0)
        os.waitpid(child, 0)
