"""Stage 4: what rewritten code refers to, and which taps are served there.

Code of a module that loops, reads an attribute and so on is rewritten to refer to a *site*: a native object that does
what was written and serves taps. All places of a module that are alike share one. Sites are built-in names, so that
the namespace of a module stays as its author left it, and they outlive the weaving: without taps they only do what
was written.
"""

from __future__ import annotations

import builtins
import hashlib
import itertools
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from operator import attrgetter
from types import CodeType
from typing import Any, NamedTuple

from mopsus._core import Site
from mopsus.events.weave.joinpoints import Operation, Rewrite, Tap

DEFINED = "__mopsus_defined__"
"""The built-in decorator of functions in the main program."""
_KEEPER = "__mopsus_keeper__"


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


@cache
def builtin_name(module: str, place: Place) -> str:
    """The name under which code of a module finds a site."""
    told = f"{module}/{place.name}/{place.attribute}"
    return f"__mopsus_{place.kind}_{hashlib.blake2s(told.encode(), digest_size=6).hexdigest()}__"


def concerns(rewrite: Rewrite, module: str, *, own: bool) -> bool:
    """Whether code of a module is rewritten for it.

    `own`: the module is neither of the standard library nor installed.
    """
    if rewrite.within:
        return any(fnmatchcase(module, pattern) for pattern in rewrite.within)
    return own


class _Keeper:
    """Puts names back when the interpreter, at its end, makes the built-in names what they were at first: what dies
    after that may still run rewritten code. Only a built-in name refers to it, so that it dies with the others."""

    def __init__(self, names: Mapping[str, object]) -> None:
        self._builtins, self._names = vars(builtins), names

    def __del__(self) -> None:
        self._builtins.update(self._names)


class Sites:
    """All sites of the process."""

    def __init__(self) -> None:
        self._steps = Site("steps")
        self._names: dict[str, object] = {}
        self._sites: dict[tuple[str, Place], Site] = {}
        self._own: dict[str, bool] = {}
        self._active: list[tuple[Rewrite, ...]] = []
        self._decorators: list[Callable[[Any], Any]] = []

    def start(self, rewrites: tuple[Rewrite, ...], defined: Callable[[Any], Any]) -> None:
        """Serve the taps of these, in code that was rewritten before as well."""
        self._active.append(rewrites)
        self._decorators.append(defined)
        self._name(DEFINED, self._defined)
        self._tap_all()

    def stop(self, rewrites: tuple[Rewrite, ...], defined: Callable[[Any], Any]) -> None:
        """Serve them no more."""
        self._active.remove(rewrites)
        self._decorators.remove(defined)
        self._tap_all()

    def need(self, module: str, places: Iterable[Place], code: CodeType | None, *, own: bool) -> None:
        """Have the sites that code of this module refers to. Its generators are known wherever they are iterated."""
        self._own[module] = own
        if code is not None:
            self._steps(code)
        for place in places:
            name = builtin_name(module, place)
            if name not in self._names:
                self._name(name, self.site(module, place, own=own))

    def site(self, module: str, place: Place, *, own: bool) -> Site:
        """The site for a place in a module. Any thread may ask at any time."""
        key = (module, place)
        if key not in self._sites:
            self._own.setdefault(module, own)
            self._sites.setdefault(key, Site(KINDS[place.kind].native, self._subject(place)))
            self._tap([key])
        return self._sites[key]

    def _name(self, name: str, value: object) -> None:
        self._names[name] = value
        setattr(builtins, name, value)
        if not hasattr(builtins, _KEEPER):
            setattr(builtins, _KEEPER, _Keeper(self._names))

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
