"""Stage 2: the logic `ptltl`: past-time linear temporal logic, true or false at every event."""

from mopsus.late import late_function
from mopsus.logics.logic import Logic
from mopsus.logics.ptltl.compile import compile_ptltl
from mopsus.logics.ptltl.syntax import parse_ptltl
from mopsus.logics.temporal.categories import TRUTH, VALIDATION, VIOLATION, categories_of
from mopsus.logics.temporal.syntax import events_of, print_formula

LOGIC = Logic(
    name="ptltl",
    summary="past-time linear temporal logic, true or false at every event",
    parse=parse_ptltl,
    print=print_formula,
    categories=categories_of,
    events=events_of,
    compile=compile_ptltl,
    reference=late_function("mopsus.logics.ptltl.reference", "categories_after"),
    default_goal=(VIOLATION,),
    notes=frozenset({VALIDATION}),
    truth=TRUTH,
    explain=late_function("mopsus.logics.ptltl.explain", "explain_ptltl"),
)
