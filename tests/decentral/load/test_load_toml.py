"""Specification files in TOML: as they are read, and where they are wrong."""

from __future__ import annotations

import inspect
import os
import random

import pytest
from oracle.damage import damage

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load import load_specification, toml
from mopsus.decentral.synthesis import from_formula
from mopsus.decentral.system import Link

LIGHTS = """\
[components]
switch = ["s"]
bulb = ["l"]

[monitors]
light = "l"

[monitors.check]
on = "switch"
formula = "G(s -> X(@light U !s))"
"""

MOP = """
Door() {
    event open() {}
    event close() {}
    ere : (open close)*
    @fail { }
}
"""


def load(tmp_path, text):
    path = tmp_path / "spec.toml"
    path.write_text(text)
    return load_specification(path)


def test_specification_and_system(tmp_path):
    lights = load(tmp_path, LIGHTS)
    assert lights.specification.root == "check"
    assert lights.specification.monitors["check"].automaton == from_formula("G(s -> X(@light U !s))")
    assert lights.system.links is None
    assert lights.specification.pins(lights.system) == {"check": "switch", "light": "bulb"}
    linked = load(
        tmp_path, LIGHTS + '[[links]]\nbetween = ["switch", "bulb"]\ncost = 2\n[[links]]\nfrom="bulb"\nto="bulb"'
    )
    assert linked.system.links == (Link("switch", "bulb", 2), Link("bulb", "switch", 2), Link("bulb", "bulb"))


def test_the_example_of_the_module_is_right(tmp_path):
    (tmp_path / "door.mop").write_text(MOP)
    text = inspect.getdoc(toml).partition("\n\n")[2]
    loaded = load(tmp_path, text + '\n[monitors.opened]\nformula = "opening"\n')
    assert set(loaded.specification.monitors) == {"light", "check", "door", "file", "table", "sw1", "opened"}
    assert loaded.specification.monitors["door"].references == {"opened"}
    assert loaded.specification.monitors["file"].propositions == {"open", "close"}
    assert loaded.specification.monitors["table"].automaton == from_formula("G(!s | l)")


def test_templates(tmp_path):
    text = """
[templates.lamp]
arguments = ["room", "k"]
[templates.lamp.monitors]
"sw%k%" = "%room%_switch"
[templates.lamp.monitors."check%k%"]
formula = "G(@sw%k% -> %room%_light)"
[[instances]]
template = "lamp"
room = "office"
k = "1"
[[instances]]
template = "lamp"
room = "kitchen"
k = "2"
"""
    found = load(tmp_path, text).specification
    assert list(found.monitors) == ["sw1", "check1", "sw2", "check2"]
    assert found.monitors["check2"].automaton.inputs == ("sw2", "kitchen_light")


def m(text):
    return "[monitors.root]\n" + text


