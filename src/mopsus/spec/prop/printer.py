"""Stage 1: properties in canonical layout, as files with their comments or as formulas of `efsm`.

Every character that is written knows which place of the source it stands for, so that a fault in a formula can be shown
where it was written. A comment goes before the part that it stands before or beside.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Generic

from mopsus.model import Acceptance
from mopsus.spec import pytext
from mopsus.spec.cursor import Block, Word
from mopsus.spec.prop.events import print_declared
from mopsus.spec.prop.tree import Automaton, Declared, End, EventT, State, Transition

_INDENT = "    "
_WIDTH = 100
"""What has no line ends of its own stays on one line up to this width."""


def print_file(automaton: Automaton[Declared], text: str) -> str:
    """A property file; `text` is what it was read from, to place its comments."""
    page = _Page(print_declared, _by_anchor(automaton, text))
    page.automaton(automaton, "\n\n")
    return page.text + "\n"


def print_formula(automaton: Automaton[EventT], name: Callable[[EventT], str]) -> tuple[str, list[int]]:
    """The formula of the states, with events by name and without comments; of each character, its place."""
    page: _Page[EventT] = _Page(lambda event: f"event {name(event)}", {})
    page.automaton(replace(automaton, slices=()), "\n")
    return page.text, page.places


class _Page(Generic[EventT]):
    """A text that is being written. `comments` are those that go before the part that begins at a place."""

    def __init__(self, event: Callable[[EventT], str], comments: Mapping[int, list[str]]) -> None:
        self._event = event
        self._comments = comments
        self._pieces: list[str] = []
        self.places: list[int] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def put(self, text: str, place: int | None = None) -> None:
        """Write a text that stands at a place, by default where the last one did."""
        last = self.places[-1] if self.places else 0
        self._pieces.append(text)
        self.places += [last] * len(text) if place is None else range(place, place + len(text))

    def line(self, indent: str) -> None:
        self.put(f"\n{indent}")

    def comments(self, anchor: int, indent: str) -> None:
        """The comments before a part, each on a line of its own."""
        for comment in self._comments.get(anchor, ()):
            self.put(comment)
            self.line(indent)

    # ---- the parts

    def automaton(self, automaton: Automaton[EventT], gap: str) -> None:
        between = ""
        for anchor, write in self._items(automaton):
            self.put(between)
            self.comments(anchor, "")
            write()
            between = gap
        if last := self._comments.get(automaton.end):
            self.put(between + "\n".join(last))

    def _items(self, automaton: Automaton[EventT]) -> Iterator[tuple[int, Callable[[], None]]]:
        if automaton.slices:
            yield automaton.start, lambda: self.put(f"slice on {', '.join(automaton.slices)}", automaton.start)
        if (block := automaton.initialization) is not None:
            yield block.start, lambda: self._initialization(block)
        for state in automaton.states:
            yield state.start, partial(self._state, state)

    def _initialization(self, block: Block) -> None:
        self.put("initialization", block.start)
        self._block(block, "")

    def _state(self, state: State[EventT]) -> None:
        self.put("state ", state.start)
        self.put(state.name, state.name.start)
        if state.acceptance is not Acceptance.NEUTRAL:
            self.put(f" {state.acceptance}")
        if state.final:
            self.put(" final")
        if state.action is not None:
            self.put(" ")
            self.put(f"{state.action}()", state.action.start)
        if state.imported is not None:
            self.put(" import transitions from state ")
            self.put(state.imported, state.imported.start)
        closing = self._comments.get(state.end, []) if state.end > state.start else []
        if not state.transitions and not closing:
            return
        self.put(" {")
        for transition in state.transitions:
            self.line(_INDENT)
            self.comments(transition.start, _INDENT)
            self._transition(transition)
        for comment in closing:
            self.line(_INDENT)
            self.put(comment)
        self.line("")
        self.put("}", state.end)

    def _transition(self, transition: Transition[EventT]) -> None:
        """On one line if it fits, else a line for each of its parts."""
        flat: _Page[EventT] = _Page(self._event, {})
        flat._parts(transition, None)
        has_comments = any(anchor in self._comments for anchor in _anchors_in(transition))
        if "\n" not in flat.text and len(_INDENT) + len(flat.text) <= _WIDTH and not has_comments:
            self._pieces.append(flat.text)
            self.places += flat.places
        else:
            self._parts(transition, _INDENT * 2)

    def _parts(self, transition: Transition[EventT], indent: str | None) -> None:
        self.put("transition {", transition.start)
        self._separate(indent, transition.event.start)
        self._put_event(transition.event)
        if transition.guard is not None:
            self._block(transition.guard, indent)
        for word, end in transition.ends():
            self._separate(indent, end.start)
            self.put(word, end.start)
            self._end(end, indent)
        if indent is None:
            self.put(" }")
        else:
            self.line(indent.removesuffix(_INDENT))
            self.put("}")

    def _put_event(self, event: EventT) -> None:
        if isinstance(event, Word):
            self.put("event ")
            self.put(event, event.start)
        else:
            self.put(self._event(event), event.start)

    def _separate(self, indent: str | None, anchor: int) -> None:
        if indent is None:
            self.put(" ")
        else:
            self.line(indent)
            self.comments(anchor, indent)

    def _end(self, end: End, indent: str | None) -> None:
        if end.block is not None:
            self._block(end.block, indent)
        if end.action is not None:
            self.put(" ")
            self.put(f"{end.action}()", end.action.start)
        if end.target is not None:
            self.put(" ")
            self.put(end.target, end.target.start)

    def _block(self, block: Block, indent: str | None) -> None:
        """Python in braces: on this line if it is one line without a comment."""
        if not block.text:
            self.put(" { }", block.start)
            return
        column = len(self.text) - (self.text.rfind("\n") + 1)
        fits = indent is None or column + len(block.text) + 5 <= _WIDTH
        if "\n" not in block.text and "#" not in block.text and fits:
            self.put(" { ", block.start)
            self.put(block.text, block.starts[0])
            self.put(" }")
            return
        margin = (indent or "") + _INDENT
        self.put(" {", block.start)
        indented = pytext.indent(block.text, margin).split("\n")
        for line, written, start in zip(block.text.split("\n"), indented, block.starts, strict=True):
            self.put("\n" + written[: len(written) - len(line)], None)
            self.put(line, start)
        self.line(indent or "")
        self.put("}", block.end)


# ---- comments


def _anchors_in(transition: Transition[EventT]) -> Iterator[int]:
    yield transition.event.start
    for _, end in transition.ends():
        yield end.start


def _anchors(automaton: Automaton[EventT]) -> Iterator[int]:
    """The places that comments may go before, in order."""
    if automaton.slices:
        yield automaton.start
    if automaton.initialization is not None:
        yield automaton.initialization.start
    for state in automaton.states:
        yield state.start
        for transition in state.transitions:
            yield transition.start
            yield from _anchors_in(transition)
        if state.end > state.start:
            yield state.end
    yield automaton.end


def _by_anchor(automaton: Automaton[EventT], text: str) -> dict[int, list[str]]:
    anchors = list(_anchors(automaton))
    found: dict[int, list[str]] = {}
    for place, comment in automaton.comments:
        beside = bool(text[text.rfind("\n", 0, place) + 1 : place].strip())
        number = bisect_left(anchors, place)
        if beside and number:
            number = bisect_right(anchors, place) - 1
        found.setdefault(anchors[min(number, len(anchors) - 1)], []).append(comment)
    return found
