"""`mopsus contracts` and `mopsus run --contracts`, as their users start them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest

from mopsus.cli.contracts.check import outcome_line
from mopsus.cli.contracts.examples import Found, Outcome, try_out
from mopsus.contracts import catalogue

PROGRAM = """
    import threading

    words = ["a", "an", "and"]
    for word in words:
        words.remove(word)

    thread = threading.Thread(target=dict)
    thread.start()
    thread.join()
    try:
        thread.start()
    except RuntimeError:
        pass
    """


def mopsus(folder, *arguments, **options):
    command = [sys.executable, "-m", "mopsus", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, **options)


def write(folder, text, name="program.py"):
    (folder / name).write_text(textwrap.dedent(text))
    return name


def found(folder, *arguments, **options):
    done = mopsus(folder, "run", "--json", "--output", "report.json", *arguments, **options)
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "report.json").read_text())
    return [
        (each["spec"], each["severity"], each["location"].rpartition(":")[2]) for each in report["verdicts"]
    ], report


def test_a_program_is_watched_against_the_contracts_that_were_chosen(tmp_path):
    program = write(tmp_path, PROGRAM)
    both = [("UnsafeIter", "error", "5"), ("ThreadStartedTwice", "error", "12")]
    assert found(tmp_path, "--contracts", "stdlib", "--", program)[0] == both
    assert found(tmp_path, "--contracts", "stdlib,-UnsafeIter", "--", program)[0] == both[1:]
    assert found(tmp_path, "--contracts", "iteration", "--", program)[0] == both[:1]


def test_specs_and_contracts_go_together(tmp_path):
    program = write(tmp_path, PROGRAM)
    write(
        tmp_path,
        "Starts(t) { event start before(t) : call(threading.Thread.start) && target(t)\n ere : start }",
        "s.mop",
    )
    verdicts, report = found(tmp_path, "--contracts", "ThreadStartedTwice", "s.mop", "--", program)
    assert [each[0] for each in verdicts] == ["Starts", "ThreadStartedTwice"]
    assert [each["name"] for each in report["specs"]] == ["Starts", "ThreadStartedTwice"]


def test_contracts_of_modules_that_are_not_loaded_are_not_even_read(tmp_path):
    program = write(tmp_path, "import sqlite3\n")
    _, report = found(tmp_path, "--contracts", "formats", "--", program)
    names = {each["name"] for each in report["specs"]}
    assert "SqliteUncommitted" in names
    assert "ZipNotClosed" not in names
    assert report["warnings"] == []  # nobody wants to hear that nothing was closed


def test_code_in_contracts_is_ours_and_runs_without_being_allowed(tmp_path):
    program = write(tmp_path, "import logging\n\nlogging.basicConfig()\nlogging.basicConfig()\n")
    verdicts, report = found(tmp_path, "--no-code", "--contracts", "BasicConfigIgnored", "--", program)
    assert verdicts == [("BasicConfigIgnored", "warning", "4")]
    assert report["stats"]["specs"]["BasicConfigIgnored"]["faults"] == 0


def test_what_is_switched_off_is_counted(tmp_path):
    program = write(tmp_path, PROGRAM.replace("words.remove(word)", "words.remove(word)  # mopsus: ignore[UnsafeIter]"))
    write(tmp_path, '[tool.mopsus.contracts]\nseverity = {ThreadStartedTwice = "note"}\n', "pyproject.toml")
    done = mopsus(tmp_path, "run", "--fail-on-violation", "--contracts", "stdlib", "--", program)
    assert done.returncode == 0
    assert "note  ThreadStartedTwice/ere" in done.stderr
    assert done.stderr.rstrip().endswith("1 suppressed")
    assert "no violations, 1 note in " in done.stderr


def test_verdicts_of_forked_and_spawned_processes_are_switched_off_too(tmp_path):
    write(
        tmp_path,
        """
        import multiprocessing, sys

        def bad():
            words = ["a", "an", "and"]
            for word in words:
                words.remove(word)

        def ignored():  # mopsus: ignore[UnsafeIter]
            words = ["a", "an", "and"]
            for word in words:
                words.remove(word)

        if __name__ == "__main__":
            context = multiprocessing.get_context(sys.argv[1])
            for target in (bad, ignored):
                process = context.Process(target=target)
                process.start()
                process.join()
        """,
    )
    for method in ("fork", "spawn"):
        done = mopsus(tmp_path, "run", "--contracts", "UnsafeIter", "--", "program.py", method)
        assert "1 violation in" in done.stderr, done.stderr
        assert "1 suppressed" in done.stderr


def test_within_the_library_a_finding_is_where_the_program_has_called_it(tmp_path):
    program = write(tmp_path, "import logging\n\nlogging.warning('%s %s', 1)\n")
    assert found(tmp_path, "--contracts", "LoggingFormatError", "--", program)[0] == [
        ("LoggingFormatError", "error", "3")
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--contracts", "nothing", "--", "program.py"), "error[CONTRACT-001]: there is no contract 'nothing'"),
        (("--", "program.py"), "or choose contracts by --contracts"),
        (("--outline", "--contracts", "stdlib", "--", "program.py"), "error[CLI-005]: --contracts watches from within"),
    ],
)
def test_wrong_use_is_told(tmp_path, arguments, message):
    write(tmp_path, "pass\n")
    done = mopsus(tmp_path, "run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_wrong_settings_are_told(tmp_path):
    write(tmp_path, "[tool.mopsus.contracts]\ndisabled = []\n", "pyproject.toml")
    done = mopsus(tmp_path, "run", "--contracts", "stdlib", "--", write(tmp_path, "pass\n"))
    assert done.returncode == 2
    assert "error[CONTRACT-002]" in done.stderr


# ---- mopsus contracts


def test_list_has_every_contract_with_its_rule(tmp_path):
    listed = json.loads(mopsus(tmp_path, "contracts", "list", "--json").stdout)
    assert [each["name"] for each in listed] == list(catalogue())
    assert all(each["rule"] and each["source"].startswith("https://") for each in listed)
    shown = mopsus(tmp_path, "contracts", "list", "threads").stdout
    assert "ThreadStartedTwice" in shown
    assert "UnsafeIter" not in shown


def test_a_list_says_how_many_rules_it_has_and_fits_a_narrow_terminal(tmp_path):
    narrow = {**os.environ, "COLUMNS": "40"}
    shown = mopsus(tmp_path, "contracts", "list", "UnsafeIter,UnsafeSetIter,LockOrder", env=narrow).stdout
    assert "\n  UnsafeSetIter  error\n    No element is removed from a set" in shown
    assert max(map(len, shown.splitlines())) <= 40
    assert "3 contracts with 2 different rules" in shown


def test_show_has_the_spec_and_its_examples(tmp_path):
    done = mopsus(tmp_path, "contracts", "show", "UnsafeIter")
    contract = catalogue()["UnsafeIter"]
    for path in (contract.path, contract.violating, contract.clean):
        assert path.read_text() in done.stdout
    assert json.loads(mopsus(tmp_path, "contracts", "show", "UnsafeIter", "--json").stdout)["severity"] == "error"
    wrong = mopsus(tmp_path, "contracts", "show", "UnsafeItr")
    assert (wrong.returncode, "did you mean 'UnsafeIter'?" in wrong.stderr) == (2, True)


@pytest.mark.parametrize(
    ("violating", "clean", "told"),
    [
        ([4], [], "  UnsafeSetIter: holds"),
        ([], [], "✗ UnsafeSetIter: violating: nothing instead of UnsafeSetIter at line 4"),
        ([4], [9], "✗ UnsafeSetIter: clean: UnsafeSetIter at line 9 instead of nothing"),
        (
            [4, 5],
            [],
            "✗ UnsafeSetIter: violating: UnsafeSetIter at line 4, UnsafeSetIter at line 5 "
            "instead of UnsafeSetIter at line 4",
        ),
    ],
)
def test_check_says_what_does_not_hold(violating, clean, told):
    one, other = (tuple(Found("UnsafeSetIter", line) for line in lines) for lines in (violating, clean))
    outcome = Outcome(catalogue()["UnsafeSetIter"], "", one, other)
    assert outcome.holds == told.endswith("holds")
    assert outcome_line(outcome) == told


def test_check_leaves_out_what_is_not_installed():
    outcome = try_out(replace(catalogue()["UnsafeIter"], modules=("no_such_package.part",)), [])
    assert outcome.holds
    assert outcome_line(outcome) == "  UnsafeIter: no_such_package.part is not installed"
