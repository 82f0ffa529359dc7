"""Signals at any moment, in any command: it ends soon, says so, and what it has written is whole.

Which command, which signal and when are drawn independently. `make test` draws few, `make test-all` many.
"""

import importlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bus.servers import nats_server

from mopsus.cli.app import COMMANDS as TOP_LEVEL
from mopsus.cli.app import GROUPS
from mopsus.events.component.outline.session import Session
from mopsus.model import MopsusError

CASES = max(12, int(os.environ.get("MOPSUS_CASES", "0")) // 200)
SEED = random.randrange(10**9) if os.environ.get("MOPSUS_RANDOM") else 4
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ENDED = {"detach": {2}}
"""The status of those that have ended by themselves, if it is not that of success or of violations."""
WITHIN_S = 10
"""Much more than it may take, because the machine does other things, too; what never ends is found anyway."""

REPORTS = ["--html", "r.html", "--junit", "r.xml", "--sarif", "r.sarif"]
LOOP = """
import time

def step():
    list(iter([]))
    time.sleep(0.001)

while True:
    step()
"""
COMMANDS = {
    "check": ["check", "many.mop", "long.csv", *REPORTS],
    "check quietly": ["check", "--json", "few.mop", "long.csv", "--html", "r.html"],
    "check a pipe": ["check", "few.mop", "-", "--junit", "r.xml"],
    "check slowly": ["check", "slow.mop", "long.csv", "--sarif", "r.sarif"],
    "watch": ["watch", "many.mop", "long.csv", *REPORTS],
    "watch what is not there": ["watch", "few.mop", "none.csv", "--html", "r.html"],
    "run": ["run", "--contracts", "stdlib", *REPORTS, "--", "loop.py"],
    "record": ["component", "record", "-o", "r.log", "--", "loop.py"],
    "listen": ["component", "listen", "c.hml", "--html", "r.html"],
    "compile": ["compile", "ere", "(a|b)* a (a|b)^14", "-e", "a,b"],
    "equiv": ["equiv", "few.mop", "many.mop"],
    "graph": ["graph", "few.mop"],
    "fmt": ["fmt", "few.mop"],
    "contracts list": ["contracts", "list"],
    "contracts show": ["contracts", "show", "UnsafeIter"],
    "contracts check": ["contracts", "check", "UnsafeIter"],
    "demo": ["demo"],
    "help": ["--help"],
    "watch and keep": ["watch", "many.mop", "long.csv", "--state", "kept", "--verdicts", "told.jsonl"],
    "debug": ["debug", "--batch", "--prop", "loop.prop", "--html", "r.html", "loop.py"],
    "debug at a prompt": ["debug", "--prop", "loop.prop", "loop.py"],
    "debug a compiled program": ["debug", "--batch", "--prop", "sleeps.prop", "--junit", "r.xml", "sleep", "60"],
    "dap": ["dap"],
    "start": ["component", "start", "--", "loop.py"],
    "attach": ["component", "attach", "c.hml", "PROGRAM", "--html", "r.html"],
    "detach": ["component", "detach", "PROGRAM"],
    "erlang": ["component", "erlang", "c.hml", "--start", "timer:sleep(60000)"],
    "simulate run": ["simulate", "run", "-s", "late.toml", "-t", "traces", "-a", "orch"],
    "simulate experiment": ["simulate", "experiment", "experiment.toml"],
    "simulate report": ["simulate", "report", "results.db"],
    "simulate view": ["simulate", "view", "run.json", "--no-browser"],
    "simulate analyse": ["simulate", "analyse", "late.toml"],
    "simulate rate": ["simulate", "rate", "door.csv"],
    "simulate deploy": ["simulate", "deploy", "late.deploy.toml"],
    "simulate host": ["simulate", "host", "hall", "--bus", "BUS", "--journal", "journals"],
    "simulate relay": ["simulate", "relay", "--bus", "BUS"],
    "generate traces": ["simulate", "generate", "traces", "drawn", "--length", "20000"],
    "generate formulas": ["simulate", "generate", "formulas", "--count", "100000"],
}
ENDLESS = {"watch", "watch what is not there", "watch and keep", "listen", "attach", "erlang"}
ENDLESS |= {"simulate view", "simulate host", "simulate relay"}
"""What a signal is meant to end: the status is then that of what was found."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals")
    (folder / "few.mop").write_text("Few(x) { event a(x); event b(x); ere : (a b) (a b) a a }\n")
    (folder / "many.mop").write_text("Many(x) { event a(x); event b(x); ere : a }\n")
    (folder / "slow.mop").write_text(
        "import time\nSlow(x) { event a(x) { time.sleep(0.01) } event b(x) ere : a a a a }\n"
    )
    (folder / "loop.py").write_text(LOOP)
    (folder / "c.hml").write_text("with server:loop(_) monitor [_ <- _, server:loop(_)] ff.\n")
    (folder / "loop.prop").write_text("state init { transition { event step() success init } }\n")
    (folder / "sleeps.prop").write_text("state init { transition { event nanosleep() success init } }\n")
    rows = "".join(f"{'ab'[k % 2]},{k % 5000}\n" for k in range(20_000))
    with (folder / "long.csv").open("w") as file:
        file.write("event,x\n")
        for _ in range(100):
            file.write(rows)
    write_simulated(folder)
    return folder


@pytest.fixture(scope="module")
def bus():
    with nats_server(token=None) as server:
        yield server.url


def write_simulated(folder):
    """Components whose verdict comes as late as their traces are long, and results and a recording of another run."""
    names = '[components]\nswitch = ["s"]\nbulb = ["l"]\n\n[monitors]\ncheck = '
    (folder / "late.toml").write_text(f'{names}"G(s -> X l)"\n')
    (folder / "traces").mkdir()
    for name, atom, rounds in (("0-a", "s", 20_000), ("0-b", "l", 20_000), ("1-a", "s", 3), ("1-b", "l", 3)):
        (folder / "traces" / f"{name}.trace").write_text(f"{atom}:t\n" * rounds)
    (folder / "experiment.toml").write_text(
        'algorithms = ["orch", "migr"]\nlimit = 20000\n'
        '[[series]]\ncomponents = 2\nspecs = "late.toml"\ntraces = "traces"\nruns = 1\n'
    )
    (folder / "late.deploy.toml").write_text(
        'specification = "late.toml"\nalgorithm = "migr"\n'
        '[components.switch]\nhost = "hall"\nperipheries = [{ kind = "file", path = "traces/0-a.trace" }]\n'
        '[components.bulb]\nhost = "lamp"\nperipheries = [{ kind = "file", path = "traces/0-b.trace" }]\n'
    )
    (folder / "door.csv").write_text("".join(f"{k},{'OPEN' if k % 2 else 'CLOSED'}\n" for k in range(100_000)))
    short = ["--spec", "late.toml", "--traces", "traces", "--run", "1", "--algorithm", "orch"]
    with mopsus(folder, "simulate", "run", *short, "--record", "run.json") as process:
        process.communicate()
    large = (folder / "experiment.toml").read_text()
    (folder / "small.toml").write_text(large.replace("20000", "5"))
    with mopsus(folder, "simulate", "experiment", "small.toml") as process:
        process.communicate()
    (folder / "small.db").rename(folder / "results.db")


def mopsus(folder, *arguments, **options):
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    words = [sys.executable, "-m", "mopsus", *arguments]
    return subprocess.Popen(words, cwd=folder, text=True, start_new_session=True, **streams)


def check_reports(folder):
    """Those that are there are whole."""
    readers = {"r.html": check_html, "r.xml": ElementTree.parse, "r.sarif": lambda path: json.loads(path.read_text())}
    for name, read in readers.items():
        if (folder / name).exists():
            read(folder / name)


def can_be_attached_to(pid):
    with suppress(MopsusError):
        return Session.find(pid) is not None
    return False


def eventually(holds):
    """Children that were told to end need a moment."""
    end = time.monotonic() + WITHIN_S
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def group_is_there(leader):
    with suppress(ProcessLookupError):
        os.killpg(leader, 0)
        return True
    return False


def processes_in(folder):
    """The command lines of all processes that were started in a folder and are still there."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and (process / "cwd").readlink() == folder:
                found.append((process / "cmdline").read_bytes())
    return [words for words in found if words]  # a zombie has none


def check_html(path):
    assert path.read_text().rstrip().endswith("</html>")


def began(said):
    """Had our own code begun when the signal came? The start of an interpreter and the search for us are not ours."""
    return "/mopsus/stopping.py" in said or "/mopsus/cli/app.py" in said or "Mopsus" in said


def test_every_command_is_tried():
    groups = {name: importlib.import_module(f"mopsus.cli.{name}").COMMANDS for name in GROUPS}
    leaves = [name for name in TOP_LEVEL if name not in groups]
    leaves += [
        f"{group}.{name}" for group, names in groups.items() for name in names if f"{group}.{name}" not in groups
    ]
    tried = [" ".join(words) for words in COMMANDS.values()]
    assert not [leaf for leaf in leaves if not any(words.startswith(leaf.replace(".", " ")) for words in tried)]


@pytest.mark.parametrize("case", range(CASES))
def test_a_signal_at_any_moment(files, bus, tmp_path, case):
    draw = random.Random(f"{SEED} {case}")
    name, number = draw.choice(list(COMMANDS)), draw.choice(SIGNALS)
    if name == "debug at a prompt" and number == signal.SIGINT:
        number = signal.SIGTERM  # Ctrl-C there stops the program, and the debugger goes on
    delay = draw.choice([0.3, 1.0, 3.0]) * draw.random()
    group, twice = draw.random() < 0.3, draw.random() < 0.3
    for file in files.iterdir():
        (tmp_path / file.name).symlink_to(file)
    before = {path.name for path in tmp_path.iterdir()}
    about = f"{name}, {number.name} after {delay:.2f} s, group {group}, twice {twice}, seed {SEED}"

    streams = [(tmp_path.parent / f"{tmp_path.name}.{each}").open("w+") for each in ("out", "err")]
    words = COMMANDS[name]
    if "PROGRAM" in words:
        other = mopsus(tmp_path, "component", "start", "--", "loop.py", stdout=subprocess.DEVNULL)
        assert eventually(lambda: can_be_attached_to(other.pid))
        words = [str(other.pid) if word == "PROGRAM" else word for word in words]
    words = [bus if word == "BUS" else word for word in words]
    temporary = tmp_path.with_name(f"{tmp_path.name}.temporary")
    temporary.mkdir()
    options = {"stdout": streams[0], "stderr": streams[1], "env": {**os.environ, "TMPDIR": str(temporary)}}
    with streams[0], streams[1], mopsus(tmp_path, *words, **options) as process:
        time.sleep(delay)
        running = process.poll() is None
        if running:
            for _ in range(1 + twice):  # as `timeout` does
                os.killpg(process.pid, number) if group else process.send_signal(number)
        try:
            status = process.wait(WITHIN_S if running else None)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(about) from None
        for stream in streams:
            stream.seek(0)
        out, err = (stream.read() for stream in streams)

    assert "internal error" not in err, about + err
    assert "Traceback" not in err or name in ("run", "record", "start") or not began(err), about + err
    left = {path.name for path in tmp_path.iterdir()} - before
    assert not [each for each in left if each.startswith(".")], about
    check_reports(tmp_path)
    if name == "check quietly" and out:
        json.loads(out)
    assert eventually(lambda: not group_is_there(process.pid)), about
    assert not [each for each in temporary.iterdir() if each.name.startswith("mopsus-")], about
    if "PROGRAM" in COMMANDS[name]:
        assert other.poll() is None, "the program that was attached to goes on"
        other.kill()
        other.communicate()
    assert eventually(lambda: not processes_in(tmp_path)), about
    if not running:
        assert status in ENDED.get(name, {0, 1}), about + err
    else:
        at_start = {128 + number, -number}  # before our code, or at its end
        usual = {0, 1} if name in ENDLESS else {0, 1, 2}
        assert status in at_start | usual, about + err


PROGRAM = """
import os, signal, sys, threading, time
class Door:
    def shut(self):
        pass
Door().shut()
{body}
print("ready", flush=True)
time.sleep(60)
"""
HANDLED = """
def end(number, frame):
    print("cleaning up", flush=True)
    sys.exit(7)
signal.signal(signal.SIGTERM, end)
"""
RESTORED = """
before = signal.signal(signal.SIGTERM, lambda number, frame: None)
print(before is signal.SIG_DFL, flush=True)
signal.signal(signal.SIGTERM, before)
"""
CAUGHT = """
def catch(number, frame):
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
signal.signal(signal.SIGTERM, catch)
"""
ASKED = "print(repr(signal.getsignal(signal.SIGTERM)), signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, flush=True)"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "s.mop").write_text(
        "Found(d: Door) { event shut before(d) : call(Door.shut) && target(d) ere : shut }\n"
    )

    def start(body, *words):
        (tmp_path / "p.py").write_text(PROGRAM.format(body=textwrap.dedent(body)))
        process = mopsus(tmp_path, "run", "s.mop", "--html", "r.html", *words, "--", "p.py")
        said = []
        while (line := process.stdout.readline()) not in ("ready\n", ""):
            said.append(line.strip())
        return process, said

    return start


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("", -signal.SIGTERM, []),
        (HANDLED, 7, []),
        (RESTORED, -signal.SIGTERM, ["True"]),
        (CAUGHT, -signal.SIGTERM, []),
        (ASKED, -signal.SIGTERM, ["<Handlers.SIG_DFL: 0> True"]),
    ],
    ids=["default", "handled", "restored", "caught", "asked"],
)
def test_a_program_that_is_told_to_end(run, tmp_path, body, status, said):
    """It ends as it would without us, whatever it thinks of signals, and what was found is reported."""
    process, first = run(body)
    assert first == said
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == status, err
    assert ("interrupted" in err) == (status < 0), err
    check_html(tmp_path / "r.html")


