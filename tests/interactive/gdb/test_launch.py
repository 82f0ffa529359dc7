"""GDB started for a program: its output and status are its own, and everything that can go wrong is told."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ending import end_all
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interactive.gdb.programs import START, build, run_gdb

from mopsus import load
from mopsus.interactive.debugger import DebuggerError
from mopsus.interactive.gdb import launch
from mopsus.interactive.outcome import Outcome
from mopsus.interactive.setup import Setup, Watched

pytestmark = pytest.mark.gdb

LETTERS = r"""
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    void open_(int n) { printf("open %d\n", n); }
    int use(int n, int weight) { return n * weight; }
    void close_(int n) { fprintf(stderr, "close %d\n", n); }
    /* o1u1c1: open 1, use it, close it */
    int main(int count, char **words) {
        const char *s = count > 1 ? words[1] : "";
        for (; *s; s += 2)
            switch (*s) {
                case 'o': open_(s[1] - '0'); break;
                case 'u': use(s[1] - '0', 3); break;
                case 'c': close_(s[1] - '0'); break;
                case 'x': abort();
            }
        return strlen(words[count - 1]) % 100;
    }
"""
FILES = """
    slice on n
    initialization { uses = 0 }
    state init accepting {
        transition { event open_(n) success opened }
        transition { event use(n) success misused }
    }
    state opened {
        transition { after event use(n, ret as got) { return got == 3 * n }
                     success { uses += 1 } opened
                     failure misused }
        transition { event close_(n) success closed }
    }
    state closed accepting { transition { event use(n) success misused } }
    state misused non-accepting
