"""Fuzz what reads text and bytes from outside: the targets in cpp/fuzz and tests/fuzz/targets.

tools/fuzz                        every target for a minute
tools/fuzz --seconds 600 formula  these targets, for ten minutes each
tools/fuzz formula FILE…          run files through a target once: is what was found still there?
tools/fuzz --list                 the targets

A target of the core is a program that is built with clang and libFuzzer. A target in Python is a module with a function
`one(data)`, which atheris runs. Each begins with the files in tests/fuzz/corpus/TARGET. An input over which a target
crashes, raises an error, takes longer than --timeout or needs too much memory is kept in build/fuzz/found/TARGET.

The status is 1 if anything was found, and also if a target could not be built or started, has run no input, or has seen
nothing of the code: nothing found must never look like nothing seen.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "cpp" / "fuzz"
PYTHON = ROOT / "tests" / "fuzz" / "targets"
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
WORDS = ROOT / "tests" / "fuzz" / "dictionaries"
BUILD = ROOT / "build" / "fuzz"
PROGRAMS = ROOT / "build" / "sanitized"
FOUND = BUILD / "found"
COMPILERS = ("clang++", "clang++-14")
LAST_WITH_ATHERIS = (3, 14)
"""The last Python that there is a wheel of atheris for: up to it, targets in Python are never left out."""
MEMORY_MB = 3000
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where files of targets need no disk."""
GRACE_S = 300
"""How much longer than its time and one input a target may take, to start and to stop on a busy machine."""
_PROGRESS = re.compile(r"^#(\d+)\s.*?\bcov: (\d+)", re.MULTILINE)
_RUNS = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.MULTILINE)
_INPUTS = ("crash-", "timeout-", "oom-", "leak-")
"""How libFuzzer names what it keeps of a finding."""
_NOISE = ("#", "stat::", "INFO:", "WARNING: Failed to find", "MS: ", "0x", "\\", "Base64:")
"""How lines begin that nobody wants to read."""


class FuzzError(Exception):
    """Fuzzing cannot be done, or not of everything."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something that is fed inputs."""

    name: str
    native: bool

    def command(self) -> list[str]:
        """What runs it, before the options of libFuzzer."""
        if self.native:
            return [str(PROGRAMS / f"fuzz_{self.name}")]
        return [sys.executable, "-m", "fuzz.run", self.name]


@dataclass(frozen=True, slots=True)
class Options:
    """How each target is run."""

    seconds: int
    timeout_s: int
    seed: int
    grow: bool


