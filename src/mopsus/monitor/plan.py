"""Stage 3: from a compiled spec to what the core runs: parameters become bits, event sets become masks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Any, TypeAlias

from mopsus.logics import CompiledSpec
from mopsus.model import GuardedMachine, Machine, Spec, TableMachine

if TYPE_CHECKING:
    from mopsus.model import CaretMachine, RewriteMachine, StackMachine, TimedMachine, TimedOperator
    from mopsus.monitor.guarded import PlannedCode

Mask: TypeAlias = int
EventArgs: TypeAlias = "tuple[str, list[int], bool, bool, list[Mask], list[str]]"
MachineArgs: TypeAlias = "tuple[str, tuple[Any, ...]]"
"""The kind of a machine and what the core's constructor of that kind takes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The arguments of the core, and the names that its numbers stand for."""

    parameters: tuple[str, ...]
    events: tuple[EventArgs, ...]
    machines: tuple[MachineArgs, ...]
    categories: tuple[tuple[str, ...], ...]
    """By property: the category that each number of its machine stands for."""
    codes: tuple[PlannedCode, ...] = ()
    """The Python of guarded machines."""


def make_plan(compiled: CompiledSpec) -> Plan:
    """Lay out a compiled spec for the core."""
    spec = compiled.spec
    number = {parameter.name: k for k, parameter in enumerate(spec.parameters)}
    masks = {event.name: sum(1 << number[name] for name in event.parameters) for event in spec.events}
    machines = compiled.machines
    declared = {event.name for event in spec.events if event.creation}
    creation = declared or _creation(machines, masks)
    if machines and not any(each.reportable() or each.creation for each in machines) and not _has_code(spec):
        creation = frozenset()  # nothing can ever be reported
    unions = _unions(masks.values())
    categories = tuple(tuple(sorted(machine.goal)) for machine in machines)
    if any(isinstance(machine, GuardedMachine) for machine in machines):
        laid_out, codes = _guarded(compiled, categories)
    else:
        laid_out = tuple(map(_machine, machines, categories, [masks] * len(machines))) if machines else (_raw(masks),)
        codes = ()
    return Plan(
        tuple(number),
        tuple(
            (
                event.name,
                [number[name] for name in event.parameters],
                event.name in creation,
                event.condition is not None or event.action is not None,
                sorted(_enabled(machines, event.name, masks, unions)),
                list(event.fields),
            )
            for event in spec.events
        ),
        laid_out,
        categories or ((),),
        codes,
    )


def _guarded(
    compiled: CompiledSpec, categories: tuple[tuple[str, ...], ...]
) -> tuple[tuple[MachineArgs, ...], tuple[PlannedCode, ...]]:
    """The machines of a spec whose slices begin as copies of others, and their code."""
    from mopsus.monitor.guarded import check, lay_out

    check(compiled)
    values = {event.name: event.names for event in compiled.spec.events}
    codes: list[PlannedCode] = []
    machines = tuple(
        ("guarded", lay_out(machine, {category: k for k, category in enumerate(known)}, values, codes))
        for machine, known in zip(compiled.machines, categories, strict=True)
        if isinstance(machine, GuardedMachine)
    )
    return machines, tuple(codes)


def _has_code(spec: Spec) -> bool:
    return any(event.condition is not None or event.action is not None for event in spec.events)


def _creation(machines: tuple[Machine, ...], masks: Mapping[str, Mask]) -> frozenset[str]:
    if not machines:  # a raw spec reacts to every event
        return frozenset(masks)
    return frozenset[str]().union(*(machine.creation for machine in machines))


def _enabled(
    machines: tuple[Machine, ...], event: str, masks: Mapping[str, Mask], unions: frozenset[Mask]
) -> frozenset[Mask]:
    """The parameter sets from which `event` may extend an instance of some property."""
    if not machines:
        return unions
    found: set[Mask] = set()
    for machine in machines:
        for families in machine.enable.values():
            if event not in families:  # unrestricted
                return unions
            found.update(_mask(events, masks) for events in families[event])
    return frozenset(found)


def _mask(events: Iterable[str], masks: Mapping[str, Mask]) -> Mask:
    union = 0
    for event in events:
        union |= masks[event]
    return union


def _unions(masks: Iterable[Mask]) -> frozenset[Mask]:
    """Every parameter set that some set of events binds."""
    found = {0}
    for mask in set(masks):
        found |= {other | mask for other in found}
    return frozenset(found)


def _minimal(masks: Iterable[Mask]) -> list[Mask]:
    """Those masks that contain no other one."""
    kept: list[Mask] = []
    for mask in sorted(set(masks), key=int.bit_count):
        if not any(other & ~mask == 0 for other in kept):
            kept.append(mask)
    return kept


