"""`mopsus fmt` prints, compares and writes, and leaves files alone that have errors."""

import io
import sys
from types import SimpleNamespace

import pytest

from mopsus.cli.main import main

MESSY = "S( a ){ event e(a)\n ere : e  e }\n"


@pytest.fixture
def mopsus(capfd, monkeypatch):
    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            main([str(word) for word in arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


@pytest.fixture
def messy(tmp_path):
    path = tmp_path / "messy.mop"
    path.write_text(MESSY)
    return path


@pytest.fixture
def tidy(messy, mopsus, tmp_path):
    path = tmp_path / "tidy.mop"
    path.write_text(mopsus("fmt", messy)[1])
    return path


def test_it_prints_the_canonical_form_and_leaves_the_file(mopsus, messy):
    status, out, err = mopsus("fmt", messy)
    assert (status, err) == (0, "")
    assert "    event e(a)\n" in out
    assert messy.read_text() == MESSY


def test_it_reads_standard_input(mopsus, messy):
    assert mopsus("fmt", "-", stdin=MESSY.encode()) == mopsus("fmt", messy)


def test_the_canonical_form_is_its_own(mopsus, tidy):
    assert mopsus("fmt", tidy)[1] == tidy.read_text()


def test_check_names_the_files_that_differ(mopsus, messy, tidy):
    assert mopsus("fmt", "--check", tidy, messy) == (1, f"{messy}\n", "")
    assert mopsus("fmt", "--check", tidy) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "shown"), [("e\x1b[31m.mop", "e\\x1b[31m.mop"), ("b\udcff.mop", "b\\udcff.mop")], ids=["ESC", "no UTF-8"]
)
def test_names_do_nothing_to_a_terminal(mopsus, tmp_path, name, shown):
    (tmp_path / name).write_text(MESSY)
    assert mopsus("fmt", "--check", tmp_path / name) == (1, f"{tmp_path}/{shown}\n", "")
    assert mopsus("fmt", "--write", tmp_path / name) == (0, "", f"{tmp_path}/{shown}: written in canonical form\n")


def test_write_changes_only_what_differs(mopsus, messy, tidy):
    before = tidy.stat().st_mtime_ns
    status, out, err = mopsus("fmt", "--write", tidy, messy)
    assert (status, out) == (0, "")
    assert str(messy) in err
    assert str(tidy) not in err
    assert messy.read_text() == tidy.read_text()
    assert tidy.stat().st_mtime_ns == before


def test_an_error_in_one_file_leaves_all_alone(mopsus, messy, tmp_path):
    wrong = [tmp_path / "one.mop", tmp_path / "two.mop"]
    for path in wrong:
        path.write_text("S(a) { event }\n")
    status, out, err = mopsus("fmt", "--write", messy, *wrong)
    assert (status, out) == (2, "")
    assert "one.mop:1" in err
    assert "two.mop:1" in err
    assert messy.read_text() == MESSY


@pytest.mark.parametrize("arguments", [("nowhere.mop",), ("--check", "--write", "a.mop"), ()])
def test_misuse_is_said(mopsus, arguments):
    status, _, err = mopsus("fmt", *arguments)
    assert status == 2
    assert "Traceback" not in err


def test_bytes_that_are_no_text_are_an_error(mopsus, tmp_path):
    path = tmp_path / "binary.mop"
    path.write_bytes(b"\xff\xfe\x00")
    assert mopsus("fmt", path)[0] == 2