BAD = {
    "not TOML": ("[monitors\n", "DECENTRAL-031", 1, 10),
    "unfinished": ("a = ", "DECENTRAL-031", 1, 5),
    "unknown key": ("mointors = 1\n", "DECENTRAL-032", 1, 1),
    "unknown setting": (m("formual = 'a'"), "DECENTRAL-032", 2, 1),
    "wrong type": (m("formula = 3"), "DECENTRAL-032", 2, 1),
    "wrong type of a monitor": ("[monitors]\nroot = 3", "DECENTRAL-032", 2, 1),
    "empty": (m(""), "DECENTRAL-032", 1, 2),
    "both": (m("formula = 'a'\nspec = 'b'"), "DECENTRAL-032", 1, 2),
    "formula": (m("formula = 'a -> b c'"), "DECENTRAL-036", 2, 19),
    "short formula": ("[monitors]\nroot = 'a -> b c'", "DECENTRAL-036", 2, 16),
    "long formula": (m("formula = '''a\n-> b c'''"), "DECENTRAL-036", 2, 1),
    "two meanings": (m("formula = 'a | @a'"), "DECENTRAL-012", 2, 16),
    "unresolved": (m("formula = '@b'"), "DECENTRAL-023", 1, 2),
    "root": ("root = 'b'\n[monitors]\na = 'a'", "DECENTRAL-024", 1, 1),
    "unknown logic": (m("logic = 'eer'\nformula = 'a'\nevents = ['a']"), "DECENTRAL-036", 3, 12),
    "other formula": (m("logic = 'ere'\nevents = ['a']\nformula = 'a b'"), "DECENTRAL-036", 4, 12),
    "infinite": (m("logic = 'cfg'\nevents = ['a']\nformula = 'S -> a S a | a'"), "DECENTRAL-010", 1, 2),
    "truth": (
        m("logic = 'fsm'\nevents = ['a']\nreport = ['z']\nformula = 's [a -> z] z []'"),
        "DECENTRAL-011",
        1,
        2,
    ),
    "one for two": (
        m("logic = 'ere'\nevents = ['a', 'b']\nformula = 'a b'\ninputs = { a = 'b' }"),
        "DECENTRAL-012",
        1,
        2,
    ),
    "no file": (m("spec = 'nothing.mop'"), "DECENTRAL-036", 2, 1),
    "no property": (m("spec = 'door.mop'\nproperty = 'x'"), "DECENTRAL-032", 2, 1),
    "no spec": (m("spec = 'door.mop'\nname = 'x'"), "DECENTRAL-032", 2, 1),
    "no transition": (m("transitions = ['a']"), "DECENTRAL-032", 2, 1),
    "condition": (m("transitions = ['q -> r: X a']"), "DECENTRAL-036", 2, 1),
    "overlap": (m("transitions = ['q -> r: a', 'q -> s: b']"), "DECENTRAL-010", 1, 2),
    "no such state": (m("transitions = ['q -> r: a']\nverdicts = { s = true }"), "DECENTRAL-032", 2, 1),
    "observed twice": ("[components]\nA = ['a']\nB = ['a']\n[monitors]\nroot = 'a'", "DECENTRAL-020", 1, 2),
    "links alone": ("[[links]]\nbetween = ['A', 'B']\n[monitors]\nroot = 'a'", "DECENTRAL-021", 1, 3),
    "no such component": (
        "[components]\nA = ['a']\n[[links]]\nbetween = ['A', 'B']\n[monitors]\nroot = 'a'",
        "DECENTRAL-021",
        3,
        3,
    ),
    "half a link": ("[components]\nA = ['a']\n[[links]]\nto = 'A'\n[monitors]\nroot = 'a'", "DECENTRAL-032", 3, 3),
    "unknown template": ("[[instances]]\ntemplate = 'x'", "DECENTRAL-035", 1, 3),
    "missing argument": (
        "[templates.x]\narguments = ['k']\nmonitors = { a = '%k%' }\n[[instances]]\ntemplate = 'x'",
        "DECENTRAL-035",
        4,
        3,
    ),
    "unknown hole": (
        "[templates.x]\n[templates.x.monitors]\na = '%k%'\n[[instances]]\ntemplate = 'x'",
        "DECENTRAL-035",
        3,
        1,
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_has_a_place(tmp_path, name):
    text, *wanted = BAD[name]
    (tmp_path / "door.mop").write_text(MOP)
    with pytest.raises(DecentralError) as caught:
        load(tmp_path, text)
    error = caught.value
    assert [error.code, error.place.line, error.place.column] == wanted, str(error)


def test_other_bytes(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"a = 1\n\xff")
    with pytest.raises(DecentralError, match="UTF-8") as caught:
        load_specification(tmp_path / "a.toml")
    assert caught.value.place.line == 2


def test_damaged_files_are_refused_with_a_place(tmp_path):
    source, places = random.Random(7), []
    pieces = ["[", "]", "[[", "=", '"', "'''", "@", "%k%", "{", "}", "é", "\n", "\0", "#", "monitors", "1"]
    whole = (
        LIGHTS + '[[links]]\nbetween = ["switch", "bulb"]\n[templates.x]\nmonitors = { a = "%k%" }\narguments = ["k"]\n'
    )
    for _ in range(int(os.environ.get("MOPSUS_CASES", "3000")) // 10):
        try:
            load(tmp_path, damage(whole, source, pieces))
        except DecentralError as error:
            places.append(error.place)
    assert places
    assert None not in places
