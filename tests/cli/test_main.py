"""How commands are found, and how what they raise becomes a message and an exit status."""

import os
import signal
import subprocess
import sys

import pytest

from mopsus import collecting
from mopsus.cli import app as cli
from mopsus.cli.main import main
from mopsus.model import Diagnostic, MopsusError, Span


@pytest.fixture
def command(monkeypatch):
    """Put a function in the place of the command `demo`."""

    def install(function):
        monkeypatch.setattr(cli, "load_command", lambda name: function)

    return install


def status_of(*arguments):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code or 0


@pytest.mark.parametrize("status", [None, 0, 1, 2])
def test_what_a_command_returns_is_the_exit_status(command, status):
    def demo() -> int | None:
        """Do it."""
        return status

    command(demo)
    assert status_of("demo") == (status or 0)


@pytest.mark.parametrize("status", [0, 2])
def test_a_signal_that_comes_when_all_is_done_is_not_raised_any_more(command, monkeypatch, status):
    """Nobody would catch it: there was a traceback."""

    def demo() -> int:
        """Do it."""
        if status:
            raise MopsusError("the door is open")
        return status

    last = collecting.as_before

    def too_late():
        last()
        os.kill(os.getpid(), signal.SIGTERM)

    command(demo)
    monkeypatch.setattr(collecting, "as_before", too_late)
    assert status_of("demo") == status


def test_an_error_of_ours_is_shown_with_its_code_and_hint(command, capsys):
    def demo() -> int:
        raise MopsusError("the door is open", hint="close it", code="DOOR-001")

    command(demo)
    assert status_of("demo") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error[DOOR-001]: the door is open\n   = close it\n"


def test_every_diagnostic_of_an_error_is_shown(command, capsys):
    found = tuple(
        Diagnostic("DOOR-002", f"finding {n}", Span("door.mop", n, 1, n, 2), "mend it", "a line") for n in (1, 2)
    )

    def demo() -> int:
        raise MopsusError("two findings", diagnostics=found)

    command(demo)
    assert status_of("demo") == 2
    shown = capsys.readouterr().err
    assert "door.mop:1:1" in shown
    assert "door.mop:2:1" in shown
    assert "Traceback" not in shown


def test_a_fault_of_ours_is_short_and_asks_to_be_reported(command, capsys, monkeypatch):
    monkeypatch.delenv("MOPSUS_DEBUG", raising=False)

    def demo() -> int:
        raise ZeroDivisionError("oops")

    command(demo)
    assert status_of("demo") == 3
    shown = capsys.readouterr().err
    assert "ZeroDivisionError: oops" in shown
    assert "MOPSUS_DEBUG=1" in shown
    assert "Traceback" not in shown


def test_a_fault_of_ours_has_its_traceback_when_debugging(command, monkeypatch):
    monkeypatch.setenv("MOPSUS_DEBUG", "1")

    def demo() -> int:
        raise ZeroDivisionError("oops")

    command(demo)
    with pytest.raises(ZeroDivisionError):
        main(["demo"])


def test_an_interrupt_ends_quietly(command, capsys):
    def demo() -> int:
        raise KeyboardInterrupt

    command(demo)
    assert status_of("demo") == 130
    assert capsys.readouterr() == ("", "")


def test_an_unknown_command_is_misuse(capsys):
    assert status_of("chekc") == 2
    assert "check" in capsys.readouterr().err


def test_an_unknown_option_is_misuse(command, capsys):
    def demo() -> int:
        return 0

    command(demo)
    assert status_of("demo", "--nonsense") == 2
    assert "--nonsense" in capsys.readouterr().err


def test_the_version_is_that_of_the_package(capsys):
    from importlib.metadata import version

    assert status_of("--version") == 0
    assert capsys.readouterr().out.startswith(f"mopsus {version('mopsus')} ")


def test_help_lists_every_command(capsys):
    assert status_of("--help") == 0
    shown = capsys.readouterr().out
    for name in cli.COMMANDS:
        assert name in shown


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself(name, capsys):
    assert status_of(name, "--help") == 0
    assert f"mopsus {name}" in capsys.readouterr().out


def test_a_reader_that_leaves_is_no_error():
    printing = (
        "from mopsus.cli import app as cli\n"
        "from mopsus.cli.main import main\n"
        "def demo() -> int:\n"
        "    for _ in range(100_000): print('line')\n"
        "    return 0\n"
        "cli.load_command = lambda name: demo\n"
        "main(['demo'])\n"
    )
    with subprocess.Popen([sys.executable, "-c", printing], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(timeout=30) == 141


@pytest.mark.parametrize("arguments", [("--version",), ("fmt", "--help")])
def test_starting_imports_nothing_that_the_command_does_not_need(arguments):
    probe = (
        "import sys\n"
        "from mopsus.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit:\n    pass\n"
        "print([name for name in ('pyarrow', 'mopsus.logics', 'pydantic', 'mopsus._core') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", probe, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [["fmt", "-"], ["dap"], ["compile", "ere", "-", "-e", "a"]], ids=" ".join)
def test_a_closed_standard_input_is_empty(words):
    done = subprocess.run(
        [sys.executable, "-m", "mopsus", *words],
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.close(0),
        timeout=60,
    )
    assert done.returncode in (0, 2), done.stderr
    assert "internal error" not in done.stderr
