"""Stage 4: the weaver: the monitors of some specs, tied to a running program until it is told to stop."""

from __future__ import annotations

import abc
import builtins
import functools
import gc
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from threading import RLock
from types import CodeType, FunctionType, ModuleType
from typing import ParamSpec, TypeAlias, TypeVar, cast

from mopsus import _core
from mopsus._core import Classes
from mopsus.events.weave import bare, ends, patterns, pickling
from mopsus.events.weave.hook import Hook
from mopsus.events.weave.joinpoints import Advised, From, Moment, Operation, Rewrite, Source, Tap
from mopsus.events.weave.origin import is_ours
from mopsus.events.weave.patterns import Scope
from mopsus.events.weave.place import Placements
from mopsus.events.weave.plan import Cut, Resolver, make_cuts
from mopsus.model import MopsusError, Spec
from mopsus.monitor import Monitor
from mopsus.spec.component import about_components
from mopsus.spec.program import is_program
from mopsus.spec.woven import woven

_log = logging.getLogger("mopsus")
_Key: TypeAlias = "tuple[int, str, Operation]"
Later: TypeAlias = "Mapping[str, Callable[[], Mapping[str, Monitor]]]"
"""By name of a module: what makes the monitors that are needed once it is loaded."""
T = TypeVar("T")
P = ParamSpec("P")


def _unobserved(method: Callable[P, T]) -> Callable[P, T]:
    """The method, which is no part of the program: nothing that it does is an event."""

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        return _core.unobserved(method, *args, **kwargs)

    return call


@contextmanager
def _harmless() -> Iterator[None]:
    """A fault of weaving is told, and is not the program's."""
    try:
        yield
    except Exception:
        with suppress(Exception):  # a hook for audits that refuses something may refuse whatever logging does
            _log.exception("something of the program could not be woven")


class WeaveError(MopsusError):
    """What was given cannot be woven."""

    code = "WEAVE-002"


@dataclass(slots=True)
class Outcome:
    """What became of one case of an event: where it is tapped, and where it cannot be."""

    cut: Cut
    places: list[str] = field(default_factory=list)
    obstacles: dict[str, str] = field(default_factory=dict)
    """By place, why no advice can stand there."""
    rewrites: tuple[Rewrite, ...] = ()
    is_waiting: bool = False
    """A type that it asks for does not exist yet."""
    names: frozenset[str] = field(init=False)
    """Names of which what it is about must have one; `*`: any will do."""
    aliases: tuple[Set[str], ...] = field(init=False)
    """Further such names; they become more as classes come to be."""

    def __post_init__(self) -> None:
        self.names = frozenset(self.cut.names())
        self.aliases = tuple(self.cut.aliases())

    def ask(self, scope: Scope, resolver: Resolver) -> bool:
        """Ask for rewritten code as what is in scope needs it; whether more is rewritten than before."""
        known = {(each.operation, each.names) for each in self.rewrites}
        asked = self.cut.rewrites(scope, resolver)
        new = tuple(each for each in asked if (each.operation, each.names) not in known)
        self.rewrites += new
        return bool(new)


