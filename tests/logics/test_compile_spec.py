"""Specs compiled: goals, severities, resets, located faults and warnings."""

from __future__ import annotations

import pytest

from mopsus.logics import LogicError, compile_formula, compile_property, compile_spec, load_logic
from mopsus.logics.compile import _severity
from mopsus.logics.reset import may_reset
from mopsus.model import Code, Event, Handler, Modifiers, Property, Severity, Spec
from mopsus.spec import parse_file, render_all

LOGICS = ("fsm", "ere", "cfg", "lr_lazy", "ptcaret", "efsm")


def spec_of(body, head="S(i)"):
    file = parse_file(f"{head} {{\n    event open(i)\n    event close(i)\n{body}\n}}\n", "s.mop", logics=LOGICS)
    return next(iter(file.specs.values())), file.source


def compile_body(body, head="S(i)"):
    return compile_spec(*spec_of(body, head))


def faults(body, head="S(i)"):
    with pytest.raises(LogicError) as caught:
        compile_body(body, head)
    return caught.value.diagnostics


def test_goal_is_what_is_handled_else_the_default():
    compiled = compile_body(
        "    ere : open close\n    @fail { pass }\n    ere : open\n    fsm : s [ open -> s close -> s ]"
    )
    assert [machine.goal for machine in compiled.machines] == [{"fail"}, {"match"}, {"fail"}]
    assert compile_property(compiled.spec, compiled.spec.properties[0]) == compiled.machines[0]


def test_raw_spec_has_no_machines():
    compiled = compile_spec(Spec("R", events=(Event("go", action=Code("pass")),)))
    assert (compiled.machines, compiled.severities, compiled.warnings) == ((), {}, ())


@pytest.mark.parametrize(
    ("own", "notes", "of_spec", "wanted"),
    [
        (None, False, None, Severity.ERROR),
        (None, False, Severity.WARNING, Severity.WARNING),
        (None, True, None, Severity.NOTE),
        (None, True, Severity.WARNING, Severity.NOTE),
        (Severity.ERROR, True, Severity.WARNING, Severity.ERROR),
        (Severity.NOTE, False, Severity.WARNING, Severity.NOTE),
    ],
)
def test_severity_is_the_handlers_then_note_for_good_news_then_the_specs(own, notes, of_spec, wanted):
    from dataclasses import replace

    logic = replace(load_logic("ere"), notes=frozenset({"match"} if notes else ()))
    prop = Property("p", "ere", "open", (Handler("match", severity=own),))
    assert _severity(Spec("S", severity=of_spec), prop, logic.severity("match", None), "match") is wanted


def test_severities_name_every_reported_category():
    compiled = compile_body(
        "    severity: warning\n    ere : open close\n    @match[note] { pass }\n    @fail { pass }"
    )
    assert compiled.severities == {("ere", "match"): Severity.NOTE, ("ere", "fail"): Severity.WARNING}


def handler_method(self):
    self.reset()


def handler_nested(self):
    return [other.reset() for other in self.parts]


def handler_plain(self):
    self.count += 1


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        (Code("__RESET"), True),
        (Code("print(i)\nif i:\n    __RESET()"), True),
        (Code("__MONITOR.reset()"), True),
        (Code("again = self . reset\nagain()"), True),
        (Code("reset = 1"), False),
        (Code("print('x')"), False),
        (Code("", function=handler_method), True),
        (Code("", function=handler_nested), True),
        (Code("", function=handler_plain), False),
        (Code("", function=print), True),
    ],
)
def test_handlers_that_may_reset_are_recognised(code, wanted):
    assert may_reset(code) is wanted


def test_reset_reaches_the_analyses_of_every_property():
    plain = compile_body("    ere : open close\n    @match { pass }\n    ere : close close")
    reset = compile_body("    ere : open close\n    @match { __RESET }\n    ere : close close")
    assert plain.machines[0].enable["match"]["open"] == {frozenset()}
    assert frozenset({"open", "close"}) in reset.machines[0].enable["match"]["open"]
    # Resetting an instance resets all its properties, so the other one may start over at any event.
    assert frozenset({"open"}) in reset.machines[1].enable["match"]["close"]
    action = compile_spec(
        Spec(
            "S",
            events=(Event("open", action=Code("__RESET")), Event("close")),
            properties=(Property("ere", "ere", "open close"),),
        )
    )
    assert frozenset({"close"}) in action.machines[0].enable["match"]["open"]


def test_fault_in_a_formula_is_placed_in_the_file():
    (only,) = faults("    ere : open   // a comment | here\n          (close |  opn)")
    assert (only.code, only.message, only.hint) == ("LOGIC-002", "unknown event 'opn'", "did you mean 'open'?")
    assert (only.span.file, only.span.line, only.span.column, only.span.end_column) == ("s.mop", 5, 21, 24)
    assert only.source == "          (close |  opn)"


