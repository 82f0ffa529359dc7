"""Stage 4: what in a running program a pattern of names picks.

A pattern matches the *last* parts of a full name `package.module.Class.method`, or if it is `whole` all of them. Also
matched is what is reached through
a module by the names of the pattern, wherever it was defined: `asyncio.Future` is `_asyncio.Future`. A single name that
is a builtin means that builtin and nothing else. A pattern that begins with a wildcard picks from the program's own
code only; Mopsus itself is never picked from.
"""

from __future__ import annotations

import builtins
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import PurePath
from types import BuiltinFunctionType, ClassMethodDescriptorType, FunctionType, MethodType, ModuleType
from weakref import ref

from mopsus import _core
from mopsus.events.weave import bare
from mopsus.events.weave.inherited import is_inherited
from mopsus.events.weave.origin import is_ours, is_own
from mopsus.spec.program import Dotted, Pattern

_MAIN = frozenset({"__main__", "__mp_main__"})
_FACTORIES: dict[str, Callable[[], object]] = {"Lock": threading.Lock, "RLock": threading.RLock}
"""Functions of `threading` that stand for the classes of what they make."""
_WRAPPED: tuple[type, ...] = (classmethod, staticmethod, ClassMethodDescriptorType, _core.Advice)
_ALIASES: dict[tuple[str, ...], set[str]] = {}
"""By path, the names of the classes that it leads to, if they are called otherwise."""
ALIAS_NAMES: set[str] = set()
"""All these names."""
_REGISTERED: bare.WeaklyById[type, dict[int, ref[type]]] = bare.WeaklyById()
"""By class, the abstract classes that it was registered with, by identity."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: everything that is loaded, or what has just come to be."""

    modules: Sequence[ModuleType] = ()
    classes: Sequence[type] = ()
    functions: Sequence[FunctionType] = ()
    """Functions that were just defined and stand nowhere yet."""
    _named: dict[str, list[type]] = field(default_factory=dict, init=False, compare=False)
    _called: dict[str, list[ModuleType]] = field(default_factory=dict, init=False, compare=False)
    _names: Set[str] | None = field(default=None, init=False, compare=False)

    def named(self, name: str) -> Sequence[type]:
        """The classes of that name."""
        if not self._named:
            for cls in self.classes:
                self._named.setdefault(bare.name(cls), []).append(cls)
        return self._named.get(name, ())

    def called(self, name: str) -> Sequence[ModuleType]:
        """The modules whose names end in that one."""
        if not self._called:
            for module in self.modules:
                full = module.__name__
                for last in names_of(module) if full in _MAIN else (full.rpartition(".")[2],):
                    self._called.setdefault(last, []).append(module)
        return self._called.get(name, ())

    def may_have(self, dotted: Dotted) -> bool:
        """Is there a class that a pattern may pick, by its own name or that of a base?"""
        if self._names is None:
            object.__setattr__(self, "_names", names_with_bases(self.classes))
        assert self._names is not None
        last = dotted.parts[-1]
        return "*" in last or last in self._names or not self._names.isdisjoint(_ALIASES.get(dotted.parts, ()))


@dataclass(frozen=True, slots=True)
class Member:
    """A class attribute: picked through class `picked`, whose instances are the targets, it stands in `holder`."""

    holder: type
    name: str
    picked: type
    entry: bool
    """Subclasses were asked for, so that a call by `super()` would count twice."""


def everything() -> Scope:
    """All modules and classes that there are."""
    is_own_code.cache_clear()
    _loaded.cache_clear()
    return Scope(loaded_modules(), list(_all_classes()))


def forget() -> None:
    """Begin anew: what names stood for when something was woven before may be something else by now."""
    _class_names_of.cache_clear()


def release() -> None:
    """Keep no module of the program alive."""
    _loaded.cache_clear()


def loaded_modules() -> list[ModuleType]:
    """The modules that are loaded, but for our own."""
    modules = list(sys.modules.items())
    return [module for name, module in modules if isinstance(module, ModuleType) and not is_ours(name)]


def classes_of(module: ModuleType) -> list[type]:
    """The classes that a module defines, at any depth."""
    found: dict[int, type] = {}

    def walk(values: Iterable[object]) -> None:
        for value in values:
            if bare.is_class(value) and id(value) not in found and bare.module_name(value) == module.__name__:
                found[id(value)] = value
                walk(list(bare.members(value).values()))

    walk(list(vars(module).values()))
    return list(found.values())


