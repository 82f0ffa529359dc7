"""What `mopsus simulate view` refuses; what it shows is tested in a browser."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

from ui.recordings import light

from mopsus.decentral.simulate.recording import save_recording


def view(folder, *words, before=""):
    run = f"{before}\nfrom mopsus.cli.main import main\nmain(['simulate', 'view', *{words!r}])"
    return subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, cwd=folder)


def test_a_file_that_is_no_recording(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    done = view(tmp_path, "run.json")
    assert done.returncode == 2
    assert "error[DECENTRAL-060]: run.json is not a recording" in done.stderr
    assert "mopsus simulate run --record writes one" in done.stderr


def test_a_port_that_is_taken(tmp_path):
    save_recording(tmp_path / "run.json", light())
    with socket.create_server(("127.0.0.1", 0)) as server:
        done = view(tmp_path, "run.json", "--port", str(server.getsockname()[1]))
    assert done.returncode == 2
    assert "error[UI-002]: cannot use port" in done.stderr


def test_the_extra_is_named_where_it_is_missing(tmp_path):
    save_recording(tmp_path / "run.json", light())
    done = view(tmp_path, "run.json", before="import sys\nsys.modules['nicegui'] = None")
    assert done.returncode == 2
    assert "error[UI-001]" in done.stderr
    assert "pip install 'mopsus[ui]'" in done.stderr


def test_an_address_that_nobody_reads(tmp_path):
    save_recording(tmp_path / "run.json", light())
    run = [sys.executable, "-m", "mopsus", "simulate", "view", "run.json"]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nowhere:
        done = subprocess.run(run, stdout=nowhere, stderr=subprocess.PIPE, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stderr) == (141, "")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(run, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "error[CLI-001]: standard output: No space left on device\n"


def test_two_signals_that_come_together(tmp_path):
    """A terminal and `npm` each pass on a Ctrl-C; the server showed the second as an error of its own."""
    save_recording(tmp_path / "run.json", light())
    run = [sys.executable, "-m", "mopsus", "simulate", "view", "run.json", "--no-browser"]
    page = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert page.stdout is not None
    assert page.stdout.readline().startswith("http://")
    for _ in range(2):
        page.send_signal(signal.SIGINT)
        time.sleep(0.02)
    _, complaints = page.communicate(timeout=60)
    assert (page.returncode, complaints) == (0, "")
