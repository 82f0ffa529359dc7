"""`mopsus run`: programs as their users start them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest

SPEC = """
DoubleClose(f: Door) {
    event close before(f) : call(Door.close) && target(f)
    event open before(f) : call(Door.open) && target(f)
    ere : (close open)* close close
    @match
}
"""

PROGRAM = """
import sys

class Door:
    def open(self): pass
    def close(self): pass

def main(arguments):
    door = Door()
    door.close()
    if "twice" in arguments:
        door.close()
    print("arguments", *arguments)
    return door

main(sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "door.mop").write_text(SPEC)
    (tmp_path / "door.py").write_text(PROGRAM)
    return tmp_path


def mopsus(folder, *arguments, **options):
    command = [sys.executable, "-m", "mopsus", "run", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, **options)


def test_report_goes_to_standard_error(folder):
    done = mopsus(folder, "door.mop", "--", "door.py", "twice", "--verbose")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "arguments twice --verbose\n"
    assert "DoubleClose/ere  match" in done.stderr
    assert "door.py:12" in done.stderr
    assert "1 violation" in done.stderr


def test_violations_can_fail_a_run(folder):
    assert mopsus(folder, "door.mop", "--fail-on-violation", "--", "door.py", "twice").returncode == 1
    assert mopsus(folder, "door.mop", "--fail-on-violation", "--", "door.py", "once").returncode == 0


def test_json_has_locations(folder):
    mopsus(folder, "door.mop", "--json", "-o", "report.json", "--", "door.py", "twice")
    report = json.loads((folder / "report.json").read_text())
    verdict = report["verdicts"][0]
    assert verdict["location"] == str(folder / "door.py") + ":12"
    assert [item["location"].rpartition(":")[2] for item in verdict["witness"]] == ["10", "12"]
    assert report["stats"]["events"] == 2


def test_other_reports(folder):
    mopsus(folder, "door.mop", "--sarif", "s.json", "--junit", "j.xml", "--html", "h.html", "--", "door.py", "twice")
    assert '"startLine":12' in (folder / "s.json").read_text().replace(" ", "")
    assert "DoubleClose" in (folder / "j.xml").read_text()
    assert "door.py" in (folder / "h.html").read_text()


@pytest.mark.parametrize(
    ("ending", "status", "said"),
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit(-1)", 255, ""),
        ("sys.exit('sorry')", 1, "sorry"),
        ("1 / 0", 1, "ZeroDivisionError"),
    ],
)
def test_status_of_the_program_is_kept(folder, ending, status, said):
    (folder / "door.py").write_text(PROGRAM + ending + "\n")
    done = mopsus(folder, "door.mop", "--fail-on-violation", "--", "door.py")
    assert done.returncode == status
    assert said in done.stderr


def test_traceback_is_the_programs_own(folder):
    (folder / "door.py").write_text(
        PROGRAM + "class Broken(Door):\n    def close(self):\n        raise ValueError('x')\nBroken().close()\n"
    )
    spec = SPEC.replace("Door.close", "Door+.close")
    (folder / "door.mop").write_text(spec)
    woven = mopsus(folder, "door.mop", "-q", "--", "door.py").stderr
    plain = subprocess.run([sys.executable, "door.py"], cwd=folder, capture_output=True, text=True).stderr
    assert woven.startswith(plain)


def test_syntax_error_of_the_program(folder):
    (folder / "door.py").write_text("def f(:\n")
    done = mopsus(folder, "door.mop", "--", "door.py")
    assert done.returncode == 1
    assert "SyntaxError" in done.stderr


ENDS = {
    "syntax": "def f(:\n",
    "a hook that fails": "import sys\ndef hook(*error): raise KeyError(error[0])\nsys.excepthook = hook\n1 / 0\n",
    "closed output": "import sys\nprint(1)\nsys.stdout.close()\n",
    "no output": "import sys\nprint(1)\nsys.stdout = None\n",
    "what is left behind": """
        class Left:
            def __del__(self):
                print("left", len([each for each in (1, 2)]))

        def steps():
            try:
                yield 1
            finally:
                print("closed")

        left, circle, listed, begun = Left(), Left(), [Left()], steps()
        circle.itself = circle
        next(begun)
        print("end")
        """,
}


@pytest.mark.parametrize("name", ENDS)
def test_programs_end_as_without(folder, name):
    (folder / "door.py").write_text(textwrap.dedent(ENDS[name]))
    plain = subprocess.run([sys.executable, "door.py"], cwd=folder, capture_output=True, text=True)
    options = ["--allow-silent", "--contracts", "stdlib", "-o", "report"]
    woven = mopsus(folder, "door.mop", *options, "--", "door.py")
    assert (woven.returncode, sorted(woven.stdout.splitlines())) == (
        plain.returncode,
        sorted(plain.stdout.splitlines()),
    )
    addresses = "0x[0-9a-f]+"
    assert re.sub(addresses, "", woven.stderr) == re.sub(addresses, "", plain.stderr)


