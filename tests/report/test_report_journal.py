"""The file of verdicts that has each once, however often the run that writes it is killed."""

import json
from contextlib import closing

import pytest
from report.conftest import hasnext_verdict

from mopsus.report.journal import Journal
from mopsus.report.messages import ReportError


def run(path, state, verdicts):
    """What a run does that goes on from a state, and what it has kept when it is killed."""
    with closing(Journal(path)) as journal:
        if state is not None:
            journal.restore(json.loads(json.dumps(state)))
        kept = [journal.snapshot()]
        for verdict in verdicts:
            if journal.is_new(verdict):
                journal.add(verdict)
            kept.append(journal.snapshot())
        return kept


def test_a_run_that_is_killed_while_it_catches_up_forgets_nothing(tmp_path):
    """It used to take what was in the file for its own, and the next run wrote the rest once more."""
    path = tmp_path / "found"
    verdicts = [hasnext_verdict(k, 3 * k) for k in range(6)]
    first = run(path, None, verdicts)
    whole = path.read_text()
    early = first[2]
    for killed_after in range(6):
        kept = run(path, early, verdicts[2 : 2 + killed_after])
        for state, told in zip(kept, range(2, 7), strict=False):
            run(path, state, verdicts[told:])
            assert path.read_text() == whole


def test_what_another_run_is_writing_is_left_alone(tmp_path):
    """A second run with the same file used to cut off the line that the first was in the midst of."""
    path = tmp_path / "found"
    with closing(Journal(path)) as first:
        first.add(hasnext_verdict(1, 3))
        with path.open("a") as file:
            file.write('{"number": 2, ')
        before = path.read_text()
        with pytest.raises(ReportError, match="another `mopsus watch` writes its verdicts to"):
            Journal(path)
        assert path.read_text() == before
    Journal(path).close()
    assert path.read_text() == before[: before.rindex("{")]
