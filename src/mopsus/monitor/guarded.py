"""Stage 3: guarded machines as the core runs them, and their Python as code that it calls.

A guard or block becomes the code of a function whose arguments are the values of its event. The core runs it with the
environment of a slice as its globals, so all that has to be done here is to say which names are global.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from mopsus import _core
from mopsus.model import BindingMode, Code, GuardedMachine
from mopsus.model.guarded import INITIAL, End, State, Transition
from mopsus.monitor.errors import MonitorError

if TYPE_CHECKING:
    from mopsus.logics import CompiledSpec

Namespace: TypeAlias = "dict[str, Any]"

_DEFINITIONS = (ModuleType, FunctionType, type)


class Role(IntEnum):
    """What the core does with the result of code; in its order."""

    GUARD = 0
    ASSIGNING_GUARD = 1
    """It assigns variables, and therefore gets a copy of them: guards change nothing."""
    BLOCK = 2
    ACTION = 3
    INITIALIZATION = 4

    @property
    def told(self) -> str:
        """What such code is called."""
        return ("guard", "guard", "block", "action", "initialization")[self]


@dataclass(frozen=True, slots=True)
class PlannedCode:
    """Code of a machine, to be compiled."""

    role: Role
    text: str
    values: tuple[str, ...]
    """The names of its arguments."""
    variables: tuple[str, ...]
    states: tuple[str, ...]
    """What a block may return."""
    source: Code = field(repr=False, compare=False)

    def compile(self) -> tuple[CodeType, int, dict[str, int]]:
        """What the core takes."""
        body = ast.parse(self.text).body
        shared = [name for name in self.variables if name not in self.values]
        if shared:
            body.insert(0, ast.Global(shared))
        # Without a `return`, a guard has nothing against the transition; an explicit `return None` says: ignore it.
        body.append(ast.Return(ast.Constant(True if self.role <= Role.ASSIGNING_GUARD else None)))
        function = ast.parse(f"def {self.role.name.lower()}(): pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        function.args = ast.arguments([], [*map(ast.arg, self.values)], None, [], [], None, [])
        function.body = body
        tree = ast.fix_missing_locations(ast.Module([function], []))
        ast.increment_lineno(tree, self.source.span.line - 1 if self.source.span else 0)
        module = compile(tree, self.source.span.file if self.source.span else "<spec>", "exec")
        code = next(each for each in module.co_consts if isinstance(each, CodeType))
        return code, self.role, {state: number for number, state in enumerate(self.states)}


def lay_out(
    machine: GuardedMachine,
    categories: Mapping[str, int],
    values: Mapping[str, tuple[str, ...]],
    codes: list[PlannedCode],
) -> tuple[Any, ...]:
    """The arguments of the core. `values` are those of each event, in order; code is appended to `codes`, and numbered
    so."""
    layout = _Layout(machine, values, {state.name: number for number, state in enumerate(machine.states)}, codes)
    first = machine.initialization
    return (
        layout.numbers[INITIAL],
        bool(machine.variables or first),
        layout.code(Role.INITIALIZATION, first) if first else None,
        [layout.state(state, categories.get(state.name, -1)) for state in machine.states],
    )


@dataclass(frozen=True, slots=True)
class _Layout:
    machine: GuardedMachine
    values: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, int]
    codes: list[PlannedCode]

    def code(self, role: Role, code: Code, values: tuple[str, ...] = ()) -> int:
        self.codes.append(PlannedCode(role, code.text, values, self.machine.variables, tuple(self.numbers), code))
        return len(self.codes) - 1

    def action(self, function: str | None) -> int | None:
        return None if function is None else self.code(Role.ACTION, Code(f"{function}()"))

    def state(self, state: State, category: int) -> tuple[Any, ...]:
        return state.final, self.action(state.action), category, [*map(self.transition, state.transitions)]

    def transition(self, transition: Transition) -> tuple[Any, ...]:
        values = self.values[transition.event]
        guard = None
        if transition.guard is not None:
            from mopsus.spec.prop.python import assigned, parse_body  # only who has guards needs it

            names = {name for name, _ in assigned(parse_body(transition.guard.text))}
            changes = names & set(self.machine.variables) - set(values)
            guard = self.code(Role.ASSIGNING_GUARD if changes else Role.GUARD, transition.guard, values)
        return (
            list(self.values).index(transition.event),
            guard,
            self.end(transition.success, values),
            self.end(transition.failure, values),
        )

    def end(self, end: End | None, values: tuple[str, ...]) -> tuple[Any, ...] | None:
        if end is None:
            return None
        return (
            None if end.block is None else self.code(Role.BLOCK, end.block, values),
            self.action(end.action),
            None if end.target is None else self.numbers[end.target],
        )


class Names(dict[str, Any]):
    """Where code finds what is no variable: in the given namespace as it is at that moment, else among the builtins."""

    def __init__(self, imported: Namespace, functions: Namespace) -> None:
        known = vars(builtins) | imported
        super().__init__((name, known[name]) for name in known if name not in functions)
        self._functions = functions

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - whatever the namespace holds
        return self._functions[name]


def names(imported: Namespace, functions: Namespace | None) -> Namespace:
    """What free names of the code of a spec mean."""
    return vars(builtins) | imported if functions is None else Names(imported, functions)


def plain(environment: Namespace) -> Namespace:
    """An environment without what code defines or imports anew."""
    return {name: value for name, value in environment.items() if not isinstance(value, _DEFINITIONS)}


def initialized(codes: Iterable[PlannedCode], names: Namespace) -> Namespace:
    """An environment as initializations leave it."""
    environment: Namespace = {"__builtins__": names}
    for code in codes:
        if code.role is Role.INITIALIZATION:
            FunctionType(code.compile()[0], environment)()
    del environment["__builtins__"]
    return environment


def revived(fresh: Namespace, data: Namespace) -> Namespace:
    """An environment from its data; what is imported or defined comes from one that is `initialized`."""
    environment = _core.copy_variables(fresh)  # its functions see this environment
    for name in plain(environment):
        del environment[name]
    environment.update(data)
    return environment


def check(compiled: CompiledSpec) -> None:
    """Refuse what does not go together with slices that begin as copies of others."""
    spec, modifiers = compiled.spec, compiled.spec.modifiers
    guarded = [isinstance(machine, GuardedMachine) for machine in compiled.machines]
    if not any(guarded):
        return
    faults: Iterable[tuple[object, str, str]] = (
        (not all(guarded), "properties of other logics than efsm", "give each a specification of its own"),
        (spec.variables, "monitor variables", "assign them in `initialization`"),
        (
            any(event.condition or event.action for event in spec.events),
            "events with a condition or an action",
            "use guards and blocks of transitions",
        ),
        (modifiers.connected, "the modifier `connected`", "leave it out"),
        (
            modifiers.binding is BindingMode.MAXIMAL,
            "the modifier `maximal-binding`",
            "leave it out, or say full-binding",
        ),
    )
    for found, what, hint in faults:
        if found:
            raise MonitorError(f"`{spec.name}` has a property in efsm and {what}", hint=hint, code="MONITOR-009")


def has_code(machine: GuardedMachine) -> bool:
    """Would running it run Python?"""
    ends = [
        end
        for state in machine.states
        for transition in state.transitions
        for end in (transition.success, transition.failure)
        if end is not None
    ]
    return (
        machine.initialization is not None
        or any(state.action for state in machine.states)
        or any(transition.guard for state in machine.states for transition in state.transitions)
        or any(end.block or end.action for end in ends)
    )


def reads_data(machine: GuardedMachine) -> bool:
    """Does any guard or block see the values of an event?"""
    transitions = [transition for state in machine.states for transition in state.transitions]
    return any(each.guard or any(end and end.block for end in (each.success, each.failure)) for each in transitions)
