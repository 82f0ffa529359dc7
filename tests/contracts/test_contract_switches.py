"""Findings that comments and settings switch off, and what is said about wrong ones."""

import textwrap
import threading

import pytest

import mopsus
from mopsus.contracts import Settings, Switches, read_settings
from mopsus.contracts.switches import read_comments
from mopsus.model import Severity, Verdict, WitnessEvent

pytestmark = pytest.mark.interpreter

KNOWN = ("UnsafeIter", "Other")


def verdict(path, *lines, spec="UnsafeIter"):
    witness = tuple(WitnessEvent(f"e{line}", {}, f"{path}:{line}") for line in lines)
    return Verdict(spec, "ere", "match", None, True, {}, witness[-1].location, None, witness)


def write(path, text):
    path.write_text(textwrap.dedent(text).lstrip("\n"))
    return path


def switched(settings=None):
    return Switches(settings or Settings(), lambda: KNOWN)


SOURCE = """
    def f():
        a = 1
        b = 2  # mopsus: ignore[UnsafeIter]
        c = "# mopsus: ignore[UnsafeIter]"


    def g(x,
          y):  # why not?  mopsus: no; # mopsus: ignore[Other, UnsafeIter]
        a = 1

        def h():
            return a


    class K:  # mopsus: ignore[Other]
        def m(self):
            return 1
    """


@pytest.fixture
def source(tmp_path):
    return write(tmp_path / "m.py", SOURCE)


@pytest.mark.parametrize(
    ("lines", "spec", "kept"),
    [
        ([2], "UnsafeIter", True),
        ([3], "UnsafeIter", False),
        ([3], "Other", True),
        ([3, 2], "UnsafeIter", False),
        ([4], "UnsafeIter", True),
        ([9], "UnsafeIter", False),
        ([12], "Other", False),
        ([7], "Other", False),
        ([14], "Other", True),
        ([17], "Other", False),
        ([17], "UnsafeIter", True),
    ],
)
def test_a_comment_is_about_its_line_or_about_the_whole_function_or_class(source, lines, spec, kept):
    switches = switched()
    given = verdict(source, *lines, spec=spec)
    assert switches(given) == (given if kept else None)
    assert switches.suppressed == ({} if kept else {spec: 1})
    assert list(switches.warnings()) == []


def test_unknown_names_in_comments_are_told_where_they_stand(tmp_path):
    source = write(tmp_path / "m.py", "a = 1  # mopsus: ignore[UnsafIter]\nb = 2  # mopsus: ignore\n")
    switches = switched()
    assert switches(verdict(source, 1)) is not None
    found = list(switches.warnings())
    assert [(each.code, each.message, each.hint) for each in found] == [
        ("CONTRACT-004", "there is no contract 'UnsafIter'", "did you mean 'UnsafeIter'?"),
        ("CONTRACT-004", "this ignores nothing", "say what: # mopsus: ignore[Name]"),
    ]
    assert [(each.span.file, each.span.line, each.span.column) for each in found] == [
        (str(source), 1, 8),
        (str(source), 2, 8),
    ]


@pytest.mark.parametrize(
    "data", [b"", b"x = (  # mopsus: ignore[A]", b"\xff # mopsus: ignore[A]", b"\0# mopsus: ignore[A]"]
)
def test_files_that_are_no_python_have_no_comments(tmp_path, data):
    (tmp_path / "m.py").write_bytes(data)
    assert read_comments(str(tmp_path / "m.py")) == ()
    assert read_comments(str(tmp_path / "absent.py")) == ()


def test_a_verdict_without_a_place_is_kept():
    bare = Verdict("UnsafeIter", "ere", "match", None, True, {}, None, None, ())
    assert switched(Settings(paths={"*": ("*",)}))(bare) == bare


# ---- settings


def project(tmp_path, table):
    write(tmp_path / "pyproject.toml", "[tool.mopsus.contracts]\n" + textwrap.dedent(table))
    return read_settings(tmp_path)


def test_settings_are_those_of_the_nearest_project(tmp_path):
    project(tmp_path, 'disable = ["Other"]')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert read_settings(inner).disable == ("Other",)
    write(inner / "pyproject.toml", "[project]\nname = 'x'\n")
    assert read_settings(inner) == Settings()


def test_what_is_disabled_is_switched_off(tmp_path):
    switches = switched(project(tmp_path, 'disable = ["UnsafeIter"]'))
    assert switches(verdict("m.py", 1)) is None
    assert switches(verdict("m.py", 1, spec="Other")) is not None


def test_a_path_is_about_the_place_of_the_violation(tmp_path):
    settings = project(tmp_path, '[tool.mopsus.contracts.paths]\n"tests/*" = ["UnsafeIter"]\n"vendor/*" = ["*"]\n')
    switches = switched(settings)
    tests, source, vendor = tmp_path / "tests/a/t.py", tmp_path / "m.py", tmp_path / "vendor/v.py"
    assert switches(verdict(tests, 1)) is None
    assert switches(verdict(tests, 1, spec="Other")) is not None
    assert switches(verdict(source, 1)) is not None
    assert switches(verdict(vendor, 1, spec="Other")) is None
    at_both = verdict(tests, 1)
    at_both = Verdict(
        *(getattr(at_both, name) for name in ("spec", "property", "category", "truth", "final", "binding")),
        f"{source}:9",
        None,
        (*at_both.witness, WitnessEvent("last", {}, f"{source}:9")),
    )
    assert switches(at_both) is not None


def test_severities_are_those_of_the_project(tmp_path):
    switches = switched(project(tmp_path, 'severity = {UnsafeIter = "note"}'))
    kept = switches(verdict("m.py", 1))
    assert kept.severity is Severity.NOTE
    assert not kept.violation
    assert switches(verdict("m.py", 1, spec="Other")).severity is Severity.ERROR


def test_unknown_names_in_settings_are_told(tmp_path):
    table = 'disable = ["UnsafeItr"]\nseverity = {Nothing = "note"}\npaths = {"a" = ["*", "Othr"]}\n'
    found = list(switched(project(tmp_path, table)).warnings())
    assert [(each.code, each.message) for each in found] == [
        ("CONTRACT-003", f"pyproject.toml: there is no contract '{name}'") for name in ("Nothing", "Othr", "UnsafeItr")
    ]


@pytest.mark.parametrize(
    "table",
    [
        *('disabled = ["A"]', "disable = 3", 'severity = {A = "fatal"}', 'paths = ["a"]', "disable = ["),
        "disable = " + "[" * 9999,
    ],
)
def test_settings_that_cannot_be_understood_are_an_error(tmp_path, table):
    with pytest.raises(mopsus.MopsusError) as raised:
        project(tmp_path, table)
    assert raised.value.code == "CONTRACT-002"
    assert str(tmp_path / "pyproject.toml") in raised.value.message


def test_a_verdict_may_come_in_the_middle_of_another(source, monkeypatch):
    """As when an object dies while comments are read."""
    switches, given, inner = switched(), verdict(source, 2), []

    def read_while_another_comes(file):
        if not inner:
            inner.append(None)
            inner.append(switches(given))
        return ()

    monkeypatch.setattr(switches, "_comments", read_while_another_comes)
    thread = threading.Thread(target=switches, args=(given,), daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert inner[1] is given