@pytest.mark.parametrize("numbers", list(product((signal.SIGINT, signal.SIGTERM), repeat=2)))
def test_signals_that_come_together_are_one(run, tmp_path, numbers):
    """`timeout` sends its own to the process and to its group: the second once cost the report."""
    process, _ = run("")
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.02)
    _, err = process.communicate(timeout=30)
    assert process.returncode in {end for number in numbers for end in (-number, 128 + number)}, err
    assert "interrupted" in err
    check_html(tmp_path / "r.html")


def test_a_child_that_is_told_to_end(run):
    """`multiprocessing` ends its processes so, and looks at their status."""
    process, said = run("""
    import multiprocessing
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    child.start()
    time.sleep(0.2)
    child.terminate()
    child.join()
    print(child.exitcode, flush=True)
    """)
    assert said == ["-15"]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGTERM


def test_what_is_ignored_stays_ignored(files):
    """`nohup` means it."""
    process = mopsus(files, "check", "few.mop", "-", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    time.sleep(1.5)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate("event,x\na,1\n", timeout=30)
    assert "2 events" in out or "1 event" in out
    assert process.returncode == 0


def test_watch_stops_in_the_midst_of_a_backlog(files):
    """And says that it did; it once went on to the end of the log."""
    (files / "long.mop").write_text(
        "import time\nsuffix Long(x) { event a(x) { time.sleep(0.00001) } event b(x) ere : a }\n"  # for a minute
    )
    process = mopsus(files, "watch", "long.mop", "long.csv")
    assert process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 1, err
    assert "long.csv was not read to its end" in out + err
    assert "violations" in out


WAITING = """
def wait():
    open("waiting", "w").close()
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""


def test_a_second_signal_ends_at_once(tmp_path):
    (tmp_path / "wait.py").write_text(WAITING)
    (tmp_path / "s.mop").write_text("import wait\nS(x) { event a(x) { wait.wait() } ere : a }\n")
    (tmp_path / "t.csv").write_text("event,x\na,1\n")
    process = mopsus(tmp_path, "check", "s.mop", "t.csv")
    while not (tmp_path / "waiting").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=WITHIN_S)
    assert process.returncode == -signal.SIGTERM