DAEMONS = """
import queue, threading, time
given = queue.Queue()
def pause(value):
    time.sleep(0.0003)
    return value
def numbers():
    while True:
        yield pause(1)
def call():
    while True: time.sleep(0.001)
def loop():
    for _ in numbers(): pass
def take():
    for _ in iter(given.get, None): given.put(1)
def block():
    while True:
        with threading.Condition() as waiting: waiting.wait(0.001)
def compare():
    while True: sorted([3, 1, 2], key=pause)
def handle():
    while True: Door().open()
class Door:
    def open(self): pass
given.put(1)
for work in (call, loop, take, block, compare, handle):
    for _ in range(2): threading.Thread(target=work, daemon=True).start()
time.sleep(0.02)
"""
SLOW = """
import time
Slow(d) {
    event open before(d) : call(__main__.Door.open) && target(d) { time.sleep(0.0003) }
    ere : open
    @match { time.sleep(0.0003) }
}
"""


def test_daemon_threads_that_are_in_the_midst_of_something_watched_at_the_end(folder):
    """The interpreter ended them by unwinding their stacks, ours included, which crashed."""
    (folder / "slow.mop").write_text(SLOW)
    (folder / "daemons.py").write_text(DAEMONS)
    for _ in range(3):
        done = mopsus(folder, "-q", "slow.mop", "--contracts", "stdlib", "--", "daemons.py")
        assert done.returncode == 0, done.stderr


def test_what_is_warned_of_at_the_end_of_an_object(folder):
    (folder / "door.py").write_text(
        "import socket, warnings\nwarnings.simplefilter('always')\nsocket.socket()\nprint('end')\n"
    )
    done = mopsus(folder, "-q", "--contracts", "SocketNotClosed", "--", "door.py")
    assert "ResourceWarning: unclosed <socket.socket" in done.stderr


def test_a_program_that_plays_another_file_system_is_reported(folder):
    (folder / "door.py").write_text(
        PROGRAM + "import os\ndef missing(*path): raise FileNotFoundError('no such folder')\nos.listdir = missing\n"
        "main(['twice'])\n"
    )
    done = mopsus(folder, "door.mop", "--", "door.py")
    assert "1 violation" in done.stderr
    assert "not all is known" not in done.stderr  # what is read is not the program's file system


def test_a_program_that_takes_away_what_its_children_write_to_is_reported(folder):
    (folder / "door.py").write_text(
        PROGRAM + "import json, os\nos.rmdir(json.loads(os.environ['MOPSUS_CHILDREN'])['folder'])\nmain(['twice'])\n"
    )
    done = mopsus(folder, "door.mop", "--", "door.py")
    assert "1 violation" in done.stderr
    assert "not all is known of processes that were started: [Errno 2] No such file" in done.stderr


def test_module_and_its_arguments(folder):
    for arguments in (["door.mop", "-m", "door", "--", "twice", "-x"], ["door.mop", "--", "-m", "door", "twice", "-x"]):
        done = mopsus(folder, *arguments)
        assert done.stdout == "arguments twice -x\n", done.stderr
        assert "1 violation" in done.stderr


def test_package_and_folder(folder):
    (folder / "pack").mkdir()
    (folder / "pack" / "__init__.py").write_text("")
    (folder / "pack" / "__main__.py").write_text("from . import doors\ndoors.main(['twice'])\n")
    (folder / "pack" / "doors.py").write_text(PROGRAM)
    done = mopsus(folder, "door.mop", "-m", "pack")
    assert "1 violation" in done.stderr
    (folder / "pack" / "__main__.py").write_text("import doors\ndoors.main(['twice'])\n")
    done = mopsus(folder, "door.mop", "--", "pack")
    assert "1 violation" in done.stderr, done.stderr


def test_main_program_sees_itself_as_main(folder):
    (folder / "door.py").write_text(
        "import sys, pickle\nclass Door:\n    def close(self): pass\n    def open(self): pass\n"
        "assert sys.modules['__main__'].Door is Door\nassert __name__ == '__main__' and __spec__ is None\n"
        "assert pickle.loads(pickle.dumps(Door.close)) is Door.close\nprint(__file__, sys.argv, sys.path[0])\n"
    )
    woven = mopsus(folder, "door.mop", "-q", "--", "door.py", "a")
    plain = subprocess.run([sys.executable, "door.py", "a"], cwd=folder, capture_output=True, text=True)
    assert plain.returncode == 0, plain.stderr
    assert woven.stdout == plain.stdout, woven.stderr


