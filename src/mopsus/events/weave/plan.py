"""Stage 4: one case of one event's pointcut, and where in a program it is to be tapped.

For every case there is one mechanism: an advice where a function, method, property or `__init__` stands; rewritten code
for operations and for what builtin types do themselves; or the beginnings and ends of threads, objects and programs.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from types import FunctionType, ModuleType

from mopsus._core import Classes
from mopsus.events.weave import bare, filters, patterns
from mopsus.events.weave.filters import Admission, Filter, Flow
from mopsus.events.weave.inherited import PROTOCOL_INIT, inherited_init
from mopsus.events.weave.joinpoints import Advised, From, Moment, Operation, Rewrite, Source, Tap, Types
from mopsus.events.weave.patterns import Scope
from mopsus.model import Event, Pointcut, Spec
from mopsus.spec import program
from mopsus.spec.program import Arguments, Branch, Dotted, Pattern
from mopsus.spec.woven import woven

_ITEM_METHODS = {"getitem": "__getitem__", "setitem": "__setitem__", "delitem": "__delitem__"}
_NAMING = program.JOIN_POINTS | program.CURRENT | {"target"}
"""Primitives whose arguments are patterns of names."""
_LOOPS = {"iter": Operation.ITER, "next": Operation.NEXT}


class Resolver:
    """The classes that names in specs stand for. What it gives grows as classes come to be, and they go as they die."""

    def __init__(self) -> None:
        self._asked: dict[Pattern, dict[str, tuple[Classes, Callable[[type], bool]]]] = {}
        self._by_name: dict[str, list[Pattern]] = {}
        """The patterns that a class may be picked by, by its name; under `*`, those that may pick any."""
        self._by_module: dict[str, list[Pattern]] = {}
        """The patterns that may reach a class through a module, by the last part of the module's name."""
        self.everything: Scope | None = None
        """What there is, if whoever asks knows that."""

    def classes(self, pattern: Pattern, which: str = "", wanted: Callable[[type], bool] = lambda cls: True) -> Classes:
        """The classes that a pattern names; `which` says in a word which of them are `wanted`."""
        if pattern not in self._asked:
            self._asked[pattern] = {}
            for name in {"*" if "*" in dotted.parts[-1] else dotted.parts[-1] for dotted in pattern}:
                self._by_name.setdefault(name, []).append(pattern)
            for name in {part for dotted in pattern for part in dotted.parts[:-1]}:
                self._by_module.setdefault(name, []).append(pattern)
        asked = self._asked[pattern]
        if which not in asked:
            found = patterns.find_classes(pattern, self.everything or patterns.everything())
            self._know(pattern, found)
            asked[which] = Classes(*filter(wanted, found)), wanted
        return asked[which][0]

    def add(self, scope: Scope) -> bool:
        """Take note of new classes; whether one of them matters."""
        changed = False
        for pattern in self._concerned(scope):
            new = patterns.find_classes(pattern, scope)
            self._know(pattern, new)
            for cls in new:
                for classes, wanted in self._asked[pattern].values():
                    changed = (wanted(cls) and classes.add(cls)) or changed
        return changed

    def _know(self, pattern: Pattern, found: Iterable[type]) -> None:
        """A class may have been reached under another name than its own, which is how its subclasses know it."""
        for cls in found:
            known = self._by_name.setdefault(bare.name(cls), [])
            if pattern not in known:
                known.append(pattern)

    def _concerned(self, scope: Scope) -> Iterable[Pattern]:
        modules = dict.fromkeys(module.__name__.rpartition(".")[2] for module in scope.modules)
        names = dict.fromkeys(("*", *patterns.names_with_bases(scope.classes)))
        return dict.fromkeys(
            pattern
            for index, keys in ((self._by_module, modules), (self._by_name, names))
            for name in keys
            for pattern in index.get(name, ())
        )


