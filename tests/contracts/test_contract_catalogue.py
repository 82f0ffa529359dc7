"""The catalogue: every contract says what it is about, and is found by its name, group and library."""

import json
import re
import subprocess
import sys

import pytest

import mopsus
from mopsus.cli.contracts.examples import try_out
from mopsus.contracts import catalogue, choose
from mopsus.contracts.catalogue import GROUPS, HOME
from mopsus.spec import format_file

CONTRACTS = list(catalogue().values())


def names(words):
    return [contract.name for contract in choose(words)]


def test_there_are_many_rules_and_not_one_for_many_classes():
    assert sum(not each.like for each in CONTRACTS) >= 90
    for each in CONTRACTS:
        assert not each.like or catalogue()[each.like].like == ""


def test_every_file_belongs_to_a_contract():
    expected = {path for each in CONTRACTS for path in (each.path, each.violating, each.clean)}
    found = {path for library in GROUPS for path in (HOME / library).rglob("*") if path.suffix in {".mop", ".py"}}
    assert found == expected


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda each: each.name)
def test_a_contract_says_its_rule_and_where_it_comes_from(contract):
    compiled = contract.load()
    assert compiled.spec.severity is not None
    assert re.fullmatch(r"[A-Z`\w].+[.] https://\S+", compiled.spec.doc)
    assert not compiled.warnings


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda each: each.name)
def test_a_contract_is_written_in_canonical_form(contract):
    text = contract.path.read_text(encoding="utf-8")
    assert format_file(text) == text


@pytest.mark.interpreter
@pytest.mark.parametrize("group", [group for groups in GROUPS.values() for group in groups])
def test_examples_give_exactly_what_they_say(group):
    done = subprocess.run(
        [sys.executable, "-m", "mopsus", "contracts", "check", group, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    outcomes = json.loads(done.stdout)
    assert [each for each in outcomes if not each["holds"]] == []
    assert [each["contract"] for each in outcomes] == names(group)
    assert done.returncode == 0
    if group != "packages":
        assert all(each["violating"] for each in outcomes)


@pytest.mark.parametrize(
    ("name", "events", "monitors", "exercised"),
    [
        ("UnsafeIter", 10, 1, True),
        ("JsonDumpTwice", 10, 0, False),  # somebody has written to a file
        ("TaskDoneTooOften", 10, 0, True),  # nothing was refused
        ("TaskDoneTooOften", 0, 0, False),
        ("TextSeekArbitrary", 10, 0, False),
    ],
)
def test_a_contract_knows_whether_it_was_exercised(name, events, monitors, exercised):
    assert catalogue()[name].was_exercised(events, monitors) is exercised


# ---- choosing


def test_names_groups_and_libraries_are_chosen_and_left_out():
    assert names("UnsafeIter") == ["UnsafeIter"]
    assert set(names("threads,UnsafeIter")) == {*names("threads"), "UnsafeIter"}
    assert "UnsafeIter" not in names("stdlib,-UnsafeIter")
    assert not set(names("stdlib,-threads")) & set(names("threads"))
    assert names("stdlib , -threads, ThreadStartedTwice").count("ThreadStartedTwice") == 1
    assert {each.library for each in choose("stdlib")} == {"stdlib"}


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ("UnsafeItr", "there is no contract 'UnsafeItr'", "did you mean 'UnsafeIter'?"),
        ("stdlib,-nothing", "there is no contract 'nothing'", "`mopsus contracts list`"),
        ("threads,-stdlib", "'threads,-stdlib' chooses no contract", "name a library"),
        ("", "'' chooses no contract", "name a library"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(words, message, hint):
    with pytest.raises(mopsus.MopsusError) as raised:
        choose(words)
    assert raised.value.message == message
    assert raised.value.code == "CONTRACT-001"
    assert hint in raised.value.hint


def test_what_loops_do_is_known_of_each_contract_before_it_is_read():
    for contract in catalogue().values():
        points = [part for event in contract.load().spec.events for part in parts_of(event.pointcut)]
        assert contract.loops == {part.kind for part in points} & {"iter", "next"}


def parts_of(pointcut):
    if pointcut is not None:
        yield pointcut
        for operand in pointcut.operands:
            yield from parts_of(operand)


@pytest.mark.parametrize("name", [name for name, contract in catalogue().items() if contract.loops])
def test_a_contract_alone_sees_the_loops_of_the_module_that_loads_what_it_is_about(name):
    contract = catalogue()[name]
    assert try_out(contract, [contract]).holds
