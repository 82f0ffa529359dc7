"""Stage 4: the weaver: the monitors of some specs, tied to a running program until it is told to stop."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from threading import RLock
from types import CodeType, FunctionType, ModuleType
from typing import ParamSpec, TypeVar, cast

from mopsus import _core
from mopsus.events.weave import ends, patterns
from mopsus.events.weave.hook import Hook
from mopsus.events.weave.joinpoints import Advised, From, Moment, Rewrite, Source, Tap
from mopsus.events.weave.patterns import Scope
from mopsus.events.weave.place import Placements
from mopsus.events.weave.plan import Cut, Resolver, make_cuts
from mopsus.monitor import Monitor

T = TypeVar("T")
P = ParamSpec("P")


def _unobserved(method: Callable[P, T]) -> Callable[P, T]:
    """The method, which is no part of the program: nothing that it does is an event."""

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return _core.unobserved(method, *args, **kwargs)

    return call


@dataclass(slots=True)
class Outcome:
    """What became of one case of an event: where it is tapped, and where it cannot be."""

    cut: Cut
    places: list[str] = field(default_factory=list)
    obstacles: dict[str, str] = field(default_factory=dict)
    """By place, why no advice can stand there."""
    rewrites: tuple[Rewrite, ...] = ()


class Weaver:
    """Ties monitors to the program from `start` to `stop`. What is loaded or defined in between is woven as it comes.

    Monitors are by name of their spec; they are not closed. All methods may be called from any thread.
    """

    def __init__(self, monitors: Mapping[str, Monitor]) -> None:
        self.monitors = dict(monitors)
        self._lock = RLock()
        self.resolver = Resolver()
        self._cuts: list[Cut] = []
        for monitor in self.monitors.values():
            for cut in make_cuts(monitor.spec, monitor.event):
                # A control flow must be known before what depends on it is asked for.
                self._cuts += chain.from_iterable(cuts for _, cuts in cut.flows)
                self._cuts.append(cut)
        self.outcomes = [Outcome(cut) for cut in self._cuts]
        self._names = frozenset(chain.from_iterable(cut.names() for cut in self._cuts))
        self._awaited: set[str] = set()
        self._placements = Placements()
        self._placed: set[tuple[int, int, str, str]] = set()
        self._hook: Hook | None = None

    # ---- what the import hook asks

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """The operations that are tapped in rewritten code."""
        return tuple(chain.from_iterable(outcome.rewrites for outcome in self.outcomes))

    @property
    def definitions(self) -> frozenset[str]:
        """Names of functions and classes of the main program that are of interest as soon as they are defined."""
        return frozenset(chain.from_iterable(cut.definitions() for cut in self._cuts))

    @_unobserved
    def defined(self, made: T) -> T:
        """What takes the place of a function or class that was just defined."""
        if isinstance(made, type):
            self._extend(Scope(classes=(made,)), complete=True)
        elif isinstance(made, FunctionType):
            taps = [tap for cut in self._cuts if cut.picks_function(made) and (tap := cut.tap(self.resolver))]
            if taps:
                return cast(T, _core.Advice(made, taps, "function", made.__name__))
        return made

    @_unobserved
    def module_loaded(self, module: ModuleType) -> None:
        """Weave what a module has defined."""
        if not isinstance(module, ModuleType) or module.__name__.partition(".")[0] == "mopsus":
            return
        if module.__name__ in self._awaited or self._of_interest(vars(module)):
            self._awaited.discard(module.__name__)
            self._extend(Scope((module,), patterns.classes_of(module)), complete=True)

    # ---- start and stop

    @_unobserved
    def start(self) -> None:
        """Weave everything that is loaded, and from now on everything that comes."""
        with self._lock:
            self._extend(patterns.everything(), complete=True)
            for outcome in self.outcomes:
                outcome.rewrites = tuple(outcome.cut.rewrites(self.resolver))
            self._listen()

    @_unobserved
    def stop(self, *, ended: bool = False) -> None:
        """Take everything away again. `ended`: the program ends here, which is an event. Safe to call twice."""
        with self._lock:
            hook, self._hook = self._hook, None
            if hook is None:
                return
            if ended:
                ends.end_program(self._cuts, self.resolver)
            hook.remove()
            self._placements.undo()
            self._placed.clear()

    @_unobserved
    def main_code(self, source: bytes, path: str) -> CodeType:
        """The code of a main program, woven."""
        assert self._hook is not None, "the weaver has not been started"
        return self._hook.main_code(source, path)

    def watch_spawned(self) -> None:
        """In a process of `multiprocessing` that begins anew: its main program is one that it loads by itself."""
        from multiprocessing import spawn

        def loaded() -> None:
            if (module := sys.modules.get("__mp_main__")) is not None:
                self.module_loaded(module)

        told = Tap("", "main", Moment.RETURNING, loaded)
        self._placements.put([Advised(spawn, "prepare", (told,))])

    # ---- weaving

    def _class_made(self, cls: type) -> None:
        if isinstance(cls, type) and self._of_interest((cls.__name__,)):
            self._awaited.add(cls.__module__)  # it may be hidden in another class, where nobody looks without reason
            self._extend(Scope(classes=(cls,)), complete=False)

    def _of_interest(self, names: Iterable[str]) -> bool:
        return "*" in self._names or not self._names.isdisjoint(names)

    def _extend(self, scope: Scope, *, complete: bool) -> None:
        """Weave what is new. Not `complete`: decorators may still change a class."""
        with self._lock:
            if self.resolver.add(scope):
                self._refresh(() if complete else scope.classes)
            self._put(scope, complete)

    def _put(self, scope: Scope, complete: bool) -> None:
        wanted: list[tuple[Outcome, Advised]] = []
        for outcome in self.outcomes:
            for place in self._places(outcome.cut, scope):
                tap = place.taps[0]
                key = (id(outcome), id(place.holder), place.name, repr(tap.target))
                if key in self._placed or (place.default is not None and not complete):
                    continue
                self._placed.add(key)
                wanted.append((outcome, place))
        for (outcome, place), obstacle in zip(wanted, self._placements.put(each for _, each in wanted), strict=True):
            where = f"{patterns.full_name(place.holder)}.{place.name}"
            if isinstance(place.holder, ModuleType):
                where = f"{place.holder.__name__}.{place.name}"
            if obstacle is None:
                outcome.places.append(where)
            else:
                outcome.obstacles[where] = obstacle

    def _places(self, cut: Cut, scope: Scope) -> Iterator[Advised]:
        yield from cut.advised(scope, self.resolver)
        yield from ends.places(cut, scope, self.resolver)

    def _refresh(self, unfinished: Sequence[type]) -> None:
        """Types that were asked for have come to be: taps that look at them are made anew."""
        if self._hook is None:
            return
        self._hook.remove()
        self._placements.undo()
        self._placements = Placements()
        self._placed.clear()
        for outcome in self.outcomes:
            outcome.places.clear()
            outcome.rewrites = tuple(outcome.cut.rewrites(self.resolver))
        scope = patterns.everything()
        self._put(Scope(scope.modules, [cls for cls in scope.classes if cls not in unfinished]), complete=True)
        self._listen()

    def _listen(self) -> None:
        # Before it is loaded in full a module may use its classes; the main program always does.
        told = Tap("", "class", Moment.RETURNING, self._class_made, (Source(From.RESULT),), (None,))
        self._placements.put([Advised(builtins, "__build_class__", (told,))])
        self._hook = Hook(self)
        self._hook.install()


def weavable(monitors: Iterable[Monitor]) -> bool:
    """Is any event of theirs tied to points of a program?"""
    return any(make_cuts(monitor.spec, monitor.event) for monitor in monitors)
