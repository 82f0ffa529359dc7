"""Specification files in XML: as they are read, and where they are wrong."""

from __future__ import annotations

import os
import random

import pytest
from oracle.damage import damage

from mopsus.decentral.errors import DecentralError
from mopsus.decentral.load import load_specification
from mopsus.decentral.synthesis import from_formula

LAMPS = """<specifications>
  <template id="lamp">
    <arg>room</arg><arg>k</arg>
    <specification id="sw%k%" class="themis.spec.LTL"><setLTL><![CDATA[%room%_switch]]></setLTL></specification>
    <specification id="li%k%" class="themis.spec.LTL"><setLTL><![CDATA[%room%_light]]></setLTL></specification>
    <specification id="check%k%" class="themis.spec.LTL">
      <setLTL><![CDATA[G(@sw%k% -> X(@li%k% U !@sw%k%))]]></setLTL></specification>
  </template>
  <instanciate template="lamp"><room>office</room><k>1</k></instanciate>
  <instanciate template="lamp"><room>kitchen</room><k>2</k></instanciate>
</specifications>
"""


def load(tmp_path, text, **more):
    path = tmp_path / "spec.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_specification(path, **more).specification


def refused(tmp_path, text, **more):
    with pytest.raises(DecentralError) as caught:
        load(tmp_path, text, **more)
    error = caught.value
    assert error.place is not None
    return error.code, error.place.line, error.place.column


def spec(formula, kind="SpecLTL", method="setLTL", name="root"):
    return (
        f'<specifications>\n<specification id="{name}" class="x.{kind}">\n<{method}>{formula}</{method}>\n'
        "</specification>\n</specifications>"
    )


def test_templates_and_references(tmp_path):
    lamps = load(tmp_path, LAMPS)
    assert list(lamps.monitors) == ["sw1", "li1", "check1", "sw2", "li2", "check2"]
    assert lamps.monitors["check2"].references == {"sw2", "li2"}
    assert lamps.monitors["li2"].propositions == {"kitchen_light"}
    assert lamps.monitors["check1"].automaton == from_formula("G(@sw1 -> X(@li1 U !@sw1))")
    assert lamps.tops == ("check1", "check2")


def test_entities_of_xml_and_cdata(tmp_path):
    for text in ("a &amp; b", "<![CDATA[a & b]]>", "a &#38; b", "<!-- no --> a <![CDATA[&]]> b"):
        assert load(tmp_path, spec(text)).monitors["root"].automaton == from_formula("a & b")


def test_the_last_setter_counts(tmp_path):
    twice = spec("a</setLTL><setLTL>b")
    assert load(tmp_path, twice).monitors["root"].propositions == {"b"}


def test_a_centralized_file(tmp_path):
    assert load(tmp_path, spec("[](b2 -> (!d0 U b4))", name="15b")).root == "15b"


def test_converters(tmp_path):
    text = spec("event a</line><line>assert always a", "Other", "line")
    calls = []

    def convert(given):
        calls.append(given)
        return from_formula("G a").renamed({"a": "@other"})

    more = spec("a").replace('id="root"', 'id="other"').split("\n", 1)[1]
    both = text.replace("</specifications>", more)
    [root, _] = load(tmp_path, both, converters={"Other": convert}).monitors.values()
    assert root.references == {"other"}
    assert calls == [[("line", "event a"), ("line", "assert always a")]]
    known = load(tmp_path, spec("LTL=[](a -> b),ALPHABET=[a,b]", "SpecRTLConv", "line"))
    assert known.monitors["root"].automaton == from_formula("G(a -> b)")


