"""`mopsus debug`: programs under their debuggers, as their users start them."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest
from ending import end_all, session_of

QUEUE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { int length; char items[4]; } queue;
queue *queue_new(int size) { return calloc(1, sizeof(queue)); }
void queue_push(queue *q, char item) {
    q->items[q->length++ % 4] = item;
}
int main(int count, char **words) {
    setvbuf(stdout, NULL, _IONBF, 0);
    queue *q = queue_new(4);
    for (char *each = words[1]; *each; each++)
        queue_push(q, *each);
    printf("pushed %d\n", q->length);
    fprintf(stderr, "to stderr\n");
    if (q->length == 3) abort();
    return q->length;
}
"""

PROPERTY = """
slice on q
initialization { count = 0 }
state init accepting {
    transition { after event queue_new(ret as q, size as room) success { limit = room } ready }
}
state ready accepting {
    transition { event queue_push(q, item) { return count < limit } success { count += 1 } ready failure full }
}
state full non-accepting
"""

SPEC = """
Queue(q) {
    event new after(q) : call(queue_new) && value(q = ret)
    event push before(q) : call(queue_push) && args(q, ..)
    ere : new push push push
    @match
}
"""

BANK = """
import sys

class Account:
    balance = 0

    def withdraw(self, amount):
        self.balance -= amount
        return self.balance

account = Account()
for word in sys.argv[1:]:
    account.withdraw(int(word))
print("left", account.balance)
sys.exit(3)
"""