def test_threads_are_waited_for(folder):
    (folder / "door.py").write_text(
        PROGRAM
        + textwrap.dedent("""
        import threading, time
        def late():
            time.sleep(0.2)
            main(["twice"])
        threading.Thread(target=late).start()
        """)
    )
    assert "1 violation" in mopsus(folder, "door.mop", "--", "door.py").stderr


def test_interrupt(folder):
    (folder / "door.py").write_text(PROGRAM + "import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "mopsus", "run", "door.mop", "--", "door.py", "twice"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while process.stdout.readline() != "ready\n":
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "KeyboardInterrupt" in said
    assert "1 violation" in said


@pytest.mark.parametrize("moment", ["start", "stop"])
def test_an_interrupt_before_and_after_the_program(folder, moment):
    """What was found until then is reported."""
    (folder / "door.py").write_text(PROGRAM)
    (folder / "m.py").write_text(
        "from mopsus.events.weave.weaver import Weaver\n"
        "from mopsus.cli.main import main\n"
        f"call = Weaver.{moment}\n"
        "def interrupted(self, **how):\n"
        "    call(self, **how)\n"
        "    raise KeyboardInterrupt\n"
        f"Weaver.{moment} = interrupted\n"
        "main()\n"
    )
    command = [sys.executable, "m.py", "run", "door.mop", "--", "door.py", "twice"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 130
    assert ("1 violation" in done.stderr) == (moment == "stop"), done.stderr
    assert "· interrupted" in done.stderr


def test_explanation_of_weaving(folder):
    (folder / "door.mop").write_text(SPEC.replace("Door.open)", "Door.opens)"))
    done = mopsus(folder, "door.mop", "--explain-weaving", "--", "door.py")
    assert "at __main__.Door.close" in done.stderr
    assert "Door.opens: no such function or method" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["door.mop"], "no program given"),
        (["door.py"], "no spec given"),
        (["door.mop", "--", "nowhere.py"], "there is no program nowhere.py"),
        (["door.mop", "-m", "no.such.module"], "there is no module no.such.module"),
        (["door.mop", "--", "-m"], "no program given"),
    ],
)
def test_wrong_use(folder, arguments, said):
    done = mopsus(folder, *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_functions_of_the_main_program(folder):
    (folder / "door.mop").write_text("Calls { event go before() : call(go) ere : go go @match }\n")
    (folder / "door.py").write_text("def go():\n    return 1\ngo()\ngo()\n")
    assert "1 violation" in mopsus(folder, "door.mop", "--", "door.py").stderr


@pytest.mark.parametrize("handler", ["over", "Over().over", "Over()", "functools.partial(over)"])
def test_what_a_handler_of_a_signal_raises_in_the_midst_of_an_action_reaches_the_program(folder, handler):
    # It was taken for an error of the spec, and a program that waited for it to end its loop ran for ever.
    (folder / "alarm.mop").write_text("""
        from os import getpid, kill
        Called() {
            event called before() : call(door.work) { kill(getpid(), 14); n = sum(range(1000)) }
            var n = 0
        }
    """)
    (folder / "door.py").write_text("def work(): pass")
    (folder / "timed.py").write_text(f"""
import functools, signal, door

def over(number, frame):
    raise TimeoutError("time is up")

class Over:
    def over(self, number, frame):
        raise TimeoutError("time is up")
    __call__ = over

signal.signal(signal.SIGALRM, {handler})
try:
    door.work()
except TimeoutError as error:
    print("ended:", error)
""")
    done = mopsus(folder, "alarm.mop", "--allow-unmonitorable", "--", "timed.py")
    assert done.stdout == "ended: time is up\n", done.stderr
    assert "fault" not in done.stderr
    assert done.returncode == 0


def test_fault_in_a_handler_does_not_reach_the_program(folder):
    (folder / "door.mop").write_text(SPEC.replace("@match", "@match { 1 / 0 }"))
    done = mopsus(folder, "door.mop", "--", "door.py", "twice")
    assert done.returncode == 2
    assert done.stdout == "arguments twice\n"
    assert "handler @match of ere: ZeroDivisionError: division by zero (door.mop:" in done.stderr
    assert "1 violation in 2 events · 1 spec · 1 fault\n" in done.stderr
    done = mopsus(folder, "door.mop", "--on-fault", "ignore", "--", "door.py", "twice")
    assert done.returncode == 0
    assert "1 fault\n" in done.stderr


CHILDREN = """
import multiprocessing, os, subprocess, sys
from doors import Door

def work(count):
    door = Door()
    for _ in range(count):
        door.close()

if __name__ == "__main__":
    how = sys.argv[1]
    if how == "os.fork":
        pid = os.fork()
        work(2)
        if pid:
            os.waitpid(pid, 0)
        sys.exit(0 if pid else 5)
    if how == "os._exit":
        if pid := os.fork():
            os.waitpid(pid, 0)
        work(2)
        os._exit(0)
    if how == "subprocess":
        subprocess.run([sys.executable, "-c", "import work; work.work(2)"], check=True)
    else:
        process = multiprocessing.get_context(how).Process(target=work, args=(2,))
        process.start()
        process.join()
    work(2)
"""


@pytest.mark.parametrize(
    ("how", "count"),
    [("os.fork", 2), ("os._exit", 2), ("fork", 2), ("spawn", 2), ("forkserver", 2), ("subprocess", 1)],
)
def test_processes_that_the_program_starts(folder, how, count):
    (folder / "doors.py").write_text("class Door:\n    def open(self): pass\n    def close(self): pass\n")
    (folder / "work.py").write_text(CHILDREN)
    done = mopsus(folder, "door.mop", "--json", "-o", "report.json", "--", "work.py", how)
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "report.json").read_text())
    assert sum(verdict.get("count", 1) for verdict in report["verdicts"]) == count, done.stderr
    assert report["stats"]["events"] == 2 * count