def _machine(machine: Machine, categories: tuple[str, ...], masks: Mapping[str, Mask]) -> MachineArgs:
    numbers = {category: k for k, category in enumerate(categories)}
    if isinstance(machine, TableMachine):
        return "table", _table(machine, numbers, masks)
    from mopsus.model import CaretMachine, RewriteMachine, StackMachine, SymbolicMachine, TimedMachine

    match machine:
        case StackMachine():
            return "stack", _stack(machine, numbers, masks)
        case RewriteMachine():
            return "rewrite", _rewrite(machine, numbers, masks)
        case CaretMachine():
            return "caret", _caret(machine, numbers, masks)
        case TimedMachine():
            return "timed", _timed(machine, numbers, masks)
        case SymbolicMachine():
            from mopsus.monitor.symbolic import lay_out

            # Any event may matter: what it carries decides, and that is known only when it comes.
            return "symbolic", lay_out(machine, numbers, _minimal(masks.values()))
    raise TypeError(f"the core runs no {type(machine).__name__}")


def _table(machine: TableMachine, numbers: Mapping[str, int], masks: Mapping[str, Mask]) -> tuple[Any, ...]:
    return (
        len(machine.table),
        machine.initial,
        [target for row in machine.table for target in row],
        [[numbers[each] for each in sorted(state & machine.goal)] for state in machine.categories],
        [[numbers[each] for each in sorted(state & machine.goal)] for state in machine.final],
        [_minimal(_mask(events, masks) for events in state) for state in machine.alive],
        list(machine.after_report),
        machine.every,
    )


ENDINGS = ("succeed", "fail", "exhausted")
"""How the rewriting of a string ends, in the order of the core."""


def _rewrite(machine: RewriteMachine, numbers: Mapping[str, int], masks: Mapping[str, Mask]) -> tuple[Any, ...]:
    return (
        len(machine.symbols),
        [target for row in machine.moves for target in row],
        [0 if match is None else 1 + match for match in machine.matches],
        [
            (rule.taken, list(rule.right), ENDINGS.index(rule.verdict) if rule.verdict else len(ENDINGS), rule.at_end)
            for rule in machine.rules
        ],
        machine.scanning,
        machine.budget,
        machine.longest,
        _minimal(_mask(events, masks) for events in machine.alive),
        [(numbers.get(ending), ending in machine.restart) for ending in ENDINGS],
    )


def _stack(machine: StackMachine, numbers: Mapping[str, int], masks: Mapping[str, Mask]) -> tuple[Any, ...]:
    heads = {name: number for number, name in enumerate(machine.nonterminals)}
    return (
        len(machine.actions),
        len(heads),
        [list(cell) for row in machine.actions for cell in row],
        [target for row in machine.gotos for target in row],
        [(heads.get(head, 0), len(body)) for head, body in machine.productions],
        machine.guaranteed,
        machine.lazy,
        machine.suffix,
        numbers.get("match", -1),
        numbers.get("fail", -1),
        [_minimal(_mask(events, masks) for events in state) for state in machine.alive],
        _minimal(_mask(events, masks) for events in machine.failed),
        numbers.get("exhausted", -1),
        machine.budget,
    )


FOREVER = 2**64 - 1
"""Longer than any difference of two times."""


def _timed(machine: TimedMachine, numbers: Mapping[str, int], masks: Mapping[str, Mask]) -> tuple[Any, ...]:
    from mopsus.model import TIMED_VERDICTS

    return (
        [list(letter) for letter in machine.letters],
        [
            (operator.kind.value, list(operator.operands), _bounds(operator, 1), _bounds(operator, machine.unit))
            for operator in machine.operators
        ],
        machine.formula,
        machine.unit,
        [numbers.get(verdict, -1) for verdict in TIMED_VERDICTS],
        _minimal(_mask(events, masks) for events in machine.alive),
    )


def _bounds(operator: TimedOperator, scale: int) -> list[int]:
    """The ends of the interval, rounded inwards, and its width, in integers: `scale` make the machine's unit."""
    exact = (
        [operator.lower]
        if operator.upper is None
        else [operator.lower, operator.upper, operator.upper - operator.lower]
    )
    rounded = [ceil(exact[0] * scale), *(floor(each * scale) for each in exact[1:])]
    return [min(each, FOREVER) for each in rounded] + [FOREVER] * (3 - len(rounded))


# How the core numbers what a machine of calls is made of.
ROLES = ("", "call", "begin", "end", "return")
OPERATIONS = ("event", "true", "not", "and", "or", "xor", "previous", "since", "trigger", "at")
MEMORIES = ("", "plain", "abstract", "stack")


def _caret(machine: CaretMachine, numbers: Mapping[str, int], masks: Mapping[str, Mask]) -> tuple[Any, ...]:
    return (
        [ROLES.index(role) for role in machine.roles],
        [
            (
                OPERATIONS.index(step.operation),
                MEMORIES.index(step.memory),
                step.initial,
                "call" in step.kinds,
                "begin" in step.kinds,
                step.left,
                step.right,
            )
            for step in machine.steps
        ],
        machine.deepest,
        tuple(numbers.get(category) for category in ("validation", "violation", "exhausted")),
        _minimal(_mask(events, masks) for events in machine.alive),
        "exhausted" in machine.restart,
    )


def _raw(masks: Mapping[str, Mask]) -> MachineArgs:
    """One state that never reports, kept for as long as some event can still act on it."""
    return "table", (1, 0, [0] * len(masks), [[]], [[]], [_minimal(masks.values())], [], False)
