"""Stage 4: which events of a program's specs were not seen, and which could not be, as they name what is not there."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from types import ModuleType

from mopsus.events.weave.weaver import Outcome, Weaver
from mopsus.model import Event, Spec, Unseen
from mopsus.spec.component import about_components
from mopsus.spec.diagnostics import suggest
from mopsus.spec.program import CALLS, LIFES, Dotted, is_program

SHOWN = 8
"""How many names a message lists."""


def find_unseen(weaver: Weaver, seen: Mapping[str, Mapping[str, int]], *, whole: bool) -> list[Unseen]:
    """The events of the specs that were not seen. `seen` counts events by spec, of those specs that matter.

    `whole`: all of the program ran, so that a name that stood for nothing stands for nothing.
    """
    found: list[Unseen] = []
    for name, counts in seen.items():
        spec = weaver.monitors[name].spec
        if not about_components(spec):
            outcomes = [each for each in weaver.outcomes if each.cut.spec.name == name]
            found += [
                _of_event(spec, event, outcomes, whole=whole) for event in spec.events if not counts.get(event.name)
            ]
    return found


def add_seen(
    here: Mapping[str, Mapping[str, int]], elsewhere: Mapping[str, Mapping[str, int]]
) -> dict[str, Mapping[str, int]]:
    """What was seen in this process and in others, of the specs of this one."""
    return {name: Counter(counts) + Counter(elsewhere.get(name, {})) for name, counts in here.items()}


def _of_event(spec: Spec, event: Event, outcomes: Iterable[Outcome], *, whole: bool) -> Unseen:
    if not is_program(event.pointcut):
        reason = "it names no point of a program, such as call(Class.method)"
        return Unseen(spec.name, event.name, possible=False, reason=reason, span=spec.span)
    own = [each for each in outcomes if each.cut.event.name == event.name]
    if any(each.places or each.rewrites or each.cut.kind in LIFES for each in own):
        return Unseen(spec.name, event.name, span=spec.span)
    for outcome in own:
        for place, why in outcome.obstacles.items():
            return Unseen(spec.name, event.name, possible=False, reason=f"not at {place}: {why}", span=spec.span)
    named = [dotted for outcome in own for dotted in _names(outcome)]
    reasons = [_missing(dotted) for dotted in named]
    reason, hint = next(((why, what) for why, what, _ in reasons if why), ("", ""))
    possible = not reasons or any(may for _, _, may in reasons)
    if possible and whole and named and not any(_may_come(dotted) for dotted in named):
        possible = False
    return Unseen(spec.name, event.name, possible=possible, reason=reason, hint=hint, span=spec.span)


def _names(outcome: Outcome) -> Iterator[Dotted]:
    """What the case names: what is called or made, else whatever it is about."""
    for point in outcome.cut.case.points:
        if point.kind in CALLS | {"new"}:
            yield from point.argument


def _missing(dotted: Dotted) -> tuple[str, str, bool]:
    """Why a name stands for nothing, what may have been meant, and whether it may well come to be."""
    parts = dotted.parts
    for count in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:count]))
        if isinstance(module, ModuleType):
            return _lacking(module, parts[count:], dotted)
    if _is_installed(parts[0]) and len(parts) > 1:
        return f"the program never imported `{parts[0]}`, of `{dotted}`", "", True
    return f"nothing of the name `{dotted}` was defined or imported", _nearest_class(dotted), True


def _lacking(module: ModuleType, rest: tuple[str, ...], dotted: Dotted) -> tuple[str, str, bool]:
    """The same of a name in a module that is loaded."""
    holder: object = module
    path = module.__name__
    for name in rest:
        if "*" in name:
            break
        if isinstance(holder, ModuleType) and "__getattr__" in vars(holder) and name not in vars(holder):
            break  # it makes its names as they are asked for
        try:
            inner = inspect.getattr_static(holder, name)
        except AttributeError:
            near = suggest(name, dir(holder))
            hint = f"did you mean `{path}.{near}`?" if near else f"it has {_listed(dir(holder))}"
            return f"`{path}` has no `{name}`", hint, False
        holder, path = inner, f"{path}.{name}"
    return f"`{dotted}` is not what the event is about", "", True


def _may_come(dotted: Dotted) -> bool:
    """Is what it names in a module that is installed, and was merely not imported?"""
    return len(dotted.parts) > 1 and dotted.parts[0] not in sys.modules and _is_installed(dotted.parts[0])


def _is_installed(name: str) -> bool:
    if name in sys.modules or "*" in name:
        return name in sys.modules
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _nearest_class(dotted: Dotted) -> str:
    if len(dotted.parts) < 2:
        return ""
    owner, member = dotted.parts[-2:]
    known: dict[str, list[type]] = {}
    for module in [*sys.modules.values()]:
        if isinstance(module, ModuleType) and module.__name__.partition(".")[0] != "mopsus":
            for name, value in [*vars(module).items()]:
                if isinstance(value, type) and value.__module__ == module.__name__:
                    known.setdefault(name, []).append(value)
    for cls in known.get(owner, ()):
        if any(member in vars(base) for base in cls.__mro__):
            return f"did you mean `{cls.__module__}.{owner}.{member}`?"
    if owner in known:
        return f"there is a class `{owner}`, without `{member}`"
    near = get_close_matches(owner, known, n=1, cutoff=0.8)
    return f"did you mean `{near[0]}.{member}`?" if near else ""


def _listed(names: Iterable[str]) -> str:
    public = [name for name in names if not name.startswith("_")]
    return ", ".join(f"`{name}`" for name in public[:SHOWN]) + (", …" if len(public) > SHOWN else "")