@dataclass(slots=True)
class Cut:
    """One case of an event's pointcut. `emit` is what sends the event."""

    spec: Spec
    types: Mapping[str, Pattern]
    """By parameter, the classes that its values are of; none at all: any."""
    event: Event
    case: Branch
    emit: Callable[..., object]
    moment: Moment
    flows: list[tuple[Flow, tuple[Cut, ...]]] = field(default_factory=list)
    """Control flows that it asks for, and the cuts that follow them."""

    @property
    def kind(self) -> str:
        return self.case.kind

    # ---- what is asked

    def advised(self, scope: Scope, resolver: Resolver) -> Iterator[Advised]:
        """The places in scope where an advice serves this case, each with one tap."""
        match self.kind:
            case "call" | "execution":
                yield from self._calls(scope, resolver)
            case "new":
                yield from self._creations(scope, resolver)
            case "get" | "set" | "delete":
                yield from self._accessors(scope, resolver)
            case "getitem" | "setitem" | "delitem":
                yield from self._item_methods(scope, resolver)

    def rewrites(self, scope: Scope, resolver: Resolver) -> Iterator[Rewrite]:
        """The operations that serve this case, mostly in rewritten code, as far as classes in scope ask for them."""
        match self.kind:
            case "call":
                for name, operation in _LOOPS.items():
                    if self._is_builtin(name) and (tap := self._loop_tap(resolver)) is not None:
                        yield self._rewrite(operation, tap)
            case "new":
                for cls in self._picked_classes(scope):
                    if not bare.is_open(cls) and (tap := self.tap(resolver, created=From.RESULT)) is not None:
                        yield self._rewrite(Operation.CALL, tap, _written_names(cls))
            case "get" | "set" | "delete":
                yield from self._attributes(resolver)
            case "getitem" | "setitem" | "delitem":
                yield from self._items(resolver)
            case "yielding" | "resuming":
                yield from self._generators(resolver)
            case kind if kind in program.SUBJECTS:
                if (tap := self.tap(resolver, target=self.subject_types(resolver))) is not None:
                    yield self._rewrite(Operation(kind), tap)

    def definitions(self) -> Iterator[str]:
        """Names of functions and classes of modules that it may be about; `*`: any."""
        for point in self.case.points:
            for dotted in point.argument if point.kind in program.CALLS | {"new"} else ():
                name = dotted.parts[-1]
                yield "*" if "*" in name or dotted.plus is not None else name

    def names(self) -> Iterator[str]:
        """Names of which a module, or a class or one of its bases, must have one to be of interest; `*`: any may be."""
        for dotted in self._patterns():
            yield from ("*",) if any("*" in part for part in dotted.parts) else dotted.parts

    def globals(self) -> Iterator[str]:
        """Names of which any module that has one is of interest: those that stand alone, and mean no builtin."""
        for dotted in self._patterns():
            if len(dotted.parts) == 1 and not hasattr(builtins, dotted.parts[0]):
                yield dotted.parts[0]

    def aliases(self) -> Iterator[Set[str]]:
        """Further such names: of classes that are reached by names other than their own."""
        for dotted in self._patterns():
            yield patterns.aliases(dotted.parts)
            yield patterns.aliases(dotted.parts[:-1])

    def _patterns(self) -> Iterator[Dotted]:
        """All patterns of names that it has to do with."""
        yield from chain.from_iterable(self.types.values())
        for part in (*self.case.points, *self.case.without, *(part for part, _ in self.case.others)):
            if part.kind in _NAMING:
                yield from part.argument

    def picks_function(self, function: FunctionType) -> bool:
        """Is a function of a module that was just defined among its join points?"""
        return (
            self.kind in program.CALLS
            and all(_any_function(point, function) for point in self.case.points)
            and not any(_any_function(point, function) for point in self.case.without if point.kind == self.kind)
        )

    def is_waiting(self, resolver: Resolver) -> bool:
        """Does it ask for a type that does not exist yet, so that there is nothing to tell?"""
        return any(pattern and not len(resolver.classes(pattern)) for pattern in self._parameter_types())

    def _parameter_types(self) -> list[Pattern]:
        """By parameter and field of the event: what its values must be instances of; empty: anything."""
        return [self.types.get(name, ()) for name in self.event.names]

    # ---- taps

    def tap(
        self,
        resolver: Resolver,
        *,
        moment: Moment | None = None,
        target: Types = None,
        exact: bool = False,
        entry: bool = False,
        created: From = From.TARGET,
        code: FunctionType | None = None,
    ) -> Tap | None:
        """What to tell; None if there never is anything to tell.

        `created`: where a new object is found; `code`: what is executed, if that matters.
        """
        types = [resolver.classes(pattern) if pattern else None for pattern in self._parameter_types()]
        wanted: list[Filter] = []
        for part, positive in self.case.others:
            made = None if part.kind == "args" and positive else self._filter(part, resolver, code)
            if made is False or made is True:
                if made is not positive:
                    return None
            elif made is not None:
                wanted.append(made if positive else filters.negated(made))
        return Tap(
            self.spec.name,
            self.event.name,
            self.moment if moment is None else moment,
            self.emit,
            tuple(self._source(name, created) for name in self.event.names),
            tuple(types),
            Admission(wanted) if wanted else None,
            target,
            exact,
            entry,
            self._at_most(),
            self._at_least(),
        )

    def _source(self, name: str, created: From) -> Source:
        if name == self.event.returning:
            return Source(created if self.kind == "new" else From.RESULT)
        if name == self.event.raising:
            return Source(From.EXCEPTION)
        for part in (*self.case.points, *(part for part, positive in self.case.others if positive)):
            if part.kind == "args":
                arguments: Arguments = part.argument
                if name in arguments.positional:
                    return Source(From.ARGUMENT, arguments.positional.index(name))
                for key, given in arguments.named:
                    if given == name:
                        return Source(From.ARGUMENT, -1, key)
            elif program.subject(part) == name:
                if part.kind in program.CURRENT:
                    return Source(From.THREAD if part.kind == "thread" else From.TASK)
                return Source(From.TARGET if part.kind != "target" or self.kind != "new" else created)
        raise AssertionError(f"{name} is bound nowhere")  # the checks of stage 1 see to it

    def _at_most(self) -> int | None:
        listed = [part.argument for part, positive in self.case.others if part.kind == "args" and positive]
        counts = [len(each.positional) + len(each.named) for each in listed if not each.more]
        return min(counts, default=None)

    def _at_least(self) -> int:
        """Only arguments that nothing is bound to are counted: a binding asks for its argument itself."""
        listed = [part.argument for part, positive in self.case.others if part.kind == "args" and positive]
        counts = [len(each.positional) + len(each.named) for each in listed if not each.more and not each.bound()]
        return max(counts, default=0)

    def _filter(self, part: Pointcut, resolver: Resolver, code: FunctionType | None) -> Filter | bool | None:
        name = program.subject(part)
        binds = name is not None and name in self.event.names
        match part.kind:
            case "within" if code is not None:
                module, qualname = code.__module__ or "", code.__qualname__
                return any(patterns.Glob(glob)(module, qualname) for glob in part.argument)
            case "within":
                return filters.within(part.argument)
            case "threadName":
                return filters.thread_named(part.argument)
            case "cflow":
                return next(flow for flow, cuts in self.flows if _flow_of(cuts) == part.argument)
            case "thread" if not binds and part.argument:
                return filters.thread_of(resolver.classes(part.argument))
            case "task" if not binds:
                return filters.task_of(resolver.classes(part.argument) if part.argument else Classes(object))
            case "target" if not binds:
                return filters.target_of(resolver.classes(part.argument))
            case "args":
                return self._argument_filter(part.argument)
        return None

    def _argument_filter(self, arguments: Arguments) -> Filter | None:
        """For arguments that must not be given so."""
        if arguments.bound() or arguments.more:
            return None
        count = len(arguments.positional) + len(arguments.named)
        has_target = any(len(dotted.parts) > 1 for point in self.case.points for dotted in point.argument)
        return filters.argument_count(count, count, has_target=has_target and self.kind in program.CALLS | {"new"})

    # ---- places

    def _calls(self, scope: Scope, resolver: Resolver) -> Iterator[Advised]:
        first, *others = self.case.points
        for dotted in first.argument:
            is_method = patterns.is_plain_method if "*" in dotted.parts[-1] else patterns.is_method
            for member in patterns.find_members(dotted, scope, is_method):
                if not self._excluded(member.picked, member.name, others):
                    code = bare.members(member.holder)[member.name] if self.kind == "execution" else None
                    target = Classes(member.picked) if member.picked is not member.holder else None
                    tap = self.tap(resolver, target=target, entry=member.entry, code=_code(code))
                    if tap is not None:
                        yield Advised(member.holder, member.name, (tap,))
            if self._needs_target():
                continue
            for module, name in patterns.find_functions(dotted, scope):
                if module is builtins and self.kind == "call" and name in _LOOPS:
                    continue  # what a loop does too is seen in rewritten code
                if not self._excluded(module, name, others):
                    code = vars(module)[name] if self.kind == "execution" else None
                    tap = self.tap(resolver, code=_code(code))
                    if tap is not None:
                        yield Advised(module, name, (tap,))

    def _excluded(self, holder: type | ModuleType, name: str, others: Sequence[Pointcut]) -> bool:
        """Do the further primitives leave it out?"""
        if isinstance(holder, type):
            scope = Scope(classes=(holder,))
            found = [_any_member(point, scope, name) for point in (*others, *self._without())]
        else:
            scope = Scope(modules=(holder,))
            found = [_any_module_function(point, scope, name) for point in (*others, *self._without())]
        return not all(found[: len(others)]) or any(found[len(others) :])

    def _without(self) -> list[Pointcut]:
        return [point for point in self.case.without if point.kind == self.kind]

    def _needs_target(self) -> bool:
        return any(part.kind == "target" and positive for part, positive in self.case.others)

    def _picked_classes(self, scope: Scope) -> list[type]:
        first, *others = ({id(cls): cls for cls in patterns.find_classes(p.argument, scope)} for p in self.case.points)
        without = {id(cls) for point in self._without() for cls in patterns.find_classes(point.argument, scope)}
        return [cls for key, cls in first.items() if all(key in each for each in others) and key not in without]

    def _creations(self, scope: Scope, resolver: Resolver) -> Iterator[Advised]:
        for cls in self._picked_classes(scope):
            if not bare.is_open(cls) or bare.members(cls).get("__init__", cls) is PROTOCOL_INIT:
                continue  # a protocol has no instances
            holder = patterns.owner_of(cls, "__init__")
            tap = self.tap(resolver, target=Classes(cls), exact=True)
            if tap is None:
                continue
            if holder is not None and bare.is_open(holder):
                yield Advised(holder, "__init__", (tap,))
            else:
                yield Advised(cls, "__init__", (tap,), default=inherited_init(cls))

    def _accessors(self, scope: Scope, resolver: Resolver) -> Iterator[Advised]:
        for dotted in self.case.points[0].argument:
            for member in patterns.find_members(dotted, scope, patterns.is_accessor):
                if self._excluded(member.picked, member.name, self.case.points[1:]):
                    continue
                target = Classes(member.picked) if member.picked is not member.holder else None
                tap = self.tap(resolver, target=target)
                if tap is not None:
                    yield Advised(member.holder, member.name, (tap,), Operation(self.kind))

    def _attributes(self, resolver: Resolver) -> Iterator[Rewrite]:
        """Attributes that instances have for themselves."""
        for dotted in self.case.points[0].argument:
            *owner, name = dotted.parts
            if not owner or "*" in name:
                continue
            pattern = (dotted.owner,)
            classes = resolver.classes(pattern, f"no accessor {name}", partial(_lacks_accessor, name))
            tap = self.tap(resolver, target=classes)
            if tap is not None:
                yield self._rewrite(Operation(self.kind), tap, frozenset({name}))

    def _item_methods(self, scope: Scope, resolver: Resolver) -> Iterator[Advised]:
        name = _ITEM_METHODS[self.kind]
        for cls in patterns.find_classes(self.case.points[0].argument, scope):
            holder = patterns.owner_of(cls, name)
            if holder is not None and bare.is_open(holder):
                target = Classes(cls) if cls is not holder else None
                tap = self.tap(resolver, target=target)
                if tap is not None:
                    yield Advised(holder, name, (tap,))

    def _items(self, resolver: Resolver) -> Iterator[Rewrite]:
        name = _ITEM_METHODS[self.kind]
        pattern: Pattern = self.case.points[0].argument
        target = resolver.classes(pattern, f"no method {name}", partial(_lacks_method, name)) if pattern else None
        if target is not None and not len(target) and len(resolver.classes(pattern)):
            return
        tap = self.tap(resolver, target=target)
        if tap is not None:
            yield self._rewrite(Operation(self.kind), tap)

    def _generators(self, resolver: Resolver) -> Iterator[Rewrite]:
        pattern: Pattern = self.case.points[0].argument
        names = frozenset(dotted.parts[-1] for dotted in pattern)
        tap = self.tap(resolver)
        if tap is None:
            return
        wholes = [(".".join(dotted.parts), dotted.whole) for dotted in pattern]
        globs = [glob for name, whole in wholes for glob in ((name,) if whole else (name, f"*.{name}"))]
        inside = filters.within(globs)
        admits = tap.admits
        wanted: list[Filter] = [inside, *(admits._filters if isinstance(admits, Admission) else ())]
        named = frozenset() if any("*" in name for name in names) else names
        yield self._rewrite(Operation(self.kind), replace(tap, admits=Admission(wanted)), named)

    # ---- operations

    def _is_builtin(self, name: str) -> bool:
        wanted = ((name,), ("builtins", name))
        return any(dotted.parts in wanted for point in self.case.points for dotted in point.argument)

    def _loop_tap(self, resolver: Resolver) -> Tap | None:
        """A call of `iter` or `next` is what a loop does: its argument is the target."""
        tap = self.tap(resolver)
        if tap is None or (tap.at_most or 0) > 1:
            return None
        sources = tuple(Source(From.TARGET) if each.kind is From.ARGUMENT else each for each in tap.sources)
        return replace(tap, sources=sources, at_most=None, at_least=0)

    def subject_types(self, resolver: Resolver) -> Types:
        """What the subject of the join point must be, if it is not a parameter."""
        point = self.case.points[0]
        if not point.argument or program.subject(point) in self.event.names:
            return None
        return resolver.classes(point.argument)

    def _rewrite(self, operation: Operation, tap: Tap, names: frozenset[str] = frozenset()) -> Rewrite:
        globs = [part.argument for part, positive in self.case.others if part.kind == "within" and positive]
        return Rewrite(operation, tap, names, tuple(prefix for glob in globs[:1] for prefix in _prefixes(glob)))


