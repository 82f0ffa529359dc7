"""`mopsus compile` prints machines in every form, and says what is wrong with a formula."""

import io
import json
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mopsus.cli.main import main

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "reference" / "machine.schema.json").read_text("utf-8"))


@pytest.fixture
def mopsus(capfd):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


def test_text_has_the_machine_and_its_sets(mopsus):
    assert mopsus("compile", "ere", "a b*", "--events", "a,b") == (
        0,
        """\
3 states, starts in s0, reports match
>  s0
       b           -> fail
       a           -> s1
 * s1 [match]
       b           -> stays
       a           -> fail
   fail
       every event -> stays

creation: a
enable sets for match:
  a  {}
  b  {a} {a, b}
coenable sets for match:
  a  {b}
  b  {b}
""",
        "",
    )


@pytest.mark.parametrize(
    ("logic", "formula"),
    [("ere", "a b*"), ("fsm", "s [ a -> s ]"), ("ltl", "[](a => (*) b)"), ("cfg", "S -> a S b | epsilon")],
)
def test_json_keeps_its_schema(mopsus, logic, formula):
    Draft202012Validator.check_schema(SCHEMA)
    status, out, _ = mopsus("compile", logic, formula, "-e", "a,b", "--json")
    data = json.loads(out)
    Draft202012Validator(SCHEMA).validate(data)
    assert (status, data["logic"], data["formula"]) == (0, logic, formula)


def test_json_says_what_the_machine_is(mopsus):
    data = json.loads(mopsus("compile", "ere", "a b", "-e", "a,b", "--goal", "match,fail", "--json")[1])
    assert data["kind"] == "table"
    assert data["goal"] == ["fail", "match"]
    assert data["machine"]["table"] == [[1, 2], [2, 3], [2, 2], [2, 2]]
    assert data["machine"]["categories"] == [["?"], ["?"], ["fail"], ["match"]]
    assert data["enable"]["match"] == {"a": [[]], "b": [["a"]]}


@pytest.mark.parametrize(("form", "start"), [("dot", "digraph"), ("mermaid", "stateDiagram-v2"), ("hoa", "HOA: v1")])
def test_other_forms_have_the_machine_alone(mopsus, form, start):
    status, out, _ = mopsus("compile", "ere", "a b", "-e", "a b", "--to", form)
    assert status == 0
    assert out.startswith(start)
    assert "creation" not in out


def test_the_formula_may_come_from_standard_input(mopsus, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb c")))
    status, _, err = mopsus("compile", "ere", "-", "-e", "a,b")
    assert (status, err.splitlines()[:2]) == (2, ["error[LOGIC-002]: unknown event 'c'", "  --> <stdin>:2:3"])


def test_suffix_matching(mopsus):
    assert "fail" not in mopsus("compile", "ere", "a b", "-e", "a,b", "--suffix")[1]


def test_an_automaton_goes_out_and_comes_back(mopsus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ("-e", "a,b,c", "--goal", "match,fail")
    Path("x.hoa").write_text(mopsus("compile", "ere", "a (b | c)*", *arguments, "--to", "hoa")[1])
    assert mopsus("compile", "hoa", '"x.hoa"', *arguments) == mopsus("compile", "ere", "a (b | c)*", *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ere", "a"), "error[CLI-005]: no names are given by --events"),
        (("ere", "a", "-e", "a,1b"), "error[CLI-005]: '1b' is not a name"),
        (("ere", "a", "-e", "a,a"), "error[CLI-005]: --events has 'a' twice"),
        (("era", "a", "-e", "a"), "error[LOGIC-010]: unknown logic 'era'"),
        (("ere", "a", "-e", "a", "--goal", "mach"), "error[LOGIC-012]: 'ere' has no category 'mach' here"),
        (("ere", "a (", "-e", "a"), "error[LOGIC-001]: the formula ends too early"),
        (("fsm", "s [ a -> s ]", "-e", "a", "--suffix"), "error[LOGIC-013]: logic 'fsm' cannot match suffixes"),
        (("ere", "a", "-e", "a", "--json", "--to", "dot"), "error[CLI-005]: --json and --to dot exclude each other"),
        (("hoa", '"no.hoa"', "-e", "a"), "error[LOGIC-040]: cannot read no.hoa"),
        (("cfg", "S -> a S b | epsilon", "-e", "a,b", "--to", "hoa"), "error[LOGIC-042]: only finite machines"),
        (("ltl", "[](a => <> b)", "-e", "a,b"), "error[LOGIC-017]"),
    ],
)
def test_misuse_is_said_clearly(mopsus, arguments, message):
    status, out, err = mopsus("compile", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(message)


def test_a_formula_that_cannot_be_decided_may_be_allowed(mopsus):
    assert mopsus("compile", "ltl", "[](a => <> b)", "-e", "a,b", "--allow-unmonitorable")[0] == 0