BAD = {
    "not well-formed": (b"<specifications>\n  <a></b>", "DECENTRAL-031", 2, 8),
    "nothing": (b"", "DECENTRAL-031", 1, 1),
    "document type": (b"<!DOCTYPE x [<!ENTITY e 'e'>]>\n<x>&e;</x>", "DECENTRAL-031", 1, 13),
    "unknown entity": (spec("a &b; c"), "DECENTRAL-031", 3, 11),
    "other root": ("<specs/>", "DECENTRAL-032", 1, 1),
    "unknown element": ("<specifications>\n <spec/></specifications>", "DECENTRAL-032", 2, 2),
    "text between": ("<specifications>\n a<template id='x'/></specifications>", "DECENTRAL-032", 2, 2),
    "no id": ("<specifications><specification/></specifications>", "DECENTRAL-032", 1, 17),
    "bad id": (spec("a", name="a b"), "DECENTRAL-032", 2, 1),
    "no class": ("<specifications><specification id='a'/></specifications>", "DECENTRAL-032", 1, 17),
    "unknown class": (spec("a", "SpecXYZ"), "DECENTRAL-034", 2, 1),
    "unknown method": (spec("a", method="setLLT"), "DECENTRAL-034", 3, 1),
    "no method": (
        "<specifications>\n<specification id='a' class='LTL'/></specifications>",
        "DECENTRAL-032",
        2,
        1,
    ),
    "nested": (spec("<b/>"), "DECENTRAL-032", 3, 9),
    "two of an id": (
        "<specifications>\n<specification id='a' class='LTL'><setLTL>a</setLTL></specification>\n"
        "<specification id='a' class='LTL'><setLTL>a</setLTL></specification></specifications>",
        "DECENTRAL-033",
        3,
        1,
    ),
    "formula": (spec("<![CDATA[\n  G(a ->\n   b c)]]>"), "DECENTRAL-036", 5, 6),
    "empty formula": (spec(" "), "DECENTRAL-036", 3, 10),
    "two meanings": (spec("a | @a"), "DECENTRAL-012", 3, 13),
    "unresolved": (spec("a | @b"), "DECENTRAL-023", 2, 1),
    "itself": (spec("a | @root"), "DECENTRAL-023", 2, 1),
    "salt": (spec("assert a", "RTLConv", "line"), "DECENTRAL-034", 3, 7),
    "no line": (spec("-salt", "RTLConv", "arg"), "DECENTRAL-032", 2, 1),
    "unknown template": (LAMPS.replace('"lamp"><room>o', '"lmap"><room>o'), "DECENTRAL-035", 9, 3),
    "missing argument": (LAMPS.replace("<k>1</k>", ""), "DECENTRAL-035", 9, 3),
    "odd argument": (LAMPS.replace("<k>1</k>", "<k>1</k><j/>"), "DECENTRAL-035", 9, 59),
    "argument twice": (LAMPS.replace("<k>1</k>", "<k>1</k><k>2</k>"), "DECENTRAL-035", 9, 59),
    "unknown hole": (LAMPS.replace("%room%_light", "%rom%_light"), "DECENTRAL-035", 5, 72),
    "formula of a template": (LAMPS.replace("U !@sw", "U U !@sw"), "DECENTRAL-036", 7, 49),
    "instances of one name": (LAMPS.replace("<k>2</k>", "<k>1</k>"), "DECENTRAL-033", 4, 5),
    "deep": (b"<a>" * 30, "DECENTRAL-031", 1, 61),
    "encoding": (b"<?xml version='1.0' encoding='nope'?><a/>", "DECENTRAL-031", 1, 1),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_has_a_place(tmp_path, name):
    text, *wanted = BAD[name]
    assert refused(tmp_path, text) == tuple(wanted)


def test_what_is_wrong_is_shown(tmp_path):
    with pytest.raises(DecentralError) as caught:
        load(tmp_path, spec("G(a -> b c)"))
    assert str(caught.value).splitlines()[1:] == [
        f"  --> {tmp_path}/spec.xml:3:18",
        "   |  <setLTL>G(a -> b c)</setLTL>",
        f"   |                   ^ {caught.value.hint}",
    ]


def test_files(tmp_path):
    for path in (tmp_path / "nothing.xml", tmp_path, tmp_path / "some.txt"):
        if path.suffix == ".txt":
            path.write_text("a")
        with pytest.raises(DecentralError) as caught:
            load_specification(path)
        assert caught.value.code == "DECENTRAL-030"


def test_damaged_files_are_refused_with_a_place(tmp_path):
    source, places = random.Random(7), []
    pieces = ["<", ">", "</a>", "<arg>", "%k%", "%", "&amp;", "]]>", "<![CDATA[", '"', "@", "(", "é", "\0", "<!--"]
    for _ in range(int(os.environ.get("MOPSUS_CASES", "3000")) // 10):
        text = damage(LAMPS, source, pieces)
        try:
            load(tmp_path, text.encode("utf-8", "surrogatepass"))
        except DecentralError as error:
            places.append(error.place)
    assert places
    assert None not in places