def make_cuts(spec: Spec, emit: Callable[[str], Callable[..., object]]) -> list[Cut]:
    """The cases of all events of a spec that are tied to points of a program."""
    cuts = []
    packages = program.imported_packages(spec.imports)
    types = {each.name: program.rooted(program.parse_types(each.type), packages) for each in spec.parameters}
    for event in map(woven, spec.events):
        if program.is_program(event.pointcut) and event.pointcut is not None:
            for case in _cases(event.pointcut, packages):
                cut = Cut(spec, types, event, case, emit(event.name), moment_of(event))
                flows = [part.argument for part, _ in case.others if part.kind == "cflow"]
                cut.flows = [_follow(spec, pointcut, packages) for pointcut in flows]
                cuts.append(cut)
    return cuts


def _cases(pointcut: Pointcut, packages: Set[str]) -> Iterator[Branch]:
    """The cases of a pointcut, in which names that begin with one of the packages mean that package."""

    def named(part: Pointcut) -> Pointcut:
        return replace(part, argument=program.rooted(part.argument, packages)) if part.kind in _NAMING else part

    for case in program.branches(pointcut):
        others = tuple((named(part), positive) for part, positive in case.others)
        yield Branch(tuple(map(named, case.points)), tuple(map(named, case.without)), others)


