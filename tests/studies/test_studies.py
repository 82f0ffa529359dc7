"""The case studies measure, compare, judge and tell what they should; nothing is downloaded here."""

import sys
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from studies import __main__ as command  # noqa: E402
from studies import environment as preparation  # noqa: E402
from studies import judge, page, projects, results  # noqa: E402
from studies.environment import Environment  # noqa: E402
from studies.error import StudyError  # noqa: E402
from studies.measure import Record, Run, compare, run_tests, study  # noqa: E402
from studies.projects import Deselected, Project, load_projects  # noqa: E402

LIBRARY = """
def prune(words):
    for word in words:
        if len(word) < 3:
            words.remove(word)
    return words


def leave(path):
    open(path, "w").write("left open")
"""
TESTS = """
import pytest, tiny

def test_prune():
    assert tiny.prune(["a", "an", "and"]) == ["an", "and"]

def test_leave(tmp_path):
    tiny.leave(tmp_path / "a")

def test_fails():
    assert 1 == 2

@pytest.mark.skip
def test_skipped(): ...

def test_hangs():
    import time
    time.sleep(1000)
"""
TINY = Project(
    name="tiny",
    version="1.0",
    about="lists",
    tests=["tests", "-W", "ignore"],
    deselect=[Deselected("tests/test_tiny.py::test_hangs", "hangs")],
)


@pytest.fixture
def environment(tmp_path):
    """A project with its library, in the environment that this test runs in."""
    for path, text in {"source/tests/test_tiny.py": TESTS, "source/pytest.ini": "", "libs/tiny.py": LIBRARY}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text + "[pytest]\n" * path.endswith("ini"))
    return Environment(Path(sys.executable), tmp_path / "source", tmp_path / "libs", tmp_path)


def test_a_project_is_studied(environment, tmp_path):
    told = []
    outcome = study(TINY, environment, 1, told.append)
    assert len(told) == 4
    assert outcome.outcomes == {"failed": 1, "passed": 2, "skipped": 1}
    assert outcome.changed == []
    assert len(outcome.end_to_end.plain) == len(outcome.end_to_end.watched) == 1
    assert outcome.end_to_end.ratio > 1
    assert outcome.contracts["UnsafeIter"].events > 3
    found = {each.contract: each for each in outcome.violations}
    assert found.keys() == {"UnsafeIter", "FileNotClosed"}
    assert (found["UnsafeIter"].place, found["UnsafeIter"].line) == ("tiny.py:3", "for word in words:")
    assert found["UnsafeIter"].test == "tests/test_tiny.py::test_prune"
    # Where the file was opened, not where it died.
    assert (found["FileNotClosed"].place, found["FileNotClosed"].function) == ("tiny.py:10", "leave")
    assert str(tmp_path) not in msgspec.json.encode(outcome).decode()

    file = tmp_path / "results.json"
    results.store_result("tiny", outcome, file)
    results.store_result("another", outcome, file)
    assert results.load_results(file) == {"tiny": outcome, "another": outcome}


def test_tests_that_cannot_run_are_an_error_that_says_where_to_look(environment):
    (environment.source / "tests" / "test_tiny.py").write_text("import nowhere_to_be_found")
    with pytest.raises(StudyError, match="ended with status 2") as caught:
        run_tests(TINY, environment, "plain")
    assert str(environment.work / "plain.log") in caught.value.hint


def test_a_run_in_which_nothing_was_seen_is_an_error(environment):
    (environment.source / "tests" / "test_tiny.py").write_text("def test_nothing(): pass")
    blind = msgspec.structs.replace(TINY, tests=["tests", "--mopsus-contracts", "YamlUnsafeLoad"], deselect=[])
    with pytest.raises(StudyError, match="nothing was seen"):
        run_tests(blind, environment, "watched")


def test_a_suite_of_our_own_is_run_with_the_package_as_it_is_published(tmp_path, monkeypatch):
    steps = []
    monkeypatch.setattr(preparation, "_step", lambda base, failure, *command, **rest: steps.append(command))
    monkeypatch.setattr(preparation, "_install_mopsus", lambda environment: None)
    monkeypatch.setattr(projects, "SUITES", tmp_path / "suites")
    (tmp_path / "suites" / "tiny").mkdir(parents=True)
    for text in ("def test_before(): ...", "def test_after(): ..."):  # the suite may change, the package need not
        (tmp_path / "suites" / "tiny" / "test_tiny.py").write_text(text)
        prepared = preparation.prepare(msgspec.structs.replace(TINY, own_suite=True), tmp_path / "build")
        assert (prepared.source / "test_tiny.py").read_text() == text
    assert [command[-1] for command in steps if "--target" in command] == ["tiny==1.0"]
    assert not any("download" in command for command in steps)


def test_every_suite_of_our_own_is_run():
    folders = {folder.name for folder in projects.SUITES.iterdir()}
    assert folders == {each.name for each in load_projects().values() if each.own_suite}


def test_tests_that_hang_are_ended(environment):
    hanging = msgspec.structs.replace(TINY, deselect=[], tests=["tests"], timeout_s=3)
    with pytest.raises(StudyError, match="did not end in time"):
        run_tests(hanging, environment, "plain")