LEAVING = """
import os, sys, threading
from doors import Door

def work():
    door = Door()
    door.close()
    door.close()
    os._exit(int(sys.argv[1]))

print("lost", end="")
if len(sys.argv) > 2:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
work()
"""


@pytest.mark.parametrize("words", [("0",), ("3",), ("0", "thread")])
def test_what_was_found_is_told_before_a_program_ends_at_once(folder, monkeypatch, words):
    (folder / "doors.py").write_text("class Door:\n    def open(self): pass\n    def close(self): pass\n")
    (folder / "leaves.py").write_text(LEAVING)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    done = mopsus(folder, "door.mop", "--fail-on-violation", "--junit", "r.xml", "--", "leaves.py", *words)
    assert (done.returncode, done.stdout) == (int(words[0]) or 1, ""), done.stderr
    assert "1 violation in 2 events" in done.stderr
    assert "<failure" in (folder / "r.xml").read_text()
    assert mopsus(folder, "door.mop", "--", "leaves.py", *words).returncode == int(words[0])


MAIN_CHILD = """
import multiprocessing, sys

def helper(n):
    for item in range(n):
        pass

def work(n):
    helper(n)

if __name__ == "__main__":
    process = multiprocessing.get_context(sys.argv[1]).Process(target=work, args=(2,))
    process.start()
    process.join()
    work(2)
"""


@pytest.mark.parametrize("how", ["spawn", "forkserver"])
@pytest.mark.parametrize("program", [("loops.py",), ("-m", "loops")])
def test_the_main_program_is_woven_in_processes_that_begin_anew(folder, how, program):
    """Its loops, and calls among its own functions, are seen there as they are in the first process."""
    (folder / "loops.mop").write_text(
        "Loops(x) { event turn before(x) : next(x) event call before() : call(helper) ere : call @match }"
    )
    (folder / "loops.py").write_text(MAIN_CHILD)
    done = mopsus(folder, "loops.mop", "--json", "-o", "report.json", "--", *program, how)
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "report.json").read_text())
    assert report["stats"]["events"] == 2 * (3 + 1), done.stderr


def test_subprocesses_by_environment(folder, monkeypatch):
    (folder / "doors.py").write_text("class Door:\n    def open(self): pass\n    def close(self): pass\n")
    (folder / "work.py").write_text(CHILDREN)
    monkeypatch.setenv("MOPSUS_SUBPROCESSES", "1")
    done = mopsus(folder, "door.mop", "--json", "-o", "report.json", "--", "work.py", "subprocess")
    report = json.loads((folder / "report.json").read_text())
    assert len(report["verdicts"]) == 2, done.stderr
    assert report["stats"]["events"] == 4
    assert not report["warnings"]


def test_python_processes_that_nobody_watches_are_counted(folder):
    """A report about what a pool of `joblib` did said that there were no violations."""
    code = "import subprocess, sys; from multiprocessing import resource_tracker; resource_tracker.ensure_running()\n"
    code += "for each in ('0', 'import subprocess, sys; subprocess.run([sys.executable, \"-c\", \"0\"])'):\n"
    (folder / "door.py").write_text(PROGRAM + code + "    subprocess.run([sys.executable, '-c', each])\n")
    done = mopsus(folder, "door.mop", "--", "door.py")
    assert "warning[CLI-006]: 3 Python processes that the program started were not watched" in done.stderr