OVERDRAWN = """
slice on account
state init accepting {
    transition { after event Account.withdraw(self as account, ret as left) { return left >= -3 }
                 success init failure red }
}
state red non-accepting
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("debug")
    (folder / "queue.c").write_text(QUEUE)
    subprocess.run(["cc", "-g", "-o", "queue", "queue.c"], cwd=folder, check=True)
    (folder / "queue.prop").write_text(PROPERTY)
    (folder / "queue.mop").write_text(SPEC)
    (folder / "bank.py").write_text(BANK)
    (folder / "bank.prop").write_text(OVERDRAWN)
    (folder / "silent.scn").write_text("")
    (folder / "wrong.scn").write_text("on entring accepting state { pass }\n")
    return folder


def debug(folder, *arguments):
    command = [sys.executable, "-m", "mopsus", "debug", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def report(done):
    """The JSON report, behind what the program itself wrote to standard error."""
    return json.loads(done.stderr[done.stderr.index('{"version"') :])


@pytest.mark.gdb
def test_a_violated_property_stops_a_compiled_program(folder):
    done = debug(folder, "--batch", "--json", "--prop", "queue.prop", "./queue", "abcdef")
    assert (done.returncode, done.stdout) == (1, "")  # it does not come to its printing
    found = report(done)
    verdict = found["verdicts"][0]
    assert (verdict["category"], verdict["severity"]) == ("full", "error")
    assert verdict["location"].endswith("queue.c:8")
    assert [each["event"] for each in verdict["witness"]] == ["queue_new_after"] + 5 * ["queue_push"]
    assert found["program"]["status"] is None
    stop = found["program"]["stop"]
    assert stop["location"].endswith("queue.c:8")
    assert ["queue_push" in stop["backtrace"][0], "main" in stop["backtrace"][1]] == [True, True]


@pytest.mark.gdb
def test_a_program_that_keeps_to_its_property_runs_as_without(folder):
    plain = subprocess.run(["./queue", "abcd"], cwd=folder, capture_output=True, text=True)
    done = debug(folder, "--batch", "--prop", "queue.prop", "./queue", "abcd")
    assert done.returncode == 0
    assert done.stdout == plain.stdout == "pushed 4\n"
    assert done.stderr.startswith(plain.stderr)
    assert done.stderr.endswith("no violations in 5 events · 1 spec · the program ended with 4\n")


@pytest.mark.gdb
def test_with_an_empty_scenario_violations_are_only_reported(folder):
    done = debug(folder, "--batch", "--json", "--prop", "queue.prop", "--scenario", "silent.scn", "./queue", "abcdef")
    assert (done.returncode, done.stdout) == (1, "pushed 6\n")
    assert report(done)["program"] == {"status": 6, "stop": None}


@pytest.mark.gdb
def test_a_program_that_dies_of_a_signal_is_a_finding_in_every_report(folder):
    reports = ["--junit", "junit.xml", "--sarif", "found.sarif", "--html", "page.html", "--output", "said.txt"]
    done = debug(folder, "--batch", *reports, "--prop", "queue.prop", "./queue", "abc")
    assert (done.returncode, done.stdout) == (1, "pushed 3\n")
    for name in ("junit.xml", "found.sarif", "page.html", "said.txt"):
        text = (folder / name).read_text()
        assert "died of SIGABRT (aborted)" in text
        assert "queue.c:17" in text  # not where the C library sends it
        assert re.search(r"#\d+ .* in main ", text)
        assert "open in ready" in text
    said = (folder / "said.txt").read_text()
    assert said.endswith("1 violation, 1 note in 4 events · 1 spec · the program died of SIGABRT (aborted)\n")
    assert said.count(" queue_push ") == 3
    results = json.loads((folder / "found.sarif").read_text())["runs"][0]["results"]
    assert [each["level"] for each in results] == ["error", "note"]


@pytest.mark.gdb
def test_a_deadly_signal_that_nobody_can_see_coming_is_a_finding_too(folder):
    (folder / "sudden.c").write_text("#include <signal.h>\nvoid f(void) {}\nint main(void) { f(); raise(SIGKILL); }\n")
    subprocess.run(["cc", "-g", "-o", "sudden", "sudden.c"], cwd=folder, check=True)
    (folder / "sudden.prop").write_text("state init accepting { transition { event f() success init } }")
    done = debug(folder, "--batch", "--json", "--prop", "sudden.prop", "./sudden")
    found = report(done)
    assert (done.returncode, found["program"]) == (1, {"status": -signal.SIGKILL, "stop": None})
    assert [each["category"] for each in found["verdicts"]] == ["died of SIGKILL (killed)", "open in init"]


@pytest.mark.gdb
def test_a_debugger_that_is_killed_is_a_monitor_that_broke_down_and_every_report_says_so(folder):
    (folder / "ungrateful.py").write_text(
        "import os, signal\n"
        "lines = open('/proc/self/status').read().splitlines()\n"
        "tracer = next(int(line.split()[1]) for line in lines if line.startswith('TracerPid'))\n"
        "os.kill(tracer, signal.SIGKILL)\n"
    )
    (folder / "any.prop").write_text("state init accepting { transition { event #end() success init } }")
    options = ["--batch", "--json", "--debugger", "gdb", "--junit", "gone.xml", "--prop", "any.prop"]
    done = debug(folder, *options, sys.executable, "ungrateful.py")
    assert done.returncode == 3
    assert "GDB ended without a word" in str(report(done)["error"])
    assert "GDB ended without a word" in (folder / "gone.xml").read_text()


@pytest.mark.gdb
def test_a_spec_of_another_logic_is_a_property_too(folder):
    done = debug(folder, "--batch", "--prop", "queue.mop", "./queue", "abcdef")
    assert done.returncode == 1
    assert "Queue/ere  match" in done.stderr
    assert "stopped at queue.c:8" in done.stderr


@pytest.mark.gdb
def test_the_record_gives_the_same_verdict_again(folder):
    arguments = ("--prop", "queue.prop,scenario=silent.scn", "--record", "events.csv", "./queue", "abcdef")
    first = report(debug(folder, "--batch", "--json", *arguments))
    check = [sys.executable, "-m", "mopsus", "check", "--json", "queue.prop", "events.csv"]
    again = json.loads(subprocess.run(check, cwd=folder, capture_output=True, text=True).stdout)
    kept = ("spec", "category", "binding", "severity", "final", "time")
    assert [{key: verdict[key] for key in kept} for verdict in again["verdicts"]] == [
        {key: verdict[key] for key in kept} for verdict in first["verdicts"]
    ]
    assert len(first["verdicts"]) == 1


@pytest.mark.parametrize("words", [["--batch"], []])
def test_a_python_program_ends_with_its_debugger(folder, words):
    """It used to go on when the debugger was killed, with nobody to end it."""
    (folder / "stay.py").write_text("import time\nprint('here', flush=True)\ntime.sleep(600)\n")
    (folder / "stay.prop").write_text("state init accepting { transition { event stay() success init } }\n")
    command = [sys.executable, "-m", "mopsus", "debug", *words, "--prop", "stay.prop", "stay.py"]
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        if not words:
            process.stdin.write("continue\n")
            process.stdin.flush()
        while not process.stdout.readline().endswith("here\n"):
            assert process.poll() is None
        process.kill()
        process.wait()
        end = time.monotonic() + 30
        while (left := list(session_of(process.pid))) and time.monotonic() < end:
            time.sleep(0.05)
        assert not left
    finally:
        end_all(process)


@pytest.mark.gdb
def test_an_interrupted_program_is_reported_as_far_as_it_came(folder):
    (folder / "spin.c").write_text('#include <stdio.h>\nint main(void) { puts("here"); fflush(stdout); for (;;); }\n')
    subprocess.run(["cc", "-g", "-o", "spin", "spin.c"], cwd=folder, check=True)
    (folder / "spin.prop").write_text("state init accepting { transition { event main() success init } }\n")
    command = [sys.executable, "-m", "mopsus", "debug", "--batch", "--prop", "spin.prop", "./spin"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stdout.readline() == "here\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        said = process.communicate(timeout=60)[1]
    finally:
        end_all(process)
    assert process.returncode == 130
    assert ": interrupted\n    #0 " in said
    assert said.startswith("stopped")  # where, only a library with debug information says
    assert said.endswith(" · interrupted\n")


def test_a_python_program_is_debugged_by_its_own_debugger(folder):
    done = debug(folder, "--batch", "--json", "--prop", "bank.prop", "bank.py", "3", "4")
    assert (done.returncode, done.stdout) == (1, "")
    found = report(done)
    assert found["verdicts"][0]["category"] == "red"
    assert found["program"]["stop"]["location"].endswith("/bank.py:9")


def test_a_python_program_goes_on_if_the_scenario_wants_that(folder):
    arguments = ("--prop", "bank.prop", "--scenario", "silent.scn", "bank.py", "3", "4")
    done = debug(folder, "--batch", "--json", *arguments)
    assert (done.returncode, done.stdout) == (1, "left -7\n")
    assert report(done)["program"] == {"status": 3, "stop": None}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("./queue",), "no property given"),
        (("--prop", "queue.prop"), "no program given"),
        (("--prop", "none.prop", "./queue"), "there is no file none.prop"),
        (("--prop", "queue.prop,loud", "./queue"), "does not understand 'loud'"),
        (("--prop", "queue.prop", "--attach", "1", "./queue"), "exclude each other"),
        (("--prop", "queue.prop", "./none"), "there is no program ./none"),
        (("--prop", "queue.prop", "queue.c"), "neither a compiled program nor a Python script"),
        (("--prop", "queue.prop", "--debugger", "lldb", "./queue"), "there is no debugger 'lldb'"),
        (("--prop", "queue.prop", "--scenario", "wrong.scn", "./queue"), "did you mean 'entering'?"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_starts(folder, arguments, said):
    done = debug(folder, "--batch", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.gdb
def test_a_function_that_is_not_there_is_an_error_with_the_nearest_name(folder, tmp_path):
    misspelt = tmp_path / "misspelt.prop"
    misspelt.write_text(
        "state init accepting { transition { event queue_pusch(q) success bad } }\nstate bad non-accepting\n"
    )
    done = debug(folder, "--batch", "--prop", str(misspelt), "./queue", "a")
    assert done.returncode == 2
    assert "the program has no function queue_pusch; did you mean queue_push" in done.stderr


@pytest.mark.gdb
def test_the_prompt_is_that_of_gdb_with_more_commands(folder):
    said = converse(
        folder,
        ["--prop", "queue.prop,quiet", "./queue", "abcdef"],
        "(gdb) ",
        ["run", "print q->length", "verde exec get_current_states", "info breakpoints", "kill", "quit"],
    )
    assert "Stopped: queue: full" in said
    assert "$1 = 4" in said
    assert "{'full', 'init'}" in said or "{'init', 'full'}" in said
    assert "No breakpoints or watchpoints." in said


def test_the_prompt_of_a_python_program_is_that_of_pdb_with_more_commands(folder):
    said = converse(
        folder,
        ["--prop", "bank.prop,quiet", "bank.py", "3", "4"],
        "(mopsus) ",
        ["continue", "p amount", "verde exec get_current_states", "where", "quit"],
    )
    assert "Stopped: bank: red" in said
    assert "\n4" in said.replace("\r", "")
    assert "red" in said.split("get_current_states")[1]


def converse(folder, arguments, prompt, commands):
    """Type commands at a terminal, each when the prompt is there; all that was shown."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.environ["TERM"] = "dumb"
        os.execv(sys.executable, [sys.executable, "-m", "mopsus", "debug", *arguments])
    said, seen, waiting = "", 0, list(commands)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 4096)
        except OSError:  # the other side is gone
            break
        if not data:
            break
        said += data.decode(errors="replace")
        while waiting and said.count(prompt) > seen:
            seen += 1
            os.write(terminal, waiting.pop(0).encode() + b"\n")
        if "(y or n)" in said.splitlines()[-1]:
            os.write(terminal, b"y\n")
            said += "\n"
    else:
        for process in session_of(child):
            os.kill(process, signal.SIGKILL)
    os.close(terminal)
    os.waitpid(child, 0)
    assert not waiting, said
    return said
