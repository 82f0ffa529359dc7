"""Stage 2: the logic `fsm`: a finite state machine written out state by state."""

from mopsus.late import late_function
from mopsus.logics.fsm.compile import compile_machine
from mopsus.logics.fsm.syntax import categories_of, events_of, parse_machine, print_machine
from mopsus.logics.logic import Logic

LOGIC = Logic(
    name="fsm",
    summary="finite state machines: states, transitions, aliases; an event without a transition fails",
    parse=parse_machine,
    print=print_machine,
    categories=categories_of,
    events=events_of,
    compile=compile_machine,
    reference=late_function("mopsus.logics.fsm.reference", "categories_after"),
    default_goal=("fail",),
)