def test_pools_of_threads_end(folder):
    (folder / "door.py").write_text(
        PROGRAM
        + "from concurrent.futures import ThreadPoolExecutor\nimport atexit\natexit.register(main, ['twice'])\n"
        + "pool = ThreadPoolExecutor()\npool.submit(main, ['twice'])\n"
    )
    done = mopsus(folder, "door.mop", "--", "door.py")
    assert "2 violations" in done.stderr, done.stderr


def test_specs_of_traces_only_are_refused(folder):
    (folder / "trace.mop").write_text("Trace(i) { event a(i) ere : a }\n")
    (folder / "empty.py").write_text("print('ran')\n")
    done = mopsus(folder, "trace.mop", "--", "empty.py")
    assert done.returncode == 2
    assert "error[WEAVE-002]: no event of Trace is at a point of a program" in done.stderr
    assert not done.stdout


def test_spec_that_saw_nothing_is_named(folder):
    (folder / "door.mop").write_text(SPEC + "\nTrace(i) { event a(i) ere : a }\n")
    (folder / "empty.py").write_text("pass\n")
    done = mopsus(folder, "door.mop", "--", "empty.py")
    assert done.returncode == 2
    assert done.stderr.count("SEEN-00") == 2
    assert "it names no point of a program" in done.stderr


TAPPED = "Door(c) {{ event open before(c) : call({}) && target(c) ere : open open }}"


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("door_kept.Door.open", 0, ""),
        ("door_kept.Door.opem", 2, "`door_kept.Door` has no `opem`; did you mean `door_kept.Door.open`"),
        ("door_kept.Doors.open", 2, "did you mean `door_kept.Door`"),
        ("Dooor.open", 2, "did you mean `Door.open`"),
        ("sqlite3.Connection.exceute", 2, "did you mean `sqlite3.Connection.execute`"),
        ("not_there_at_all.Door.open", 2, "did you mean `door_kept.Door.open`?"),
        ("not_there_at_all.Door.shut", 2, "there is a class `Door`, without `shut`"),
        ("not_there_at_all.at_all.open", 2, "nothing of the name"),
        ("_Dor.close", 2, "nothing of the name `_Dor.close` was defined or imported --> one.mop:1:1 no violations"),
        ("wave.Wave_read.close", 0, "never imported `wave`"),
    ],
)
def test_a_name_that_stands_for_nothing(folder, name, status, said):
    (folder / "one.mop").write_text(TAPPED.format(name))
    (folder / "door_kept.py").write_text("class Door:\n    def open(self): pass\n")
    (folder / "uses.py").write_text("import sqlite3, door_kept\ndoor_kept.Door().open()\n")
    done = mopsus(folder, "one.mop", "--", "uses.py")
    assert done.returncode == status, done.stderr
    told = " ".join(done.stderr.split()).replace(" --> one.mop:1:1 = ", "; ")
    assert said in told
    if status:
        (folder / "fails.py").write_text("import uses, sys\nsys.exit(7)\n")
        assert mopsus(folder, "one.mop", "--", "fails.py").returncode == 7
        assert mopsus(folder, "--allow-silent", "one.mop", "--", "uses.py").returncode == 0
    elif not said:
        assert mopsus(folder, "--strict", "one.mop", "--", "uses.py").returncode == 0


def test_an_event_in_another_process_was_seen(folder):
    (folder / "one.mop").write_text(TAPPED.format("door_kept.Door.open"))
    (folder / "door_kept.py").write_text("class Door:\n    def open(self): pass\n")
    text = (
        "import os, door_kept\nif not (pid := os.fork()):\n    door_kept.Door().open()\nelse:\n    os.waitpid(pid, 0)\n"
    )
    (folder / "forks.py").write_text(text)
    done = mopsus(folder, "--strict", "one.mop", "--", "forks.py")
    assert done.returncode == 0, done.stderr


def test_a_program_does_not_wait_for_what_its_monitors_do_not_need(folder):
    needless = (
        "msgspec",
        "rich",
        "pyarrow",
        "fractions",
        "importlib.metadata",
        "importlib.resources",
        "mopsus.spec.predicate",
    )
    (folder / "door.py").write_text(f"import sys\nprint([name for name in {needless} if name in sys.modules])\n")
    done = mopsus(folder, "door.mop", "--", "door.py")
    assert done.stdout == "[]\n"