def run(**outcomes):
    return Run(1.0, 1.0, Record(outcomes, 1.0))


def test_outcomes_are_compared_test_by_test():
    plain = [run(same="passed", worse="passed", gone="passed", shaky="passed"), run(shaky="failed")]
    watched = [run(same="passed", worse="failed", new="passed", shaky="failed")]
    changed, unstable = compare(plain, watched)
    assert {each.test: (each.plain, each.watched) for each in changed} == {
        "worse": (["passed"], ["failed"]),
        "gone": (["passed"], []),
        "new": ([], ["passed"]),
    }
    assert unstable == ["shaky"]


def violation(contract, place, **rest):
    about = {"function": "f", "severity": "error", "count": 3, "tests": 1, "test": "t", "line": "x", "witness": []}
    return results.Violation(contract=contract, place=place, **about | rest)


COUNTS = {
    "UnsafeIter": results.Counts(10, 2),
    "UnsafeSetIter": results.Counts(5, 1),
    "UnsafeDequeIter": results.Counts(5, 0),  # its events alone do not mean that it was exercised
}


def outcome(*violations, ratio=2.0):
    times = results.Times([1.0, 1.0, 1.0], [ratio, ratio, 9.0])
    return results.Outcome(
        version="1.0", python="3.11", end_to_end=times, cpu=times, tests=times, first_s=3.0, outcomes={"passed": 7},
        changed=[], unstable=[], contracts=COUNTS, violations=list(violations),
    )  # fmt: skip


def test_the_first_judgement_that_fits_counts():
    judgements = judge.Judgements(
        [
            judge.Judgement("UnsafeIter", "tiny", ["tiny.py:3"], judge.Truth.PROBLEM, "it skips"),
            judge.Judgement("UnsafeIter", "tiny", ["*"], judge.Truth.FALSE, "the rest"),
            judge.Judgement("UnsafeSetIter", "tiny", ["*"], judge.Truth.FALSE, "not there"),
            judge.Judgement("UnsafeIter", "other", ["*"], judge.Truth.FALSE, "not studied yet"),
        ]
    )
    found = [violation("UnsafeIter", "tiny.py:3"), violation("UnsafeIter", "tiny.py:30"), violation("Other", "a.py:1")]
    data = {"tiny": outcome(*found)}
    assert [(each and each.why) for _, _, each in judgements.over(data)] == ["it skips", "the rest", None]
    assert [each.why for each in judgements.idle(data)] == ["not there"]


def test_the_page_tells_what_the_data_say():
    judgements = judge.Judgements([judge.Judgement("UnsafeIter", "tiny", ["*"], judge.Truth.FALSE, "it is allowed")])
    events = [results.Event("update", "a.py:7", "a.remove(x)"), results.Event("next", "a.py:6", "for x in a:")]
    found = violation("UnsafeIter", "a.py:6", witness=events), violation("Other", "b.py:1", line="b()")
    both = {"tiny": outcome(*found), "large": outcome(ratio=4.0)}
    projects = {name: msgspec.structs.replace(TINY, name=name) for name in both}
    text = "".join(f"<!-- results: {name} -->\nold\n<!-- end -->\n" for name in page.SECTIONS)
    told = page.render(text, page.Data(projects, both, judgements))
    assert "old" not in told
    assert "| **median** | | | **3.00" in told
    assert "end to end at the median: **missed**" in told
    assert "one false alarm in ten places: **missed**" in told
    assert "Exercised: **2** contracts with **1** different rules" in told
    assert "| UnsafeIter | 20 | 4 | 2 | 1 | |" in told
    assert "| UnsafeSetIter | 10 | 2 | 2 | | UnsafeIter |" in told
    assert "| false alarm | 1 | 100% | 1 | 100% |" in told
    assert "| not judged yet | 1 | | 1 | |" in told
    assert "*false alarm*: it is allowed" in told
    assert "a.py:7\n    a.remove(x)\na.py:6\n    for x in a:" in told
    assert page.render(told, page.Data(projects, both, judgements)) == told


def test_the_page_is_what_was_measured_and_judged():
    assert page.write(check=True) == 0, "run python -m studies page"


def test_no_judgement_is_about_nothing_and_no_result_about_no_project():
    stored = results.load_results()
    assert judge.load_judgements().idle(stored) == []
    assert stored.keys() <= load_projects().keys()


def test_what_is_stored_knows_no_machine():
    violations = [each for outcome in results.load_results().values() for each in outcome.violations]
    places = {place for each in violations for place in (each.place, *(event.place for event in each.witness))}
    assert len(places) > 1
    assert [place for place in places if place.startswith("/")] == []
    assert str(ROOT) not in results.FILE.read_text(encoding="utf-8")


def test_an_unknown_project_is_told_with_those_that_there_are(capsys):
    assert command.main(["run", "nonsense"]) == 2
    told = capsys.readouterr().err
    assert "there is no project 'nonsense'" in told
    assert "flask" in told
