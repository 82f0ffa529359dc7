"""No text that a trace controls gets through a report as anything but text."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mopsus.model import Verdict, WitnessEvent

FORMATS = ("terminal", "json", "junit", "sarif", "html")
FORBIDDEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize("name", FORMATS)
def test_no_control_character_reaches_the_report(sample, name):
    text = sample.report(name, (sample.evil,))
    assert not FORBIDDEN.search(text)
    text.encode("utf-8")


@pytest.mark.parametrize("name", FORMATS)
def test_huge_values_are_cut(sample, name):
    assert len(sample.report(name, (sample.evil,))) < len(sample.report(name, ())) + 50_000


def test_terminal_shows_markup_literally(sample):
    verdict = Verdict("S", "p", "match", None, True, {"v": "[bold red]hi[/] :smile: [link=x]"}, "[u]l", None, ())
    text = sample.report("terminal", (verdict,))
    assert "v='[bold red]hi[/] :smile: [link=x]'" in text
    assert "at [u]l" in text


class Tags(HTMLParser):
    """Collects what a browser would see as elements, addresses and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for key, value in attrs if key in ("src", "href", "action", "data")]
        self.handlers += [key for key, _ in attrs if key.startswith("on")]


def test_html_has_no_element_from_a_value(sample):
    page = Tags()
    page.feed(sample.report("html", (sample.evil,)))
    assert page.tags.count("script") == 1
    assert page.handlers == []


def test_html_asks_nothing_of_the_network(sample):
    text = sample.report("html")
    page = Tags()
    page.feed(text)
    assert page.addresses == ["https://example.org/hasnext"]  # a link from the spec, which loads nothing by itself
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_a_documentation_line_cannot_smuggle_a_script_address(sample):
    spec = replace(sample.summary.specs[0], doc='javascript:alert(1) https://x.org/"onclick="alert(1)')
    page = Tags()
    page.feed(sample.report("html", specs=(spec,)))
    assert page.addresses == ["https://x.org/"]
    assert page.handlers == []


hostile = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["</script>", "]]>", "\x1b[2J", "[/]", "\ud800", "{{"]
)
values = st.none() | st.booleans() | st.integers() | st.floats() | hostile | st.binary(max_size=20)


@given(name=hostile, key=hostile, value=st.recursive(values, lambda v: st.tuples(v, v)), row=st.none() | st.integers(1))
def test_every_format_stays_well_formed(sample, name, key, value, row):
    witness = (WitnessEvent(name, {key: value}, name, None, row),)
    verdict = Verdict(name, key, name, None, True, {key: value}, name, 1.0, witness, row=row)
    for kind in FORMATS:
        text = sample.report(kind, (verdict,))
        assert not FORBIDDEN.search(text)
        if kind == "junit":
            ElementTree.fromstring(text)
        elif kind in ("json", "sarif"):
            json.loads(text, parse_constant=pytest.fail)