def note_registered(abstract: type, cls: type) -> None:
    """Know that a class was registered with an abstract one."""
    with_it = _REGISTERED.get(cls)
    if with_it is None:
        with_it = _REGISTERED.set(cls, {})
    with_it[id(abstract)] = ref(abstract)


def ancestors(cls: type) -> list[type]:
    """The class and its bases, then the abstract classes that one of them was registered with, and their bases."""
    found = list(bare.bases(cls))
    for base in found:
        for weak in (_REGISTERED.get(base) or {}).values():
            if (abstract := weak()) is not None:
                known = set(map(id, found))
                found += [each for each in bare.bases(abstract) if id(each) not in known]
    return found


def is_finished(cls: type) -> bool:
    """Is it bound to its name, so that no decorator will still change it?"""
    value: object = sys.modules.get(bare.module_name(cls))
    for part in bare.qualname(cls).split("."):
        value = (bare.members(value) if bare.is_class(value) else getattr(value, "__dict__", {})).get(part)
    return value is cls


def names_with_bases(classes: Iterable[type]) -> set[str]:
    """The names of classes and of all their bases, those that they were registered with included."""
    return {bare.name(base) for cls in classes for base in ancestors(cls)}


def names_of(module: ModuleType) -> set[str]:
    """What a pattern may call a module: the last part of its name."""
    return {parts[-1] for parts in _module_names(module)}


def aliases(parts: tuple[str, ...]) -> Set[str]:
    """The own names of classes that are reached by a path of other names; they become more as more is loaded."""
    return _ALIASES.setdefault(parts, set())


def find_classes(pattern: Pattern, scope: Scope) -> list[type]:
    """The classes in scope that a pattern picks, those that it names by `+` included."""
    found: dict[int, type] = {}
    for dotted in pattern:
        names = _class_names_of(dotted.parts, dotted.whole)
        plus = dotted.plus is not None
        picked = names.reached(scope)
        if builtins in scope.modules and "*" not in dotted.parts[-1]:
            # Where everything is in scope, classes are found at once, by name and as subclasses.
            picked += filter(names.pick, scope.named(dotted.parts[-1]))
        elif scope.may_have(dotted):
            for cls in scope.classes:
                if names.pick(cls) or (plus and any(map(names.pick, ancestors(cls)[1:]))):
                    found.setdefault(id(cls), cls)
        for cls in picked:
            for each in with_subclasses(cls) if plus else (cls,):
                found.setdefault(id(each), each)
    return list(found.values())


def find_members(dotted: Dotted, scope: Scope, wanted: Callable[[object], bool]) -> Iterator[Member]:
    """The attributes of classes that a pattern `Class.name` picks; `wanted` looks at what stands there."""
    *owner, name = dotted.parts
    if not owner:
        return
    plus = dotted.plus is not None
    picked = _class_names_of(tuple(owner), dotted.whole)
    for cls in find_classes((dotted.owner,), scope):
        for each in [name] if "*" not in name else _names_of(cls, name, own="*" in owner[0]):
            holder = owner_of(cls, each)
            if holder is None or not wanted(bare.members(holder)[each]):
                continue
            if plus and holder is not cls and any(map(picked.pick, bare.bases(cls)[1:])):
                # A subclass that does not override it: the class that it has it from is picked itself, or is a mixin.
                family = [base for base in bare.bases(cls)[1:] if any(map(picked.pick, bare.bases(base)))]
                if any(holder is each for base in family for each in bare.bases(base)):
                    continue
            yield Member(holder, each, cls, plus)


def find_functions(dotted: Dotted, scope: Scope) -> Iterator[tuple[ModuleType, str]]:
    """The functions of modules that a pattern picks, by where they stand."""
    *owner, name = dotted.parts
    if dotted.plus is not None:
        return
    if not owner and hasattr(builtins, name):
        if builtins in scope.modules and is_function(getattr(builtins, name)):
            yield builtins, name
        return
    wild = "*" in name
    matches = _matcher(name)
    for module in scope.called(owner[-1]) if owner and "*" not in owner[-1] else scope.modules:
        if owner and not _matches(_module_names(module), owner, dotted.whole):
            continue
        if (not owner or "*" in owner[0]) and not is_own_code(module.__name__):
            continue
        there = vars(module)
        for each in [name] if not wild else [each for each in list(there) if matches(each)]:
            value = there.get(each)
            if is_function(value) and ((owner and not wild) or bare.module_of(value) == module.__name__):
                yield module, each


