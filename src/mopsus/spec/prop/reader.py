"""Stage 1: the grammar of `.prop` texts and of formulas of `efsm`: text in, tree out, with every error found in one go.

After an error the reader goes on with the next state.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Generic, TypeVar

from mopsus.model import Acceptance
from mopsus.spec.cursor import NAME, Block, Cursor, Word
from mopsus.spec.errors import ArgumentError, Findings
from mopsus.spec.prop.check import check_code
from mopsus.spec.prop.events import read_declared, read_named
from mopsus.spec.prop.tree import WORDS, Automaton, Declared, End, EventT, State, Transition

_NEXT_STATE = re.compile(r"^[ \t]*(?=state\b)", re.MULTILINE)
_CALLED = re.compile(rf"{NAME.pattern}\s*\(")

_Any = TypeVar("_Any")


def read_property(findings: Findings) -> Automaton[Declared]:
    """The tree of a property file, the text of `findings.source`."""
    return _Reader(findings, Cursor(findings.source.text), read_declared, slices=True).automaton()


def read_formula(findings: Findings, start: int = 0, end: int | None = None) -> Automaton[Word]:
    """The tree of a formula of `efsm`: all of the text, or the part between two places."""
    return _Reader(findings, Cursor(findings.source.text[:end], start), read_named, slices=False).automaton()


class _Reader(Generic[EventT]):
    """A method for each rule of the grammar. `ArgumentError` is raised where reading cannot go on."""

    def __init__(self, findings: Findings, cursor: Cursor, event: Callable[[Cursor], EventT], *, slices: bool) -> None:
        self.findings = findings
        self.cursor = cursor
        self.event = event
        self.sliced = slices

    def automaton(self) -> Automaton[EventT]:
        cursor = self.cursor
        cursor.ends()
        start = cursor.at
        slices = self.recover(self.slices) or () if self.sliced else ()
        initialization = self.recover(self.initialization)
        states: list[State[EventT]] = []
        while not cursor.ends() and not self.findings.full:
            state = self.recover(self.state)
            if state is not None:
                states.append(state)
        return Automaton(slices, initialization, tuple(states), tuple(cursor.comments), start, cursor.end)

    def recover(self, rule: Callable[[], _Any]) -> _Any | None:
        """What a rule reads; if it cannot, that is reported, and reading goes on with the next state."""
        before = self.cursor.at
        try:
            return rule()
        except ArgumentError as error:
            self.report(error)
        after = _NEXT_STATE.search(self.cursor.text, max(self.cursor.at, before + 1))
        self.cursor.skip_to(after.end() if after else len(self.cursor.text))
        return None

    def report(self, error: ArgumentError) -> None:
        self.findings.error_at(error.code, error.message, error.offset, error.offset + error.length, error.hint)

    def slices(self) -> tuple[Word, ...]:
        cursor = self.cursor
        if not cursor.take("slice"):
            return ()
        cursor.need("on")
        names = [cursor.needs(NAME, "a parameter's name")]
        while cursor.take(","):
            names.append(cursor.needs(NAME, "a parameter's name"))
        return tuple(names)

    def initialization(self) -> Block | None:
        return self.code() if self.cursor.take("initialization") else None

    def state(self) -> State[EventT]:
        cursor = self.cursor
        start = cursor.need("state").start
        name = self.state_name()
        acceptance, final = self.acceptance()
        action = self.action()
        imported = None
        if cursor.take("import"):
            for word in ("transitions", "from", "state"):
                cursor.need(word)
            imported = self.state_name()
        transitions: list[Transition[EventT]] = []
        end = start
        if cursor.take("{"):
            while not (brace := cursor.take("}")):
                transitions.append(self.transition())
            end = brace.start
        return State(name, acceptance, final, action, imported, tuple(transitions), start, end)

    def acceptance(self) -> tuple[Acceptance, bool]:
        """`accepting`, `non-accepting` and `final`, in any order."""
        acceptance, final = Acceptance.NEUTRAL, False
        while word := self.cursor.take("accepting", "non-accepting", "final"):
            if word == "final" and not final:
                final = True
            elif word != "final" and acceptance is Acceptance.NEUTRAL:
                acceptance = Acceptance(word)
            else:
                hint = "write it once" if word in ("final", acceptance) else f"it is '{acceptance}' already"
                raise ArgumentError(
                    f"'{word}' cannot stand here", offset=word.start, length=len(word), hint=hint, code="SPEC-001"
                )
        return acceptance, final

    def transition(self) -> Transition[EventT]:
        cursor = self.cursor
        start = cursor.need("transition").start
        cursor.need("{")
        event = self.event(cursor)
        guard = self.code()
        success = self.end(word) if (word := cursor.take("success")) else None
        failure = self.end(word) if (word := cursor.take("failure")) else None
        cursor.need("}")
        return Transition(event, guard, success, failure, start)

    def end(self, word: Word) -> End:
        block = self.code()
        action = self.action()
        target = None
        if (ahead := self.peek()) and ahead not in WORDS:
            target = self.state_name()
        if block is None and action is None and target is None:
            self.cursor.match(NAME, "a state's name")
            self.cursor.refuse()
        return End(block, action, target, word.start)

    def action(self) -> Word | None:
        """`f()`."""
        if not self.cursor.ahead(_CALLED):
            return None
        name = self.cursor.needs(NAME, "a function's name")
        self.cursor.need("(")
        if not self.cursor.take(")"):
            hint = f"write {name}(), and let the function look at the state of the monitor"
            raise ArgumentError(f"'{name}' takes no arguments here", offset=self.cursor.at, hint=hint, code="SPEC-001")
        return name

    def state_name(self) -> Word:
        name = self.cursor.needs(NAME, "a state's name")
        if name in WORDS:
            hint = "choose another name"
            raise ArgumentError(
                f"'{name}' is a word of the language", offset=name.start, length=len(name), hint=hint, code="SPEC-026"
            )
        return name

    def peek(self) -> str:
        self.cursor.ends()
        found = NAME.match(self.cursor.text, self.cursor.at)
        return found.group() if found else ""

    def code(self) -> Block | None:
        """Python in braces; what is wrong with it is reported, and reading goes on behind it."""
        block = self.cursor.block()
        if block is not None:
            check_code(block, self.findings)
        return block
