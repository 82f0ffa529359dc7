"""Stage 2: a formula of modalities made into a symbolic machine: a graph of nodes, a slot for every binder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mopsus.logics.hml.check import remarks
from mopsus.logics.hml.formula import (
    Action,
    Call,
    Constant,
    Formula,
    Guard,
    Junction,
    ListTerm,
    MapTerm,
    Maximum,
    Modality,
    Name,
    Pin,
    PythonGuard,
    Term,
    Truth,
    TupleTerm,
    Variable,
    Whole,
    Wildcard,
    subformulas,
)
from mopsus.logics.hml.guards import predicate_test, python_test
from mopsus.logics.hml.printer import print_modality
from mopsus.logics.hml.scope import NOTHING, Scope, check_guarded
from mopsus.logics.hml.values import FUNCTIONS
from mopsus.logics.logic import FormulaError, Request
from mopsus.logics.tree import unknown_event
from mopsus.model import Code, SymbolicMachine, symbolic
from mopsus.model.machine import EXHAUSTED
from mopsus.model.symbolic import ACCEPTANCE, INCONCLUSIVE, REJECTION
from mopsus.spec.hml.events import SHAPES
from mopsus.spec.hml.predicates import PREDICATES

TRUTH: Mapping[str, bool | None] = {REJECTION: False, ACCEPTANCE: True, INCONCLUSIVE: None}


@dataclass(frozen=True, slots=True)
class Reading:
    """What tells the two logics apart."""

    linear: bool
    """A formula speaks of the trace itself: a modality that an event does not fit is settled."""


def compile_whole(reading: Reading, whole: Whole, request: Request) -> SymbolicMachine:
    """The machine of a formula; `FormulaError` if its names, its guards or its operators are wrong."""
    if not reading.linear:
        _refuse_choices(whole.formula)
    check_guarded(whole.formula)
    builder = _Builder(request, erlang=whole.selection is not None)
    root = builder.whole(whole)
    nodes = builder.finished()
    alphabet = request.alphabet
    goal = request.goal | {EXHAUSTED}
    ways = frozenset(frozenset({event}) for event in alphabet)
    return SymbolicMachine(
        alphabet=alphabet,
        goal=goal,
        creation=frozenset(alphabet if whole.selection is None else {whole.selection.event or ""}),
        enable={category: {} for category in goal},
        coenable={category: dict.fromkeys(alphabet, ways) for category in goal},
        truth={category: truth for category, truth in TRUTH.items() if category in goal},
        remarks=tuple(remarks(whole, linear=reading.linear, request=request)),
        nodes=nodes,
        root=root,
        slots=tuple(builder.slots),
        fields=tuple(builder.fields.get(event, 0) for event in alphabet),
        shapes=tuple(SHAPES.get(event, ()) for event in alphabet) if builder.uses_shapes else (),
        linear=reading.linear,
        first_match=request.first_match and not reading.linear,
        erlang_order=whole.selection is not None,
        restart=goal if request.interrupted else request.restart,
    )


def _refuse_choices(formula: Formula) -> None:
    """Refuse what a single trace of a branching system cannot reject."""
    for part in subformulas(formula):
        match part:
            case Junction(False, _, offset):
                what, length = "'or'", 1
            case Modality(False, _, _, offset, length):
                what = "possibility '<…>'"
            case _:
                continue
        raise FormulaError(
            f"'shml' has no {what}",
            offset=offset,
            length=length,
            hint="the logic 'maxhml' has it; in .hml files: check instead of monitor",
            code="LOGIC-076",
        )


class _Builder:
    """Nodes and slots while they are made."""

    def __init__(self, request: Request, *, erlang: bool) -> None:
        self._letters = {event: letter for letter, event in enumerate(request.alphabet)}
        self._imports: tuple[Code, ...] = request.imports
        self._erlang = erlang
        self._nodes: list[symbolic.FormulaNode] = []
        self._bodies: dict[int, int] = {}
        self._shared: dict[symbolic.FormulaNode, int] = {}
        self.slots: list[str] = []
        self.fields = {} if request.fields is None else {name: len(each) for name, each in request.fields.items()}
        self.uses_shapes = False

    def whole(self, whole: Whole) -> int:
        """The number of the root."""
        if whole.selection is None:
            return self._formula(whole.formula, NOTHING)
        letter, patterns, guard, scope = self._action(whole.selection, NOTHING)
        assert letter is not None
        then = self._formula(whole.formula, scope)
        return self._add(symbolic.Selection(letter, patterns, guard, then))

    def finished(self) -> tuple[symbolic.FormulaNode, ...]:
        """All nodes, with the ends of their recursion and what they read filled in."""
        nodes: list[symbolic.FormulaNode] = []
        for node in self._nodes:
            match node:
                case symbolic.Recursion(_, target, False):
                    nodes.append(replace(node, target=self._bodies[target]))
                case _:
                    nodes.append(node)
        reads = _reads(nodes)
        return tuple(
            replace(node, live=tuple(sorted(reads[number]))) if isinstance(node, symbolic.Modality) else node
            for number, node in enumerate(nodes)
        )

    def _add(self, node: symbolic.FormulaNode) -> int:
        self._nodes.append(node)
        return len(self._nodes) - 1

    def _share(self, node: symbolic.FormulaNode) -> int:
        if node not in self._shared:
            self._shared[node] = self._add(node)
        return self._shared[node]

    # ---- formulas

    def _formula(self, formula: Formula, scope: Scope) -> int:
        match formula:
            case Truth(value):
                return self._share(symbolic.Truth(value))
            case Variable(name):
                return self._share(symbolic.Recursion(name, scope.target(formula)))
            case Maximum():
                return self._maximum(formula, scope)
            case Junction(conjunction, parts):
                return self._add(symbolic.Join(conjunction, tuple(self._formula(part, scope) for part in parts)))
            case Modality():
                return self._modality(formula, scope)

    def _maximum(self, formula: Maximum, scope: Scope) -> int:
        scope.check_fixed(formula)
        number = self._add(symbolic.Recursion(formula.name, -1, begins=True))
        body = self._formula(formula.body, scope.with_fixed(formula.name, number))
        self._bodies[number] = body
        self._nodes[number] = symbolic.Recursion(formula.name, body, begins=True)
        return number

    def _modality(self, formula: Modality, scope: Scope) -> int:
        letter, patterns, guard, inner = self._action(formula.action, scope)
        then = self._formula(formula.then, inner)
        return self._add(
            symbolic.Modality(
                necessity=formula.necessity,
                letter=letter,
                patterns=patterns,
                guard=guard,
                then=then,
                live=(),
                offset=formula.offset,
                length=formula.length,
                whole=formula.action.whole,
                text=print_modality(formula, erlang=self._erlang),
            )
        )

    # ---- actions

    def _action(
        self, action: Action, scope: Scope
    ) -> tuple[int | None, tuple[symbolic.Pattern, ...], symbolic.Guard, Scope]:
        self._check_event(action)
        self.uses_shapes |= action.whole
        bound: dict[str, int] = {}
        if action.patterns is None:
            count = 0 if action.event is None else self.fields.get(action.event, 0)
            patterns: tuple[symbolic.Pattern, ...] = (symbolic.Any_(),) * count
        else:
            patterns = tuple(self._pattern(pattern, scope, bound) for pattern in action.patterns)
        inner = scope.with_slots(bound)
        letter = None if action.event is None else self._letters[action.event]
        return letter, patterns, self._guard(action.guard, inner), inner

    def _check_event(self, action: Action) -> None:
        event = action.event
        if event is None:
            return
        if event not in self._letters:
            raise unknown_event(event, action.offset, self._letters)
        if action.patterns is None:
            return
        count = self.fields.setdefault(event, len(action.patterns))
        if count != len(action.patterns):
            raise FormulaError(
                f"event '{event}' has {count} field{'s' * (count != 1)}, not {len(action.patterns)}",
                offset=action.offset,
                length=action.length,
                hint=f"write a pattern for each of them, or just {event}",
                code="LOGIC-075",
            )

    def _pattern(self, term: Term, scope: Scope, bound: dict[str, int]) -> symbolic.Pattern:
        match term:
            case Wildcard():
                return symbolic.Any_()
            case Name(name, offset):
                if name in bound:
                    return symbolic.Same(bound[name])
                scope.check_binder(name, offset)
                bound[name] = len(self.slots)
                self.slots.append(name)
                return symbolic.Bind(bound[name])
            case Pin(name, offset):
                return symbolic.Same(scope.slot(name, offset))
            case Constant(value):
                return symbolic.Literal(value)
            case TupleTerm(parts, tag):
                return symbolic.TupleOf(tuple(self._pattern(part, scope, bound) for part in parts), tag)
            case ListTerm(parts, rest):
                first = tuple(self._pattern(part, scope, bound) for part in parts)
                return symbolic.ListOf(first, None if rest is None else self._pattern(rest, scope, bound))
            case MapTerm(items):
                return symbolic.MapOf(tuple((key.value, self._pattern(value, scope, bound)) for key, value in items))
            case Call(_, _, offset):
                raise FormulaError("a pattern computes nothing", offset=offset, code="LOGIC-074")

    # ---- guards

    def _guard(self, guard: Guard | None, scope: Scope) -> symbolic.Guard:
        if guard is None:
            return ()
        if isinstance(guard, PythonGuard):
            return ((python_test(guard, scope, self._imports),),)
        return tuple(tuple(self._expression(part, scope) for part in parts) for parts in guard.alternatives)

    def _expression(self, term: Term, scope: Scope) -> symbolic.Expression:
        match term:
            case Name(name, offset):
                return symbolic.Slot(scope.slot(name, offset))
            case Constant(value):
                return symbolic.Constant(value)
            case TupleTerm(parts):
                return _made("{}", [self._expression(part, scope) for part in parts])
            case ListTerm(parts, rest):
                operands = [self._expression(part, scope) for part in parts]
                return (
                    _made("[]", operands) if rest is None else _made("[|]", [*operands, self._expression(rest, scope)])
                )
            case Call(name) if name in PREDICATES and name not in FUNCTIONS:
                return predicate_test(term, scope)
            case Call(operator, operands, offset) if operator not in ("++", "--"):
                return symbolic.Operation(operator, tuple(self._expression(each, scope) for each in operands))
        raise _illegal(term)


def _made(name: str, operands: list[symbolic.Expression]) -> symbolic.Expression:
    """A tuple or list; a value, if all of its parts are."""
    values = [each.value for each in operands if isinstance(each, symbolic.Constant)]
    if len(values) < len(operands) or name == "[|]":
        return symbolic.Operation(name, tuple(operands))
    return symbolic.Constant(tuple(values) if name == "{}" else values)


def _illegal(term: Term) -> FormulaError:
    what, hint, length = "a map", "bind its values in the pattern", 1
    match term:
        case Wildcard():
            what, hint = "'_'", "name the value in the pattern"
        case Pin(name):
            what, hint, length = f"'^{name}'", f"write {name}: a guard reads variables anyway", len(name) + 1
        case Call(operator):
            what, hint, length = f"'{operator}'", "guards do not build lists that way", len(operator)
    return FormulaError(f"{what} cannot be in a guard", offset=term.offset, length=length, hint=hint, code="LOGIC-074")


# ---- which slots are read ----------------------------------------------------------------------


def _reads(nodes: list[symbolic.FormulaNode]) -> list[frozenset[int]]:
    """Of each node, the slots that it or what follows it reads and that something before it must have filled."""
    found: list[frozenset[int]] = [frozenset()] * len(nodes)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(nodes))):
            now = _reads_of(nodes[number], found)
            if now != found[number]:
                found[number] = now
                changed = True
    return found


def _reads_of(node: symbolic.FormulaNode, found: list[frozenset[int]]) -> frozenset[int]:
    match node:
        case symbolic.Join(_, parts):
            return frozenset[int]().union(*(found[part] for part in parts))
        case symbolic.Recursion(_, target):
            return found[target]
        case symbolic.Modality() | symbolic.Selection():
            own, bound = _slots(node.patterns)
            own |= {slot for parts in node.guard for part in parts for slot in _slots_read(part)}
            return (frozenset(own) | found[node.then]) - bound
    return frozenset()


def _slots(patterns: tuple[symbolic.Pattern, ...]) -> tuple[set[int], set[int]]:
    """The slots that patterns compare with, and those that they fill."""
    compared: set[int] = set()
    filled: set[int] = set()
    stack = list(patterns)
    while stack:
        match stack.pop():
            case symbolic.Bind(slot):
                filled.add(slot)
            case symbolic.Same(slot):
                compared.add(slot)
            case symbolic.TupleOf(parts):
                stack += parts
            case symbolic.ListOf(parts, rest):
                stack += parts if rest is None else (*parts, rest)
            case symbolic.MapOf(items):
                stack += [value for _, value in items]
    return compared, filled


def _slots_read(expression: symbolic.Expression) -> set[int]:
    match expression:
        case symbolic.Slot(slot):
            return {slot}
        case symbolic.PythonTest(slots=slots):
            return set(slots)
        case symbolic.Operation(_, operands):
            return set().union(*map(_slots_read, operands)) if operands else set()
    return set()
