"""Stage 4: weaving from within a program: `mopsus.weave` for a while, `mopsus.install` until its end."""

from __future__ import annotations

import atexit
import functools
import inspect
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar, cast

from mopsus.contracts import Switches, catalogue, choose, read_settings
from mopsus.contracts.catalogue import by_module, loops_of
from mopsus.events.component.watching import Watching, watch_inline
from mopsus.events.weave.weaver import WeaveError, Weaver, require_program_events
from mopsus.logics import CompiledSpec
from mopsus.model import Fault, Faults, Spec, Unseen, Verdict
from mopsus.monitor import Monitor
from mopsus.monitor.listener import OnVerdict
from mopsus.monitor.stats import Stats
from mopsus.spec import load

if TYPE_CHECKING:
    from mopsus.events.component.inline import Inline

P = ParamSpec("P")
R = TypeVar("R")

Specs: TypeAlias = "Spec | CompiledSpec | Mapping[str, Spec] | str | os.PathLike[str]"
"""A spec, several by name, or the path of a file with some."""


class weave:
    """Watch the program against specs, within a `with` block or in every call of a function that it decorates.

    Specs about components (`.hml` files, and `.mop` files with pointcuts such as `recv(p, m)`) hear of the threads,
    tasks, processes and actors of this process.

    `contracts` are ready-made specs to watch as well, by library, group or name: `"stdlib,-UnsafeIter"`.

    Verdicts go to `on_verdict`, or collect in `verdicts`, but for those that a comment `# mopsus: ignore[Name]` or the
    settings of the project switch off; `suppressed` counts these by spec. Errors in the code of specs are in `faults`.

    What is defined or imported in the block is woven too; code that was imported before is not rewritten, so that of it
    only calls, properties and creations are seen. Leaving the block sends `endProgram()` and puts everything back.
    """

    def __init__(
        self,
        *specs: Specs,
        contracts: str | None = None,
        on_verdict: OnVerdict | None = None,
        history: int = 32,
        allow_code: bool = True,
    ) -> None:
        self.verdicts: list[Verdict] = []
        self._chosen = contracts
        self._contracts = choose(contracts) if contracts is not None else []
        self._compiled = _all(specs, needed=contracts is None)
        self._on_verdict = on_verdict if on_verdict is not None else self.verdicts.append
        self._switches = Switches(read_settings(Path.cwd()), self._known)
        self._history, self._allow_code = history, allow_code
        self._weaver: Weaver | None = None
        self._woven: Weaver | None = None
        self._inline: Inline | None = None
        self._watching = Watching()
        self._faults = Faults()

    def start(self) -> weave:
        """Begin; the same as entering the block."""
        if self._weaver is not None:
            raise WeaveError("this is being woven already", hint="make another `weave`")
        monitors = {_name(each): self._monitor(each, trusted=self._allow_code) for each in self._compiled}
        weaver = Weaver(monitors, by_module(self._contracts, self._monitor), loops_of(self._contracts))
        weaver.start()
        self._weaver = weaver
        self._inline = watch_inline(monitors.values(), self._watching)
        return self

    def _monitor(self, spec: Spec | CompiledSpec, *, trusted: bool = True) -> Monitor:
        return Monitor(spec, self._reporting(), history=self._history, allow_code=trusted)

    def _reporting(self) -> OnVerdict:
        return self._switches.before(self._on_verdict)

    def _known(self) -> set[str]:
        return {*catalogue(), *map(_name, self._compiled)}

    def stop(self) -> dict[str, Stats]:
        """End; what the monitor of each spec has counted. Safe to call twice."""
        weaver, self._weaver = self._weaver, None
        if weaver is None:
            return {}
        if self._inline is not None:
            self._inline.stop()
        weaver.stop(ended=True)
        for monitor in weaver.monitors.values():
            monitor.close()
            for fault in monitor.faults:
                self._faults.add(fault)
        self._woven = weaver
        return {name: monitor.stats() for name, monitor in weaver.monitors.items()}

    @property
    def suppressed(self) -> Counter[str]:
        """By spec, how many verdicts were switched off."""
        return self._switches.suppressed

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Errors in the code of the specs, with the first traceback of each; also logged once each."""
        return tuple(Faults([*self._faults, *(one for monitor in self.monitors.values() for one in monitor.faults)]))

    @property
    def unseen(self) -> list[Unseen]:
        """The events of the specs that never occurred, and of each whether it could have; without those of contracts.

        Of the time from `start` to `stop`, or to now.
        """
        from mopsus.events.weave.unseen import find_unseen
        from mopsus.model.unseen import with_conditions

        weaver = self._weaver or self._woven
        if weaver is None:
            return []
        counts = {_name(each): weaver.monitors[_name(each)].stats() for each in self._compiled}
        seen = {name: stats.occurred for name, stats in counts.items()}
        return with_conditions(find_unseen(weaver, seen, whole=False), counts)

    @property
    def monitors(self) -> Mapping[str, Monitor]:
        """The monitors by name of their spec, while it is being woven."""
        return {} if self._weaver is None else self._weaver.monitors

    def explain(self) -> str:
        """How each event is observed, while it is being woven."""
        from mopsus.events.weave.explain import explain

        return "" if self._weaver is None else explain(self._weaver)

    def __enter__(self) -> weave:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """The function, each call of which is watched, to its end if it is a coroutine's.

        Verdicts of all calls collect in `verdicts`.
        """

        def again() -> weave:
            one = weave(
                *self._compiled,
                contracts=self._chosen,
                on_verdict=self._on_verdict,
                history=self._history,
                allow_code=self._allow_code,
            )
            one._switches = self._switches
            one._watching = self._watching
            one._faults = self._faults
            return one

        @functools.wraps(function)
        def watched(*args: P.args, **kwargs: P.kwargs) -> R:
            with again():
                return function(*args, **kwargs)

        @functools.wraps(function)
        async def watched_coroutine(*args: P.args, **kwargs: P.kwargs) -> object:
            with again():
                return await cast(Awaitable[object], function(*args, **kwargs))

        return cast(Callable[P, R], watched_coroutine) if inspect.iscoroutinefunction(function) else watched


def install(
    *specs: Specs,
    contracts: str | None = None,
    on_verdict: OnVerdict | None = None,
    history: int = 32,
    allow_code: bool = True,
) -> weave:
    """Watch the program against specs and contracts from now to its end.

    Verdicts go to `on_verdict`, or collect in `.verdicts`.

    Call it first of all in an application: what is imported afterwards is woven in full. `.stop()` ends it early.
    """
    woven = weave(*specs, contracts=contracts, on_verdict=on_verdict, history=history, allow_code=allow_code).start()
    atexit.register(woven.stop)
    return woven


def _name(spec: Spec | CompiledSpec) -> str:
    return spec.name if isinstance(spec, Spec) else spec.spec.name


def _all(specs: tuple[Specs, ...], *, needed: bool) -> list[Spec | CompiledSpec]:
    found: dict[str, Spec | CompiledSpec] = {}
    for given in specs:
        for each in _several(given):
            name = _name(each)
            if name in found:
                raise WeaveError(f"there are two specs named {name}", hint="rename one of them")
            found[name] = each
    if needed and not found:
        raise WeaveError("there is nothing to weave", hint="give a spec, or the path of a file with some")
    require_program_events(each if isinstance(each, Spec) else each.spec for each in found.values())
    return list(found.values())


def _several(given: Specs) -> list[Spec | CompiledSpec]:
    match given:
        case Spec() | CompiledSpec():
            return [given]
        case Mapping():
            return [one for each in given.values() for one in _several(each)]
        case str() | os.PathLike():
            return list(load(given).values())
    raise WeaveError(f"this is no specification: {given!r}", hint="take one from `mopsus.load(file)`")