def picks_function(dotted: Dotted, function: FunctionType) -> bool:
    """Does a pattern pick a function of a module that was just defined?"""
    *owner, name = dotted.parts
    if dotted.plus is not None or not _matcher(name)(function.__name__) or (not owner and hasattr(builtins, name)):
        return False
    module = sys.modules.get(function.__module__)
    return not owner or (module is not None and _matches(_module_names(module), owner, dotted.whole))


def is_function(value: object) -> bool:
    """Is it a function of a module, of Python or C? A method of a hidden object is one, as in `random`."""
    return issubclass(type(value), FunctionType | BuiltinFunctionType | MethodType | _core.Advice)


def is_method(value: object) -> bool:
    """Is it something that a class calls as a method?"""
    if bare.is_class(value) or is_accessor(value) or not (callable(value) or bare.looked_up(value, "__get__")):
        return False
    return not isinstance(value, BuiltinFunctionType) or value.__name__ == "__new__"


def is_plain_method(value: object) -> bool:
    """The same for one that was not asked for by its name: an object that can also be called, but is more than a
    function, such as `typing.Callable`, is none."""
    return is_method(value) and (bare.is_function_like(value) or issubclass(type(value), _WRAPPED))


def is_accessor(value: object) -> bool:
    """Is it something that a class reads or writes an attribute by, such as a property or a slot?"""
    return not bare.is_class(value) and bare.looked_up(value, "__set__") and bare.looked_up(value, "__get__")


def owner_of(cls: type, name: str) -> type | None:
    """The class in which an attribute of a class is defined by the program; None if there is none."""
    return next((base for base in bare.bases(cls) if owns(base, name)), None)


def owns(cls: type, name: str) -> bool:
    """Does the program define an attribute in this very class?"""
    members = bare.members(cls)
    if name not in members:
        return False
    value = members[name]
    return not is_inherited(_core.advised(value) if issubclass(type(value), _core.Advice) else value)


def with_subclasses(cls: type) -> Iterator[type]:
    """The class and all subclasses there are now, those that were registered with one of them included."""
    stack, seen = [cls], {id(cls)}
    while stack:
        each = stack.pop()
        yield each
        registered = bare.registered(each)
        for sub in registered:
            note_registered(each, sub)
        for sub in (*type.__subclasses__(each), *registered):
            if id(sub) not in seen and not is_ours(bare.module_name(sub)):
                seen.add(id(sub))
                stack.append(sub)


@cache
def is_own_code(module: str) -> bool:
    """Does a module of that name belong to the program, rather than to Python or an installed package?"""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top in sys.builtin_module_names or is_ours(module):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return module in _MAIN or file is None or is_own(file)


def full_name(cls: type) -> str:
    """`module.qualname` of a class, without what it is local to."""
    return f"{bare.module_name(cls)}.{bare.qualname(cls).replace('<locals>.', '')}"


def _expression(glob: str) -> str:
    """The regular expression of a glob: what stands before its last `*` is taken where it is first found."""
    first, *pieces = (re.escape(piece).replace(r"\?", ".") for piece in glob.split("*"))
    if not pieces:
        return first + r"\Z"
    return first + "".join(f"(?>.*?{piece})" for piece in pieces[:-1]) + f".*{pieces[-1]}\\Z"


@dataclass(slots=True)
class Glob:
    """A glob of modules or functions; `*` also stands for dots."""

    text: str
    _match: Callable[[str], object] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._match = re.compile(_expression(self.text)).match

    def __call__(self, module: str, qualname: str) -> bool:
        """Does it match the module, or a function, class or method of it?"""
        parts = [module, *qualname.replace("<locals>.", "").split(".")]
        return any(self._match(".".join(parts[:length])) for length in range(1, len(parts) + 1))


def _all_classes() -> Iterator[type]:
    return (cls for cls in with_subclasses(object) if cls is not object)


@cache
def _matcher(part: str) -> Callable[[str], bool]:
    """Does a name match a part of a pattern? A wildcard at its beginning does not stand for two underscores."""
    if "*" not in part:
        return part.__eq__
    match = re.compile(_expression(part)).match
    hidden = not part.startswith("__")
    return lambda name: match(name) is not None and not (hidden and name.startswith("__") and name.endswith("__"))


