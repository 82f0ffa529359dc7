"""The package as users get it: built as a wheel, installed into an empty environment, and run."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "void use(int it) {} void done(void) {} int main(void) { use(7); done(); return 0; }"
PROPERTY = "slice on it state init accepting { transition { event use(it) success used } } state used accepting"


@pytest.mark.skipif("MOPSUS_WHEEL" not in os.environ, reason="builds everything anew: part of make test-all")
def test_a_wheel_installs_and_runs(tmp_path):
    def run(*command, typed=""):
        words = [str(word) for word in command]
        done = subprocess.run(
            words, input=typed, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    run(sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT)
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    (wheel,) = tmp_path.glob("*.whl")
    run(binaries / "pip", "install", "-qq", f"{wheel}[trace]")
    assert run(binaries / "mopsus", "--version").startswith("mopsus ")
    assert "DoneOnce" in run(binaries / "mopsus", "demo")
    assert "0 do not" in run(binaries / "mopsus", "contracts", "check", "iteration,objects")
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "used.prop").write_text(PROPERTY)
    run("cc", "-g", "-o", "program", "program.c")
    typed = "break done\nrun\nverde hooks\nquit\n"
    said = run(binaries / "mopsus", "debug", "--prop", "used.prop,quiet", "./program", typed=typed)
    assert "use: stepped inside of the program" in said
