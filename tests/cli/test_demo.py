"""`mopsus demo` tells its story from real runs and leaves its files to play with."""

import subprocess
import sys


def test_the_story_ends_with_the_violations_explained(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mopsus", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("StaleCursor", "export.py", "LeaseKept", "DoneOnce", "invoice-1066", "invoice-1289", "Now yours"):
        assert word in done.stdout
    assert (tmp_path / "mopsus-demo" / "leases" / "leases.mop").exists()


def test_what_the_reader_changed_is_shown_again(tmp_path):
    spec = tmp_path / "mine" / "pool" / "cursor.mop"
    command = [sys.executable, "-m", "mopsus", "demo", "mine"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    spec.write_text(spec.read_text().replace("StaleCursor", "MyOwnName"))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "MyOwnName" in done.stdout
