"""`pytest --mopsus`, by running pytest on a small project."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import mopsus
import mopsus.events.weave.weaver
import mopsus.report.html
import mopsus.report.junit
import mopsus.report.sarif
import mopsus.testing

pytest_plugins = ["pytester"]

DOORS = """\
Doors(d: Door) {
    event open before(d) : call(Door.open) && target(d)
    event close before(d) : call(Door.close) && target(d)
    ere : (open close)* open open
}
"""
# An inner run in this process forgets the modules that it has imported, so all of ours must be there before.
mopsus.parse(DOORS)["Doors"].monitor().close()

HOUSE = """\
class Door:
    def open(self):
        return "open"

    def close(self):
        return "closed"

    def __repr__(self):
        return "<door>"
"""
TESTS = """\
import pytest
from house import Door

def test_fine():
    door = Door()
    door.open()
    door.close()

def test_twice():
    door = Door()
    door.open()
    door.open()

@pytest.mark.parametrize("number", range(2))
def test_often(number):
    twice(Door())

def twice(door):
    door.open()
    door.open()
"""


@pytest.fixture
def project(pytester, monkeypatch):
    """A folder with a package under test, a spec, and tests, two of which misuse a door."""
    # The outer run may itself be a worker of pytest-xdist.
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    pytester.makeini(
        "[pytest]\naddopts = -p no:cacheprovider\n"
        "filterwarnings = ignore::pytest.PytestAssertRewriteWarning\n"  # by the editable install of this checkout
    )
    pytester.makefile(".mop", doors=DOORS)
    pytester.makepyfile(house=HOUSE, test_doors=TESTS)
    return pytester


@pytest.fixture
def run(project):
    def run(*options, status=None):
        result = project.runpytest_inprocess("--mopsus", "doors.mop", *options)
        if status is not None:
            assert result.ret == status
        return result

    return run


def text(result):
    return result.stdout.str()


def test_violations_are_shown_with_the_tests_that_caused_them(run):
    result = run(status=0)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "*= mopsus =*",
            "error  Doors/ere  match*",
            "  d=Door#* at test_doors.py:12",
            "     test_doors.py:11  open  d=Door#*",
            "*                            door.open()",
            "*test_doors.py:12  open  d=Door#*",
            "  in test_doors.py::test_twice",
            "error  Doors/ere  match  2 times",
            "  in test_doors.py::test_often[[]0[]]",
            "  in test_doors.py::test_often[[]1[]]",
            "3 violations (2 unique) in 8 events*1 spec",
        ]
    )


def test_with_fail_just_those_tests_fail(run):
    result = run("--mopsus-fail", status=1)
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "Doors: match for d=Door#* at test_doors.py:12",
            "   1. open(*)  at test_doors.py:11*",
            "        | door.open()",
            "FAILED test_doors.py::test_twice - Failed: Doors: match for d=Door#*",
        ]
    )
    assert "Traceback" not in text(result)


def test_without_a_spec_nothing_of_mopsus_is_loaded(project):
    script = (
        "import sys, pytest\n"
        "status = pytest.main(['-q', '-p', 'no:cacheprovider'])\n"
        "assert 'mopsus.pytest_plugin' in sys.modules\n"
        "print('loaded', [name for name in sys.modules if name.startswith('mopsus.')])\n"
        "sys.exit(status)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=project.path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded ['mopsus.late', 'mopsus.pytest_plugin']"


def test_a_fixture_that_violates_fails_its_test_and_at_teardown_gives_an_error(project, run):
    project.makepyfile(
        test_doors="""\
        import pytest
        from house import Door

        @pytest.fixture
        def before():
            door = Door()
            door.open()
            door.open()

        @pytest.fixture
        def after():
            yield
            door = Door()
            door.open()
            door.open()

        def test_before(before):
            pass

        def test_after(after):
            pass
        """
    )
    result = run("--mopsus-fail", "-rA", status=1)
    result.assert_outcomes(passed=1, failed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["PASSED test_doors.py::test_after", "ERROR test_doors.py::test_after*", "FAILED test_doors.py::test_before*"],
    )
    assert "2 violations in 4 events" in text(result)


def test_a_failure_is_like_any_other(project, run):
    project.makepyfile(
        test_doors="""\
        import unittest
        import pytest
        from house import Door

        def twice():
            door = Door()
            door.open()
            door.open()

        @pytest.mark.xfail(strict=True)
        def test_expected():
            twice()

        def test_of_its_own():
            twice()
            assert 1 + 1 == 3

        class TestCase(unittest.TestCase):
            def test_unit(self):
                twice()

        def test_skipped():
            twice()
            pytest.skip("not now")
        """
    )
    result = run("--mopsus-fail", status=1)
    result.assert_outcomes(xfailed=1, failed=2, skipped=1)
    result.stdout.fnmatch_lines(["*assert (1 + 1) == 3", "*4 violations (1 unique)*"])


def test_what_no_test_caused_is_said_to_be_outside(project, run):
    project.makepyfile(
        test_doors="""\
        from house import Door

        door = Door()
        door.open()
        door.open()

        def test_fine():
            pass
        """
    )
    result = run(status=0)
    result.stdout.fnmatch_lines(["  outside of all tests"])
    result = run("--mopsus-fail", status=1)
    result.assert_outcomes(passed=1)


def test_a_thread_of_a_test_is_part_of_it(project, run):
    project.makepyfile(
        test_doors="""\
        import threading
        from house import Door

        def test_thread():
            door = Door()
            thread = threading.Thread(target=lambda: (door.open(), door.open()))
            thread.start()
            thread.join()
        """
    )
    run("--mopsus-fail").assert_outcomes(failed=1)


def test_python_processes_that_nobody_watches_are_counted(project, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    project.makepyfile(
        test_doors="""\
        import subprocess, sys
        import pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_process(number):
            subprocess.run([sys.executable, "-c", "0"], check=True)
        """
    )
    for options in ((), ("-n", "2")):
        result = project.runpytest_subprocess("--mopsus", "doors.mop", *options)
        result.stdout.fnmatch_lines(["*CLI-006*2 Python processes that the program started were not watched"])


def test_processes_of_a_test_are_part_of_it(project, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(project.path))
    project.makepyfile(
        test_doors="""\
        import multiprocessing
        import pytest
        from house import Door

        def twice():
            door = Door()
            door.open()
            door.open()

        @pytest.mark.parametrize("method", ["fork", "spawn"])
        def test_process(method):
            process = multiprocessing.get_context(method).Process(target=twice)
            process.start()
            process.join()
            assert process.exitcode == 0

        def test_fine():
            pass
        """
    )
    result = project.runpytest_subprocess("--mopsus", "doors.mop", "--mopsus-fail", "-p", "no:xdist")
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(
        [
            "  in test_doors.py::test_process[[]fork[]]",
            "  in test_doors.py::test_process[[]spawn[]]",
            "2 violations (1 unique) in 4 events*",
        ]
    )


def test_a_run_that_a_test_ends_at_once_is_no_pass(project):
    project.makepyfile(
        test_doors="""\
        import os
        from house import Door

        def test_fork():
            pid = os.fork()
            door = Door()
            door.open()
            if not pid:
                os._exit(0)
            os.waitpid(pid, 0)

        def test_exit():
            os._exit(0)
        """
    )
    options = ("--mopsus", "doors.mop", "-p", "no:xdist")
    result = project.runpytest_subprocess(*options, "-k", "fork")
    result.stdout.fnmatch_lines(["no violations in 2 events*"])
    assert project.runpytest_subprocess(*options).ret == 0
    result = project.runpytest_subprocess(*options, "--mopsus-fail")
    assert result.ret == 3
    result.stdout.fnmatch_lines(["mopsus: os._exit(0) has ended the run*"])


def test_a_test_may_play_another_system(project):
    project.makepyfile(
        test_doors="""
        import os
        from house import Door

        def test_elsewhere(monkeypatch):
            monkeypatch.setattr(os, "name", "nt")
            door = Door()
            door.open()
            door.open()
        """
    )
    result = project.runpytest_subprocess("--mopsus", "doors.mop")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 violation in 2 events*"])


def test_a_warning_fails_nothing(project, run):
    project.makefile(".mop", doors=DOORS.replace("    event", "    severity: warning\n    event", 1))
    result = run("--mopsus-fail", status=0)
    result.stdout.fnmatch_lines(["warning  Doors/ere  match*", "no violations, 3 warnings in 8 events*"])


def test_an_error_in_a_handler_is_told(project, run):
    project.makefile(".mop", doors=DOORS.replace("}\n", "    @match { 1 / 0 }\n}\n"))
    result = run(status=0)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["fault  Doors  3 times", "3 violations (2 unique) in 8 events*3 faults"])
    assert "row" not in text(result)


def test_a_spec_that_sees_nothing_is_told(project, run):
    project.makefile(".mop", doors=DOORS.replace("Door.", "Gate."))
    told = ["warning?SEEN-002?: spec Doors: none of its events ever occurred*", "no violations in 0 events*"]
    run(status=0).stdout.fnmatch_lines(told)
    run("--mopsus-strict", status=4).stdout.fnmatch_lines(["error?SEEN-002?*", "*not seen: Doors"])


def test_a_pattern_that_mostly_stopped_early_is_told(project, run):
    project.makefile(".mop", doors=DOORS.replace("(open close)* open open", "open close open open"))
    warning = "warning?VERDICT-001?: spec Doors: in 3 of its 4 slices `open` came where the pattern has no room for it*"
    run(status=0).stdout.fnmatch_lines([warning, "no violations in 8 events*"])


def test_an_event_that_cannot_occur_fails_the_run(project, run):
    project.makefile(".mop", doors=DOORS.replace("}", "    event paint before() : call(json.dumpss)\n}", 1))
    project.makefile(".ini", pytest="[pytest]\n")
    project.makepyfile(test_json="import json\ndef test_it(): pass\n")
    run(status=4).stdout.fnmatch_lines(["error?SEEN-001?*event `paint` cannot be seen: `json` has no `dumpss`*"])
    run("--mopsus-allow-silent", status=0)
    project.makefile(".ini", pytest="[pytest]\nmopsus_allow_silent = true\n")
    run(status=0)


@pytest.fixture
def loops(project):
    """The project with a test that changes a list in a loop over it, and fails."""
    project.makefile(
        ".mop",
        iterators="""\
        UnsafeIter(c: list, i) {
            event create after(c) returning(i) : call(builtins.iter) && args(c)
            event update after(c) : call(list.append | list.remove) && target(c)
            event next before(i) : next(i)
            ere : create next* update+ next
        }
        """,
    )
    project.makepyfile(
        test_doors="""\
        def test_loop():
            basket = ["apple", "pear", "plum"]
            for fruit in basket:
                if fruit == "apple":
                    basket.remove(fruit)
            assert sorted(basket) == ["pear"]
        """
    )
    return project


LOOP = [
    "error  UnsafeIter/ere  match*",
    "*for fruit in basket:",
    "*basket.remove(fruit)",
    "  in test_doors.py::test_loop",
]


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_loops_in_tests_are_seen_and_asserts_still_explain_themselves(loops, mode):
    how = f"--import-mode={mode}"
    plain = loops.runpytest_inprocess(how)  # leaves its code in pytest's cache
    woven = loops.runpytest_inprocess(how, "--mopsus", "iterators.mop")
    again = loops.runpytest_inprocess(how)
    for each in (plain, woven, again):
        each.assert_outcomes(failed=1)
        assert "E       AssertionError: assert ['pear', 'plum'] == ['pear']" in each.outlines
    woven.stdout.fnmatch_lines(LOOP)


def test_loops_in_tests_are_seen_without_explained_asserts(loops):
    # In a process of its own: the outer run has its own hook for test modules.
    result = loops.runpytest_subprocess("--assert=plain", "--mopsus", "iterators.mop")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(LOOP)


def test_everything_is_as_before_when_it_is_over(project, run):
    before = dict(vars(list))
    project.makefile(".mop", doors=DOORS.replace("Door.close", "list.append").replace("d: Door", "d"))
    finders = list(sys.meta_path)
    run(status=0)
    assert dict(vars(list)) == before
    assert sys.meta_path == finders


# ---- reports and the baseline


def test_reports_name_the_tests(project, run):
    run("--mopsus-junit", "m.xml", "--mopsus-sarif", "m.sarif", "--mopsus-html", "m.html", status=0)
    root = ElementTree.parse(project.path / "m.xml").getroot()
    (failure,) = root.iter("failure")
    assert failure.get("message").startswith("3 violations: Doors: match for d=Door#")
    assert "in test_doors.py::test_twice" in failure.text
    (sarif,) = json.loads((project.path / "m.sarif").read_text("utf-8"))["runs"]
    first = sarif["results"][0]
    assert first["message"]["text"].endswith("in test_doors.py::test_twice")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "test_doors.py"
    assert place["region"] == {"startLine": 12, "snippet": {"text": "door.open()"}}
    assert "in test_doors.py::test_twice" in (project.path / "m.html").read_text("utf-8")


def test_an_interrupted_run_is_told_as_one(project):
    project.makepyfile(test_last="def test_stop():\n    raise KeyboardInterrupt\n")
    options = ("--mopsus", "doors.mop", "--mopsus-sarif", "m.sarif")
    result = project.runpytest_inprocess(*options, no_reraise_ctrlc=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["3 violations (2 unique) in 8 events*interrupted"])
    (sarif,) = json.loads((project.path / "m.sarif").read_text("utf-8"))["runs"]
    assert sarif["invocations"][0]["executionSuccessful"] is False


def test_a_baseline_accepts_what_is_known_and_nothing_else(project, run):
    result = run("--mopsus-fail", "--mopsus-write-baseline", status=0)
    result.stdout.fnmatch_lines(["2 known violations written to *mopsus-baseline.json"])
    options = ("--mopsus-fail", "--mopsus-baseline", "mopsus-baseline.json")
    result = run(*options, status=0)
    result.stdout.fnmatch_lines(["no violations in 8 events*", "3 violations accepted by *mopsus-baseline.json"])
    # The same on other lines, and one that is new.
    project.makepyfile(
        test_doors="# moved\n\n\n"
        + TESTS
        + "\ndef test_new():\n    twice_again(Door())\n\ndef twice_again(door):\n    door.open()\n    door.open()\n"
    )
    result = run(*options, status=1)
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_doors.py::test_new*"])
    # What no longer happens is told.
    project.makepyfile(test_doors="from house import Door\n\ndef test_fine():\n    Door().open()\n")
    result = run(*options, status=0)
    result.stdout.fnmatch_lines(["0 violations accepted by *mopsus-baseline.json; 2 of its entries did not occur"])


def test_a_baseline_that_is_written_anew_keeps_reasons(project, run):
    run("--mopsus-write-baseline", status=0)
    path = project.path / "mopsus-baseline.json"
    known = json.loads(path.read_text("utf-8"))
    assert [entry["place"] for entry in known["accepted"]] == ["test_doors.py::test_twice", "test_doors.py::twice"]
    known["accepted"][1]["reason"] = "the hinge"
    path.write_text(json.dumps(known), "utf-8")
    run("--mopsus-write-baseline", "-k", "often", status=0)
    (kept,) = json.loads(path.read_text("utf-8"))["accepted"]
    assert (kept["place"], kept["reason"]) == ("test_doors.py::twice", "the hinge")


# ---- wrong use


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--mopsus", "nowhere.mop"], "cannot read"),
        (["--mopsus", "broken.mop"], "error?LOGIC-002?: unknown event 'opne'"),
        (["--mopsus", "doors.mop", "--mopsus-baseline", "nowhere.json"], "cannot read the baseline"),
        (["--mopsus", "doors.mop", "--mopsus-baseline", "doors.mop"], "is no baseline"),
        (["--mopsus", "doors.mop", "--mopsus-junit", "no/folder/m.xml"], "cannot write the report"),
    ],
)
def test_wrong_use_is_explained(project, options, says):
    project.makefile(".mop", broken=DOORS.replace("* open open", "* opne"))
    result = project.runpytest_inprocess(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{says}*"])
    assert "Traceback" not in result.stderr.str()


def test_quiet_and_fine_says_nothing(run):
    assert "mopsus" not in text(run("-q", "-k", "fine", status=0))
    assert "mopsus" in text(run("-q", status=0))


def test_quiet_does_not_hide_that_nothing_was_seen(project):
    project.makefile(".mop", shut=DOORS.replace("Door.open", "Door.opeen").replace("Door.close", "Door.cloose"))
    result = project.runpytest_inprocess("-q", "--mopsus", "shut.mop", "--mopsus-fail")
    result.stdout.fnmatch_lines(["warning?SEEN-002?: spec Doors: none of its events ever occurred*"])


def test_specs_of_the_configuration_are_found_from_any_folder(project, monkeypatch):
    project.makeini("[pytest]\naddopts = -p no:cacheprovider --mopsus doors.mop\npythonpath = .\n")
    (project.path / "deep").mkdir()
    (project.path / "test_doors.py").rename(project.path / "deep" / "test_doors.py")
    monkeypatch.chdir(project.path / "deep")
    result = project.runpytest_inprocess()
    result.stdout.fnmatch_lines(["3 violations (2 unique)*"])


# ---- pytest-xdist


def test_workers_tell_the_controller_and_know_the_baseline(project, run):
    run("-k", "twice", "--mopsus-write-baseline", "--mopsus-baseline", "known.json", status=0)
    project.makepyfile(
        test_more="from house import Door\n\ndoor = Door()\ndoor.open()\ndoor.open()\n\ndef test_fine(): pass\n"
    )
    options = ("--mopsus-fail", "--mopsus-baseline", "known.json", "--mopsus-junit", "m.xml")
    result = run("-n", "2", *options, status=1)
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["  in test_doors.py::test_often*", "4 violations (2 unique) in 12 events*1 spec"])
    result.stdout.fnmatch_lines(["  outside of all tests"])
    result.stdout.fnmatch_lines(["1 violation accepted by known.json"])
    assert "in test_doors.py::test_often[0]" in (project.path / "m.xml").read_text("utf-8")


CONTRACTS = """\
def prune(words):
    for word in words:
        words.remove(word)


