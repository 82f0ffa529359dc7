"""Pieces of work done by processes: every one is answered once, whatever happens to the process that does it."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import textwrap

from mopsus.decentral.experiment.pool import Failed, carry_out
from mopsus.model import MopsusError


def open_worker(kind="good"):
    if kind == "broken":
        raise MopsusError("nothing can be done")
    return do


def do(item):
    match item:
        case "raise":
            raise ValueError("odd")
        case "refuse":
            raise MopsusError("not this one")
        case "exit":
            os._exit(7)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
    return item, os.getpid()


def test_every_piece_is_answered_once():
    batches = [[(number, piece) for piece in range(3)] for number in range(5)]
    answers = list(carry_out(batches, open_worker, 2))
    assert sorted(item for item, _ in answers) == sorted(item for batch in batches for item in batch)
    assert all(item == answer[0] for item, answer in answers)
    pids = {number: {answer[1] for item, answer in answers if item[0] == number} for number in range(5)}
    assert all(len(each) == 1 for each in pids.values())
    assert len(set.union(*pids.values())) == 2


def test_what_fails_fails_alone():
    pieces = ["a", "raise", "b", "exit", "c", "kill", "refuse", "d", "exit"]
    answers = dict(carry_out([[*pieces[:-1]], ["last"], ["exit"]], open_worker, 1))
    assert {item: answer for item, answer in answers.items() if isinstance(answer, Failed)} == {
        "raise": Failed("ValueError: odd"),
        "refuse": Failed("not this one"),
        "exit": Failed("its process ended with status 7"),
        "kill": Failed("its process ended by SIGKILL"),
    }
    assert [answers[item][0] for item in ("a", "b", "c", "d", "last")] == ["a", "b", "c", "d", "last"]


def test_a_worker_that_cannot_be_opened_fails_all():
    answers = list(carry_out([[1, 2], [3]], functools.partial(open_worker, "broken"), 2))
    assert sorted(answers, key=lambda each: each[0]) == [
        (number, Failed("nothing can be done")) for number in (1, 2, 3)
    ]


def test_nothing_to_do_starts_no_process():
    assert list(carry_out([], open_worker, 4)) == []
    assert list(carry_out([[]], open_worker, 4)) == []


def test_workers_end_with_whoever_started_them(tmp_path):
    (tmp_path / "worker.py").write_text("import os\ndef opener():\n    return lambda item: os.getpid()\n")
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""
        import os, signal
        from mopsus.decentral.experiment.pool import carry_out
        from worker import opener

        if __name__ == "__main__":
            for _, pid in carry_out([[number] * 100 for number in range(6)], opener, 3):
                print(pid, flush=True)
                if _ == 3:
                    os.kill(os.getpid(), signal.SIGKILL)
        """)
    )
    # The workers have this pipe too: it is at its end only when all of them have ended.
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert done.stdout
