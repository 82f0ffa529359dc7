"""Stage 2: names in the guards, blocks and actions of a machine that nothing gives a value to.

What functions there will be is known to whoever runs the machine only, so this is not asked when it is compiled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mopsus.model import Code, GuardedMachine, Property, Spec
from mopsus.spec.errors import Findings
from mopsus.spec.names import check_shared, imported_names

_HINT = "it can see the values of its event, what `initialization` and blocks assign, and what is imported"


def check_machine(
    spec: Spec, prop: Property, machine: GuardedMachine, functions: Collection[str], findings: Findings
) -> None:
    """Report unknown names. `functions` are names that the machine's code will find beside those of the spec."""
    known = {*imported_names(spec.imports), *machine.variables, *functions}
    check_shared(_pieces(prop, machine), known, _HINT, findings, shared=False)


def _pieces(prop: Property, machine: GuardedMachine) -> Iterator[tuple[Code, tuple[str, ...]]]:
    if machine.initialization is not None:
        yield machine.initialization, ()
    seen: set[object] = set()  # imported transitions are there more than once
    for state in machine.states:
        for transition in state.transitions:
            ends = [end for end in (transition.success, transition.failure) if end is not None]
            for code in (transition.guard, *(end.block for end in ends)):
                if code is not None and (code.text, code.span) not in seen:
                    seen.add((code.text, code.span))
                    yield code, machine.values[transition.event]
            yield from ((Code(end.action, prop.span), ()) for end in ends if end.action is not None)
        if state.action is not None:
            yield Code(state.action, prop.span), ()
