"""Names of traces that nobody would choose."""

import os

import pytest

from mopsus import Monitor, load
from mopsus.events.trace.sources import expand
from mopsus.model import TraceError


@pytest.mark.parametrize("target", ["b", "nowhere"])
def test_a_link_that_leads_nowhere_is_said(tmp_path, target):
    """It was once said that a file of the same name might be meant."""
    (tmp_path / "a").symlink_to(tmp_path / target)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(TraceError) as error:
        expand([str(tmp_path / "a")])
    assert "a link to" in error.value.hint


def test_a_name_that_is_not_utf_8_comes_back_as_it_was(tmp_path):
    (tmp_path / "s.mop").write_text("S(x) { event a(x) ere : a }\n")
    name = os.fsdecode(b"b\xff.csv")
    monitor = Monitor(load(tmp_path / "s.mop")["S"])
    monitor.row("a", {"x": 2}, source=name, row=3)
    assert [verdict.location for verdict in monitor.verdicts] == [f"{name}:3"]