"""


def run(program: Path, prop: str, tmp_path: Path, *words: str, **more: str) -> Outcome:
    """A whole session without a prompt."""
    files: dict[str, str | None] = {"scenario": None, "functions": None}
    for name, text in more.items():
        if name in files:
            path = tmp_path / f"given.{name}"
            path.write_text(text)
            files[name] = str(path)
    file = tmp_path / "given.prop"
    file.write_text(prop)
    watched = Watched(str(file), files["scenario"], files["functions"], quiet=True)
    return launch.run(Setup((watched,), (str(program), *words), batch=True, record=more.get("record")))


def plain(program: Path, *words: str) -> tuple[str, str, int]:
    done = subprocess.run([program, *words], capture_output=True, text=True)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("word", ["o1u1c1", "o1 '\"$HOME*;|&", ""])
def test_output_and_status_are_those_of_a_plain_run(word, tmp_path, capfd):
    program = build(LETTERS)
    expected = plain(program, word)
    capfd.readouterr()
    outcome = run(program, FILES, tmp_path, word)
    assert (*capfd.readouterr(), outcome.status) == expected
    assert not outcome.verdicts
    assert outcome.error is None


@pytest.mark.parametrize("shell", ["/bin/false", None])
def test_streams_need_no_certain_shell_nor_few_open_files(shell, tmp_path, capfd, monkeypatch):
    program = build(r"""
        #include <stdio.h>
        #include <stdlib.h>
        int main(int count, char **words) { puts(getenv("SHELL") ?: "none"); return count; }
    """)
    monkeypatch.setenv("SHELL", shell) if shell else monkeypatch.delenv("SHELL", raising=False)
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    try:
        outcome = run(program, "state init accepting { transition { event main() success init } }", tmp_path)
    finally:
        for file in files:
            os.close(file)
    assert (capfd.readouterr().out, outcome.status) == (f"{shell or 'none'}\n", 1)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(letters=st.lists(st.tuples(st.sampled_from("ouc"), st.sampled_from("1234")), min_size=10, max_size=60))
def test_verdicts_are_those_of_the_recorded_trace(kind, letters, tmp_path, capfd):
    word = "".join(map("".join, letters))
    record = tmp_path / f"trace.{kind}"
    outcome = run(build(LETTERS), FILES, tmp_path, word, scenario="", record=str(record))
    output = capfd.readouterr()
    assert (output.out, output.err, outcome.status) == plain(build(LETTERS), word)
    words = [sys.executable, "-m", "mopsus", "check", "--json", str(tmp_path / "given.prop"), str(record)]
    replayed = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
    found = [(verdict.category, dict(verdict.binding)) for verdict in outcome.verdicts]
    assert found == [(each["category"], each["binding"]) for each in replayed["verdicts"]]
    assert found == list(_misused(letters))


def _misused(letters):
    """What the property means, told directly."""
    states: dict[int, str] = {}
    for letter, digit in letters:
        n = int(digit)
        state = states.get(n, "init")
        if letter == "o" and state == "init":
            states[n] = "opened"
        elif letter == "c" and state == "opened":
            states[n] = "closed"
        elif letter == "u" and state in ("init", "closed"):
            states[n] = "misused"
            yield "misused", {"n": n}


def test_a_program_that_crashes_has_its_status_and_its_stack(tmp_path, capfd):
    outcome = run(build(LETTERS), FILES, tmp_path, "o1x1")
    assert outcome.status == -signal.SIGABRT
    assert capfd.readouterr().out == plain(build(LETTERS), "o1x1")[0]
    crash, opened = outcome.verdicts
    assert (crash.category, crash.violation, opened.category) == ("died of SIGABRT (aborted)", True, "open in opened")
    assert [each.event for each in opened.witness] == ["open"]
    assert outcome.stop is not None
    assert outcome.stop.reason == crash.category
    assert (outcome.stop.location or "").endswith("program.c:16")
    assert not outcome.stop.backtrace[-1].startswith("…")
    assert outcome.stop.backtrace == crash.remarks


def test_a_signal_that_the_program_handles_or_ignores_is_no_crash(tmp_path):
    program = build(r"""
        #include <setjmp.h>
        #include <signal.h>
        jmp_buf back;
        void f(void) {}
        void heed(int number) { siglongjmp(back, 1); }
        int main(void) {
            signal(SIGSEGV, heed), signal(SIGPIPE, SIG_IGN);
            f();
            raise(SIGPIPE);
            if (!sigsetjmp(back, 1)) *(volatile int *) 0 = 1;
            return 5;
        }
    """)
    outcome = run(program, "state init accepting { transition { event f() success init } }", tmp_path)
    assert (outcome.status, outcome.stop, outcome.verdicts) == (5, None, ())


@pytest.mark.parametrize(
    ("handled", "status", "found"),
    [(True, 2, []), (False, -signal.SIGTRAP, ["died of SIGTRAP (trace/breakpoint trap)"])],
)
def test_a_trap_of_the_programs_own_is_no_interruption(tmp_path, handled, status, found):
    program = build(rf"""
        #include <signal.h>
        int heard;
        void f(void) {{}}
        void heed(int number) {{ heard++; }}
        int main(void) {{
            if ({int(handled)}) signal(SIGTRAP, heed);
            f(), raise(SIGTRAP), f();
            __asm__("int3");
            return heard;
        }}
    """)
    outcome = run(program, "state init accepting { transition { event f() success init } }", tmp_path)
    assert (outcome.status, [each.category for each in outcome.verdicts if each.violation]) == (status, found)
    assert (outcome.stop is not None and "main" in outcome.stop.backtrace[-1]) == (not handled)


def test_a_watched_function_that_fails_in_a_call_of_a_scenario_is_left_and_the_session_goes_on(tmp_path):
    program = build(r"""
        void use(int *p, int n) { *p += n; }
        int main(void) { int i = 0; for (int k = 0; k < 3; k++) use(&i, k); return i; }
    """)
    prop = """
        state init accepting { transition { event use(p, n) { return n == 1 } success one failure init } }
        state one accepting { transition { event use(p, n) success two } }
        state two accepting {}
    """
    outcome = run(program, prop, tmp_path, scenario="on entering state one { execute('call use((int *) 8, 1)') }")
    assert (outcome.status, outcome.error, outcome.verdicts) == (3, None, ())
    assert outcome.stats["given"]["events"] == 3
    (fault,) = outcome.faults
    assert (fault.code, fault.error, fault.count) == ("scenario", "DebuggerError", 1)
    assert "signaled while in a function called" in fault.message


def test_at_the_prompt_a_crash_is_told_and_one_can_go_back_to_it(tmp_path):
    program = build(r"""
        #include <stdlib.h>
        int main(int count, char **words) {
            int *own = malloc(8);
            free(own);
            free(own);
            return 0;
        }
    """)
    prop = tmp_path / "freed.prop"
    prop.write_text(
        "slice on p\nstate init accepting { transition { event free(arg 1 as p) success freed } }\nstate freed {}"
    )
    lines = [f"source {START}", f"verde load-property {prop}", "verde exec set_quiet True", "run", "continue"]
    said = run_gdb(program, ["set confirm off", *lines, "verde checkpoint-restart 0", "backtrace"])
    crash = said.partition("Crash: ")[2]
    assert crash.startswith("the program died of SIGABRT (aborted)\n  at ")
    assert "program.c:6 in " in crash
    assert "Back at checkpoint 0" in crash
    assert "in main " in crash.partition("Back at checkpoint 0")[2]


def test_who_goes_back_from_a_crash_is_not_hit_by_its_signal(tmp_path):
    program = build(r"""
        #include <stdlib.h>
        void use(int n) { }
        int main(void) { use(1); use(2); use(3); abort(); }
    """)
    prop = tmp_path / "used.prop"
    prop.write_text("state init accepting { transition { event use(n) success init } }")
    lines = ["set confirm off", f"source {START}", f"verde load-property {prop}", "verde exec set_quiet True"]
    course = [
        "break use if n == 2",
        "run",
        "verde checkpoint",
        "continue",
        "verde checkpoint-restart 0",
        "print n + 40",
    ]
    again = ["break use if n == 3", "continue", "print n + 50", "continue", "verde checkpoint-restart 1", "continue"]
    said = run_gdb(program, [*lines, *course, *again, "verde checkpoint-restart 0", "print n + 60"])
    assert [part in said for part in ("= 42", "= 53", "= 62")] == [True] * 3
    assert said.count("Crash: the program died of SIGABRT") == 2
    assert said.count("Program terminated with signal SIGABRT") == 1


@pytest.mark.parametrize(
    ("command", "said", "status"),
    [
        ("call (void) abort()", "The program being debugged was signaled", 4),
        ("kill", "`kill` is not for code that handles an event", 4),
        ("print nonsense", 'No symbol "nonsense"', 4),
        ("call (void) _exit(3)", "The program being debugged exited", 3),
    ],
)
def test_commands_that_fail_or_kill_the_program_inside_a_scenario(command, said, status, tmp_path):
    scenario = f"on entering state opened {{ execute('{command}') }}"
    outcome = run(build(LETTERS), FILES, tmp_path, "o1u1", scenario=scenario)
    (fault,) = outcome.faults
    assert fault.code == "scenario"
    assert said in fault.message
    assert outcome.status == status


def test_faults_in_guards_and_scenarios_are_told_once_and_the_program_goes_on(tmp_path, capfd):
    prop = FILES.replace("{ return got == 3 * n }", "{ return 1 / 0 }")
    outcome = run(build(LETTERS), prop, tmp_path, "o1u1u1c1", scenario="on entering state opened { [][1] }")
    assert capfd.readouterr().out == "open 1\n"
    assert outcome.status == 8
    assert ("scenario", "IndexError") in {(fault.code, fault.error) for fault in outcome.faults}


@pytest.mark.parametrize(
    ("event", "flags", "expected"),
    [
        ("event usee(n)", (), "the program has no function usee; did you mean use"),
        ("event program.c:999(n)", (), "the program has no code for line program.c:999"),
        ("event program.c:9(n)", ("-O0",), "was compiled without debug information"),
        ("event use(n)", ("-s",), "the program has no symbols"),
        ("event write nowhere(n)", (), 'No symbol "nowhere"'),
    ],
)
def test_places_that_are_not_there_are_told(event, flags, expected, tmp_path):
    prop = f"state init {{ transition {{ {event} success init }} transition {{ event #end() success init }} }}"
    outcome = run(build(LETTERS, *flags), prop, tmp_path, "o1u1")
    reasons = [each.reason for each in outcome.unseen if not each.possible]
    assert any(expected in text for text in (*outcome.said, *reasons)), outcome
    assert outcome.status == 4


LOADING = """
    #include <dlfcn.h>
    #include <unistd.h>
    int use(int n) { return n; }
    int main(int count, char **words) {
        void *library = dlopen(words[1], RTLD_NOW);
        int (*extra)(int) = library ? (int (*)(int)) dlsym(library, "extra") : use;
        int got = extra(3);
        if (library) dlclose(library);
        if (count > 2) execl("/bin/true", "true", (char *) 0);
        return got - 3;
    }
