"""Stage 2: a formula of linear temporal logic over events made into a finished machine."""

from __future__ import annotations

from dataclasses import replace

from mopsus.logics.logic import LogicError, Request
from mopsus.logics.ltl.determine import determine
from mopsus.logics.ltl.letters import Events, Work
from mopsus.logics.machines import Automaton, finish
from mopsus.logics.machines.automaton import reaching, trace_to
from mopsus.logics.temporal.categories import CATEGORY, TRUTH
from mopsus.logics.temporal.syntax import Formula, events_of
from mopsus.model import Remark, TableMachine


def compile_ltl(formula: Formula, request: Request) -> TableMachine:
    """The minimal machine of the formula.

    `violation`: no continuation of the trace satisfies it; `validation`: all do. Both are final. `LogicError` if no
    trace can lead to either, unless the request allows it; a remark if some traces cannot.
    """
    automaton = monitor_of(formula, request.alphabet, ending=request.at_end)
    decided = [state for state, held in enumerate(automaton.categories) if held]
    decidable = reaching(automaton.table, decided)
    if automaton.initial not in decidable and not request.allow_unmonitorable:
        raise LogicError(
            "no trace can ever decide this formula: after any trace it may still come to hold, and may fail",
            code="LOGIC-017",
            hint="give its eventualities a bound in steps, such as '<>[0,10] a', or allow it as unmonitorable",
        )
    machine = finish(automaton, request, truth=TRUTH)
    return replace(machine, remarks=_undecidable(automaton, decidable))


def monitor_of(formula: Formula, alphabet: tuple[str, ...], *, ending: bool = False) -> Automaton:
    """The automaton of the formula, not minimal; an undecided state has no category."""
    spoken = [event for event in alphabet if event in events_of(formula)]
    work = Work()
    letters = Events(spoken, len(spoken) < len(alphabet), work)
    made = determine(formula, letters, work, ending=ending)
    letter_of = [spoken.index(event) if event in spoken else len(spoken) for event in alphabet]
    return Automaton(
        alphabet,
        0,
        tuple(tuple(row[letter] for letter in letter_of) for row in made.steps),
        tuple(frozenset() if verdict is None else frozenset({CATEGORY[verdict]}) for verdict in made.verdicts),
        tuple("" if verdict is None else CATEGORY[verdict] for verdict in made.verdicts),
        tuple(made.presumed),
    )


def _undecidable(automaton: Automaton, decidable: set[int]) -> tuple[Remark, ...]:
    """A remark with a shortest trace after which no verdict can be reached, if there is one."""
    reached: dict[int, tuple[int, str] | None] = {automaton.initial: None}
    queue = [automaton.initial]
    for state in queue:  # grows while it is walked
        if state not in decidable:
            trace = trace_to(reached, state)
            after = f"after '{' '.join(trace)}'" if trace else "from the first event on"
            return (
                Remark(
                    "LOGIC-023",
                    f"{after} the formula can no longer be decided: it may still come to hold and may still fail",
                    "such instances are monitored in vain; a bound in steps makes eventualities decidable",
                ),
            )
        for event, target in zip(automaton.alphabet, automaton.table[state], strict=True):
            if target not in reached:
                reached[target] = (state, event)
                queue.append(target)
    return ()
