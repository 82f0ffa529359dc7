"""Stage 2: the logics `srs` and `srs_scan`: string rewriting systems, under two strategies."""

from dataclasses import replace

from mopsus.late import late_function
from mopsus.logics.logic import Logic
from mopsus.logics.srs.compile import compile_scanning, compile_system
from mopsus.logics.srs.syntax import SUCCEED, categories_of, events_of, parse_system, print_system

LOGIC = Logic(
    name="srs",
    summary="string rewriting systems: rules `a b -> c .` applied to the events so far until `#succeed` or `#fail`",
    parse=parse_system,
    print=print_system,
    categories=categories_of,
    events=events_of,
    compile=compile_system,
    reference=late_function("mopsus.logics.srs.reference", "categories_after"),
    default_goal=("fail",),
    notes=frozenset({SUCCEED}),
)

SCANNING = replace(
    LOGIC,
    name="srs_scan",
    summary="string rewriting systems, rewritten in passes from the head of the string",
    compile=compile_scanning,
    reference=late_function("mopsus.logics.srs.reference", "categories_after_scanning"),
)
