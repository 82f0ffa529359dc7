"""What the slices of one monitor did last: whence each came, and by which transition.

A monitor tells of every transition of a guarded machine if it is asked to. It tells nothing of other machines, nor of
what happens inside of the program: what moved there is found by comparing where slices are with where they were.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from mopsus.interactive.live.crowd import Crowd
from mopsus.interactive.live.picture import Automaton, Node, Now, Slice
from mopsus.interactive.live.shown import show_values
from mopsus.model import Acceptance, GuardedMachine, Machine, TableMachine, Verdict
from mopsus.model.text import printable
from mopsus.monitor import Slice as Instance
from mopsus.monitor import Standing
from mopsus.verdict import explain

if TYPE_CHECKING:
    from mopsus.interactive.watch import Move, Watch
    from mopsus.model import Change

MOST_SLICES = 300
"""Of more, only those that moved last are in a picture."""
_SCALARS = (int, float, bool, str, bytes)
_FEW = 64
"""So many slices are compared after every event."""
_MANY = 2000
"""More are seen from afar, and not looked through again if there was no event since."""

Key = tuple[int, tuple[tuple[str, object], ...]]
"""The number of a property, and a binding."""
Slices = list[tuple[Key, Instance]]
Counts = list[dict[int, int]]
"""By property, how many slices are at each node."""
Looked = tuple[tuple[Now, ...], tuple[Slice, ...], int]
"""Where slices are together, one by one, and how many they are."""


@dataclass(frozen=True, slots=True)
class Track:
    """Of one slice."""

    node: int | None
    previous: int | None = None
    edge: int | None = None
    moved: int = 0
    """The number of the change in which it moved; 0: in none."""


class Trail:
    """Follows the slices of a monitor."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._machines = [watch.machine(declared.name) for declared in watch.spec.properties]
        self._indexes = {declared.name: index for index, declared in enumerate(watch.spec.properties)}
        self.automata = tuple(
            _automaton(watch, declared.name, machine)
            for declared, machine in zip(watch.spec.properties, self._machines, strict=True)
        )
        self._nodes = [{node.name: number for number, node in enumerate(each.nodes)} for each in self.automata]
        self._tells = all(isinstance(machine, GuardedMachine) for machine in self._machines)
        self.forget()

    def forget(self) -> None:
        """The monitor goes back to a checkpoint, or begins anew."""
        self._tracks: dict[Key, Track] = {}
        self._over: dict[Key, Slice] = {}
        self._texts: dict[Key, dict[str, str]] = {}
        self._last: list[tuple[int, int | None, int | None]] = []
        self._changes = 0
        self._seen: tuple[int, Looked] | None = None
        self._crowd = Crowd(MOST_SLICES)
        if self._is_crowded():
            self._crowd.look(self._watch.monitor.standing())
        else:
            self._compare(begins=True)

    def happened(self, moves: Sequence[Move]) -> None:
        """The monitor was told of an event, and this is what its slices did."""
        changes = [move.change for move in moves if move.change is not None]
        if changes:
            self._changes += 1
            self._last = [self._taken(change) for change in changes]
        elif not self._tells and len(self._tracks) <= _FEW:
            self._compare()

    def spoke(self, verdict: Verdict, history: int, *, stops: bool) -> None:
        """The monitor has given a verdict, which may say more of the last transition than comparing does; `stops`: and
        the program stands for it."""
        index = self._indexes[verdict.property]
        machine = self._machines[index]
        if isinstance(machine, TableMachine) and verdict.final:
            self._end(index, machine, verdict, history)
        elif (
            isinstance(machine, GuardedMachine) and verdict.witness and (self._watch.fed or (stops and not self._last))
        ):
            if not self._is_crowded():
                self._compare()
            self._arrive(index, self._nodes[index][verdict.category], verdict.witness[-1].event)

    def _end(self, index: int, machine: TableMachine, verdict: Verdict, history: int) -> None:
        """An instance has come to where it stays: it is not among the slices any more."""
        names = [step.state for step in explain(verdict, machine, history).steps]
        nodes = [machine.initial, *(None if name is None else self._nodes[index].get(name) for name in names)]
        if len(nodes) < 2 or nodes[-1] is None:
            return
        node, previous = nodes[-1], nodes[-2]
        edge = self._edge(index, previous, node)
        self._changes += 1
        self._last = [(index, previous, edge)]
        key = index, tuple((name, repr(value)) for name, value in verdict.binding.items())
        self._over.pop(key, None)
        self._over[key] = Slice(
            verdict.property, show_values(verdict.binding), machine.names[node], node, previous, edge
        )
        if len(self._over) > MOST_SLICES:
            del self._over[next(iter(self._over))]

    def _arrive(self, index: int, node: int, event: str) -> None:
        """Some instance came to a node by an event: if there is one way only, that was it."""
        ways = [
            (number, edge.source)
            for number, edge in enumerate(self.automata[index].edges)
            if edge.target == node and (edge.label == event or edge.label.startswith(f"{event} ["))
        ]
        if len(ways) != 1:
            return
        edge, previous = ways[0]
        self._changes += 1
        self._last = [(index, previous, edge)]
        for key, track in self._tracks.items():
            if key[0] == index and track.node == node and track.edge is None:
                self._tracks[key] = Track(node, previous, edge, self._changes)

    def look(self, harmless: bool) -> Looked:
        """Where its slices are now: together, one by one as far as they fit, and how many there are. `harmless`: no
        code of the program's is run for it."""
        events = self._watch.monitor.stats().events
        inside = self._as_inside() if harmless and self._watch.fed else None
        crowded = self._is_crowded() if inside is None else len(inside.places) > _MANY
        if self._seen is not None and self._seen[0] == events and crowded and inside is None:
            return self._seen[1]
        counts, last, count = self._far(inside) if crowded else self._near(inside)
        for (index, _), over in self._over.items():
            _count(counts[index], over.node)
        shown = [*reversed(self._over.values()), *(self._shown(key, each, harmless) for key, each in last)]
        now = tuple(self._now(index, counts[index]) for index in range(len(self.automata)))
        self._seen = events, (now, tuple(shown[:MOST_SLICES]), count + len(self._over))
        return self._seen[1]

    # ---- how it works

    def _is_crowded(self) -> bool:
        return self._watch.monitor.stats().alive > _MANY

    def _near(self, inside: Standing | None) -> tuple[Counts, Slices, int]:
        """Each slice is looked at."""
        slices = self._compare(inside)
        counts: Counts = [{} for _ in self.automata]
        for key, _ in slices:
            _count(counts[key[0]], self._tracks[key].node)
        last = sorted(slices, key=lambda each: -self._tracks[each[0]].moved)[:MOST_SLICES]
        return counts, last, len(slices)

    def _far(self, inside: Standing | None) -> tuple[Counts, Slices, int]:
        """There are too many for that: those that are shown are looked at."""
        standing = inside or self._watch.monitor.standing()
        seen = self._crowd.look(standing)
        at = {place: self._nodes_at(standing, place) for place in seen.places}
        counts: Counts = [{} for _ in self.automata]
        for place, many in seen.counts.items():
            for index, node in at[place].items():
                _count(counts[index], node, many)
        if not self._tells or self._watch.fed:
            self._pass_on([(at.get(was, {}), at[place]) for was, place in seen.ways])
        slices: Slices = []
        made = standing.take(seen.first)
        tracks: dict[Key, Track] = {}
        for which, was in seen.first.items():
            for each in made[which]:
                index = self._indexes[each.property]
                key = _key(index, each.binding)
                node = self._nodes[index].get(each.state)
                known = self._tracks.get(key)
                if known is None or known.node != node:
                    known = self._tracked(index, at.get(was, {}).get(index), node)
                tracks[key] = known
                slices.append((key, each))
        self._tracks = tracks
        self._forget_texts()
        return counts, slices, sum(many * len(at[place]) for place, many in seen.counts.items())

    def _nodes_at(self, standing: Standing, place: Hashable) -> dict[int, int | None]:
        """By property, the node at a place."""
        found = ((self._indexes[name], state) for name, state in standing.states(place))
        return {index: self._nodes[index].get(state) for index, state in found}

    def _pass_on(self, ways: Sequence[tuple[Mapping[int, int | None], Mapping[int, int | None]]]) -> None:
        """Slices have moved, and nobody has told of it."""
        last = []
        for old, new in ways:
            for index, node in new.items():
                previous = old.get(index, self._origin(index, node))
                if previous != node:
                    last.append((index, previous, self._edge(index, previous, node)))
        if last:
            self._changes += 1
            self._last = last

    def _tracked(self, index: int, was: int | None, node: int | None) -> Track:
        previous = self._origin(index, node) if was is None else was
        if previous == node:
            return Track(node)
        return Track(node, previous, self._edge(index, previous, node), self._changes)

    def _taken(self, change: Change) -> tuple[int, int | None, int | None]:
        index = self._indexes[change.property]
        old, new = self._nodes[index][change.old], self._nodes[index][change.new]
        end = getattr(change.transition, change.end)
        label = next((label for label, each in change.transition.labels() if each is end), None)
        edge = self._edge(index, old, new, label)
        self._tracks[_key(index, change.binding)] = Track(new, old, edge, self._changes)
        return index, old, edge

    def _compare(self, inside: Standing | None = None, *, begins: bool = False) -> Slices:
        """Find what has moved, and forget what is gone; at the beginning nothing has."""
        if inside is None:
            instances = self._watch.monitor.slices()
        else:
            instances = [each for made in inside.take(inside.places).values() for each in made]
        slices = [(_key(self._indexes[each.property], each.binding), each) for each in instances]
        tracks, last = {}, []
        for key, each in slices:
            index = key[0]
            node = self._nodes[index].get(each.state)
            known = self._tracks.get(key) or Track(node if begins else self._origin(index, node))
            if known.node != node:
                edge = self._edge(index, known.node, node)
                last.append((index, known.node, edge))
                known = Track(node, known.node, edge, self._changes + 1)
            tracks[key] = known
        if last:
            self._changes += 1
            self._last = last
        self._tracks = tracks
        self._forget_texts()
        return slices

    def _forget_texts(self) -> None:
        self._texts = {key: text for key, text in self._texts.items() if key in self._tracks}

    def _as_inside(self) -> Standing | None:
        """The instances as they are inside of the program, of which the monitor may not have heard yet."""
        stepped = self._watch.stepped
        rows = [] if stepped is None or stepped.follow is None else stepped.follow.rows()
        if stepped is None or not rows:
            return None
        names = [parameter.name for parameter in self._watch.spec.parameters]
        states = {row: numbers for numbers, row in stepped.stepper.rows.items()}
        shared = [each for each in self._first_slices() if bool(each.binding) is not stepped.stepper.keyed]

        def stand(place: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - a row, or what it stands for
            if isinstance(place, tuple):
                return [place]
            pairs = zip(self.automata, states[place], strict=True)
            return [(automaton.property, automaton.nodes[node].name) for automaton, node in pairs]

        def make(which: Any) -> list[Instance]:  # noqa: ANN401 - one of the keys below
            if isinstance(which, tuple):
                return [shared[which[0]]]
            binding = {} if which is None else {names[0]: which}
            return [Instance(name, binding, state, {}) for name, state in stand(places[which])]

        places: dict[Hashable, Hashable] = {
            (number,): (each.property, each.state) for number, each in enumerate(shared)
        }
        places |= rows
        return Standing(places, stand, lambda wanted: {which: make(which) for which in wanted})

    def _first_slices(self) -> Sequence[Instance]:
        """Those that were there before all others."""
        if not self._is_crowded():
            return self._watch.monitor.slices()
        standing = self._watch.monitor.standing()
        first = standing.take(set(islice(standing.places, len(self.automata))))
        return [each for made in first.values() for each in made]

    def _origin(self, index: int, node: int | None) -> int | None:
        """Where a slice was of which nothing was known."""
        machine = self._machines[index]
        return machine.initial if isinstance(machine, TableMachine) else node

    def _edge(self, index: int, source: int | None, target: int | None, label: str | None = None) -> int | None:
        edges = [
            number
            for number, edge in enumerate(self.automata[index].edges)
            if (edge.source, edge.target) == (source, target) and label in (None, edge.label)
        ]
        return edges[0] if len(edges) == 1 else None

    def _shown(self, key: Key, each: Instance, harmless: bool) -> Slice:
        track = self._tracks[key]
        binding = self._texts.get(key) if harmless else None
        if binding is None:
            binding = self._texts[key] = show_values(self._watch.shown(each.binding), harmless=harmless)
        environment = show_values(each.environment, harmless=harmless)
        return Slice(each.property, binding, printable(each.state), track.node, track.previous, track.edge, environment)

    def _now(self, index: int, counts: Mapping[int, int]) -> Now:
        last = [(previous, edge) for other, previous, edge in self._last if other == index]
        previous = dict.fromkeys(previous for previous, _ in last if previous is not None)
        taken = dict.fromkeys(edge for _, edge in last if edge is not None)
        return Now(self.automata[index].property, counts, tuple(previous), tuple(taken))


def _automaton(watch: Watch, name: str, machine: Machine) -> Automaton:
    drawing = machine.drawing()
    nodes = [Node(each.name, each.note) for each in drawing.nodes]
    if isinstance(machine, GuardedMachine):
        nodes = [replace(node, acceptance=state.acceptance) for node, state in zip(nodes, machine.states, strict=True)]
    if isinstance(machine, TableMachine):
        nodes = [
            replace(node, acceptance=_acceptance(watch, name, categories & machine.goal))
            for node, categories in zip(nodes, machine.categories, strict=True)
        ]
    return Automaton(name, tuple(nodes), drawing.edges, drawing.initial, drawing.summary, drawing.remarks)


def _acceptance(watch: Watch, name: str, reported: frozenset[str]) -> Acceptance:
    """A state of a table says something if it is reported: that the property is violated, or good news."""
    if not reported:
        return Acceptance.NEUTRAL
    bad = any(watch.violated_by(name, category) for category in reported)
    return Acceptance.NON_ACCEPTING if bad else Acceptance.ACCEPTING


def _key(index: int, binding: Mapping[str, object]) -> Key:
    """Objects are told apart as objects, and not kept."""
    return index, tuple(
        (name, (type(value).__name__, value if type(value) in _SCALARS else id(value)))
        for name, value in sorted(binding.items())
    )


def _count(counts: dict[int, int], node: int | None, many: int = 1) -> None:
    if node is not None:
        counts[node] = counts.get(node, 0) + many
