"""Stage 4: what rewritten code refers to, and which taps are served there.

Code of a module that loops, reads an attribute and so on is rewritten to refer to a *site*: a native object that does
what was written and serves taps. All places of a module that are alike share one. Sites are constants of the code, so
that no namespace has a name that its author did not put there. They outlive the weaving: without taps they only do
what was written. In code that is kept from one run to the next, *placeholders* stand where sites will be.
"""

from __future__ import annotations

import builtins
import itertools
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from operator import attrgetter
from types import CodeType
from typing import Any, NamedTuple

from mopsus import _core
from mopsus._core import Site
from mopsus.events.weave.joinpoints import Operation, Rewrite, Tap

DEFINED = "defined"
"""The kind of the place that decorates functions and classes of the main program. It is told of them and is no site."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What sites of one sort do, in the order in which they take their taps."""

    operations: tuple[Operation, ...]
    native: str
    """How the core calls it."""


KINDS = {
    "loop": Kind((Operation.ITER, Operation.NEXT), "loop"),
    "spread": Kind((Operation.ITER, Operation.NEXT), "spread"),
    "unpack": Kind((Operation.ITER, Operation.NEXT), "unpack"),
    "several": Kind((Operation.ITER, Operation.NEXT), "several"),
    "delegate": Kind((Operation.ITER, Operation.NEXT), "delegate"),
    "iter": Kind((Operation.ITER,), "make"),
    "make": Kind((), "make"),
    "next": Kind((Operation.NEXT,), "next"),
    "async_loop": Kind((Operation.ITER, Operation.NEXT), "async loop"),
    "attribute": Kind((Operation.GET, Operation.SET, Operation.DELETE), "attribute"),
    "item": Kind((Operation.GET_ITEM, Operation.SET_ITEM, Operation.DELETE_ITEM), "item"),
    "call": Kind((Operation.CALL,), "call"),
    "with": Kind((Operation.ENTER, Operation.EXIT), "with"),
    "with_unpacked": Kind((Operation.ITER, Operation.NEXT), "with unpacked"),
    "async_with": Kind((Operation.ENTER, Operation.EXIT), "async with"),
    "raise": Kind((Operation.RAISE,), "raise"),
    "assert": Kind((Operation.RAISE,), "assert"),
    "raised": Kind((Operation.RAISED,), "raise"),
    "handle": Kind((Operation.HANDLE,), "handle"),
    "await": Kind((Operation.AWAIT,), "await"),
    "yield": Kind((Operation.YIELD,), "pass"),
    "resume": Kind((Operation.RESUME,), "pass"),
    "thrown": Kind((Operation.RESUME,), "thrown"),
}


class Place(NamedTuple):
    """Which site: its kind, and what it is about if it is about one thing.

    That is an attribute, a called name, the function in which something is yielded, or the shape of the targets into
    which values are unpacked. `name` is what rewrites ask for; an attribute may really be called `attribute`, because
    it is private to its class.
    """

    kind: str
    name: str = ""
    attribute: str = ""


def placeholder(number: int) -> tuple[frozenset[int], int]:
    """A constant that stands for a site, by its number. A compiler makes none like it of any source."""
    return frozenset(), number


def concerns(rewrite: Rewrite, module: str, *, own: bool) -> bool:
    """Whether code of a module is rewritten for it.

    `own`: the module is neither of the standard library nor installed.
    """
    if rewrite.within:
        return any(fnmatchcase(module, pattern) for pattern in rewrite.within)
    return own


class Rewritten(NamedTuple):
    """Code in which placeholders stand for sites."""

    places: tuple[Place, ...]
    """The sites by their numbers."""
    code: CodeType | None
    """None: there is nothing to rewrite."""
    original: bytes
    """The code that the compiler makes of the source as it is, marshalled: what the program is given. Nothing if there
    are no sites: then the code is that."""


NOTHING = Rewritten((), None, b"")


