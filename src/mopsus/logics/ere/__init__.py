"""Stage 2: the logic `ere`: extended regular expressions, with complement and intersection."""

from mopsus.late import late_function
from mopsus.logics.ere.compile import compile_expression
from mopsus.logics.ere.syntax import categories_of, events_of, parse_expression, print_expression
from mopsus.logics.logic import Logic

LOGIC = Logic(
    name="ere",
    summary="extended regular expressions over events, with complement `~` and intersection `&`",
    parse=parse_expression,
    print=print_expression,
    categories=categories_of,
    events=events_of,
    compile=compile_expression,
    reference=late_function("mopsus.logics.ere.reference", "categories_after"),
    default_goal=("match",),
)
