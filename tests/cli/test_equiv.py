"""`mopsus equiv` decides equivalence across logics, and gives a shortest trace where there is none."""

import json
from pathlib import Path

import pytest

from mopsus.cli.main import main

SPECS = """
One(x) { event a(x)
 event b(x)
 ere : a b* }
"""
TWO = SPECS + "Two(x) { event a(x)\n event b(x)\n fsm : s [ a -> t ] t [ b -> t ]\n @fail }\n"


@pytest.fixture
def equiv(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("one.mop").write_text(SPECS)
    Path("two.mop").write_text(TWO)

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["equiv", *arguments])
        out, err = capfd.readouterr()
        return end.value.code or 0, out, err

    return run


def test_equivalent_formulas(equiv):
    assert equiv("ere:a b*", "ere: a | a b+", "--events", "a,b") == (0, "equivalent in fail, match\n", "")


def test_a_shortest_trace_tells_others_apart(equiv):
    assert equiv("ere:a b*", "ere:a (b b)*", "-e", "a,b") == (
        1,
        "not equivalent in fail, match\nafter  a b\n  ere:a b*  says match\n  ere:a (b b)*  says nothing\n",
        "",
    )


def test_json(equiv):
    status, out, _ = equiv("ere:a", "ere:b", "-e", "a,b", "--json")
    assert (status, json.loads(out)) == (
        1,
        {
            "version": 1,
            "equivalent": False,
            "compared": [["fail", "fail"], ["match", "match"]],
            "trace": ["a"],
            "first": ["match"],
            "second": ["fail"],
        },
    )
    assert json.loads(equiv("ere:a", "ere:a", "-e", "a,b", "--json")[1])["trace"] is None


def test_specs_give_their_events(equiv):
    assert equiv("one.mop", "ere:a b*")[0] == 0
    assert equiv("two.mop#Two", "two.mop#One/ere", "--as", "fail=fail") == (0, "equivalent in fail\n", "")


def test_logics_without_common_names_are_compared_by_meaning(equiv):
    """`match` is `validation` and `fail` is `violation`."""
    assert equiv("ere:(a b*)*", "ltl:(~b) W a", "-e", "a,b") == (
        0,
        "equivalent in match=validation, fail=violation\n",
        "",
    )
    assert equiv("ere:a", "ltl:(~b) W a", "-e", "a,b", "--as", "match=violation")[0] == 1


def test_one_language_in_three_logics(equiv):
    state_machine = "fsm:s [ a -> t ] t [ default t ]"
    assert equiv("ere:a (a|b)* | epsilon", state_machine, "-e", "a,b")[0] == 0
    assert equiv("ltl:(~b) W a", state_machine, "-e", "a,b")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ere:a", "ere:a"), "error[CLI-005]: no events are given"),
        (("ere", "ere:a"), "error[CLI-005]: 'ere' is no formula"),
        (("ere:c", "ere:a", "-e", "a,b"), "error[LOGIC-002]: unknown event 'c'"),
        (("one.mop", "ere:a", "-e", "a"), "error[CLI-005]: the two are about different events: only one has b"),
        (("two.mop", "ere:a"), "error[CLI-002]: two.mop has 2 properties: One/ere, Two/fsm"),
        (("two.mop#Thre", "ere:a"), "error[CLI-002]: unknown property 'Thre'"),
        (("no.mop", "ere:a"), "error[SPEC"),
        (("ere:a", "ere:a", "-e", "a", "--as", "match"), "error[CLI-005]: --as match is not understood"),
        (("ere:a", "ere:a", "-e", "a", "--as", "match=mach"), "error[CLI-002]: unknown category 'mach'"),
        (("ere:a", "cfg:S -> a", "-e", "a"), "error[LOGIC-042]: formulas of 'cfg' have no finite machine"),
        (("x.hoa", "ere:a", "-e", "a"), "error[LOGIC-040]: cannot read x.hoa"),
    ],
)
def test_misuse_is_said_clearly(equiv, arguments, message):
    status, out, err = equiv(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(message)