class Sites:
    """All sites of the process."""

    def __init__(self) -> None:
        self._steps = Site("steps")
        self._sites: dict[tuple[str, Place], Site] = {}
        self._own: dict[str, bool] = {}
        self._active: list[tuple[Rewrite, ...]] = []
        self._decorators: list[Callable[[Any], Any]] = []

    def start(self, rewrites: tuple[Rewrite, ...], defined: Callable[[Any], Any]) -> None:
        """Serve the taps of these, in code that was rewritten before as well."""
        self._active.append(rewrites)
        self._decorators.append(defined)
        self._tap_all()

    def stop(self, rewrites: tuple[Rewrite, ...], defined: Callable[[Any], Any]) -> None:
        """Serve them no more."""
        self._active.remove(rewrites)
        self._decorators.remove(defined)
        self._tap_all()

    def bind(self, module: str, made: Rewritten, *, own: bool) -> CodeType | None:
        """The code of this module, with its sites. Its generators are known wherever they are iterated."""
        self._own[module] = own
        if made.code is None:
            return None
        if made.places:
            sites = (
                self._defined if place.kind == DEFINED else self.site(module, place, own=own) for place in made.places
            )
            _core.bind(made.code, tuple(sites), made.original)
        self._steps(made.code)
        return made.code

    def site(self, module: str, place: Place, *, own: bool) -> Site:
        """The site for a place in a module. Any thread may ask at any time."""
        key = (module, place)
        if key not in self._sites:
            self._own.setdefault(module, own)
            self._sites.setdefault(key, Site(KINDS[place.kind].native, self._subject(place)))
            self._tap([key])
        return self._sites[key]

    def _defined(self, member: object) -> object:
        for decorate in self._decorators:
            member = decorate(member)
        return member

    def _tap_all(self) -> None:
        self._tap(list(self._sites))
        # What C code does is done in no module: where it is called from is for the taps to ask.
        listed = [each for rewrites in self._active for each in rewrites if each.operation is Operation.NEXT]
        steps = [each.tap for each in listed if each.tap is not None]
        self._steps.tap((), steps, ())

    def _tap(self, keys: Iterable[tuple[str, Place]]) -> None:
        for module, place in keys:
            taps = [self._taps(module, place, operation) for operation in KINDS[place.kind].operations]
            self._sites[module, place].tap(*taps, *[()] * (3 - len(taps)))

    def _taps(self, module: str, place: Place, operation: Operation) -> tuple[Tap, ...]:
        return tuple(
            rewrite.tap
            for rewrites in self._active
            for rewrite in rewrites
            if rewrite.operation is operation
            and rewrite.tap is not None
            and (not rewrite.names or place.name in rewrite.names)
            and concerns(rewrite, module, own=self._own[module])
        )

    def _subject(self, place: Place) -> object:
        match place.kind:
            case "iter":
                return iter
            case "next":
                return next
            case "attribute":
                return sys.intern(place.attribute)
            case "call":
                return self._callee(place.name)
            case "make":
                return _maker(place.name)
            case "loop" | "unpack" | "several" | "with_unpacked":
                return place.name or None
        return None

    def _callee(self, name: str) -> object:
        """What a called name stands for, if that can be said; it may be written without its module."""
        if hasattr(builtins, name):
            return getattr(builtins, name)
        asked = {each for rewrites in self._active for rewrite in rewrites for each in rewrite.names}
        for full in sorted(each for each in asked if each == name or each.endswith("." + name)):
            module, _, attribute = full.rpartition(".")
            if module in sys.modules and hasattr(sys.modules[module], attribute):
                return getattr(sys.modules[module], attribute)
        return None


def _maker(name: str) -> object:
    """The builtin that a name stands for, or what `itertools` has under it."""
    attribute = name.removeprefix("itertools.")
    try:
        return attrgetter(attribute)(builtins if attribute == name else itertools)
    except AttributeError:
        return None


SITES = Sites()
