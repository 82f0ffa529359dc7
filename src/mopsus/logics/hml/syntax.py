"""Stage 2: how formulas are put together, which both syntaxes share: `and`, `or`, `max`, modalities, truth values.

What stands in the brackets of a modality is each syntax's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from mopsus.logics.hml.formula import Action, Formula, Maximum, Modality, Truth, Variable, junction
from mopsus.logics.logic import FormulaError
from mopsus.logics.text import Cursor, Kind
from mopsus.logics.tree import MAX_DEPTH

T = TypeVar("T")


class Syntax(ABC):
    """Reads a formula at a place in a text. `normal` asks for the strict form of detectEr's `monitor` properties."""

    VARIABLE: Kind

    def __init__(self, cursor: Cursor, *, normal: bool = False) -> None:
        self.cursor = cursor
        self._normal = normal
        self._depth = 0

    def formula(self) -> Formula:
        """The formula here, with all that belongs to it."""
        return self.nested(self._normal_form if self._normal else self._disjunction)

    @abstractmethod
    def _action(self, closing: str) -> Action:
        """What stands in the brackets of a modality, up to `closing`."""

    def nested(self, read: Callable[[], T], levels: int = 1) -> T:
        """What `read` reads, one level down, or several where reading takes more of the stack."""
        self._descend(levels)
        found = read()
        self._depth -= levels
        return found

    def _descend(self, levels: int = 1) -> None:
        self._depth += levels
        if self._depth > MAX_DEPTH:
            raise self.too_deep()

    def too_deep(self) -> FormulaError:
        """The error that there is too much inside of each other here."""
        hint = "split the property into several"
        return FormulaError("this is nested too deeply", offset=self.cursor.place, code="LOGIC-008", hint=hint)

    # ---- formulas with `and` and modalities apart

    def _disjunction(self) -> Formula:
        offset = self.cursor.place
        parts = [self._conjunction()]
        while self.cursor.take("or"):
            parts.append(self._conjunction())
        return junction(False, parts, offset)

    def _conjunction(self) -> Formula:
        offset = self.cursor.place
        parts = [self._factor()]
        while self.cursor.take("and"):
            parts.append(self._factor())
        return junction(True, parts, offset)

    def _factor(self) -> Formula:
        """A chain of modalities before a formula that is in brackets or has none."""
        chain: list[tuple[bool, Action, int, int]] = []
        while opening := self.cursor.take("[", "<"):
            closing = "]" if opening == "[" else ">"
            action = self._action(closing)
            end = self.cursor.need(closing).end
            chain.append((opening == "[", action, opening.start, end - opening.start))
            self._descend()
        found = self._plain()
        self._depth -= len(chain)
        for necessity, action, offset, length in reversed(chain):
            found = Modality(necessity, action, found, offset, length)
        return found

    def _plain(self) -> Formula:
        place = self.cursor.place
        if self.cursor.take("("):
            found = self.nested(self._disjunction)
            self.cursor.need(")")
            return found
        if self.cursor.take("max"):
            return self._maximum(self._disjunction)
        if self.cursor.take("and"):
            return self._listed(self._disjunction, place)
        if truth := self.cursor.take("tt", "ff"):
            return Truth(truth == "tt", place)
        return self._variable()

    def _variable(self) -> Formula:
        name = self.cursor.need(self.VARIABLE)
        if name == "min":
            hint = "only greatest fixed points can be monitored: max"
            raise FormulaError("there is no 'min'", offset=name.start, length=3, hint=hint)
        return Variable(str(name), name.start)

    def _maximum(self, body: Callable[[], Formula]) -> Formula:
        """`max(X. body)` or `max X.(body)`."""
        around = self.cursor.take("(")
        name = self.cursor.need(self.VARIABLE)
        self.cursor.need(".")
        if around is None:
            self.cursor.need("(")
        found = self.nested(body)
        self.cursor.need(")")
        return Maximum(str(name), found, name.start)

    def _listed(self, part: Callable[[], Formula], offset: int) -> Formula:
        """`and(p, q, …)`, after its first word."""
        self.cursor.need("(")
        parts = [self.nested(part)]
        while self.cursor.take(","):
            parts.append(self.nested(part))
        self.cursor.need(")")
        return junction(True, parts, offset)

    # ---- the normal form of detectEr: every necessity is listed in an `and(…)`

    def _normal_form(self) -> Formula:
        place = self.cursor.place
        if self.cursor.take("and"):
            return self._listed(self._necessity, place)
        if self.cursor.take("max"):
            self.cursor.need("(")
            name = self.cursor.need(self.VARIABLE)
            self.cursor.need(".")
            body = self.nested(self._normal_form)
            self.cursor.need(")")
            return Maximum(str(name), body, name.start)
        if self.cursor.take("ff"):
            return Truth(False, place)
        return self._variable()

    def _necessity(self) -> Formula:
        opening = self.cursor.need("[")
        action = self._action("]")
        end = self.cursor.need("]").end
        return Modality(True, action, self.nested(self._normal_form), opening.start, end - opening.start)
