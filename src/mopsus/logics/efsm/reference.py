"""Stage 2: the meaning of a machine with guards and of its slices, one event at a time, slow and simple.

A slice has a binding of parameters to values, a state, variables, and the slice that it began as a copy of. The first
one binds nothing.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mopsus.logics.efsm.syntax import Efsm
from mopsus.model.guarded import INITIAL
from mopsus.spec.cursor import Block, Word
from mopsus.spec.prop.python import assigned, parse_body
from mopsus.spec.prop.tree import End, State, Transition

Binding: TypeAlias = "dict[str, Any]"


@dataclass(eq=False)
class Slice:
    """One slice."""

    binding: Binding
    state: str
    environment: dict[str, Any]
    parent: Slice | None = None


@dataclass(frozen=True)
class Taken:
    """A transition that a slice took, and by which end."""

    binding: Binding
    old: str
    new: str
    transition: int
    end: str


@dataclass
class Slices:
    """All slices of a machine. `order` are the parameters as declared; `functions`, what its code can call."""

    automaton: Efsm
    order: tuple[str, ...] = ()
    functions: Mapping[str, Any] = field(default_factory=dict)
    slices: list[Slice] = field(init=False)

    def __post_init__(self) -> None:
        self._variables = {name for block in self._assigning() for name, _ in assigned(parse_body(block.text))}
        root = Slice({}, INITIAL, {})
        if self.automaton.initialization is not None:
            self._run(self.automaton.initialization, {}, root.environment)
        self.slices = [root]

    def apply(self, event: str, binding: Binding, values: Mapping[str, Any]) -> list[Taken]:
        """An event: the values that slice, and all that code sees, with them."""
        targets = [each for each in self.slices if binding.items() <= each.binding.items()]
        if not targets:
            parent = self._nearest(binding)
            if parent is None or not self._heeds(parent, event, values):
                return []
            child = Slice(binding, parent.state, dict(parent.environment), parent)
            self.slices.append(child)
            targets = [child]
        taken = [one for each in targets for one in self._step(each, event, values)]
        self.slices = [each for each in self.slices if not self._state(each.state).final]
        return taken

    def needed(self) -> frozenset[str]:
        """The events that the state of some slice reacts to."""
        return frozenset(str(each.event) for slice_ in self.slices for each in self._transitions(slice_.state))

    def _nearest(self, binding: Binding) -> Slice | None:
        """The most specific of those that know less; of several, the one that binds what is declared first."""
        known = [each for each in self.slices if each.binding.items() <= binding.items()]
        return min(
            known,
            key=lambda each: (
                -len(each.binding),
                [number for number, name in enumerate(self.order) if name in each.binding],
            ),
            default=None,
        )

    def _heeds(self, slice_: Slice, event: str, values: Mapping[str, Any]) -> bool:
        transitions = [each for each in self._transitions(slice_.state) if each.event == event]
        return any(self._guard(each, slice_, values) is not None for each in transitions)

    def _step(self, slice_: Slice, event: str, values: Mapping[str, Any]) -> list[Taken]:
        for number, transition in enumerate(self._transitions(slice_.state)):
            if transition.event != event:
                continue
            answer = self._guard(transition, slice_, values)
            if answer is None:
                continue
            end = transition.success if answer else transition.failure
            if end is None:
                continue
            old, slice_.state = slice_.state, self._arrive(end, slice_, values)
            for action in (end.action, self._state(slice_.state).action):
                if action is not None:
                    self.functions[str(action)]()
            return [Taken(slice_.binding, old, slice_.state, number, "success" if answer else "failure")]
        return []

    def _guard(self, transition: Transition[Word], slice_: Slice, values: Mapping[str, Any]) -> bool | None:
        if transition.guard is None:
            return True
        answer = self._run(transition.guard, values, dict(slice_.environment), otherwise=True)
        return None if answer is None else bool(answer)

    def _arrive(self, end: End, slice_: Slice, values: Mapping[str, Any]) -> str:
        chosen = None if end.block is None else self._run(end.block, values, slice_.environment)
        return str(chosen or end.target or slice_.state)

    def _run(
        self, block: Block, values: Mapping[str, Any], environment: dict[str, Any], otherwise: object = None
    ) -> Any:  # noqa: ANN401 - what Python code returns
        """What a block returns; what it assigns goes into the environment."""
        shared = sorted(self._variables - values.keys())
        lines = [f"global {', '.join(shared)}" if shared else "pass", *block.text.splitlines(), f"return {otherwise}"]
        namespace = {**vars(builtins), **self.functions, **environment}
        exec("\n ".join([f"def block({', '.join(values)}):", *lines]), namespace)
        result = namespace["block"](**values)
        environment.update((name, namespace[name]) for name in shared if name in namespace)
        return result

    def _assigning(self) -> list[Block]:
        ends = [end for transition in self.automaton.transitions() for _, end in transition.ends()]
        return [each for each in (self.automaton.initialization, *(end.block for end in ends)) if each is not None]

    def _state(self, name: str) -> State[Word]:
        return next(each for each in self.automaton.states if each.name == name)

    def _transitions(self, name: str) -> tuple[Transition[Word], ...]:
        return self.automaton.transitions_of(self._state(name))


def categories_after(automaton: Efsm, alphabet: tuple[str, ...], word: Sequence[str]) -> frozenset[str]:
    """The state after a word of events that carry nothing; none, if the machine has come to its end."""
    machine = Slices(automaton)
    for event in word:
        if event not in alphabet:
            raise ValueError(f"`{event}` is not an event of the alphabet")
        machine.apply(event, {}, {})
    return frozenset(each.state for each in machine.slices)
