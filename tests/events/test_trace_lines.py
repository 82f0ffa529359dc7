"""The line of a row is the one that an editor shows, whatever stands between the rows."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.events.trace import Format, find_lines
from mopsus.events.trace.blocks import BLOCK
from mopsus.events.trace.rows import split_records


def lines_of(path, text, rows=range(1, 9), format=None):
    path.write_bytes(text)
    return find_lines(str(path), rows, format)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"event,x\na,1\nb,2\n", {1: 2, 2: 3}),
        (b"\xef\xbb\xbfevent,x\r\na,1\r\nb,2", {1: 2, 2: 3}),
        (b"\n\nevent,x\n\na,1\n\n\nb,2\n", {1: 5, 2: 8}),
        (b'event,x\na,"1\n2\n3"\nb,2\n', {1: 2, 2: 5}),
        (b'event,"x\ny"\na,1\n', {1: 3}),
        (b'event,x\na,it"s\nb,2\n', {1: 2, 2: 3}),
        (b"event,x\n", {}),
        (b"", {}),
        (b'{"event": "a"}\n\n  \n{"event": "b"}\n', {1: 1, 2: 4}),
    ],
)
def test_lines_of_rows(tmp_path, text, lines):
    assert lines_of(tmp_path / "t", text) == lines


def test_only_rows_that_are_asked_for(tmp_path):
    assert lines_of(tmp_path / "t.csv", b"event\na\nb\nc\n", rows=[2]) == {2: 3}


def test_the_format_may_be_forced(tmp_path):
    assert lines_of(tmp_path / "t", b'{"a"}\nx\n', rows=[1], format=Format.CSV) == {1: 2}


def test_lines_go_on_from_block_to_block(tmp_path):
    count = BLOCK // 5
    rows = [1, count // 2, count]
    assert lines_of(tmp_path / "t.csv", b"event\n" + b"hello\n\n" * count, rows) == {row: 2 * row for row in rows}


@pytest.mark.parametrize("name", ["gone.csv", "folder", "<stdin>", "a\0b"])
def test_no_lines_in_what_is_no_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert find_lines(name, [1]) == {}


@pytest.mark.parametrize("text", [gzip.compress(b"event\na\n", mtime=0), b"PAR1....", b"ARROW1..", b"\xff\xfee\0"])
def test_no_lines_in_what_is_no_text(tmp_path, text):
    assert lines_of(tmp_path / "t", text) == {}


@given(st.lists(st.sampled_from([b"a", b",", b"\n", b"\r\n", b'"', b'"b\nc"', b'""']), max_size=30))
def test_a_line_for_every_record(tmp_path_factory, parts):
    path = tmp_path_factory.getbasetemp() / "records.csv"
    text = b"event\n" + b"".join(parts)
    records = len(list(split_records(text)))
    found = lines_of(path, text, range(1, 100))
    assert sorted(found) == list(range(1, records))
    assert all(text.split(b"\n")[line - 1].strip(b"\r") for line in found.values())
