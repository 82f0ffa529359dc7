"""Stage 2: the logic `efsm`: state machines whose transitions look at data, with guards and blocks in Python."""

from mopsus.late import late_function
from mopsus.logics.efsm.compile import compile_automaton
from mopsus.logics.efsm.syntax import (
    acceptable,
    alphabet_of,
    categories_of,
    events_of,
    parse_automaton,
    print_automaton,
)
from mopsus.logics.logic import Logic

LOGIC = Logic(
    name="efsm",
    summary="state machines with variables: transitions with guards and blocks of Python, as properties of debuggers",
    parse=parse_automaton,
    print=print_automaton,
    categories=categories_of,
    events=events_of,
    compile=compile_automaton,
    reference=late_function("mopsus.logics.efsm.reference", "categories_after"),
    default_goal=(),
    acceptable=acceptable,
    alphabet=alphabet_of,
)