def moment_of(event: Event) -> Moment:
    """When an event is sent."""
    if event.advice == "around":
        return Moment.AROUND
    if event.advice == "after":
        if event.returning is not None:
            return Moment.RETURNING
        return Moment.AFTER if event.raising is None else Moment.RAISING
    return Moment.BEFORE


def _follow(spec: Spec, pointcut: Pointcut, packages: Set[str]) -> tuple[Flow, tuple[Cut, ...]]:
    flow = Flow()
    cuts = []
    for case in _cases(pointcut, packages):
        for moment, emit in ((Moment.BEFORE, flow.enter), (Moment.AFTER, flow.leave)):
            cuts.append(Cut(spec, {}, Event("cflow", pointcut=pointcut), case, emit, moment))
        given = Event("cflow", ("<made>",), returning="<made>", pointcut=pointcut)
        cuts.append(Cut(spec, {}, given, case, flow.made, Moment.RETURNING))
    return flow, tuple(cuts)


def _flow_of(cuts: tuple[Cut, ...]) -> Pointcut | None:
    return cuts[0].event.pointcut if cuts else None


def _code(value: object) -> FunctionType | None:
    """What is executed, if it was written in Python."""
    inner = getattr(value, "__func__", value)
    inner = getattr(inner, "__wrapped__", inner) if not isinstance(inner, FunctionType) else inner
    return inner if isinstance(inner, FunctionType) else None


