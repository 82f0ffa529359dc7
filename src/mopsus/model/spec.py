"""Stage 0: a specification, whatever surface language it was written in.

Spans say where a thing was written and take no part in equality, so that two specs are
equal when they mean the same, and printing and parsing give back an equal spec.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from mopsus.model.errors import Span

if TYPE_CHECKING:
    from mopsus.model.verdict import Verdict
    from mopsus.monitor import Monitor


class Severity(StrEnum):
    """How serious a verdict is; `error` makes it count as a violation."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class BindingMode(StrEnum):
    """Which instances may report, by how many parameters they bind."""

    ANY = "any-binding"
    MAXIMAL = "maximal-binding"
    FULL = "full-binding"


@dataclass(frozen=True, slots=True)
class Code:
    """Python written in a spec: dedented text, or a function when it came from a class.

    `function` takes the monitor instance first, then the values it names as parameters.
    """

    text: str
    span: Span | None = field(default=None, compare=False)
    function: Callable[..., Any] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A name that slices the trace. `by` overrides how its values are told apart."""

    name: str
    type: str | None = None
    by: str | None = None  # "identity" or "equality"; None: by the kind of value
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A monitor variable: every instance has its own copy, initialised by `initial`."""

    name: str
    type: str | None
    initial: Code
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Pointcut:
    """How a source recognises an event: a tree of `and`, `or`, `not` over primitives.

    A primitive has the name under which a source knows it (`named`, `row`, `bind`, …) and
    its argument in the form that this source's argument parser gives.
    """

    kind: str  # "and", "or", "not", or the primitive's name
    operands: tuple[Pointcut, ...] = ()
    argument: Any = None
    text: str = ""  # the primitive's argument as canonically written
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Event:
    """A declared event: its name, the parameters it binds in call order, the fields that follow them, and how it is
    recognised. Fields are data for properties that read it; they do not slice."""

    name: str
    parameters: tuple[str, ...] = ()
    creation: bool = False
    advice: str | None = None  # "before", "after", "around"; None: not tied to a program point
    returning: str | None = None  # a parameter (also in `parameters`) bound to the result; "": only if there is one
    raising: str | None = None  # a parameter (also in `parameters`) bound to the exception; "": only if there is one
    pointcut: Pointcut | None = None
    condition: Code | None = None
    action: Code | None = None
    fields: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """All that it has values for, in call order: parameters, then fields."""
        return self.parameters + self.fields


@dataclass(frozen=True, slots=True)
class Handler:
    """What to do, and how serious it is, when a property reaches `category`."""

    category: str
    code: Code | None = None
    severity: Severity | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Property:
    """A formula in some logic, with its handlers. `name` is unique in its spec."""

    name: str
    logic: str
    formula: str
    handlers: tuple[Handler, ...] = ()
    span: Span | None = field(default=None, compare=False)  # of the formula's text


@dataclass(frozen=True, slots=True)
class Modifiers:
    """The words before a spec's name."""

    binding: BindingMode = BindingMode.ANY
    connected: bool = False
    suffix: bool = False
    every: bool = False
    perthread: bool = False
    unsynchronized: bool = False
    decentralized: bool = False


@dataclass(frozen=True, slots=True)
class Spec:
    """A specification. Without properties it is *raw*: only its events' actions run."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    modifiers: Modifiers = Modifiers()
    variables: tuple[Variable, ...] = ()
    events: tuple[Event, ...] = ()
    properties: tuple[Property, ...] = ()
    severity: Severity | None = None  # of every handled category that has none of its own
    doc: str = ""  # a sentence or a link shown with each report
    imports: tuple[Code, ...] = ()  # import statements of the file, run before any of its code
    span: Span | None = field(default=None, compare=False)

    def event(self, name: str) -> Event:
        """The declared event of that name; `KeyError` if there is none."""
        for event in self.events:
            if event.name == name:
                return event
        raise KeyError(name)

    def monitor(
        self,
        on_verdict: Callable[[Verdict], object] | None = None,
        *,
        history: int = 32,
        max_live: int = 0,
        allow_code: bool = True,
    ) -> Monitor:
        """A new monitor for this spec; see `mopsus.Monitor`."""
        import mopsus  # the engine is a later stage, so only the top-level package may know it

        return mopsus.Monitor(self, on_verdict, history=history, max_live=max_live, allow_code=allow_code)
