"""Random specifications, systems and traces, small enough for brute force."""

from __future__ import annotations

from hypothesis import strategies as st
from logics.temporal_formulas import formulas

from mopsus.decentral.system import Link, System
from mopsus.logics.temporal.syntax import FUTURE

OWN = {"A": ("a0", "a1"), "B": ("b0",), "C": ("c0",)}
PROPOSITIONS = tuple(name for names in OWN.values() for name in names)


LIGHTS = """
[components]
switch = ["s"]
bulb = ["l"]
[monitors]
check = "G(s -> X(l U !s))"
"""
"""A lamp that must stay on while it is switched on, as a specification file."""


def events(components=OWN):
    """What each component observes at one timestamp, completely."""
    return st.fixed_dictionaries(
        {name: st.fixed_dictionaries(dict.fromkeys(own, st.booleans())) for name, own in components.items()}
    )


def traces(max_size=6):
    return st.lists(events(), max_size=max_size)


def monitors(*, cyclic=False, max_leaves=4):
    """The formulas of three monitors, one on each component, of which each refers to later ones, or to all others."""
    names = ("root", "m1", "m2")
    made = {}
    for number, (name, own) in enumerate(zip(names, OWN.values(), strict=True)):
        others = [other for other in names if other != name] if cyclic else names[number + 1 :]
        atoms = (*own, *(f"@{other}" for other in others))
        made[name] = formulas(FUTURE, atoms=atoms, bounded=True, max_leaves=max_leaves)
    return st.fixed_dictionaries(made)


PLACES = {"root": "A", "m1": "B", "m2": "C"}

networks = st.lists(st.tuples(st.sampled_from("mnop"), st.sampled_from("mnop")), max_size=6).map(
    lambda edges: {name: frozenset(other for one, other in edges if one == name) for name in "mnop"}
)
systems = st.lists(
    st.builds(Link, st.sampled_from("ABC"), st.sampled_from("ABC"), st.integers(0, 3).map(float)), max_size=6
).map(lambda links: System(dict.fromkeys("ABC", ()), tuple(links)))
pins = st.dictionaries(st.sampled_from("mnop"), st.sampled_from("ABC"), max_size=3)