def ignored(words):  # mopsus: ignore[UnsafeIter]
    for word in words:
        words.remove(word)
"""


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_contracts_are_watched_and_switched_off(pytester, options):
    pytester.makepyfile(
        words=CONTRACTS,
        test_words="from words import ignored, prune\n\n"
        "def test_bad(): prune(['a', 'b', 'c'])\n\n"
        "def test_ignored(): ignored(['a', 'b', 'c'])\n\n"
        "def test_note():\n    words = iter(x for x in 'ab')\n    list(words)\n    for word in words:\n        pass\n",
    )
    pytester.makepyprojecttoml(
        '[tool.mopsus.contracts]\ndisable = ["UnsafItr"]\nseverity = {ExhaustedIterator = "note"}\n'
    )
    done = pytester.runpytest_subprocess("--mopsus-contracts", "iteration", "--mopsus-fail", *options)
    done.assert_outcomes(failed=1, passed=2)
    done.stdout.fnmatch_lines(
        [
            "error  UnsafeIter/ere  match",
            "*https://docs.python.org/3/tutorial/controlflow.html*",
            "*in test_words.py::test_bad",
            "note  ExhaustedIterator/ere  match",
            "*CONTRACT-003*there is no contract 'UnsafItr'",
            "1 violation, 1 note in * · 1 suppressed",
        ]
    )
    assert "of ListChangedWhileSorted happened" not in done.stdout.str()


def test_wrong_contracts_are_a_wrong_use(pytester):
    pytester.makepyfile("def test(): pass")
    done = pytester.runpytest_subprocess("--mopsus-contracts", "nothing")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*there is no contract 'nothing'*"])
