"""Stage 2: the logic `ptcaret`: past-time linear temporal logic that knows calls and returns."""

from mopsus.late import late_function
from mopsus.logics.logic import Logic
from mopsus.logics.ptcaret.compile import compile_caret
from mopsus.logics.ptcaret.syntax import Caret, events_of, parse_caret, print_caret
from mopsus.logics.temporal.categories import TRUTH, VALIDATION, VIOLATION
from mopsus.model.machine import EXHAUSTED


def categories_of(caret: Caret) -> frozenset[str]:
    """`violation` and `validation`, and `exhausted`: too many calls are open."""
    return frozenset({VIOLATION, VALIDATION, EXHAUSTED})


LOGIC = Logic(
    name="ptcaret",
    summary="past-time linear temporal logic with calls and returns",
    parse=parse_caret,
    print=print_caret,
    categories=categories_of,
    events=events_of,
    compile=compile_caret,
    reference=late_function("mopsus.logics.ptcaret.reference", "categories_after"),
    default_goal=(VIOLATION,),
    notes=frozenset({VALIDATION}),
    truth=TRUTH,
)
