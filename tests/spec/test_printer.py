"""Printing and parsing are each other's inverse, and formatting is idempotent and keeps comments."""

from __future__ import annotations

import re

from hypothesis import given, settings
from strategies import specs

from mopsus.spec import format_file, parse_file, print_spec

LOGICS = ("ere", "fsm", "my-logic")


@settings(max_examples=60, deadline=None)
@given(specs())
def test_parsing_what_was_printed_gives_the_spec_back(spec):
    text = print_spec(spec)
    assert parse_file(text, logics=LOGICS).specs == {spec.name: spec}, text
    assert format_file(text, logics=LOGICS) == text


@settings(max_examples=400, deadline=None)
@given(specs())
def test_parsing_what_was_printed_gives_the_spec_back_at_length(spec):
    text = print_spec(spec)
    assert parse_file(text, logics=LOGICS).specs == {spec.name: spec}, text
    assert format_file(text, logics=LOGICS) == text


COMMENTED = """\
# c1
import os  # c2
// c3
import re // c4

/* c5
     c6
   * c7 */
Foo(i /* c8 */, j) {  // c9
      // c10
  severity: note // c11
  # c12
  var n = 0; // c13
  var m = 1 # c14
  // c15
  event b(i /* c16 */)   // c17
  ere : a // c18
        b /* c19 */ c  # c20
  // c21
  @match // c22
  { print(1) } // c23
  event a(j) {
      x = 1  // 2
      # c24
  } // c25
  // c26
} // c27
// c28

Bar { event a   /* c29 */ { pass }  }
/* c30
 */
"""


def test_comments_are_kept():
    printed = format_file(COMMENTED)
    assert format_file(printed) == printed
    assert parse_file(printed).specs == parse_file(COMMENTED).specs
    assert sorted(re.findall(r"\bc\d+\b", printed)) == sorted(f"c{number}" for number in range(1, 31))


def test_canonical_form():
    printed = format_file(COMMENTED)
    for part in (
        "# c1\nimport os  # c2\n// c3\n// c4\nimport re\n\n/* c5\n   c6\n * c7 */\n/* c8 */\nFoo(i, j) {  // c9\n",
        "    // c13\n    var n = 0\n    var m = 1  # c14\n\n",
        "    // c18\n    /* c19 */\n    ere :\n        a\n        b c  # c20\n    // c21\n",
        "    @match { print(1) }  // c23\n\n    // c26\n}  // c27\n\n// c28\nBar {\n",
        "    /* c29 */\n    event a { pass }\n}\n",
    ):
        assert part in printed


def test_events_are_printed_before_properties():
    printed = format_file("Foo { ere : a\n@match\nevent a { pass } }")
    assert printed == "Foo {\n    event a { pass }\n\n    ere : a\n    @match\n}\n"


def test_an_empty_file_stays_empty():
    assert format_file("") == ""
    assert format_file("// only a comment") == "// only a comment\n"
