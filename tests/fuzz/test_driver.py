"""`tools/fuzz` says what it has found, and that it could not look."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FINE = """
from mopsus.bus.subjects import subject_of

def one(data):
    subject_of(data.decode("latin-1"))
"""
WRONG = FINE + "    assert len(data) < 3\n"


@pytest.fixture
def driver(tmp_path, monkeypatch):
    """The driver as a module, for targets in a folder of its own."""
    found = importlib.util.spec_from_file_location("fuzz_driver", ROOT / "tools" / "fuzz.py")
    module = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, "fuzz_driver", module)
    found.loader.exec_module(module)
    plain = module.environment
    monkeypatch.setattr(module, "PYTHON", tmp_path / "fuzz" / "targets")
    monkeypatch.setattr(module, "NATIVE", tmp_path / "cpp")
    monkeypatch.setattr(module, "FOUND", tmp_path / "found")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(
        module,
        "environment",
        lambda folder: (
            plain(folder) | {"PYTHONPATH": f"{ROOT / 'tests'}:{tmp_path}:{ROOT / 'src'}", "TMPDIR": str(tmp_path)}
        ),
    )
    module.PYTHON.mkdir(parents=True)
    return module


def run(driver, monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["fuzz", *words])
    return driver.main()


def test_a_finding_is_kept_and_seen_again(driver, monkeypatch, capfd):
    (driver.PYTHON / "fine_target.py").write_text(FINE)
    (driver.PYTHON / "wrong_target.py").write_text(WRONG)
    assert run(driver, monkeypatch, "--seconds", "1", "--seed", "5", "--jobs", "2") == 1
    out, err = capfd.readouterr()
    assert "seed 5" in out
    (fine,) = [line for line in out.splitlines() if "fine_target" in line]
    assert "nothing found" in fine
    (wrong,) = [line for line in out.splitlines() if "wrong_target" in line]
    assert "1 found" in wrong
    assert "AssertionError" in err
    (kept,) = (driver.FOUND / "wrong_target").iterdir()
    assert f"tools/fuzz wrong_target found/wrong_target/{kept.name}" in err
    assert run(driver, monkeypatch, "wrong_target", str(kept)) == 1
    (driver.PYTHON / "wrong_target.py").write_text(FINE)
    assert run(driver, monkeypatch, "wrong_target", str(kept)) == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import nothing_like_this\n", "made no runs"),
        ("def one(data):\n    pass\n", "saw nothing of the code"),
        (FINE + "    import os; os._exit(0)\n", "made no runs"),
    ],
)
def test_a_target_that_did_not_look_fails(driver, monkeypatch, capfd, text, why):
    (driver.PYTHON / "blind.py").write_text(text)
    assert run(driver, monkeypatch, "--seconds", "1") == 1
    assert why in capfd.readouterr().out


def test_a_target_that_does_not_end_is_killed_over_its_input(driver, monkeypatch, capfd):
    text = (
        "import signal\n" + FINE + "    while len(data) > 3:\n        signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
    )
    (driver.PYTHON / "endless.py").write_text(text)
    monkeypatch.setattr(driver, "GRACE_S", 3)
    assert run(driver, monkeypatch, "--seconds", "1", "--timeout", "2") == 1
    out, _ = capfd.readouterr()
    assert "did not end, and was killed" in out
    (kept,) = (driver.FOUND / "endless").iterdir()
    assert len(kept.read_bytes()) > 3


def test_what_cannot_be_run_is_said(driver, monkeypatch, capsys):
    (driver.PYTHON / "fine_target.py").write_text(FINE)
    assert run(driver, monkeypatch, "no_such_target") == 1
    assert run(driver, monkeypatch, "--seed", "x") == 1
    monkeypatch.setattr(driver, "find_spec", lambda name: None)
    assert run(driver, monkeypatch) == 1
    monkeypatch.setattr(driver, "LAST_WITH_ATHERIS", (3, 0))
    assert run(driver, monkeypatch, "--required") == 1
    assert run(driver, monkeypatch) == 1  # nothing is left
    driver.NATIVE.mkdir()
    (driver.NATIVE / "core_target.cpp").write_text("")
    monkeypatch.setattr(driver.shutil, "which", lambda name: None)
    assert run(driver, monkeypatch, "core_target") == 1
    told = capsys.readouterr().err
    for part in ("no target no_such_target", "`x` is no seed", "there is no atheris for fine_target", "left out: "):
        assert part in told
    assert "apt-get install clang " in told


def test_it_can_be_interrupted():
    words = [sys.executable, str(ROOT / "tools" / "fuzz.py"), "--seconds", "60", "--jobs", "1", "settings"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.readline()
        while not (found := children_of(child.pid)):
            time.sleep(0.05)
        (running,) = found
        child.send_signal(signal.SIGTERM)
        assert child.wait(20) == 130
        assert b"interrupted" in child.stderr.read()
    with pytest.raises(ProcessLookupError):
        os.kill(running, 0)


def children_of(process):
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
