"""Stage 2: the logic `ltl`: linear temporal logic with past and future, three-valued.

`synthesise` makes monitors over valuations of propositions instead of events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mopsus.late import late_function, late_names
from mopsus.logics.logic import Logic
from mopsus.logics.ltl.compile import compile_ltl
from mopsus.logics.ltl.syntax import parse_ltl
from mopsus.logics.temporal.categories import TRUTH, VALIDATION, VIOLATION, categories_of
from mopsus.logics.temporal.syntax import events_of, print_formula

if TYPE_CHECKING:
    from mopsus.logics.ltl.symbolic import SymbolicMonitor, Transition, synthesise

__all__ = ["LOGIC", "SymbolicMonitor", "Transition", "synthesise"]

LOGIC = Logic(
    name="ltl",
    summary="linear temporal logic with past and future, decided as soon as no continuation can change it",
    parse=parse_ltl,
    print=print_formula,
    categories=categories_of,
    events=events_of,
    compile=compile_ltl,
    reference=late_function("mopsus.logics.ltl.reference", "categories_after"),
    default_goal=(VIOLATION,),
    notes=frozenset({VALIDATION}),
    truth=TRUTH,
    explain=late_function("mopsus.logics.ltl.explain", "explain_ltl"),
)

if not TYPE_CHECKING:  # a type checker must see the names above, and no others
    __getattr__, __dir__ = late_names(__name__, {"symbolic": "SymbolicMonitor Transition synthesise"})
