"""Random property files as trees."""

from __future__ import annotations

from hypothesis import strategies as st

from mopsus.model import Acceptance, Place, PlaceKind, Reading, ReadingKind
from mopsus.spec.cursor import Block, Word
from mopsus.spec.debugging import ADVISED
from mopsus.spec.prop.tree import Automaton, Declared, End, State, Transition, Value
from mopsus.spec.reading import TYPES

NAMES = ("init", "ready", "sink", "s2", "été")
CODE = (
    "",
    "x = 1",
    "return x",
    "pass  # a remark",
    "if x:\n    y = '}'\nelse:\n    return 'ready'",
    's = """one\n  two\n"""\nreturn s',
    "# only a remark",
    "x = {'a': [1, 2]}\n\nfor k in x:\n    print(f'{k}')",
    "value = " + " + ".join(["a_long_name"] * 12),
)
WHATS = {
    PlaceKind.CALL: (
        *("f", "Class.method", "ns::f", "line", "write", "success", "~Box", "std::vector<int>::at", "12 f"),
        *("f(char*)", "a\\b", 'operator""_s', 'it\'s "so"'),
    ),
    PlaceKind.LINE: ("12", "queue.c:12", "src/a-b.c:3", "a b.c:7"),
    PlaceKind.WRITE: ("counter", "q->size", "a.b[3]", "*p", "x + y", "success"),
    PlaceKind.READ: ("counter",),
    PlaceKind.ACCESS: ("board.cells",),
    PlaceKind.UPDATE: ("x", "x * 'y'"),
    PlaceKind.SYSCALL: ("write", "openat"),
    PlaceKind.SIGNAL: ("SIGUSR1",),
    PlaceKind.THROW: ("std::runtime_error", "ValueError"),
    PlaceKind.CATCH: ("T",),
    PlaceKind.END: ("",),
}

words = st.sampled_from(NAMES).map(lambda text: Word(text, 0))
functions = st.sampled_from(("report", "act")).map(lambda text: Word(text, 0))
blocks = st.sampled_from(CODE).map(lambda text: Block(text, (0,) * (text.count("\n") + 1)))
simple = st.one_of(
    st.sampled_from(("q", "size", "this")).map(lambda text: Reading(ReadingKind.NAME, text)),
    st.integers(1, 12).map(lambda index: Reading(ReadingKind.ARGUMENT, index=index)),
    st.just(Reading(ReadingKind.RESULT)),
    st.sampled_from(("q->size", 'a["\'"]', "x\\n")).map(lambda text: Reading(ReadingKind.EXPRESSION, text)),
    st.sampled_from(("len(x)", "{'a': 1}", "f'{x}'")).map(lambda text: Reading(ReadingKind.PYTHON, text)),
)
readings = st.recursive(
    simple,
    lambda inner: st.builds(
        lambda kind, reading: Reading(kind, inner=reading),
        st.sampled_from((ReadingKind.POINTEE, ReadingKind.ADDRESS, ReadingKind.CALLER)),
        inner,
    ),
    max_leaves=3,
)
typed = st.builds(
    lambda reading, kind: Reading(reading.kind, reading.text, reading.index, reading.inner, kind),
    readings,
    st.none() | st.sampled_from(TYPES),
)
values = st.builds(Value, st.sampled_from(("q", "n", "ret", "caller")).map(lambda text: Word(text, 0)), typed)


@st.composite
def places(draw: st.DrawFn) -> Place:
    kind = draw(st.sampled_from(sorted(PlaceKind)))
    return Place(kind, draw(st.sampled_from(WHATS[kind])), kind in ADVISED and draw(st.booleans()))


declared = st.builds(Declared, places(), st.lists(values, max_size=3, unique_by=lambda value: value.name).map(tuple))
ends = st.builds(End, st.none() | blocks, st.none() | functions, st.none() | words).filter(
    lambda end: end.block is not None or end.action is not None or end.target is not None
)
transitions = st.builds(Transition, declared, st.none() | blocks, st.none() | ends, st.none() | ends)
states = st.builds(
    State,
    words,
    st.sampled_from(list(Acceptance)),
    st.booleans(),
    st.none() | functions,
    st.none() | words,
    st.lists(transitions, max_size=3).map(tuple),
)
automata = st.builds(
    Automaton,
    st.lists(st.sampled_from(("q", "n")).map(lambda text: Word(text, 0)), max_size=2, unique=True).map(tuple),
    st.none() | blocks,
    st.lists(states, min_size=1, max_size=4).map(tuple),
)
