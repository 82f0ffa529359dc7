"""Stage 2: a rewriting system made into a machine.

If the strings that events can lead to are few, the machine is a table of them, with everything that
is known of tables: the smallest machine, creation events, enable and coenable sets. In general
that cannot be found out, so it is tried with bounded work. All other systems are rewritten as they run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mopsus.logics.logic import Request
from mopsus.logics.machines import finish
from mopsus.logics.machines.automaton import Automaton, explore, too_large
from mopsus.logics.srs.findings import remarks_on
from mopsus.logics.srs.rewriting import Budget, Exhausted, Result, Rewriter, Rules, rewrite, rewrite_scanning
from mopsus.logics.srs.syntax import System
from mopsus.model import Machine, Remark, RewriteMachine, RewriteRule
from mopsus.model.machine import EXHAUSTED

MAX_CELLS = 2_000_000
"""States times symbols that the automaton of the left sides may have."""

FEW_STRINGS = 200
FEW_STEPS = 20_000
SHORT = 50
"""How many strings, how many rewriting steps to find them, and how long a string, for a table."""


def compile_system(system: System, request: Request) -> Machine:
    """The machine that rewrites by the match that completes first."""
    return _compile(system, request, rewrite)


def compile_scanning(system: System, request: Request) -> Machine:
    """The machine that rewrites in passes from the head of the string."""
    return _compile(system, request, rewrite_scanning)


def _compile(system: System, request: Request, rewriter: Rewriter) -> Machine:
    size = sum(len(rule.pattern) for rule in system.rules) * (len(system.alphabet) + len(system.auxiliary) + 2)
    if size > MAX_CELLS:
        raise too_large("its left sides have too many symbols")
    rules = Rules(system)
    remarks = remarks_on(system, rules)
    try:
        table = _table(rules, request, rewriter)
    except Exhausted:
        return _machine(system, rules, request, rewriter, remarks)
    return replace(finish(table, request), remarks=remarks)


def _table(rules: Rules, request: Request, rewriter: Rewriter) -> Automaton:
    """All strings that events lead to; `Exhausted` if they are not few."""
    budget = Budget(FEW_STEPS, SHORT)
    seen: set[Result] = set()

    def step(state: Result, letter: int) -> Result:
        if isinstance(state, str):
            return state
        budget.spend(len(state))
        target = _after(rules, state, letter, rewriter, budget)
        seen.add(target)
        if len(seen) > FEW_STRINGS:
            raise Exhausted
        return target

    def name(state: Result) -> str:
        return state if isinstance(state, str) else rules.text(state) if state else "empty"

    empty: Result = ()
    return explore(
        request.alphabet,
        empty,
        step,
        lambda state: frozenset({state if isinstance(state, str) else "?"}),
        name,
    )


def _after(rules: Rules, string: Result, event: int, rewriter: Rewriter, budget: Budget) -> Result:
    """The string, or the verdict, after an event."""
    result = rewriter(rules, (rules.start, *string, event, rules.end), budget)
    return result if isinstance(result, str) else result[1:-1]


def _machine(
    system: System, rules: Rules, request: Request, rewriter: Rewriter, remarks: tuple[Remark, ...]
) -> RewriteMachine:
    goal = request.goal | {EXHAUSTED}
    decided = _decided(rules, request.alphabet)
    reports = {event: categories & goal for event, categories in decided.items() if categories & goal}
    restart = goal if request.interrupted else request.restart
    unknown = {event: frozenset({frozenset[str]()}) for event in request.alphabet}
    return RewriteMachine(
        alphabet=request.alphabet,
        goal=goal,
        creation=_creation(rules, request, rewriter),
        enable={category: {} for category in goal},
        coenable=dict.fromkeys(goal, unknown),
        remarks=remarks,
        symbols=rules.symbols,
        rules=tuple(
            RewriteRule(str(rule), action.taken, action.right, action.verdict or "", rule.end)
            for rule, action in zip(system.rules, rules.actions, strict=True)
        ),
        moves=tuple(map(tuple, rules.matcher.moves)),
        matches=tuple(rules.matcher.match),
        paths=_paths(rules),
        scanning=rewriter is rewrite_scanning,
        reaches=frozenset[str]().union(*decided.values()),
        alive=frozenset(frozenset({event}) for event in reports),
        restart=restart,
    )


def _paths(rules: Rules) -> tuple[str, ...]:
    paths = [""] * len(rules.matcher.forward)
    for state, forward in enumerate(rules.matcher.forward):  # a state comes after the one that leads to it
        for symbol, target in forward.items():
            paths[target] = f"{paths[state]} {rules.symbols[symbol]}".strip()
    return tuple(paths)


def _decided(rules: Rules, events: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    """By event, the verdicts that rewriting may come to right after it; never too few.

    All that stands before the event is in normal form, so a match ends at the event or at a symbol that a rule has
    put there since. A match that ends with `$` may be of older symbols, if younger ones have gone.
    """
    ending: dict[int, list[int]] = {}
    at_end = [rule for rule, pattern in enumerate(rules.patterns) if pattern[-1] == rules.end]
    for rule, pattern in enumerate(rules.patterns):
        ending.setdefault(pattern[-2] if pattern[-1] == rules.end else pattern[-1], []).append(rule)
    found = {}
    for number, event in enumerate(events):
        applied: set[int] = set()
        work = list(ending.get(number, ()))
        while work:
            rule = work.pop()
            if rule in applied:
                continue
            if not applied:
                work += at_end
            applied.add(rule)
            work += (other for symbol in rules.actions[rule].right for other in ending.get(symbol, ()))
        verdicts = (rules.actions[rule].verdict for rule in applied)
        found[event] = frozenset(verdict for verdict in verdicts if verdict is not None)
    return found


def _creation(rules: Rules, request: Request, rewriter: Rewriter) -> frozenset[str]:
    """Every event, but for those that decide something that nobody asked for if they come first."""
    if request.interrupted:
        return frozenset(request.alphabet)
    return frozenset(event for number, event in enumerate(request.alphabet) if _opens(rules, number, request, rewriter))


def _opens(rules: Rules, event: int, request: Request, rewriter: Rewriter) -> bool:
    try:
        result = _after(rules, (), event, rewriter, Budget(FEW_STEPS, FEW_STEPS))
    except Exhausted:
        return True
    return not isinstance(result, str) or result in request.goal
