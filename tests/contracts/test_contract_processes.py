"""What the standard library does in processes of its own is no violation of the program that has started them."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.interpreter

PROGRAM = """
import multiprocessing

if __name__ == "__main__":
    for method in ("forkserver", "spawn"):
        process = multiprocessing.get_context(method).Process(target=print, args=(method,))
        process.start()
        process.join()
"""


def test_processes_of_multiprocessing_break_no_contract(tmp_path):
    (tmp_path / "processes.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mopsus", "run", "--contracts", "stdlib", "--", "processes.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "forkserver\nspawn\n"), done.stderr
    assert "no violations" in done.stderr
