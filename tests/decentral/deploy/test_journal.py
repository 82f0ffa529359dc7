"""A journal gives back what was written, up to where its process was killed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mopsus.decentral.deploy.journal import (
    MAGIC,
    Arrived,
    Broken,
    Exhausted,
    Journal,
    JournalError,
    Turn,
    read_journal,
)

EVENT = st.dictionaries(st.text("ab", min_size=1, max_size=2), st.booleans(), max_size=2)
RECORDS = st.lists(
    st.one_of(
        st.builds(Arrived, st.text(max_size=3), st.integers(1, 2**40), st.binary(max_size=300)),
        st.builds(Turn, st.text(max_size=3), st.none() | EVENT),
        st.builds(Exhausted, st.text(max_size=3)),
        st.builds(Broken, st.text(max_size=3), st.text(max_size=3), st.text(max_size=3)),
    ),
    max_size=6,
)


def written(path, *batches):
    path.unlink(missing_ok=True)
    for batch in batches:
        journal = Journal(path)
        journal.write(batch)
        journal.close()
    return path


@settings(deadline=None)
@given(one=RECORDS, other=RECORDS, cut=st.integers(0, 10**6))
def test_whatever_was_whole_is_read_and_gone_on_with(tmp_path_factory, one, other, cut):
    path = written(tmp_path_factory.getbasetemp() / "run.journal", one)
    whole = path.read_bytes()
    path.write_bytes(whole[: cut % (len(whole) + 1)])
    kept = read_journal(path)
    assert kept == one[: len(kept)]
    assert path.stat().st_size == cut % (len(whole) + 1)  # it may be being written
    if path.stat().st_size == len(whole):
        assert kept == one
    journal = Journal(path)
    assert journal.records == kept
    journal.write(other)
    journal.close()
    assert read_journal(path) == kept + other


def test_what_is_no_journal(tmp_path):
    path = tmp_path / "run.journal"
    with pytest.raises(JournalError, match="cannot read the journal"):
        read_journal(path)
    path.write_bytes(b"something else entirely")
    with pytest.raises(JournalError, match="is no journal"):
        read_journal(path)
    for record in (b"\xc1", b"\x82\xa4type\xa9Exhausted\xa9component\xa1\xff"):
        path.write_bytes(MAGIC + len(record).to_bytes(4, "big") + record)
        with pytest.raises(JournalError, match=f"is damaged at byte {len(MAGIC)}"):
            read_journal(path)
    path.write_bytes(MAGIC + b"\xff" * 9)
    with pytest.raises(JournalError, match=f"is damaged at byte {len(MAGIC)}"):
        read_journal(path)
    with pytest.raises(JournalError, match="cannot write the journal"):
        Journal(tmp_path / "nowhere" / "run.journal")