class _Interests:
    """Which cases something that has come to be may concern, by its names: most modules and classes concern none."""

    def __init__(self) -> None:
        self._order: dict[int, int] = {}
        self._any: list[Outcome] = []
        self._by_name: dict[str, list[Outcome]] = {}
        self.globals: set[str] = set()
        """Names of which any module that has one may concern a case."""
        self._aliased: dict[int, tuple[Set[str], list[Outcome]]] = {}
        """By identity: a set of names that becomes larger as classes come to be, and the cases that it is about."""

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Take note of further cases."""
        for outcome in outcomes:
            self._order[id(outcome)] = len(self._order)
            self.globals.update(outcome.cut.globals())
            if "*" in outcome.names:
                self._any.append(outcome)
                continue
            for name in outcome.names:
                self._by_name.setdefault(name, []).append(outcome)
            for names in outcome.aliases:
                self._aliased.setdefault(id(names), (names, []))[1].append(outcome)

    def concerned(self, names: Set[str]) -> list[Outcome]:
        """The cases, in their order, that something with these names, its own or of its bases, may concern."""
        found = {id(each): each for name in names & self._by_name.keys() for each in self._by_name[name]}
        found |= {id(each): each for each in self._any}
        for aliases, outcomes in self._aliased.values() if not names.isdisjoint(patterns.ALIAS_NAMES) else ():
            if aliases and not aliases.isdisjoint(names):
                found |= {id(each): each for each in outcomes}
        return sorted(found.values(), key=lambda outcome: self._order[id(outcome)])


class Weaver:
    """Ties monitors to the program from `start` to `stop`. What is loaded or defined in between is woven as it comes.

    Monitors are by name of their spec; they are not closed. `later` are those that are not needed, and not even made,
    until the program has loaded a module of that name; `expected` are operations that they will ask for in code that is
    loaded before. All methods may be called from any thread.
    """

    def __init__(
        self, monitors: Mapping[str, Monitor], later: Later | None = None, expected: Iterable[str] = ()
    ) -> None:
        require_program_events(monitor.spec for monitor in monitors.values())
        self.monitors: dict[str, Monitor] = {}
        self._later = dict(later or {})
        self._expected = tuple(Rewrite(Operation(name), None) for name in sorted(expected))
        self._lock = RLock()
        self.resolver = Resolver()
        self._cuts: list[Cut] = []
        self.outcomes: list[Outcome] = []
        self._interests = _Interests()
        self._take(monitors)
        self._placements = Placements()
        self._placed: bare.WeaklyById[object, dict[_Key, Classes | None]] = bare.WeaklyById()
        """By holder: what is tapped there, with the classes of targets if not all are told of."""
        self._hook: Hook | None = None
        self.hears_exceptions = False
        """The interpreter tells of them, so that no code is rewritten for that."""

    def _take(self, monitors: Mapping[str, Monitor]) -> list[Outcome]:
        """Take charge of monitors; the cases of their events."""
        cuts: list[Cut] = []
        for monitor in monitors.values():
            for cut in make_cuts(monitor.spec, monitor.event):
                # A control flow must be known before what depends on it is asked for.
                cuts += chain.from_iterable(cuts for _, cuts in cut.flows)
                cuts.append(cut)
        outcomes = [Outcome(cut) for cut in cuts]
        self._cuts += cuts
        self._interests.add(outcomes)
        self.outcomes += outcomes
        self.monitors |= monitors
        return outcomes

    def _take_later(self, modules: Iterable[str]) -> list[Outcome]:
        """The same with what has been waiting for one of the modules."""
        ready = [self._later.pop(name) for name in modules if name in self._later]
        return [outcome for make in ready for outcome in self._take(make())]

    # ---- what the import hook asks

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """The operations that are tapped in rewritten code."""
        return (*chain.from_iterable(outcome.rewrites for outcome in self.outcomes), *self._expected)

    @property
    def definitions(self) -> frozenset[str]:
        """Names of functions and classes of the main program that are of interest as soon as they are defined."""
        return frozenset(chain.from_iterable(cut.definitions() for cut in self._cuts))

    @_unobserved
    def defined(self, made: T) -> T:
        """What takes the place of a function or class that was just defined."""
        with _harmless():
            return self._defined(made)
        return made

    def _defined(self, made: T) -> T:
        if bare.is_class(made):
            self._extend(Scope(classes=(made,)), patterns.names_with_bases((made,)), complete=True)
        elif isinstance(made, FunctionType):
            taps = [
                tap
                for cut in self._cuts
                if not cut.is_waiting(self.resolver) and cut.picks_function(made) and (tap := cut.tap(self.resolver))
            ]
            if taps:
                return cast(T, _core.Advice(made, taps, "function", made.__name__))
        return made

    @_unobserved
    def module_loaded(self, module: ModuleType) -> None:
        """Weave what a module has defined."""
        if isinstance(module, ModuleType) and not is_ours(module.__name__):
            with _harmless():
                self._loaded(module)

    def _loaded(self, module: ModuleType) -> None:
        pickling.teach(module)
        if module.__name__ in self._later:
            self._weave_later(module.__name__)
        classes = patterns.classes_of(module)
        names = patterns.names_of(module) | patterns.names_with_bases(classes)
        names |= self._interests.globals & vars(module).keys()
        self._extend(Scope((module,), classes), names, complete=True)

    # ---- start and stop

    @_unobserved
    def start(self) -> None:
        """Weave everything that is loaded, and from now on everything that comes."""
        with self._lock:
            patterns.forget()
            pickling.teach_all()
            self._take_later(set(sys.modules) & self._later.keys())
            self._begin(self.outcomes)
            # Before it is loaded in full a module may use its classes; the main program always does.
            made = Tap("", "class", Moment.RETURNING, self._class_made, (Source(From.RESULT),), (None,))
            pair = (Source(From.TARGET), Source(From.RESULT))
            registered = Tap("", "class", Moment.RETURNING, self._class_registered, pair, (None, None))
            self._placements.put(
                [Advised(builtins, "__build_class__", (made,)), Advised(abc.ABCMeta, "register", (registered,))]
            )
            gc.callbacks.append(_core.collector)
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
            with suppress(ValueError):  # the program may have cleared the list
                gc.callbacks.remove(_core.collector)
            _core.collector("stop", {})
            self._placements.undo()
            self._placed = bare.WeaklyById()
            patterns.release()

    @_unobserved
    def main_code(self, source: bytes, path: str) -> CodeType:
        """The code of a main program, woven."""
        assert self._hook is not None, "the weaver has not been started"
        return self._hook.main_code(source, path)

    def watch_spawned(self) -> None:
        """In a process of `multiprocessing` that begins anew: its main program is one that it loads by itself."""
        from mopsus.events.weave.spawned import watch_main

        watch_main(self, self._placements)

    # ---- weaving

    def _begin(self, outcomes: Sequence[Outcome]) -> bool:
        """Weave cases that are new into all that there is; whether more is rewritten than before."""
        scope = self.resolver.everything = patterns.everything()
        asked = []
        for outcome in outcomes:
            outcome.is_waiting = outcome.cut.is_waiting(self.resolver)
            asked.append(outcome.ask(scope, self.resolver))
        self._put(outcomes, scope, complete=True)
        self.resolver.everything = None
        return any(asked)

    def _weave_later(self, module: str) -> None:
        with self._lock:
            if self._begin(self._take_later([module])):
                self._listen()

    def _class_made(self, cls: object) -> None:
        if not bare.is_class(cls):
            return
        self._extend(Scope(classes=(cls,)), patterns.names_with_bases((cls,)), complete=False)

    def _class_registered(self, abstract: object, cls: object) -> None:
        if not (bare.is_class(abstract) and bare.is_class(cls)):
            return
        patterns.note_registered(abstract, cls)
        classes = list(patterns.with_subclasses(cls))
        names = patterns.names_with_bases(classes)
        self._extend(Scope(classes=classes), names, complete=patterns.is_finished(cls))

    def _extend(self, scope: Scope, names: Set[str], *, complete: bool) -> None:
        """Weave what is new, for the cases that its names concern. Not `complete`: decorators may still change it."""
        with self._lock:
            concerned = self._interests.concerned(names)
            if not concerned:
                return
            if self.resolver.add(scope):
                self._wake(() if complete else scope.classes)
            # Classes that are made in C, of which only rewritten code tells, come with modules.
            asked = [outcome.ask(scope, self.resolver) for outcome in concerned] if scope.modules else []
            if any(asked):
                self._listen()
            self._put(concerned, scope, complete=complete)

    def _wake(self, unfinished: Sequence[type]) -> None:
        """Types that somebody has been waiting for have come to be: what he asks for may be anywhere."""
        ready = [each for each in self.outcomes if each.is_waiting and not each.cut.is_waiting(self.resolver)]
        if not ready:
            return
        for outcome in ready:
            outcome.is_waiting = False
        scope = patterns.everything()
        left_out = set(map(id, unfinished))
        classes = [cls for cls in scope.classes if id(cls) not in left_out]
        self._put(ready, Scope(scope.modules, classes), complete=True)

    def _put(self, outcomes: Iterable[Outcome], scope: Scope, *, complete: bool) -> None:
        wanted: list[tuple[Outcome, Advised]] = []
        for outcome in outcomes:
            for place in () if outcome.is_waiting else self._places(outcome.cut, scope):
                if (place.default is None or complete) and self._is_new(outcome, place):
                    wanted.append((outcome, place))
        # Nobody else knows the methods of a class that was just made.
        results = self._placements.put((each for _, each in wanted), everywhere=bool(scope.modules))
        for (outcome, place), obstacle in zip(wanted, results, strict=True):
            where = f"{_name(place.holder)}.{place.name}"
            if obstacle is None:
                outcome.places.append(where)
            else:
                outcome.obstacles[where] = obstacle

    def _is_new(self, outcome: Outcome, place: Advised) -> bool:
        """Is there no tap of the case at a place? If there is one, it tells of these targets, too."""
        there = self._placed.get(place.holder)
        if there is None:
            there = self._placed.set(place.holder, {})
        key, target = (id(outcome), place.name, place.operation), place.taps[0].target
        if key not in there:
            there[key] = target if isinstance(target, Classes) else None
            return True
        told = there[key]
        if told is not None:
            for cls in target if isinstance(target, Classes) else (object,):
                told.add(cls)
        return False

    def _places(self, cut: Cut, scope: Scope) -> Iterator[Advised]:
        yield from cut.advised(scope, self.resolver)
        yield from ends.places(cut, scope, self.resolver)

    def _listen(self) -> None:
        """Have modules rewritten as is asked for now."""
        if self._hook is not None:
            self._hook.remove()
        self._hook = Hook(self)
        self._hook.install()
        self.hears_exceptions = self._hook.hears


def _name(holder: object) -> str:
    return patterns.full_name(holder) if bare.is_class(holder) else str(getattr(holder, "__name__", holder))


def require_program_events(specs: Iterable[Spec]) -> None:
    """Refuse specs of which none has an event at a point of a program or in its components: it would see nothing.
    So are events that only a debugger sees."""
    listed = list(specs)
    watched = any(is_program(woven(event).pointcut) for spec in listed for event in spec.events)
    if listed and not watched and not any(map(about_components, listed)):
        names = ", ".join(spec.name for spec in listed)
        raise WeaveError(
            f"no event of {names} is at a point of a program",
            hint="say when an event happens, as in `event e before(x) : call(Class.method) && target(x)`; "
            "events of traces are checked by `mopsus check`",
        )