"""


@pytest.mark.parametrize(
    ("flags", "library", "more", "missing"),
    [
        ((), "nothing.so", (), "extra was not there until the program ended: the program has no function extra"),
        (("-s",), "nothing.so", (), "extra was not there until the program ended: the program has no symbols"),
        ((), "extra.so", (), None),
        ((), "extra.so", ("exec",), None),
    ],
)
def test_places_that_a_library_might_have_brought_are_told_at_the_end(flags, library, more, missing, tmp_path):
    shared = build("int extra(int n) { return n; }", "-g", "-shared", "-fPIC")
    (tmp_path / "extra.so").symlink_to(shared)
    prop = "state init { transition { event extra(n) success init } transition { event #end() success init } }"
    outcome = run(build(LOADING, "-g", *flags), prop, tmp_path, str(tmp_path / library), *more)
    assert [each.reason.startswith(missing or "") for each in outcome.unseen if not each.possible] == [True] * (
        missing is not None
    )
    assert outcome.status == 0


def test_a_property_of_which_nothing_can_happen_ends_the_session(tmp_path):
    outcome = run(build(LETTERS), "state init { transition { event usee(n) success init } }", tmp_path, "o1")
    assert "no event of given can happen in this program" in str(outcome.error)
    assert outcome.status is None


def test_a_file_that_is_no_program(tmp_path):
    file = tmp_path / "broken"
    file.write_bytes(b"\x7fELF not really")
    file.chmod(0o755)
    outcome = run(file, FILES, tmp_path)
    assert "broken" in str(outcome.error)


def test_without_gdb(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DebuggerError, match="there is no gdb") as caught:
        run(build(LETTERS), FILES, tmp_path)
    assert "apt-get install gdb" in caught.value.hint


def test_a_gdb_that_dies_is_told_of(tmp_path, monkeypatch):
    fake = tmp_path / "gdb"
    fake.write_text("#!/bin/sh\necho no such luck\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(DebuggerError, match="without a word") as caught:
        run(build(LETTERS), FILES, tmp_path)
    assert "no such luck" in caught.value.hint


def test_a_gdb_whose_python_has_no_core_is_told_of(tmp_path):
    """As if the package lay elsewhere, with a core for another Python."""
    package = tmp_path / "mopsus" / "interactive" / "gdb"
    package.mkdir(parents=True)
    (tmp_path / "mopsus" / "__init__.py").touch()
    (tmp_path / "mopsus" / "_core.cpython-399-x86_64-linux-gnu.so").touch()
    (package / "start.py").write_text(START.read_text())
    said = run_gdb(None, [f"source {package / 'start.py'}"])
    assert re.search(r"this GDB runs Python 3\.\d+, and Mopsus is not built for it \(there is cpython-399", said)


LOOP = """
    #include <stdio.h>
    #include <unistd.h>
    volatile int going = 1;
    void tick(int n) { }
    int main(void) {
        printf("ready\\n");
        fflush(stdout);
        for (int i = 0; going; i++) { tick(i % 5); usleep(1000); }
        printf("done\\n");
        return 3;
    }
