"""To which test a finding belongs, and that with `--mopsus-fail` none is ever without consequence."""

import pytest

import mopsus
import mopsus.events.weave.weaver
import mopsus.monitor.caught
import mopsus.testing

pytest_plugins = ["pytester"]

SPECS = """\
Doors(d: Door) {
    event open before(d) : call(Door.open) && target(d)
    event close before(d) : call(Door.close) && target(d)
    ere : (open close)* open open
}
Left(d: Door) {
    creation event open before(d) : call(Door.open) && target(d)
    event close before(d) : call(Door.close) && target(d)
    event gone before(d) : endObject(d)
    ere : (open close)* open gone
}
Locked(d: Door) {
    event close before(d) : call(Door.close) && target(d)
    creation event locked after(d) raising() : call(Door.lock) && target(d)
    ere : close* locked
}
"""
# An inner run in this process forgets the modules that it has imported, so all of ours must be there before.
mopsus.parse(SPECS)["Doors"].monitor().close()

HOUSE = """\
class Door:
    def open(self): pass
    def close(self): pass
    def lock(self): raise ValueError("there is no key")
    def __repr__(self): return "<door>"

def twice():
    door = Door()
    door.open()
    door.open()
    door.close()
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs tests, written in a file that has doors; gives what came of it."""
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider\nfilterwarnings = ignore\n")
    pytester.makefile(".mop", doors=SPECS)
    pytester.makepyfile(house=HOUSE)

    def run(tests, *options, status=None):
        header = "import gc, threading, unittest\nimport pytest\nfrom house import Door, twice\n\n"
        (pytester.path / "test_doors.py").write_text(header + tests)
        result = pytester.runpytest_inprocess("--mopsus", "doors.mop", "--mopsus-fail", *options)
        if status is not None:
            assert result.ret == status
        return result

    return run


def told(result):
    """By finding and severity: who caused it."""
    found, lines = {}, iter(result.outlines)
    for line in lines:
        words = line.split()
        if words[:1] in (["error"], ["note"]) and "/ere" in line:
            causes = found.setdefault((words[0], words[1].removesuffix("/ere")), [])
        elif line.startswith(("  in test_", "  outside of")):
            causes.append(line.strip())
    return found


SUBTESTS = """
class TestUnit(unittest.TestCase):
    def test_sub(self):
        with self.subTest(number=1):
            twice()
        with self.subTest(number=2):
            pass

def test_fixture(subtests):
    with subtests.test(number=1):
        twice()

def test_fine(subtests):
    with subtests.test(number=1):
        Door().lock
"""


@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_what_happens_in_a_subtest_fails_the_test(run, options):
    result = run(SUBTESTS, *options, status=1)
    failed = {line.split(" - ")[0] for line in result.outlines if line.startswith("FAILED")}
    assert failed == {"FAILED test_doors.py::TestUnit::test_sub", "FAILED test_doors.py::test_fixture"}
    assert told(result) == {
        ("error", "Doors"): ["in test_doors.py::TestUnit::test_sub", "in test_doors.py::test_fixture"]
    }


def test_a_test_that_is_skipped_afterwards_makes_the_run_fail(run):
    tests = "def test_it():\n    twice()\n    pytest.skip('not now')\n"
    result = run(tests, status=1)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["1 violation that no test has failed for: the run fails"])


def test_a_test_that_fails_by_itself_has_one_failure(run):
    tests = """
def test_it():
    twice()
    assert False

@pytest.fixture
def broken():
    twice()
    raise RuntimeError

def test_broken(broken): pass
"""
    run(tests, status=1).assert_outcomes(failed=1, errors=1)


def test_options_that_need_something_to_watch_for_say_so(pytester):
    result = pytester.runpytest_inprocess("--mopsus-fail")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--mopsus-fail needs something to watch for*"])


