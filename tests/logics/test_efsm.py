"""The logic `efsm`: what its machines are made of, what they report, and what is odd about them."""

from __future__ import annotations

import pytest

import mopsus
from mopsus.logics import LogicError, compile_spec, load_logic
from mopsus.model import GuardedMachine, Severity
from mopsus.spec import parse_file

EFSM = load_logic("efsm")
HEAD = "S(q) {\n    event a(q; x)\n    event b(q)\n    efsm :\n"


def compiled(formula, handlers=""):
    file = parse_file(f"{HEAD}{formula}\n{handlers}\n}}", "s.mop")
    return compile_spec(file.specs["S"], file.source)


def machine_of(formula, handlers="") -> GuardedMachine:
    (machine,) = compiled(formula, handlers).machines
    assert isinstance(machine, GuardedMachine)
    return machine


WHOLE = """
        initialization { n = 0; import os.path as p }
        state init accepting {
            transition {
                event a { return x > n }
                success { n += x } f() good
                failure bad
            }
        }
        state good { transition { event b success { y = [z for z in p.y] } } }
        state bad non-accepting final g()
"""


def test_a_machine_has_all_that_is_written():
    machine = machine_of(WHOLE)
    init, good, bad = machine.states
    (first,) = init.transitions
    assert (first.event, first.guard.text) == ("a", "return x > n")
    assert (first.success.block.text, first.success.action, first.success.target) == ("n += x", "f", "good")
    assert (first.failure.block, first.failure.action, first.failure.target) == (None, None, "bad")
    assert [state.acceptance.value for state in machine.states] == ["accepting", "", "non-accepting"]
    assert (bad.final, bad.action, bad.transitions) == (True, "g", ())
    assert good.transitions[0].success.target is None
    assert machine.initialization.text == "n = 0; import os.path as p"
    assert machine.variables == ("n", "p", "y")
    assert machine.values == {"a": ("q", "x"), "b": ("q",)}
    assert machine.creation == {"a"}
    assert machine.truth == {"init": True, "good": None, "bad": False}


def test_code_knows_its_place_in_the_file():
    machine = machine_of(WHOLE)
    text = (HEAD + WHOLE).split("\n")
    for code in (
        machine.initialization,
        machine.states[0].transitions[0].guard,
        machine.states[0].transitions[0].success.block,
        machine.states[1].transitions[0].success.block,
    ):
        assert text[code.span.line - 1][code.span.column - 1 :].startswith(code.text.split("\n")[0])


def test_without_handlers_non_accepting_states_are_reported_as_errors():
    found = compiled(WHOLE)
    assert found.severities == {("efsm", "bad"): Severity.ERROR}


def test_a_handled_state_is_an_error_only_if_it_is_non_accepting():
    found = compiled(WHOLE, "@init { } @good { } @bad { }")
    assert found.severities == {
        ("efsm", "init"): Severity.NOTE,
        ("efsm", "good"): Severity.NOTE,
        ("efsm", "bad"): Severity.ERROR,
    }


def test_imported_transitions_come_after_its_own_and_from_as_far_as_they_were_imported():
    machine = machine_of("""
        state init { transition { event a success one } }
        state one import transitions from state init { transition { event b success two } }
        state two import transitions from state one
        state loop import transitions from state pool { transition { event a success two } }
        state pool import transitions from state loop { transition { event b success loop } }
    """)
    found = {state.name: [each.success.target for each in state.transitions] for state in machine.states}
    assert found == {
        "init": ["one"],
        "one": ["two", "one"],
        "two": ["two", "one"],
        "loop": ["two", "loop"],
        "pool": ["loop", "two"],
    }


@pytest.mark.parametrize(
    ("block", "names"),
    [
        ("a, (b, *c) = d", ["a", "b", "c"]),
        ("a += 1", ["a"]),
        ("a: int = 1", ["a"]),
        ("a[0] = b.c = 1", []),
        ("for a in b: pass", ["a"]),
        ("with b as a: pass", ["a"]),
        ("import a.b, c as d\nfrom e import f", ["a", "d", "f"]),
        ("try: pass\nexcept E as a: pass", ["a"]),
        ("def a(b): c = 1", ["a"]),
        ("class a: b = 1", ["a"]),
        ("z = lambda a: (b := a)", ["z"]),
        ("z = [a for a in b if (c := a)]", ["c", "z"]),
        ("match z:\n    case {'k': a, **b} | [a, *b]: pass", ["a", "b"]),
        ("del a", ["a"]),
        ("x = q = 1", []),  # values of the event, which hide variables
    ],
)
def test_variables_are_the_names_that_blocks_assign(block, names):
    code = block.replace("\n", "\n                ")
    machine = machine_of(f"""
        state init {{
            transition {{
                event a success {{
                    {code.replace("                ", "                    ")}
                }}
            }}
        }}
    """)
    assert sorted(machine.variables) == names


