"""Checkpoints of programs under GDB, by the size of the process: taken and restored, by fork and in place, beside the
figures that the first tool of this kind published for CRIU, in memory."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from harness import Row

SOURCES = Path(__file__).parent.parent / "src"
REPETITIONS = 10
PUBLISHED_MS = {1: (20.5, 46.9), 10: (23.7, 43.8), 100: (49.4, 76.6), 250: (91.8, 108.6), 500: (173.2, 179.6)}
"""By megabytes: to take a checkpoint, and to restore it."""

PROGRAM = """
    #include <pthread.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>

    char *block;
    pthread_barrier_t ready;
    static void *sleeping(void *unused) { pthread_barrier_wait(&ready); for (;;) pause(); }
    __attribute__((noinline)) void moment(void) { __asm__ volatile(""); }
    /* megabytes, threads */
    int main(int count, char **words) {
        size_t size = (size_t) atoi(words[1]) << 20;
        pthread_t thread;
        memset(block = malloc(size), 1, size);
        pthread_barrier_init(&ready, 0, 2);
        if (atoi(words[2])) pthread_create(&thread, 0, sleeping, 0), pthread_barrier_wait(&ready);
        for (;;) { block[size / 2]++; moment(); }
    }
"""
MEASURE = """
import json, sys, time
import gdb

sys.path.insert(0, {sources!r})
from mopsus.interactive.gdb.checkpoint import ProgramCheckpoints

checkpoints = ProgramCheckpoints()
times = [[], []]
for turn in range({repetitions} + 1):
    begun = time.perf_counter()
    saved = checkpoints.take()
    taken = time.perf_counter() - begun
    gdb.execute("continue", to_string=True)
    begun = time.perf_counter()
    checkpoints.restore(saved)
    restored = time.perf_counter() - begun
    checkpoints.discard(saved)
    if turn:  # the first warms up
        times[0].append(taken)
        times[1].append(restored)
with open({target!r}, "w") as file:
    json.dump(times, file)
gdb.execute("kill", to_string=True)
"""


def rows(scale: float) -> list[Row]:
    """All rows of this benchmark."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sized.c").write_text(PROGRAM)
        command = ["cc", "-g", "-O1", "-pthread", str(folder / "sized.c"), "-o", str(folder / "sized")]
        subprocess.run(command, check=True)
        for threads, kind in ((0, "by fork"), (1, "in place, two threads")):
            for megabytes, published in PUBLISHED_MS.items():
                if megabytes <= 500 * scale or megabytes == 1:
                    measured = _measure(folder, megabytes, threads, max(2, round(REPETITIONS * scale)))
                    found += [
                        Row(
                            case=f"{what} a process of {megabytes} MB {kind}",
                            unit="ms",
                            ours=ours,
                            base="CRIU, as published",
                            theirs=theirs,
                            ratio=(ours / theirs,) * 3,
                        )
                        for what, ours, theirs in zip(("save", "restore"), measured, published, strict=True)
                    ]
    return found


def _measure(folder: Path, megabytes: int, threads: int, repetitions: int) -> tuple[float, float]:
    """Milliseconds, to take a checkpoint and to restore it."""
    script, target = folder / "measure.py", folder / "times.json"
    script.write_text(MEASURE.format(sources=str(SOURCES), repetitions=repetitions, target=str(target)))
    commands = ["set confirm off", "break moment", f"run {megabytes} {threads}", f"source {script}"]
    words = [word for command in commands for word in ("-ex", command)]
    line = ["gdb", "-q", "-nx", "-batch", *words, str(folder / "sized")]
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if not target.exists():
        raise RuntimeError(done.stdout + done.stderr)
    taken, restored = json.loads(target.read_text())
    target.unlink()
    return median(taken) * 1000, median(restored) * 1000
