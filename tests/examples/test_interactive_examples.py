"""The stories of `examples/interactive` end as their pages tell: each fault is found, where it is, under the real
debugger; programs without the fault run to their end, and print what they print without a debugger."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "interactive"


@pytest.fixture
def build(tmp_path):
    """Compiles an example as its page does, and gives the program."""

    def compiled(name, *options):
        program = tmp_path / name
        command = ["cc", "-g3", "-O0", "-o", str(program), f"{name}.c", *options]
        subprocess.run(command, cwd=FOLDER, check=True)
        return str(program)

    return compiled


@dataclass
class Run:
    """What became of a program under `mopsus debug --batch`."""

    report: dict
    printed: str
    """By the program."""
    said: str
    """By the property, or by the scenario."""

    @property
    def violations(self):
        return [each["category"] for each in self.report["verdicts"] if each["severity"] == "error"]

    @property
    def status(self):
        return self.report["program"]["status"]

    @property
    def stop(self):
        return self.report["program"]["stop"]

    @property
    def functions(self):
        """Those that the program stands in, innermost first."""
        frames = self.stop["backtrace"]
        if frames[-1] == "… the stack goes on":
            frames = frames[:-1]
        return [re.match(r"#\d+ +(?:0x\w+ in )?([\w.<>?]+)", frame)[1] for frame in frames]

    def seen(self, spec):
        """How often each event happened."""
        return {event: count for event, count in self.report["stats"]["specs"][spec]["seen"].items() if count}


@pytest.fixture
def debug(tmp_path):
    """Debugs a program with an example's property, without a prompt."""

    def run(prop, *program, scenario=None, output=subprocess.PIPE, record=None, hooks=True):
        file = tmp_path / "report.json"
        words = ["--batch", "--json", "--output", str(file), "--prop", str(FOLDER / prop)]
        if not hooks:
            words.append("--no-hooks")
        if record is not None:
            words += ["--record", str(record)]
        if scenario is not None:
            words += ["--scenario", str(FOLDER / scenario)]
        done = subprocess.run(
            [sys.executable, "-m", "mopsus", "debug", *words, *program],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        found = Run(json.loads(file.read_text(encoding="utf-8")), done.stdout, done.stderr)
        assert done.returncode == bool(found.violations)
        return found

    return run


def line_of(file, text):
    """`queue.c:12`, where the text stands."""
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    return f"{file}:{next(number for number, line in enumerate(lines, 1) if text in line)}"


# ---- C programs


@pytest.mark.gdb
def test_a_queue_is_stopped_at_the_push_that_it_has_no_room_for(build, debug):
    run = debug("queue.prop", build("queue"))
    assert run.violations == ["overflow"]
    assert run.seen("queue") == {"queue_new_after": 1, "queue_push": 17}
    assert run.stop["location"].endswith(line_of("queue.c", "strchr"))
    assert run.functions == ["queue_push", "queue_push_text", "main"]


@pytest.mark.gdb
def test_a_property_of_the_arrays_finds_the_letter_that_overwrites_another(build, debug):
    program = build("queue")
    run = debug("letters.prop", program)
    assert run.violations == ["overflow"]
    assert run.seen("letters")["queue_push"] == 22
    (verdict,) = run.report["verdicts"]
    assert verdict["witness"][-1]["binding"]["letter"] == "r"
    run = debug("letters.prop", program, "short text")
    assert run.violations == []
    assert (run.status, run.stop) == (0, None)
    assert "consonants shrttxt, vowels oe" in run.printed


@pytest.mark.gdb
def test_a_producer_that_found_room_that_others_found_too_is_stopped(build, debug):
    run = debug("producers.prop", build("producers", "-pthread"), hooks=False)  # which leave threads no time to meet
    assert run.violations == ["overflow"]
    assert "found room for 4 where 4 are" in run.said
    assert run.functions[:2] == ["queue_push", "produce"]


@pytest.mark.gdb
def test_threads_go_back_to_the_first_item_and_go_wrong_again(build, debug):
    run = debug("producers.prop", build("producers", "-pthread"), scenario="producers.scn", hooks=False)
    assert run.violations == ["overflow"] * 3
    assert "went wrong 3 times from the first item on" in run.said
    assert run.functions[:2] == ["queue_push", "produce"]


@pytest.mark.gdb
def test_producers_that_look_again_are_right(build, debug):
    run = debug("producers.prop", build("producers", "-pthread", "-DRIGHT"))
    assert run.violations == []
    assert run.seen("producers")["queue_pop"] == 500
    assert "put in 25250, got out 25250" in run.printed


@pytest.mark.gdb
def test_what_is_taken_off_a_stack_is_watched_only_while_it_matters(build, debug):
    program = build("stack")
    sparse, always = (debug(prop, program, hooks=False) for prop in ("stack.prop", "stack-always.prop"))
    assert sparse.violations == always.violations == []
    assert sparse.seen("stack") == {"stack_push": 100, "stack_pop": 1}
    assert always.seen("stack_always") == {"stack_push": 100, "stack_pop": 100}
    assert sparse.printed == always.printed == "4950\n"


@pytest.mark.gdb
def test_a_mutant_is_run_again_from_the_last_good_checkpoint(build, debug):
    run = debug("sudoku.prop", build("sudoku"), scenario="sudoku.scn")
    assert run.violations == ["bad_load", "bad_load"]
    assert "changes of the last row: 1" in run.said
    assert "bad board" not in run.printed
    assert run.functions[-1] == "main"


@pytest.mark.gdb
def test_the_program_without_the_mutation_solves_its_board(build, debug):
    run = debug("sudoku.prop", build("sudoku", "-DCOLUMNS=9"), scenario="sudoku.scn")
    assert run.violations == []
    assert run.status == 0
    assert "345286179" in run.printed


# ---- libraries and programs of Debian, unchanged


@pytest.mark.gdb
@pytest.mark.parametrize("spec", ["iterators.prop", "iterators.mop"])
def test_a_table_that_changes_under_its_iterator_is_found(build, debug, spec):
    options = subprocess.check_output(["pkg-config", "--cflags", "--libs", "glib-2.0"], text=True).split()
    run = debug(spec, build("words", *options))
    assert len(run.violations) == 1
    assert run.functions == ["g_hash_table_iter_next", "forget_rare", "main"]
    run = debug(spec, build("words", "-DRIGHT", *options))
    assert run.violations == []
    assert "4 words came more than once" in run.printed


@pytest.fixture
def deep_script(tmp_path):
    script = tmp_path / "deep.zsh"
    script.write_text("text=x\necho " + "${" * 20_000 + "text" + "}" * 20_000 + "\n")
    return str(script)


@pytest.mark.gdb
def test_zsh_is_stopped_before_it_has_no_stack_left(deep_script, debug):
    alone = ["sh", "-c", 'ulimit -s 8192; exec zsh -f "$0"', deep_script]
    assert subprocess.run(alone, check=False).returncode == -signal.SIGSEGV
    run = debug("zsh.prop", "zsh", "-f", deep_script)
    assert run.violations == ["too_deep"]
    assert "nested too deeply in line 2 of the script" in run.said
    assert run.functions[0] == "prefork"


@pytest.mark.gdb
def test_what_a_fix_would_do_is_tried_in_the_running_zsh(deep_script, debug):
    run = debug("zsh.prop", "zsh", "-f", deep_script, scenario="zsh.scn")
    assert "too_deep" in run.violations
    assert (run.status, run.stop) == (1, None)


@pytest.mark.gdb
@pytest.mark.parametrize(("program", "right"), [("/usr/games/primes", False), ("/usr/bin/seq", True)])
def test_a_program_that_loses_its_output_without_a_word_is_found(program, right, debug):
    with open("/dev/full", "w") as full:
        run = debug("output.prop", program, "1", "100", output=full)
    assert run.violations == ([] if right else ["silent"])


# ---- a Python program


def test_a_ticket_that_goes_back_twice_is_found_in_a_python_program(debug):
    run = debug("shop.prop", str(FOLDER / "shop.py"), scenario="shop.scn")
    assert run.violations == ["back_twice"]
    assert "ticket 3 went back before: checkpoint" in run.said
    assert run.functions[:2] == ["Shop.release", "Shop.cancel"]


def test_what_a_property_prints_is_no_output_of_the_program(debug, tmp_path):
    (tmp_path / "hours.prop").write_text(
        "state init { transition { after event write Shop.hour(ret as hour) success { print('hour', hour) } } }"
    )
    run = debug(tmp_path / "hours.prop", str(FOLDER / "shop.py"))
    assert run.printed == "oars: 55 on the shelf, 10 sold, 50 delivered\n"
    assert run.said.splitlines() == ["hour 8", "hour 9", "hour 10", "hour 11"]


# ---- what was recorded


@pytest.mark.gdb
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@pytest.mark.parametrize("prop", ["queue.prop", "letters.prop", "shop.prop"])
def test_what_was_recorded_is_judged_as_the_program_was(build, debug, tmp_path, prop, suffix):
    record = tmp_path / f"events{suffix}"
    run = debug(prop, str(FOLDER / "shop.py") if prop == "shop.prop" else build("queue"), record=record)
    command = [sys.executable, "-m", "mopsus", "check", "--json", str(FOLDER / prop), str(record)]
    checked = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert [each["category"] for each in checked["verdicts"]] == run.violations
    assert len(run.violations) == 1
    assert [each["event"] for each in checked["verdicts"][0]["witness"]] == [
        each["event"] for each in run.report["verdicts"][0]["witness"]
    ]