@dataclass(slots=True)
class Run:
    """A target that runs, or has run."""

    target: Target
    options: Options
    folder: Path
    """Where it writes what is not kept."""
    started: float = field(default_factory=time.monotonic)
    killed: bool = False
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        name, options = self.target.name, self.options
        found, corpus = FOUND / name, (BUILD / "corpus" if options.grow else self.folder) / name
        found.mkdir(parents=True, exist_ok=True)
        corpus.mkdir(parents=True, exist_ok=True)
        command = [
            *self.target.command(),
            f"-max_total_time={options.seconds}",
            f"-timeout={options.timeout_s}",
            f"-report_slow_units={options.timeout_s}",
            f"-seed={options.seed}",
            f"-rss_limit_mb={MEMORY_MB}",
            f"-artifact_prefix={found}/",
            "-print_final_stats=1",
        ]
        if (words := WORDS / f"{name}.dict").exists():
            command.append(f"-dict={words}")
        command += [str(folder) for folder in (corpus, CORPUS / name) if folder.exists()]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment(self.folder),
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_take_signals,
            )

    @property
    def log(self) -> Path:
        return self.folder / f"{self.target.name}.log"

    def is_over(self) -> bool:
        """Has it ended? One that does not end when it should is killed."""
        if self.process.poll() is not None:
            return True
        if time.monotonic() - self.started > self.options.seconds + self.options.timeout_s + GRACE_S:
            self.killed = True
            self.process.send_signal(signal.SIGABRT)  # libFuzzer then keeps the input that it was at
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            self.stop()
        return False

    def stop(self) -> None:
        """End it and whatever it has started, now."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def result(self) -> Result:
        """What came of it."""
        text = self.log.read_text("utf-8", "replace")
        progress = _PROGRESS.findall(text)
        total = _RUNS.search(text)
        runs = int(total[1]) if total else max((int(run) for run, _ in progress), default=0)
        edges = max((int(covered) for _, covered in progress), default=0)
        return Result(self.target, runs, edges, self._problem(runs, edges), self._inputs(), text)

    def _problem(self, runs: int, edges: int) -> str:
        """What is wrong with the run itself, besides what it has found."""
        if self.killed:
            return "did not end, and was killed"
        if not runs:
            return "made no runs"
        if not edges:
            return "saw nothing of the code"
        if self.process.returncode and not self._inputs():
            return f"ended with status {self.process.returncode}"
        return ""

    def _inputs(self) -> list[Path]:
        """What it has found, for the first time or again."""
        since = time.time() - (time.monotonic() - self.started) - 1
        return sorted(
            path
            for path in (FOUND / self.target.name).iterdir()
            if path.name.startswith(_INPUTS) and path.stat().st_mtime >= since
        )


@dataclass(frozen=True, slots=True)
class Result:
    """What came of running a target."""

    target: Target
    runs: int
    edges: int
    problem: str
    inputs: list[Path]
    log: str

    @property
    def is_good(self) -> bool:
        return not self.problem and not self.inputs

    def line(self) -> str:
        """For people."""
        kind = "core" if self.target.native else "python"
        said = self.problem or (f"{len(self.inputs)} found" if self.inputs else "nothing found")
        return f"  {self.target.name:<20} {kind:<7} {self.runs:>10,} runs {self.edges:>7,} edges   {said}"

    def story(self) -> str:
        """The end of what it said, and how to see it again."""
        again = [f"    tools/fuzz {self.target.name} {path.relative_to(ROOT)}" for path in self.inputs]
        said = [line for line in self.log.splitlines() if not line.startswith(_NOISE)]
        return "\n".join([f"\n{self.target.name}:", *said[-60:], *(["  once more:"] if again else []), *again])


def main() -> int:
    given = parser().parse_args()
    targets = all_targets()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        if given.list:
            for target in targets.values():
                print(f"{target.name:<20} {'core' if target.native else 'python'}")
            return 0
        if given.targets and len(given.targets) > 1 and given.targets[1] not in targets:
            return once(chosen(targets, given.targets[:1]), given.targets[1:], given.timeout)
        wanted = present(chosen(targets, given.targets), required=given.required)
        options = Options(given.seconds, given.timeout, seed_of(given.seed), given.grow)
        print(f"seed {options.seed}, {options.seconds} s for each of {len(wanted)} targets")
        build([target for target in wanted if target.native], given.jobs)
        return fuzz(wanted, options, given.jobs)
    except FuzzError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("fuzz: interrupted", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "tools/fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "targets", nargs="*", metavar="TARGET", help="all if none is named; a target may be followed by files"
    )
    made.add_argument("--seconds", type=int, default=60, metavar="N", help="for each target (default: 60)")
    made.add_argument(
        "--timeout", type=int, default=60, metavar="N", help="an input that takes longer is a finding (60 s)"
    )
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="so many targets at once")
    made.add_argument(
        "--seed", default="commit", help="a number, `commit`: one made of the commit (default), or `random`; it is told"
    )
    made.add_argument(
        "--grow", action="store_true", help="keep interesting inputs in build/fuzz/corpus, and begin with those"
    )
    made.add_argument("--required", action="store_true", help="fail if targets are left out because atheris is missing")
    made.add_argument("--list", action="store_true", help="list the targets")
    return made


def all_targets() -> dict[str, Target]:
    """By name, those of the core first."""
    native = [Target(path.stem, True) for path in sorted(NATIVE.glob("*.cpp"))]
    python = [Target(path.stem, False) for path in sorted(PYTHON.glob("*.py"))]
    found = {target.name: target for target in native}
    for target in python:
        if found.setdefault(target.name, target) is not target:
            raise FuzzError(f"{target.name} is a target of the core and one in Python: they would share a corpus")
    return found


def chosen(targets: dict[str, Target], names: list[str]) -> list[Target]:
    """Those that are named, or all."""
    for name in names:
        if name not in targets:
            raise FuzzError(f"there is no target {name}; tools/fuzz --list has them")
    return [targets[name] for name in dict.fromkeys(names or targets)]


def present(targets: list[Target], *, required: bool) -> list[Target]:
    """Those that can be run here. What is left out is told, and an error where it need not be."""
    absent = [target.name for target in targets if not target.native]
    if not absent or find_spec("atheris") is not None:
        return targets
    reason = f"there is no atheris for {', '.join(absent)}"
    if required or sys.version_info[:2] <= LAST_WITH_ATHERIS:
        raise FuzzError(f"{reason}: .venv/bin/python -m pip install --group fuzz")
    print(f"left out: {reason} on Python {sys.version_info[0]}.{sys.version_info[1]}", file=sys.stderr)
    left = [target for target in targets if target.native]
    if not left:
        raise FuzzError("no target is left")
    return left


def seed_of(text: str) -> int:
    """A number from 1 on, which libFuzzer takes as it is."""
    if text == "random":
        return random.randrange(1, 2**31)
    if text == "commit":
        done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
        return int(hashlib.sha256(done.stdout.encode()).hexdigest()[:7], 16) + 1
    if not text.isdecimal() or not 0 < int(text) < 2**32:
        raise FuzzError(f"`{text}` is no seed: give a number from 1 on, `commit` or `random`")
    return int(text)


def build(targets: list[Target], jobs: int) -> None:
    """Build targets of the core; they are built together."""
    if not targets:
        return
    if not any(shutil.which(name) for name in COMPILERS):
        raise FuzzError("clang is missing, which targets of the core need: apt-get install clang libclang-rt-dev")
    done = subprocess.run(["tools/build-sanitized", str(jobs)], cwd=ROOT, check=False)
    if done.returncode:
        raise FuzzError("the targets of the core could not be built")
    for target in targets:
        if not Path(target.command()[0]).exists():
            raise FuzzError(f"the build has made no {target.command()[0]}")


def fuzz(targets: list[Target], options: Options, jobs: int) -> int:
    """Run them, so many at once; the status."""
    results: list[Result] = []
    waiting, running = targets[::-1], list[Run]()
    with tempfile.TemporaryDirectory(prefix="mopsus-fuzz-", dir=MEMORY) as folder:
        try:
            while waiting or running:
                while waiting and len(running) < max(1, jobs):
                    with _uninterrupted():  # what has been started is stopped at the end, too
                        running.append(Run(waiting.pop(), options, Path(folder)))
                for run in [run for run in running if run.is_over()]:
                    running.remove(run)
                    results.append(run.result())
                    print(results[-1].line(), flush=True)
                time.sleep(0.02)
        finally:
            for run in running:
                run.stop()
            bad = [result for result in results if not result.is_good]
            for result in bad:
                print(result.story(), file=sys.stderr)
    if bad:
        print(f"fuzz: {len(bad)} of {len(targets)} targets failed", file=sys.stderr)
    return 1 if bad else 0


def once(targets: list[Target], files: list[str], timeout_s: int) -> int:
    """Run files through one target, each once; what it says is not hidden."""
    (target,) = present(targets, required=True)
    for file in files:
        if not Path(file).is_file():
            raise FuzzError(f"there is neither a target nor a file {file}")
    build([target] if target.native else [], os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="mopsus-fuzz-", dir=MEMORY) as folder:
        command = [*target.command(), f"-timeout={timeout_s}", f"-artifact_prefix={folder}/"]
        paths = [str(Path(file).resolve()) for file in files]
        done = subprocess.run([*command, *paths], cwd=ROOT, env=environment(Path(folder)), check=False)
    print("the target fails" if done.returncode else "nothing is wrong", file=sys.stderr)
    return 1 if done.returncode else 0


def environment(folder: Path) -> dict[str, str]:
    """Where the modules of targets are found, and where they may leave what they like."""
    path = f"{ROOT / 'tests'}:{ROOT / 'src'}"
    return {**os.environ, "PYTHONPATH": path, "TMPDIR": str(folder), "PYTHONHASHSEED": "0"}


def _take_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Here signals wait until the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
