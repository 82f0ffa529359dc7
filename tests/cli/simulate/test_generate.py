"""`mopsus simulate generate`: folders of traces and formulas that other commands read."""

from __future__ import annotations

import pytest

from mopsus.cli.main import main
from mopsus.decentral.analysis.monitorability import monitorable
from mopsus.decentral.generate.traces import STANDARD, generate_run, inverted
from mopsus.decentral.load import load_specification
from mopsus.decentral.traces import default_components, read_run


@pytest.fixture
def generate(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["simulate", "generate", *arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


def test_traces_are_those_of_the_profile(generate, tmp_path):
    options = ["--runs", "2", "--first", "3", "--length", "7", "--components", "2", "--observations", "3"]
    assert generate("traces", "t", *options, "--profile", "beta-1")[::2] == (0, "")
    components = default_components(2, 3)
    for number in (3, 4):
        assert read_run(tmp_path / "t", number, 2) == generate_run(STANDARD["beta-1"], number, components, 7)
    assert len(list((tmp_path / "t").iterdir())) == 4
    generate("traces", "t", *options, "--profile", "beta-1", "--invert")
    assert read_run(tmp_path / "t", 3, 2) == generate_run(inverted(STANDARD["beta-1"]), 3, components, 7)


def test_a_profile_can_be_a_file_and_the_seed_another(generate, tmp_path):
    (tmp_path / "even.profile").write_text("distribution=UNIFORM\nparams=0,1\nseed=5\n")
    for folder, more in (("one", []), ("two", ["--seed", "5"]), ("three", ["--seed", "6"])):
        assert generate("traces", folder, "--runs", "1", "--profile", "even.profile", *more)[0] == 0
    one, two, three = (read_run(tmp_path / folder, 0, 3) for folder in ("one", "two", "three"))
    assert one == two != three


def test_formulas_are_printed_or_become_files(generate, tmp_path):
    options = ["-n", "4", "-c", "2", "--size", "8"]
    status, out, _ = generate("formulas", *options)
    assert status == 0
    assert len(set(out.splitlines())) == 4
    assert generate("formulas", "specs", *options)[0] == 0
    loaded = [load_specification(tmp_path / "specs" / f"{number}.xml").specification for number in range(4)]
    for specification in loaded:
        assert monitorable(specification.monitors["root"].automaton)
        assert {name[0] for name in specification.monitors["root"].automaton.inputs} <= {"a", "b"}
    (tmp_path / "frame.xml").write_text(
        "<specifications><specification id='mine' class='LTL'><setLTL><![CDATA[%form%]]></setLTL>"
        "</specification></specifications>"
    )
    generate("formulas", "framed", *options, "--template", "frame.xml")
    framed = load_specification(tmp_path / "framed" / "3.xml").specification
    assert framed.monitors["mine"].formula == loaded[3].monitors["root"].formula


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("traces", "t", "--profile", "beta1"), "did you mean 'beta-1'?"),
        (("formulas", "--template", "none.xml"), "cannot read the template none.xml"),
        (("formulas", "--template", "plain.xml"), "has no %form%"),
        (("formulas", "--size", "2", "-c", "6"), "larger formulas"),
        (("traec",), "unknown command 'traec'"),
    ],
)
def test_misuse_is_said(generate, tmp_path, monkeypatch, arguments, says):
    monkeypatch.setattr("mopsus.decentral.generate.formulas.MAX_DRAWS", 50)
    (tmp_path / "plain.xml").write_text("<specifications/>")
    status, out, err = generate(*arguments)
    assert (status, out) == (2, "")
    assert says in err