LATE = """
held = []

def test_leaves_one():
    door = Door()
    door.open()
    held.append(door)

def test_drops_it():
    held.clear()

def test_begins_a_thread():
    door, go = Door(), threading.Event()
    door.open()
    thread = threading.Thread(target=lambda: (go.wait(), door.open(), door.close()))
    held.extend([go, thread])
    thread.start()

def test_waits_for_it():
    held[0].set()
    held[1].join()

def test_its_own():
    twice()
"""


def test_what_comes_late_belongs_to_the_test_that_used_the_object_and_fails_no_other(run):
    result = run(LATE, status=1)
    result.assert_outcomes(passed=4, failed=1)
    assert told(result) == {
        ("error", "Left"): ["in test_doors.py::test_leaves_one, told later"],
        ("error", "Doors"): ["in test_doors.py::test_begins_a_thread, told later", "in test_doors.py::test_its_own"],
    }
    result.stdout.fnmatch_lines(["2 violations that no test has failed for: the run fails"])
    # With that one test left out, the others are as innocent as before, and the run fails all the same.
    result = run(LATE, "-k", "not own", status=1)
    result.assert_outcomes(passed=4, deselected=1)


COLLECTED = """
class Ring:
    def __init__(self):
        self.me = self

    def __del__(self):
        twice()

def test_leaves_a_ring():
    Ring()

def test_collects():
    gc.collect()
"""


def test_what_the_collector_finds_belongs_to_nobody_whenever_it_comes(run):
    for tests in (
        COLLECTED,
        COLLECTED.replace("    gc.collect()", "    pass"),
        COLLECTED.replace("Ring()", "Ring(); gc.collect()"),
    ):
        result = run(tests, status=1)
        result.assert_outcomes(passed=2)
        assert told(result) == {("error", "Doors"): ["outside of all tests"]}
        result.stdout.fnmatch_lines(["  d=Door#* <door>"])  # and it has no place


EXPECTED = """
def library():
    try:
        Door().lock()
    except ValueError as error:
        raise KeyError from error

def older_library():
    try:
        Door().lock()
    except ValueError:
        raise KeyError

def test_raises():
    with pytest.raises(ValueError):
        Door().lock()
    pytest.raises(ValueError, Door().lock)
    with pytest.raises(KeyError):
        library()
    with pytest.raises(KeyError):
        older_library()

class TestUnit(unittest.TestCase):
    def test_raises(self):
        with self.assertRaises(ValueError):
            Door().lock()
        self.assertRaises(ValueError, Door().lock)
"""


def test_what_a_test_expects_is_a_note_unless_that_is_not_wanted(run):
    result = run(EXPECTED, status=0)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["  The test expects the exception.", "no violations, 6 notes in *"])
    result = run(EXPECTED, "--mopsus-expected", "keep", status=1)
    result.assert_outcomes(failed=2)
    assert "The test expects" not in result.stdout.str()


UNEXPECTED = """
def test_caught_by_the_program():
    with pytest.raises(ValueError):
        try:
            Door().lock()
        except ValueError:
            pass
        raise ValueError("another one")

def test_of_another_kind():
    with pytest.raises(ValueError):
        twice()
        Door().lock()
"""


def test_what_a_test_does_not_expect_is_as_severe_as_ever(run):
    result = run(UNEXPECTED, status=1)
    result.assert_outcomes(failed=2)
    assert told(result) == {
        ("error", "Locked"): ["in test_doors.py::test_caught_by_the_program"],
        ("error", "Doors"): ["in test_doors.py::test_of_another_kind"],
        ("note", "Locked"): ["in test_doors.py::test_of_another_kind"],
    }


def test_nothing_is_left_of_expectations(run):
    import unittest.case

    from _pytest.raises import RaisesExc

    before = dict(vars(RaisesExc)), dict(vars(unittest.case._AssertRaisesContext))
    run("def test_it(): pass\n", status=0)
    assert (dict(vars(RaisesExc)), dict(vars(unittest.case._AssertRaisesContext))) == before
