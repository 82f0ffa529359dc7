"""Components watched from another process: what it costs the program, how late verdicts come, what is kept."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

from harness import Goal, Row, quotients

from mopsus import _core
from mopsus.events.component.outline.program import command_of, environment_of
from mopsus.events.component.outline.session import Session
from mopsus.events.weave.launch import Program
from mopsus.logics import compile_spec
from mopsus.model import Verdict
from mopsus.run import Run, RunOptions, Sinks
from mopsus.run.sidecar import Sidecar, Terms, start_sidecars
from mopsus.spec import load_file

RATE = 50_000
EVENTS = 100_000
ROUNDS = 5
COMPONENTS = 10_000
LATENCIES = 4_000

LOAD = """
import json, queue, statistics, sys, threading, time

PARTS = 20

def worker(events, spin):
    inbox = queue.Queue()
    used, taken = [], []
    for _ in range(PARTS):
        begun, before = time.perf_counter(), time.thread_time()
        for number in range(events // 2 // PARTS):
            inbox.put(("job", number))
            inbox.get()
            for _ in range(spin):
                pass
        used.append(time.thread_time() - before)
        taken.append(time.perf_counter() - begun)
    # What the system did to some parts of the run is not of interest.
    print(json.dumps([PARTS * statistics.median(used), PARTS * statistics.median(taken)]), flush=True)

thread = threading.Thread(target=worker, args=tuple(map(int, sys.argv[1:])))
thread.start()
thread.join()
"""
PACED = """
import queue, sys, threading, time

def worker(count, pause):
    inbox = queue.Queue()
    for number in range(count):
        inbox.put(("late", number))
        time.sleep(pause)

thread = threading.Thread(target=worker, args=(int(sys.argv[1]), float(sys.argv[2])))
thread.start()
thread.join()
"""
MANY = """
import queue, sys, threading

def worker(number, inbox):
    inbox.put(("job", number))

inbox = queue.Queue()
for number in range(int(sys.argv[1])):
    thread = threading.Thread(target=worker, args=(number, inbox))
    thread.start()
    thread.join()
    inbox.get()
    if number % 1000 == 999:
        print(number + 1, flush=True)
        sys.stdin.readline()
"""
NEVER_NEGATIVE = """
with {0}:worker(_, _) monitor
  max(X. and(
    [_ <- _, {0}:worker(_, _)]X, [_ ? {{job, N}} when N < 0]ff, [_ ? {{job, N}} when N >= 0]X, [_:_ ! _]X, [_ ** _]X)).
"""
LATE = """
Late(p) {
    event sent(p) : send(p, _, ("late", _))
    fsm : odd [ sent -> even ] even [ sent -> odd ]
    @odd
    @even
}
"""


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in (("load.py", LOAD), ("paced.py", PACED), ("many.py", MANY)):
            (folder / file).write_text(text, encoding="utf-8")
        return [
            *_costs(folder, max(2_000, int(EVENTS * scale))),
            *_latencies(folder, max(100, int(LATENCIES * scale))),
            _memory(folder, max(3_000, int(COMPONENTS * scale) // 1000 * 1000)),
        ]


@contextmanager
def beside(folder: Path, spec: str, suffix: str) -> Iterator[tuple[Session, Sidecar]]:
    """A monitor process that listens."""
    path = folder / f"spec{suffix}"
    path.write_text(spec, encoding="utf-8")
    read = load_file(path)
    compiled = {name: compile_spec(each, read.source) for name, each in read.specs.items()}
    session = Session.create()
    try:
        (sidecar,) = start_sidecars(session, Run((compiled, []), RunOptions(history=0), Sinks()), Terms())
        yield session, sidecar
    finally:
        with suppress(OSError):  # the program has removed it, if it ended after its monitor
            _core.Board.open(session.board).dismiss()
        while not sidecar.gone:
            list(sidecar.read())
        sidecar.wait()
        session.remove()


def _run(script: Path, *arguments: object, session: Session | None = None) -> list[float]:
    words = tuple(map(str, arguments))
    if session is None:
        command, environment = [sys.executable, str(script), *words], None
    else:
        command, environment = command_of(Program(str(script), False, words)), environment_of(session)
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    times: list[float] = json.loads(done.stdout)
    return times


def _costs(folder: Path, events: int) -> list[Row]:
    """A thread that does as much beside its events as lets it come to 50,000 of them in a second."""
    script = folder / "load.py"
    bare, spun = _run(script, events, 0)[0], _run(script, events, 1000)[0]
    spin = max(0, round((events / RATE - bare) / (spun - bare) * 1000))
    plain: list[list[float]] = []
    watched: list[list[float]] = []
    for _ in range(ROUNDS):
        plain.append(_run(script, events, spin))
        with beside(folder, NEVER_NEGATIVE.format("load"), ".hml") as (session, _):
            watched.append(_run(script, events, spin, session=session))
    result = []
    for number, what in enumerate(("processor time", "time")):
        ours = [each[number] / events * 1e6 for each in watched]
        theirs = [each[number] / events * 1e6 for each in plain]
        rate = 1 / median(theirs) * 1e6
        result.append(
            Row(
                case=f"a program with {RATE:,} events/s, {what} on its side" if number == 0 else f"the same, {what}",
                unit="µs per event",
                ours=median(ours),
                base=f"unmonitored ({rate:,.0f}/s)",
                theirs=median(theirs),
                ratio=quotients(ours, theirs),
                goal=Goal("≤", 1.1) if number == 0 else None,
            )
        )
    return result


def _latencies(folder: Path, count: int) -> Iterator[Row]:
    """From the event to the verdict's arrival in the process that reports it."""
    for pause in (0.0002, 0.01):
        late: list[float] = []
        with beside(folder, LATE, ".mop") as (session, sidecar):
            words = (str(count if pause < 0.001 else count // 10), str(pause))
            command = command_of(Program(str(folder / "paced.py"), False, words))
            program = subprocess.Popen(command, env=environment_of(session))
            wanted = int(words[0])
            while len(late) < wanted and not sidecar.gone:
                late += [time.time() - float(each.time or 0) for each in sidecar.read() if isinstance(each, Verdict)]
            program.wait()
        late.sort()
        for name, share in (("p50", 0.5), ("p99", 0.99)):
            case = f"from an event to its verdict, {name}, an event every {pause * 1000:g} ms"
            yield Row(case=case, unit="µs", ours=late[int(len(late) * share)] * 1e6)


def _memory(folder: Path, count: int) -> Row:
    """The monitor process while components come and go, after the first thousand of them."""
    sizes: list[float] = []
    with beside(folder, NEVER_NEGATIVE.format("many"), ".hml") as (session, sidecar):
        command = command_of(Program(str(folder / "many.py"), False, (str(count),)))
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        program = subprocess.Popen(command, env=environment_of(session), text=True, **pipes)
        assert program.stdin is not None
        assert program.stdout is not None
        for _ in range(count // 1000):
            program.stdout.readline()
            time.sleep(0.3)
            sizes.append(_resident(sidecar.pid))
            program.stdin.write("\n")
            program.stdin.flush()
        program.communicate()
    return Row(
        case=f"memory of the monitor after {count:,} components that ended",
        unit="MB",
        ours=sizes[-1],
        base="after 1,000",
        theirs=sizes[0],
        ratio=quotients(sizes[-1:], sizes[:1]),
        goal=Goal("≤", 1.05),
    )


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    # Not the pages of the ring, which is as large as it is however much went through it.
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("RssAnon:"))
