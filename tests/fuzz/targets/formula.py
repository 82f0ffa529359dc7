"""Formulas of every logic. The first byte says which logic, the second how the rest makes a text.

Work is bounded, so a formula is compiled or refused soon, whatever it says: one that takes long is a finding.
"""

from __future__ import annotations

from fuzz.choices import Choices
from fuzz.errors import check_error

from mopsus.logics import compile_formula, load_logic, logic_names
from mopsus.model import MopsusError

LOGICS = sorted(logic_names())
EVENTS = ("a", "b", "c")
TEMPORAL = (
    *(
        "a",
        "b",
        "c",
        "(",
        ")",
        " and ",
        " or ",
        "not ",
        " => ",
        " <=> ",
        " xor ",
        "true",
        "false",
        "(*)",
        "~(*)",
        "<*>",
    ),
    *("[*]", " S ", " ~S ", " U ", " R ", " W ", " M ", "[]", "<>", "o ", "~o ", "F<=3 ", "G<=3 "),
    *("[0,3]", "[2,4]", "[1,inf]", "(1,2]", "[0,99999]"),
)
HML = (
    "max X.(",
    "X",
    "[a] ",
    "[b(x)] ",
    "[a(_) when x > 1] ",
    "ff",
    "tt",
    " and ",
    "(",
    ")",
    "[",
    "]",
    "a",
    "{x, 1}",
    "%",
)
CFG = ("S -> ", "A -> ", " | ", "epsilon", " ", "S", "A", *EVENTS, ", ", "\n")
PIECES = {
    "fsm": ("s", "t", "fail", "[", "]", " -> ", "\n", ", ", "default ", "alias m = ", *EVENTS),
    "efsm": (
        *(
            "state init",
            " accepting",
            " non-accepting",
            " final",
            "state s",
            " { ",
            " }",
            "transition { ",
            "event a",
            "\n",
        ),
        *(
            "event b ",
            "{ return n > 1 }",
            "success ",
            "failure ",
            "{ n += 1 }",
            " s",
            " init",
            " f()",
            "{ return 's' }",
        ),
        *(" import transitions", " from state init", "initialization { n = 0 }"),
    ),
    "ere": ("a", "b", "c", "|", "*", "+", "~", "&", "(", ")", "^3", "^40", "epsilon", "empty", " "),
    "ptltl": TEMPORAL,
    "ltl": TEMPORAL,
    "mtl": TEMPORAL,
    "ptcaret": (*TEMPORAL, "<*>a ", "[*]s@b ", " Sa ", " Ss@c ", "(*)a", "@b ", "@c ", "@bc "),
    "hoa": (
        *("HOA: v1\n", "States: 2\n", "Start: 0\n", 'AP: 2 "a" "b"\n', "Acceptance: 1 Inf(0)\n", "--BODY--\n"),
        *(
            "--END--\n",
            "State: 0\n",
            "State: 1 {0}\n",
            "[0] 1\n",
            "[!0&1] 0\n",
            "[t] 1\n",
            "acc-name: finite\n",
            "|",
            "&",
        ),
        *("Acceptance: 2 Inf(0)|Fin(1)\n", 'mopsus-categories: "x"\n', "properties: deterministic\n", "Start: 1\n"),
    ),
    "srs": ("a", "b", "c", " -> ", " . ", "#succeed", "#fail", "#epsilon", "^", "$", "\n"),
    "shml": HML,
    "maxhml": (*HML, "<a> ", "<b(x)> ", " or "),
}


def one(data: bytes) -> None:
    choices = Choices(data)
    name = choices.pick(LOGICS)
    pieces = PIECES.get(name.removesuffix("_scan"), CFG)
    text = choices.text(pieces) if choices.flag() else choices.rest()[:600].decode("utf-8", "replace")
    logic = load_logic(name)
    try:
        formula = logic.parse(text, EVENTS)
    except MopsusError as error:
        check_error(error)
        return
    printed = logic.print(formula)
    again = logic.parse(printed, EVENTS)
    assert logic.print(again) == printed, "what is printed is printed in another way"
    try:
        compile_formula(name, text, EVENTS)
    except MopsusError as error:
        check_error(error)