"""
TICKS = "state init accepting { transition { event tick(n) success init } }"


def test_an_interrupt_ends_a_run_without_a_prompt(tmp_path):
    prop = tmp_path / "ticks.prop"
    prop.write_text(TICKS)
    words = [sys.executable, "-m", "mopsus", "debug", "--batch", "--json", "--prop", str(prop), str(build(LOOP))]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        os.killpg(running.pid, signal.SIGINT)
        _, report = running.communicate(timeout=60)
    finally:
        end_all(running)
    assert running.returncode == 130
    assert json.loads(report)["program"]["stop"]["reason"] == "interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_is_ended_while_its_debugger_has_hardly_begun(number, tmp_path):
    prop = tmp_path / "ticks.prop"
    prop.write_text(TICKS)
    words = [sys.executable, "-m", "mopsus", "debug", "--batch", "--json", "--prop", str(prop), str(build(LOOP))]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        while not children.read_text() and running.poll() is None:
            pass
        os.killpg(running.pid, number)
        said, report = running.communicate(timeout=60)
    finally:
        end_all(running)
    assert (running.returncode, said) == (128 + number, "")
    assert json.loads(report)["interrupted"] is True


def test_a_program_that_is_let_go_has_no_trap_left(tmp_path):
    """It runs on after `detach`, through functions that were watched, to its end."""
    prop = tmp_path / "ticks.prop"
    prop.write_text(TICKS + "\n")
    said = run_gdb(
        build(LOOP),
        [
            "set confirm off",
            f"source {START}",
            f"verde load-property {prop}",
            "verde exec set_quiet True",
            "break tick if n == 4",
            "run",
            "set var going = 0",
            "python import os; path = f'/proc/{gdb.selected_inferior().pid}/stat'",
            "detach",
            "python while os.path.exists(path) and ' Z ' not in open(path).read(): pass",
        ],
    )
    assert "\ndone\n" in said


def test_a_program_that_is_run_again_is_watched_from_the_beginning(tmp_path):
    prop = tmp_path / "files.prop"
    prop.write_text(FILES)
    lines = [f"source {START}", f"verde load-property {prop}", "run o1u1", "run u2", "run o3"]
    said = run_gdb(build(LETTERS), ["set confirm off", *lines, "verde exec get_slice_bindings"])
    assert said.count("Stopped: files: misused for n=2") == 1
    assert said.splitlines()[-1] == "[{}, {'n': 3}]"


def test_attaching_and_letting_go(tmp_path):
    with subprocess.Popen([build(LOOP)], stdout=subprocess.PIPE, text=True) as program:
        _attach_and_let_go(program, tmp_path)


def _attach_and_let_go(program, tmp_path):
    assert program.stdout.readline() == "ready\n"
    prop = tmp_path / "ticks.prop"
    prop.write_text(
        "state init { transition { event tick(n) { return n == 4 } success four failure init } }\n"
        "state four non-accepting"
    )
    setup = Setup((Watched(str(prop), quiet=True),), process=program.pid, batch=True)
    outcome = launch.run(setup)
    assert [verdict.category for verdict in outcome.verdicts] == ["four"]
    assert program.poll() is None
    program.kill()
    assert program.wait() == -signal.SIGKILL


def test_specs_of_other_logics_and_the_names_that_they_have(tmp_path):
    file = tmp_path / "files.mop"
    file.write_text("""
        Files(n) {
          event open before(n) : call(open_) && value(n = arg 1);
          event use after(n) : call(use) && value(n = arg 1);
          event close before(n) : call(close_) && value(n = arg 1);
          ltl : [](close => [] not use)
          @violation { }
        }
    """)
    assert set(load(str(file))) == {"Files"}
    outcome = launch.run(Setup((Watched(str(file), quiet=True),), (str(build(LETTERS)), "o1u1c1u1"), batch=True))
    assert [(verdict.category, verdict.binding) for verdict in outcome.verdicts] == [("violation", {"n": 1})]
    assert outcome.stop is not None
    assert outcome.stop.backtrace
