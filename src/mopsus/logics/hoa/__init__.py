"""Stage 2: the logic `hoa`: automata that other tools wrote in the Hanoi Omega-Automata format."""

from mopsus.late import late_function
from mopsus.logics.hoa.compile import TRUTH, compile_automaton
from mopsus.logics.hoa.printer import print_automaton
from mopsus.logics.hoa.syntax import categories_of, events_of, parse_automaton
from mopsus.logics.logic import Logic

LOGIC = Logic(
    name="hoa",
    summary="automata in the Hanoi Omega-Automata format, from a file of their own",
    parse=parse_automaton,
    print=print_automaton,
    categories=categories_of,
    events=events_of,
    compile=compile_automaton,
    reference=late_function("mopsus.logics.hoa.reference", "categories_after"),
    default_goal=("violation", "match"),
    notes=frozenset({"validation"}),
    truth=TRUTH,
    reads_files=True,
)