def test_fault_at_the_end_of_a_formula_is_placed_behind_it():
    (only,) = faults("    ere : open |\n    @match { pass }")
    assert (only.span.line, only.span.column) == (4, 17)


def test_independent_faults_are_all_found():
    found = faults("    ere : opn\n    ere : open\n    @mtch { pass }\n    @faill { pass }\n    fsm : s [ open -> t ]")
    assert [each.code for each in found] == ["LOGIC-002", "LOGIC-012", "LOGIC-012", "LOGIC-003"]
    assert [each.hint for each in found][1:3] == ["did you mean 'match'?", "did you mean 'fail'?"]
    assert "s.mop:6:6" in render_all(found)


def test_fault_without_the_text_keeps_the_place_of_the_formula():
    spec, _ = spec_of("    ere : open opn")
    with pytest.raises(LogicError) as caught:
        compile_spec(spec)
    assert caught.value.diagnostics[0].span == spec.properties[0].span
    with pytest.raises(LogicError) as caught:
        compile_spec(Spec("S", events=(Event("open"),), properties=(Property("p", "ere", "opn"),)))
    assert caught.value.diagnostics[0].span is None


def test_fault_of_a_loaded_file_is_placed_by_reading_it_again(tmp_path):
    path = tmp_path / "s.mop"
    path.write_text("S(i) {\n  event open(i)\n  ere : open\n    opn\n}\n")
    from mopsus.spec import load

    with pytest.raises(LogicError) as caught:
        compile_spec(load(path)["S"])
    (only,) = caught.value.diagnostics
    assert (only.span.line, only.span.column, only.source) == (4, 5, "    opn")


def test_unknown_logic_is_placed():
    spec = Spec("S", events=(Event("open"),), properties=(Property("p", "eer", "open"),))
    with pytest.raises(LogicError, match="unknown logic 'eer'"):
        compile_spec(spec)


def test_machine_too_large_is_placed():
    (only,) = faults("    ere : (open | close)* open (open | close)^30")
    assert (only.code, only.span.line, only.span.column) == ("LOGIC-007", 4, 11)


def test_suffix_needs_a_logic_with_match_and_has_no_fail():
    (only,) = faults("    fsm : s [ open -> s ]", "suffix S(i)")
    assert only.code == "LOGIC-013"
    (only,) = faults("    ere : open open\n    @match { pass }\n    @fail { pass }", "suffix S(i)")
    assert (only.code, only.span.line) == ("LOGIC-013", 6)
    machine = compile_body("    ere : open open", "suffix S(i)").machines[0]
    assert machine.creation == {"open"}


def warnings(body, head="S(i)"):
    return [(each.code, each.span.line) for each in compile_body(body, head).warnings]


def test_no_warnings_about_a_sound_spec():
    assert warnings("    ere : open close\n    @match { pass }\n    @fail { pass }") == []


def test_unused_event_is_warned_of():
    assert warnings("    ere : open open") == [("LOGIC-020", 3)]
    assert warnings("    ere : open open", "suffix S(i)") == []  # nothing may come between
    assert warnings("    ere : open\n    ere : close") == []
    assert warnings("    fsm : s [ open -> t ] t [ default s ]") == []
    file = parse_file("S(i) {\n event a(i)\n event b(i) { print(i) }\n ere : a a\n}\n", "s.mop", logics=LOGICS)
    assert compile_spec(file.specs["S"], file.source).warnings == ()


def test_an_event_that_links_parameters_must_be_asked_for():
    events = "    event view(m, c)\n    event iterate(c, i)\n    event use(i)\n    event change(m)\n"
    for head, codes in (("U(m, c, i)", ["LOGIC-024"]), ("connected U(m, c, i)", [])):
        text = f"{head} {{\n{events}    ltl : [](use => (not change S view))\n}}\n"
        file = parse_file(text, "s.mop", logics=("ltl",))
        found = compile_spec(file.specs["U"], file.source).warnings
        assert [each.code for each in found] == codes
        assert all("'iterate' links 'c', 'i'" in each.message for each in found)


@pytest.mark.parametrize(
    ("events", "codes"),
    [
        ("event make(a, b)\n event use(b)\n event end(a)", ["LOGIC-024"]),
        ("creation event make(a, b)\n event use(b)\n event end(a)", []),  # who begins with the link has it
        ("creation event make(a, b)\n event use(b)\n creation event end(a)", ["LOGIC-024"]),
        ("event make(a, b)\n event use(a, b)\n event end(a)", []),  # only who is linked is used
    ],
)
def test_a_link_may_be_asked_for_otherwise(events, codes):
    file = parse_file(f"S(a, b) {{ {events}\n ptltl : use => not <*> end }}", "s.mop", logics=("ptltl",))
    assert [each.code for each in compile_spec(file.specs["S"], file.source).warnings] == codes


