"""`mopsus graph` chooses machines, forms and files."""

import shutil

import pytest

from mopsus.cli.main import main

ONE = "One(a) { event e(a)\n ere : e e }\n"
TWO = ONE + "Two(a) { event e(a)\n ere : e\n fsm : s [ e -> s ]\n @fail }\n"
RAW = "Raw(a) { event e(a) { pass } }\n"


@pytest.fixture
def mopsus(capfdbinary, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"one.mop": ONE, "two.mop": TWO, "raw.mop": RAW}.items():
        (tmp_path / name).write_text(text)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        out, err = capfdbinary.readouterr()
        return end.value.code or 0, out, err.decode()

    return run


def test_text_shows_every_machine(mopsus):
    status, out, err = mopsus("graph", "two.mop")
    assert (status, err) == (0, "")
    assert [line.split(":")[0] for line in out.decode().splitlines() if " states, " in line or " state, " in line] == [
        "One",
        "Two/ere",
        "Two/fsm",
    ]


def test_spec_and_property_choose(mopsus):
    out = mopsus("graph", "two.mop", "--spec", "Two", "--property", "fsm")[1].decode()
    assert out.startswith("Two/fsm:")
    assert "ere" not in out


@pytest.mark.parametrize(("form", "begins"), [("dot", b"digraph"), ("mermaid", b"---\ntitle: One"), ("text", b"One:")])
def test_the_form_is_chosen_by_option_or_suffix(mopsus, tmp_path, form, begins):
    assert mopsus("graph", "one.mop", "--to", form)[1].startswith(begins)
    assert mopsus("graph", "one.mop", "-o", f"drawn.{form}") == (0, b"", "")
    assert (tmp_path / f"drawn.{form}").read_bytes().startswith(begins)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz draws these")
@pytest.mark.parametrize(("form", "holds"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_pictures(mopsus, tmp_path, form, holds):
    assert holds in mopsus("graph", "one.mop", "--to", form)[1]
    mopsus("graph", "one.mop", "-o", f"drawn.{form}")
    assert holds in (tmp_path / f"drawn.{form}").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("two.mop", "--to", "dot"), "One, Two/ere, Two/fsm"),
        (("two.mop", "--spec", "Twoo"), "did you mean 'Two'?"),
        (("two.mop", "--property", "esm"), "did you mean 'fsm'?"),
        (("raw.mop",), "no property to draw"),
        (("one.mop", "-o", "drawn.jpeg"), "--to"),
        (("one.mop", "-o", "nowhere/drawn.dot"), "cannot write nowhere/drawn.dot"),
        (("nowhere.mop",), "nowhere.mop"),
        (("one.mop", "--to", "jpeg"), "jpeg"),
    ],
)
def test_misuse_is_said(mopsus, arguments, says):
    status, out, err = mopsus("graph", *arguments)
    assert (status, out) == (2, b"")
    assert says in err


def test_a_missing_graphviz_is_said(mopsus, monkeypatch):
    monkeypatch.setenv("PATH", "")
    status, _, err = mopsus("graph", "one.mop", "--to", "svg")
    assert status == 2
    assert "Graphviz" in err


def test_hoa_is_read_back_as_a_property(mopsus, tmp_path):
    mopsus("graph", "one.mop", "-o", "one.hoa")
    (tmp_path / "back.mop").write_text('One(a) { event e(a)\n hoa : "one.hoa"\n @match }\n')
    assert mopsus("graph", "back.mop") == mopsus("graph", "one.mop")
