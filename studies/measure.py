"""The tests of a project, run in turn without and with contracts, and compared test by test."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from studies.environment import Environment
from studies.error import StudyError
from studies.projects import Project
from studies.results import Changed, Counts, Outcome, Times, Violation

CONTRACTS = "stdlib,packages"
TESTS_RAN = (0, 1)
"""How pytest ends if all went well but for tests that failed."""

Say = Callable[[str], None]


class Record(msgspec.Struct):
    """What the recorder writes."""

    outcomes: dict[str, str]
    test_s: float
    counts: dict[str, dict[str, int]] = {}
    events: int = 0
    findings: list[Violation] = []


@dataclass(frozen=True)
class Run:
    """One run of the tests."""

    seconds: float
    cpu_s: float
    record: Record


def study(project: Project, environment: Environment, rounds: int, say: Say) -> Outcome:
    """Run the tests once to warm up, once with an empty cache, then in turn."""
    runs: dict[str, list[Run]] = {"plain": [], "watched": []}

    def run(kind: str, about: str) -> Run:
        done = run_tests(project, environment, kind)
        say(f"  {about}: {done.seconds:.1f} s, {len(done.record.outcomes)} tests")
        return done

    warm_up = run("plain", "without contracts, to warm up")
    shutil.rmtree(environment.work / "cache", ignore_errors=True)
    first = run("watched", "with contracts, nothing woven before")
    for number in range(rounds):
        for kind, about in (("plain", "without contracts"), ("watched", "with contracts")):
            runs[kind].append(run(kind, f"{about}, {number + 1} of {rounds}"))
    plain, watched = runs["plain"], runs["watched"]
    changed, unstable = compare([warm_up, *plain], [first, *watched])
    last = watched[-1].record
    return Outcome(
        version=project.version,
        python=platform.python_version(),
        end_to_end=_times(plain, watched, lambda run: run.seconds),
        cpu=_times(plain, watched, lambda run: run.cpu_s),
        tests=_times(plain, watched, lambda run: run.record.test_s),
        first_s=round(first.seconds, 2),
        outcomes=dict(sorted(Counter(plain[-1].record.outcomes.values()).items())),
        changed=changed,
        unstable=unstable,
        contracts={
            name: Counts(counts["events"], counts["created"])
            for name, counts in sorted(last.counts.items())
            if counts["events"]
        },
        violations=_joined(each.record.findings for each in [first, *watched]),
    )


def _times(plain: Iterable[Run], watched: Iterable[Run], of: Callable[[Run], float]) -> Times:
    return Times([round(of(run), 2) for run in plain], [round(of(run), 2) for run in watched])


def compare(plain: Sequence[Run], watched: Sequence[Run]) -> tuple[list[Changed], list[str]]:
    """The tests that had an outcome with contracts that they never had without, and those that have several without."""
    without, with_us = _outcomes(plain), _outcomes(watched)
    changed = [
        Changed(name, sorted(without.get(name, ())), sorted(with_us.get(name, ())))
        for name in sorted(without.keys() | with_us.keys())
        if not with_us.get(name, {"absent"}) <= without.get(name, set())
    ]
    return changed, sorted(name for name, found in without.items() if len(found) > 1)


def _outcomes(runs: Iterable[Run]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for run in runs:
        for name, outcome in run.record.outcomes.items():
            found.setdefault(name, set()).add(outcome)
    return found


def _joined(findings: Iterable[list[Violation]]) -> list[Violation]:
    """Each place once, with the counts of the last run that it was seen in."""
    places = {(each.contract, each.place): each for found in findings for each in found}
    return [places[key] for key in sorted(places)]


def run_tests(project: Project, environment: Environment, kind: str) -> Run:
    """Run the tests once, `plain` or `watched`."""
    record, log = environment.work / "record.json", environment.work / f"{kind}.log"
    record.unlink(missing_ok=True)
    watching = ["--mopsus-contracts", CONTRACTS] if kind == "watched" else ["-p", "no:mopsus"]
    options = ["-q", "--rootdir=.", "-p", "mopsus_study", "-p", "no:cacheprovider", *watching]
    command = [str(environment.python), "-m", "pytest", *options, *project.arguments]
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON", "MOPSUS"))},
        **environment.variables(project),
        "MOPSUS_STUDY_RECORD": str(record),
        "MOPSUS_STUDY_LIBRARIES": str(environment.libraries),
    }
    with log.open("wb") as file:
        start, cpu = time.perf_counter(), _cpu_s()
        status = _run(command, project.timeout_s, cwd=environment.source, env=variables, stdout=file)
        seconds, cpu = time.perf_counter() - start, _cpu_s() - cpu
    if status not in TESTS_RAN or not record.exists():
        last = " / ".join(log.read_text(errors="replace").strip().splitlines()[-3:])
        ended = "did not end in time" if status is None else f"ended with status {status}"
        raise StudyError(
            f"the tests of {project.name} ({kind}) {ended}: {last}",
            hint=f"read {log}; what cannot run without contracts is left out by `deselect`, with its reason",
        )
    found = msgspec.json.decode(record.read_bytes(), type=Record)
    if kind == "watched" and not found.events:  # an error of ours at the end of a run is none of pytest
        raise StudyError(
            f"nothing was seen of the tests of {project.name}",
            hint=f"read {log}; if the core was not built from these sources, run `make setup`",
        )
    return Run(seconds, cpu, found)


def _cpu_s() -> float:
    """The time that processors have spent on processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(command: list[str], timeout_s: float, **options: Any) -> int | None:  # noqa: ANN401 - as for Popen
    """Run a command and all that it starts; gives its status, None if it took too long."""
    # A session of its own, so that what tests leave behind can be ended with them.
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True, **options
    )
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
