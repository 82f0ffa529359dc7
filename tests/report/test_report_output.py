"""Where reports go: whole files or none, errors of ours, formats by name, little memory, quick to import."""

import gc
import io
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from mopsus.model import MopsusError, Verdict, WitnessEvent
from mopsus.report import MESSAGES, Format, Options, ReportError, Summary, format_names, load_format, open_report
from mopsus.report.output import Output
from mopsus.report.terminal import TerminalReporter

FORMATS = ("terminal", "json", "junit", "sarif", "html")


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_appears_only_when_complete(sample, tmp_path, name):
    path = tmp_path / "report"
    path.write_text("before", "utf-8")
    reporter = open_report(name, path, sample.options)
    reporter.add(sample.verdicts[0])
    assert path.read_text("utf-8") == "before"
    reporter.finish(sample.summary)
    assert path.read_text("utf-8") == sample.report(name, sample.verdicts[:1])
    assert os.listdir(tmp_path) == ["report"]


def test_an_abandoned_report_leaves_nothing(sample, tmp_path):
    reporter = open_report("json", tmp_path / "r.json")
    reporter.add(sample.verdicts[0])
    del reporter
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_permissions_are_the_usual_or_the_former_ones(tmp_path):
    plain, kept = tmp_path / "plain", tmp_path / "kept"
    plain.touch()
    usual = plain.stat().st_mode
    plain.unlink()
    kept.touch(0o600)
    for path in (plain, kept):
        Output(path).commit()
    assert plain.stat().st_mode == usual
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    output = Output(tmp_path / "link")
    output.write("x")
    output.commit()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text("utf-8") == "x"


def test_a_link_that_leads_back_to_itself_is_refused(tmp_path):
    (tmp_path / "r").symlink_to(tmp_path / "r")
    with pytest.raises(ReportError, match="Too many levels of symbolic links"):
        Output(tmp_path / "r")
    assert (tmp_path / "r").is_symlink()


def test_a_device_is_never_replaced():
    output = Output(os.devnull)
    output.write("x")
    output.commit()
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("path", ["missing/report.json", ".", "nul\0byte"])
def test_a_bad_path_is_known_before_the_run(tmp_path, path):
    with pytest.raises(ReportError) as caught:
        open_report("json", f"{tmp_path}/{path}")
    assert caught.value.code == "REPORT-001"
    assert caught.value.hint


def test_a_broken_pipe_is_an_error_of_ours(sample):
    read, write = os.pipe()
    os.close(read)
    with open(write, "w", encoding="utf-8", buffering=1) as stream:
        reporter = open_report("terminal", stream)
        reporter.add(sample.verdicts[0])
        with pytest.raises(ReportError) as caught:
            reporter.finish(sample.summary)
        assert caught.value.code == "REPORT-004"
        os.dup2(os.open(os.devnull, os.O_WRONLY), write)  # so that closing it can flush


def test_what_an_encoding_lacks_is_escaped():
    raw = io.BytesIO()
    output = Output(io.TextIOWrapper(raw, "ascii"))
    output.write("a → b")
    output.commit()
    assert raw.getvalue() == b"a \\u2192 b"


def test_no_word_is_cut_where_a_table_is_too_wide():
    trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    binding = {"trace": trace, "span": span}
    steps = tuple(WitnessEvent(name, binding, f"a_long_name_of_a_file.py:{name}", None) for name in "xy")
    verdict = Verdict("S", "p", "match", None, True, binding, None, None, steps)
    for width in (60, 80, 120):
        stream = io.StringIO()
        reporter = TerminalReporter(stream, Options(width=width))
        reporter.add(verdict)
        reporter.finish(Summary())
        told = stream.getvalue()
        assert told.count(trace) == told.count(span) == 3
        assert max(map(len, told.splitlines())) <= width


def test_every_built_in_format_is_found():
    assert format_names()[: len(FORMATS)] == FORMATS
    assert [load_format(name).name for name in FORMATS] == list(FORMATS)


def test_an_unknown_format_names_the_known_ones():
    with pytest.raises(MopsusError) as caught:
        load_format("pdf")
    assert caught.value.code == "REPORT-002"
    assert "terminal, json, junit, sarif, html" in caught.value.hint


@pytest.fixture
def installed(monkeypatch):
    """Pretends that a package registers formats, good and bad."""
    points = EntryPoints(
        EntryPoint(name, value, "mopsus.reports")
        for name, value in {"good": "mopsus.report.json:FORMAT", "odd": "os:path", "gone": "no_such_module:X"}.items()
    )
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **wanted: points.select(**wanted))


@pytest.mark.usefixtures("installed")
def test_installed_formats_are_found_and_checked():
    assert isinstance(load_format("good"), Format)
    assert format_names()[len(FORMATS) :] == ("gone", "good", "odd")
    for name in ("odd", "gone"):
        with pytest.raises(ReportError) as caught:
            load_format(name)
        assert caught.value.code == "REPORT-003"


def test_every_code_has_its_message():
    sources = "".join(path.read_text("utf-8") for path in Path(load_format.__code__.co_filename).parent.rglob("*.py"))
    assert all(code in sources.replace(f'"{code}":', "") for code in MESSAGES)


@pytest.mark.parametrize("name", FORMATS)
def test_memory_does_not_grow_with_the_verdicts(sample, name):
    class Nowhere(io.StringIO):
        def write(self, text):
            return len(text)

    reporter = open_report(name, Nowhere(), sample.options)
    template = sample.verdicts[0]
    for at in range(600):
        reporter.add(replace(template, location=f"{at}.py:1", row=at + 1))
    tracemalloc.start()
    try:
        for at in range(3000):
            reporter.add(replace(template, binding={"i": f"{at}" * 1000}, location=f"{at}.csv:1", row=at + 1))
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 500_000


def test_a_run_without_findings_never_loads_rich():
    code = (
        "import sys, io\nfrom mopsus.report import open_report, Summary\n"
        "open_report('terminal', io.StringIO()).finish(Summary())\n"
        "heavy = {'rich', 'typer', 'pyarrow', 'importlib.metadata', 'xml'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