def _module_names(module: ModuleType) -> list[list[str]]:
    """The parts of a module's name; the main program also has the name that it would have when imported."""
    names = [module.__name__.split(".")]
    if module.__name__ in _MAIN:
        if spec := getattr(module, "__spec__", None):
            names.append(spec.name.removesuffix(".__main__").split("."))
        elif file := getattr(module, "__file__", None):
            names.append([PurePath(file).stem])
    return names


def _matches(names: Iterable[list[str]], parts: Sequence[str], whole: bool) -> bool:
    """Are the parts the last of one of the names, or if `whole` all?"""
    return any(
        (len(name) == len(parts) if whole else len(name) >= len(parts))
        and all(_matcher(p)(n) for p, n in zip(parts, name[-len(parts) :], strict=True))
        for name in names
    )


def _class_names(cls: type) -> list[list[str]]:
    qualname = [part for part in bare.qualname(cls).split(".") if part != "<locals>"]
    name = bare.module_name(cls)
    module = sys.modules.get(name)
    modules = _module_names(module) if isinstance(module, ModuleType) else [name.split(".")]
    return [[*names, *qualname] for names in modules]


class _ClassNames:
    """Which classes the names of a pattern are those of."""

    def __init__(self, parts: tuple[str, ...], whole: bool) -> None:
        self._parts = parts
        self._whole = whole
        self._builtin = getattr(builtins, parts[0], None) if len(parts) == 1 else None
        self._last = _matcher(parts[-1])
        self._wild = "*" in parts[0]
        exact = not any("*" in part for part in parts)
        self._endings = {".".join(parts[:length]): parts[length:] for length in range(1, len(parts))} if exact else {}
        """How the name of a module may end, or be, and by which names the class is reached from there."""
        self._last_parts = tuple(dict.fromkeys(ending.rpartition(".")[2] for ending in self._endings))
        self._named: bare.WeaklyById[type, bool] = bare.WeaklyById()
        self._by_path: bare.WeaklyById[type, bool] = bare.WeaklyById()
        self.reached(_loaded(len(sys.modules)))

    def pick(self, cls: type) -> bool:
        """Has the class these names, or is it reached by them?"""
        if isinstance(self._builtin, type):
            return cls is self._builtin
        named = self._named.get(cls)
        if named is None:
            named = self._named.set(cls, self._is_named(cls))
        return named or self._by_path.get(cls) is not None

    def _is_named(self, cls: type) -> bool:
        name = bare.module_name(cls)
        if not self._last(bare.name(cls)) or is_ours(name) or (self._wild and not is_own_code(name)):
            return False
        return _matches(_class_names(cls), self._parts, self._whole)

    def reached(self, scope: Scope) -> list[type]:
        """Classes that one of the modules has under the names of the pattern, wherever they were defined."""
        found = [self._builtin] if isinstance(self._builtin, type) and builtins in scope.modules else []
        for module in [module for part in self._last_parts for module in scope.called(part)]:
            name = module.__name__
            for ending, rest in self._endings.items():
                if name == ending or (not self._whole and name.endswith("." + ending)):
                    found += self._within(module, rest)
        for cls in found:
            self._by_path.set(cls, True)
            if not self._last(bare.name(cls)):
                _ALIASES.setdefault(self._parts, set()).add(bare.name(cls))
                ALIAS_NAMES.add(bare.name(cls))
        return found

    def _within(self, module: ModuleType, parts: Sequence[str]) -> Iterator[type]:
        value: object = module
        for part in parts:
            there = bare.members(value) if bare.is_class(value) else getattr(value, "__dict__", {})
            value = there.get(part)
        if bare.is_class(value):
            if not is_ours(bare.module_name(value)):
                yield value
        elif module is threading and value is _FACTORIES.get(parts[-1], module):
            yield type(_FACTORIES[parts[-1]]())


_class_names_of = cache(_ClassNames)


@lru_cache(maxsize=1)
def _loaded(count: int) -> Scope:
    """The modules that are loaded; `count` is how many there are."""
    return Scope(loaded_modules())


def _names_of(cls: type, name: str, *, own: bool) -> list[str]:
    """Names that match, of attributes of a class; `own`: of those that code of the program has given it."""
    matches = _matcher(name)
    bases = [each for each in bare.bases(cls) if each is not object]
    if own:
        bases = [each for each in bases if is_own_code(bare.module_name(each))]
    return [each for each in {each: None for base in bases for each in bare.members(base)} if matches(each)]
