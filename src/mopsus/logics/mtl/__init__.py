"""Stage 2: the logic `mtl`: metric temporal logic over the times of events, past and bounded future."""

from mopsus.late import late_function
from mopsus.logics.logic import Logic
from mopsus.logics.mtl.compile import compile_mtl
from mopsus.logics.mtl.syntax import categories_of, events_of, parse_mtl, print_mtl
from mopsus.logics.temporal.categories import TRUTH, VALIDATION, VIOLATION

LOGIC = Logic(
    name="mtl",
    summary="metric temporal logic over the times of events, true or false at every event",
    parse=parse_mtl,
    print=print_mtl,
    categories=categories_of,
    events=events_of,
    compile=compile_mtl,
    reference=late_function("mopsus.logics.mtl.reference", "categories_after"),
    default_goal=(VIOLATION,),
    notes=frozenset({VALIDATION}),
    truth=TRUTH,
    explain=late_function("mopsus.logics.mtl.explain", "explain_mtl"),
)