def warnings_of(formula):
    return [(each.code, each.span.line - HEAD.count("\n"), each.span.column) for each in compiled(formula).warnings]


def test_a_guard_that_assigns_a_variable_is_told():
    formula = """
        initialization { limit = 0 }
        state init {
            transition { event a { limit = x - 1 } success { limit = x } bad }
            transition { event b { own = 1; return own } success init }
        }
        state bad non-accepting"""
    assert warnings_of(formula) == [("LOGIC-090", 4, 36)]


def test_a_state_that_nothing_leads_to_is_told():
    formula = """
        state init { transition { event a success { if x: return "bad" } } transition { event b success init } }
        state bad non-accepting
        state lost non-accepting"""
    assert warnings_of(formula) == [("LOGIC-091", 4, 15)]


def test_transitions_of_a_final_state_are_told():
    formula = """
        state init { transition { event a success bad } transition { event b success init } }
        state bad non-accepting final import transitions from state init"""
    assert warnings_of(formula) == [("LOGIC-092", 3, 15)]


def test_a_transition_without_an_end_is_told():
    formula = """
        state init { transition { event a success bad } transition { event b { return q } } }
        state bad non-accepting"""
    assert warnings_of(formula) == [("LOGIC-093", 2, 57)]


def test_a_value_that_hides_a_variable_is_told_once_for_each_event():
    formula = """
        initialization { x = 0 }
        state init { transition { event a success bad } transition { event b success { x += 1 } } }
        state bad non-accepting { transition { event a success { x = x } } }"""
    assert warnings_of(formula) == [("LOGIC-094", 3, 41)]


def test_a_drawing_says_when_a_transition_is_taken_and_where_a_block_may_lead():
    drawing = machine_of("""
        state init {
            transition { event a { return x > 1 } success { if x > 9: return "bad" } failure good }
            transition { event b { y = 1; z = 2; return q is not None and y < z } success good }
        }
        state good
        state bad non-accepting
    """).drawing()
    names = [node.name for node in drawing.nodes]
    assert [(names[edge.source], edge.label, names[edge.target]) for edge in drawing.edges] == [
        ("init", "a [x > 1]", "init"),
        ("init", "a [x > 1]", "bad"),
        ("init", "a [else]", "good"),
        ("init", "b [guard]", "good"),
    ]


def test_a_destination_that_is_computed_may_be_any_state():
    formula = """
        state init { transition { event a success { return x } } transition { event b success init } }
        state bad non-accepting"""
    assert warnings_of(formula) == []


def test_an_unknown_event_is_refused_at_its_place():
    with pytest.raises(LogicError) as caught:
        compiled("        state init { transition { event c success init } }")
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line, found.span.column) == ("LOGIC-002", 5, 41)


def test_a_fault_in_a_formula_alone_has_its_offset():
    with pytest.raises(LogicError) as caught:
        EFSM.parse("state init { transition { event a success nowhere } }", ("a",))
    assert (caught.value.code, caught.value.offset) == ("SPEC-082", 42)


def test_printing_gives_the_formula_back():
    text = EFSM.print(EFSM.parse(WHOLE, ("a", "b")))
    assert EFSM.print(EFSM.parse(text, ("a", "b"))) == text
    assert EFSM.parse(text, ("a", "b")) == EFSM.parse(WHOLE, ("a", "b"))


def test_a_class_may_have_such_a_property():
    @mopsus.specification
    class S:
        q = mopsus.param()

        @mopsus.event
        def a(self, q): ...

        steps = mopsus.property(
            "efsm",
            """
            initialization { n = 0 }
            state init {
                transition {
                    event a success {
                        n += 1
                        if n > 1:
                            return "bad"
                    }
                }
            }
            state bad non-accepting
            """,
        )

    with S.monitor() as monitor:
        monitor.emit("a", q=S)
        monitor.emit("a", q=S)
    assert [verdict.category for verdict in monitor.verdicts] == ["bad"]


def test_a_property_file_gives_the_same_machine_as_the_spec_that_it_stands_for():
    from mopsus.spec import print_spec

    file = parse_file(
        "slice on q\nstate init { transition { event f(arg 1 as q, x) { return x } success { n = x } bad } }\n"
        "state bad non-accepting",
        "p.prop",
    )
    spec = file.specs["p"]
    first = compile_spec(spec, file.source).machines
    assert first == compile_spec(parse_file(print_spec(spec), "p.mop").specs["p"]).machines
    assert first[0].states[0].transitions[0].guard.span.line == 2
