"""Random machines with guards, as text, and traces for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from mopsus.model import Event, Parameter, Property, Spec

PARAMETERS = ("p", "q", "r")
STATES = ("init", "s1", "s2", "s3")
GUARDS = (
    "return n < 2",
    "return x == 1",
    "return None if x == 0 else n < 3",
    "return None",
    "return False",
    "pass",
    "n += x",
    "n = x\nif n: return False",
    "return x in seen",
    "return",
)
BLOCKS = (
    "n += 1",
    "n = x",
    "seen.append(x)",
    "seen = seen + [x]",
    "if n > 1: return 's1'",
    "if x: return 's2'\nn += 1",
    "m = n\nn = 0",
    "n = sum(k for k in range(x + 1))",
    "for n in range(x): pass",
    "import math\nn = math.floor(x)",
)


@dataclass(frozen=True)
class Happened:
    """An event of a trace."""

    event: str
    binding: dict[str, Any]
    values: dict[str, Any]
    """With those of the binding."""


@dataclass(frozen=True)
class Case:
    """A spec with one machine, and a trace."""

    spec: Spec
    trace: list[Happened]


@st.composite
def ends(draw: st.DrawFn, code: bool) -> str:
    parts = [
        "{" + draw(st.sampled_from(BLOCKS)) + "}" if code and draw(st.booleans()) else "",
        "act()" if code and draw(st.integers(0, 5)) == 0 else "",
        draw(st.sampled_from(("", *STATES))),
    ]
    return " ".join(filter(None, parts)) or draw(st.sampled_from(STATES))


@st.composite
def transitions(draw: st.DrawFn, events: tuple[str, ...], code: bool) -> str:
    guard = "{" + draw(st.sampled_from(GUARDS)) + "}" if code and draw(st.booleans()) else ""
    success = "success " + draw(ends(code)) if draw(st.integers(0, 4)) else ""
    failure = "failure " + draw(ends(code)) if not success or draw(st.booleans()) else ""
    return f"transition {{ event {draw(st.sampled_from(events))} {guard}\n {success} {failure} }}"


@st.composite
def machines(draw: st.DrawFn, events: tuple[str, ...], code: bool) -> str:
    texts = ["initialization { n = 0\n seen = [] }"] if code else []
    for state in STATES:
        words = [draw(st.sampled_from(("", "accepting", "non-accepting")))]
        if state != "init" and draw(st.integers(0, 3)) == 0:
            words.append("final")
        if code and draw(st.integers(0, 5)) == 0:
            words.append("act()")
        if state == "s3" and draw(st.booleans()):
            words.append("import transitions from state s2")
        body = "\n".join(draw(st.lists(transitions(events, code), max_size=4)))
        texts.append(f"state {state} {' '.join(words)} {{ {body} }}")
    return "\n".join(texts)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """With up to three parameters; in some, no code at all."""
    parameters = PARAMETERS[: draw(st.integers(0, 3))]
    code = draw(st.integers(0, 3)) > 0
    subsets = st.lists(st.sampled_from(parameters), unique=True) if parameters else st.just([])
    events = tuple(
        Event(name, tuple(draw(subsets)), fields=("x",)) for name in ("a", "b", "c", "d")[: draw(st.integers(1, 4))]
    )
    formula = draw(machines(tuple(event.name for event in events), code))
    spec = Spec(
        "Random", tuple(map(Parameter, parameters)), events=events, properties=(Property("it", "efsm", formula),)
    )
    trace = []
    for event in draw(st.lists(st.sampled_from(events), max_size=25)):
        binding = {name: draw(st.integers(1, 2)) for name in event.parameters}
        trace.append(Happened(event.name, binding, binding | {"x": draw(st.integers(0, 3))}))
    return Case(spec, trace)