def _lacks_accessor(name: str, cls: type) -> bool:
    """Is an attribute of that name kept in the instances?"""
    found = [bare.members(base)[name] for base in bare.bases(cls) if name in bare.members(base)]
    return not any(map(patterns.is_accessor, found))


def _lacks_method(name: str, cls: type) -> bool:
    """Has it no method of that name that an advice could stand for?"""
    holder = next((base for base in bare.bases(cls) if name in bare.members(base)), None)
    return holder is None or not bare.is_open(holder)


def _written_names(cls: type) -> frozenset[str]:
    return frozenset({bare.name(cls), f"{bare.module_name(cls)}.{bare.qualname(cls)}"})


def _prefixes(globs: Sequence[str]) -> Iterator[str]:
    """Globs of all modules that may have something in them that one of the globs matches."""
    for glob in globs:
        parts = glob.split(".")
        yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _any_function(point: Pointcut, function: FunctionType) -> bool:
    return any(patterns.picks_function(dotted, function) for dotted in point.argument)


def _any_member(point: Pointcut, scope: Scope, name: str) -> bool:
    return any(
        member.name == name
        for dotted in point.argument
        for member in patterns.find_members(dotted, scope, lambda value: True)
    )


def _any_module_function(point: Pointcut, scope: Scope, name: str) -> bool:
    return any(found == name for dotted in point.argument for _, found in patterns.find_functions(dotted, scope))