def test_every_is_for_logics_that_can_report_again():
    (only,) = faults("    cfg : S -> open S close | epsilon\n    @fail { pass }", "every S(i)")
    assert only.code == "LOGIC-025"
    compile_body("    cfg : S -> open S close | epsilon\n    @match { pass }", "every S(i)")
    compile_body("    lr_lazy : S -> open S close | epsilon\n    @fail { pass }", "every S(i)")
    compile_body("    ptcaret : [*] open", "every S(i)")  # reports at every event anyhow
    (only,) = faults("    efsm : state init { transition { event open success init } }", "every S(i)")
    assert only.code == "LOGIC-025"
    assert "whenever a transition leads to it" in only.message


def test_under_suffix_every_event_begins_an_instance_if_it_may_add_values():
    file = parse_file("suffix S(p, q) { event c(p)\n event e(q)\n ere : e }", "s.mop", logics=LOGICS)
    assert compile_spec(file.specs["S"]).machines[0].creation == {"c", "e"}


@pytest.mark.parametrize("formula", ["ere : make use* end use", "cfg : S -> make U end use, U -> U use | epsilon"])
def test_under_suffix_what_adds_no_values_begins_nothing(formula):
    # `end` and `use` alone would give an instance for each pair of values.
    events = "event make(c, i)\n event end(c) ACTION\n event use(i)"
    for action, creation in (("", {"make"}), ("{ n += 1 }", {"make", "end"})):
        text = f"suffix S(c, i) {{ var n = 0\n {events.replace('ACTION', action)}\n {formula} }}"
        file = parse_file(text, "s.mop", logics=LOGICS)
        assert compile_spec(file.specs["S"]).machines[0].creation == creation


@pytest.mark.parametrize(
    ("logic", "formula"),
    [("ere", "a*"), ("cfg", "S -> epsilon | S a"), ("lr", "S -> epsilon | S a"), ("fsm", "match [ a -> match ]")],
)
def test_the_empty_trace_is_no_match(logic, formula):
    spec = Spec(
        "S",
        modifiers=Modifiers(suffix=True),
        events=(Event("a"), Event("b")),
        properties=(Property(logic, logic, formula, handlers=(Handler("match"),)),),
    )
    with spec.monitor() as monitor:
        for row, event in enumerate("baaba", 1):
            monitor.row(event, {}, source="t", row=row)
        assert [verdict.row for verdict in monitor.verdicts] == [2, 3, 5]


@pytest.mark.parametrize("formula", ["a^3000", "b b^2^54^5^54", "b b^5^54^5^5"])
def test_matches_that_may_begin_anywhere_are_bounded(formula):
    with pytest.raises(LogicError, match="under 'suffix' too many matches can be under way at a time"):
        compile_formula("ere", formula, ("a", "b"), suffix=True)


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("<>[0,100000000] a", "the formula looks ahead more than 10,000 steps"),
        ("<>[40000,50000] a", "the formula looks ahead more than 10,000 steps"),
        ("[](a => [][0,10001] <>[0,5] b)", "the formula looks ahead more than 10,000 steps"),
        ("[](a => <*>[0,3000] b)", "the formula looks back more than 2,000 steps"),
        ("[](a => <>[0,5000] b)", "its construction takes too long"),
    ],
)
def test_bounds_in_steps_are_bounded(formula, why):
    with pytest.raises(LogicError, match=why):
        compile_formula("ltl", formula, ("a", "b"))


def test_unreachable_category_is_warned_of():
    body = "    ere : ~(open close)\n    @match { pass }\n    @fail { pass }"
    assert warnings(body) == [("LOGIC-021", 6)]
    machine = "    fsm : s [ open -> s, close -> s ] t [ open -> t ]\n    @s { pass }\n    @t { pass }"
    assert warnings(machine) == [("LOGIC-021", 6)]


def test_property_that_never_reports_is_warned_of():
    assert warnings("    ere : open close & close open") == [("LOGIC-022", 4)]
    assert warnings("    fsm : s [ default s ]") == [("LOGIC-022", 4)]
    assert warnings("    ere : epsilon") == [("LOGIC-020", 2), ("LOGIC-020", 3), ("LOGIC-022", 4)]


def test_events_of_the_same_parameters_are_alike():
    names = [f"e{number}" for number in range(15)]
    spec = Spec(
        "S",
        events=(*(Event(name, ("f",)) for name in names), Event("go", ("f", "g"))),
        properties=(Property("p", "ere", f"go ({' | '.join(names)})* go"),),
    )
    machine = compile_spec(spec).machines[0]
    assert machine.enable["match"]["e3"] == {frozenset({"go"}), frozenset({"go", *names})}
