"""The example logs are what their programs write, and hold the bugs that the demonstration speaks of."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("program", "log"), [("leases/job_queue.py", "leases/queue.jsonl"), ("pool/web_service.py", "pool/pool.csv")]
)
def test_a_log_is_what_its_program_writes(program, log):
    done = subprocess.run([sys.executable, EXAMPLES / program], capture_output=True, check=True)
    assert done.stdout == (EXAMPLES / log).read_bytes()


def test_two_of_four_expired_leases_end_in_an_invoice_sent_twice():
    rows = [msgspec.json.decode(line) for line in (EXAMPLES / "leases/queue.jsonl").read_bytes().splitlines()]
    done = Counter(row["job_id"] for row in rows if row["msg"] == "job done")
    expired = {row["job_id"] for row in rows if row["msg"] == "lease expired"}
    twice = {job for job, times in done.items() if times > 1}
    assert len(expired) == 4
    assert len(twice) == 2
    assert twice < expired
