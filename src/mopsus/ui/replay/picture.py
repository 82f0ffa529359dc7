"""The picture of a moment: components as boxes with their monitors in them, and messages between them, as SVG."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from mopsus.decentral.simulate.recording import Recording, Sent, Step
from mopsus.ui.replay.moments import Moment

WIDTH, HEAD, ROW = 190, 46, 26
"""Of a component's box, of its title, of a monitor in it."""
MOST_ON_A_RING = 10
"""More components are drawn in rows."""
MOST_ARROWS = 200
"""Of the messages beyond, only the number is told."""

MOST_LABELS = 12
"""Of more arrows, only the legend and a look at each one say what they are."""

KINDS: Mapping[str, int] = {"Memory": 1, "Ehe": 2, "Verdict": 3, "Kill": 4}
"""The colour of each kind of message; all others share one."""

HEADS = (
    '<defs><marker id="m-head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M 0 0 L 8 4 L 0 8 z" fill="context-stroke"/></marker></defs>'
)

STYLE = """
.m-net { width: 100%; max-height: 62vh; }
.m-net text { font: 13px system-ui, sans-serif; fill: var(--m-text); }
.m-net .box { fill: var(--m-box); stroke: var(--m-line); }
.m-net .apart .box { stroke: var(--m-false); stroke-dasharray: 6 4; }
.m-net .name { font-weight: 600; }
.m-net .seen { font-size: 11px; fill: var(--m-faint); }
.m-net .monitor { cursor: pointer; }
.m-net .monitor rect { fill: var(--m-page); stroke: var(--m-line); }
.m-net .monitor.ran rect { fill: var(--m-lit); }
.m-net .monitor.chosen rect { stroke: var(--m-accent); stroke-width: 2.5; }
.m-net .monitor.down rect { stroke: var(--m-false); stroke-dasharray: 3 3; }
.m-net .monitor.down text { text-decoration: line-through; }
.m-net .found-true { fill: var(--m-true); font-weight: 700; }
.m-net .found-false { fill: var(--m-false); font-weight: 700; }
.m-net .message path { fill: none; stroke-width: 1.6; }
.m-net .message.lost path { stroke-dasharray: 4 4; opacity: 0.6; }
.m-net .message.arrived path { opacity: 0.35; }
.m-net .message text { font-size: 11px; }
""" + "".join(
    f".m-net .kind-{number} path {{ stroke: var(--m-kind-{number}); }}"
    f".m-net .kind-{number} circle {{ fill: var(--m-kind-{number}); }}\n"
    for number in range(5)
)


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the picture."""

    x: float
    y: float


class Layout:
    """Where everything is: the same in all rounds, so that only what happens moves."""

    def __init__(self, recording: Recording) -> None:
        self.monitors: dict[str, list[str]] = {name: [] for name in recording.components}
        for monitor in recording.monitors:
            self.monitors[monitor.place].append(monitor.name)
        most = max(map(len, self.monitors.values()), default=0)
        self._tall = HEAD + ROW * most
        self.corners = _corners(list(self.monitors), self._tall)
        """The left upper corner of each component's box."""
        self.width = max((corner.x for corner in self.corners.values()), default=0) + WIDTH + 20
        self.height = (
            max((corner.y for corner in self.corners.values()), default=0) + self._tall + 50
        )  # for bent arrows
        self.places = {
            name: Point(self.corners[component].x + WIDTH / 2, self.corners[component].y + HEAD + ROW * (row + 0.4))
            for component, names in self.monitors.items()
            for row, name in enumerate(names)
        }
        """The middle of each monitor."""

    def tall(self, component: str) -> int:
        """The height of a component's box."""
        return HEAD + ROW * len(self.monitors[component])


def draw_moment(layout: Layout, moment: Moment, chosen: str | None = None) -> str:
    """The picture of a moment; one monitor may be marked as chosen."""
    parts = [_component(layout, moment, name, chosen) for name in layout.monitors]
    groups = [
        *(("arrived", key, group) for key, group in _grouped(moment.delivered).items()),
        *(("lost", key, group) for key, group in _grouped(moment.lost).items()),
        *(("flying", key, group) for key, group in _grouped(moment.flying).items()),
    ]
    drawn = groups[-MOST_ARROWS:]  # those on their way first of all
    labelled = len(drawn) <= MOST_LABELS
    parts += [
        _arrow(layout, moment.round, state, source, target, group, labelled)
        for state, (source, target, _), group in drawn
    ]
    parts.append(_legend(layout, sorted({kind for _, (_, _, kind), _ in groups}), len(groups) - len(drawn)))
    size = f'viewBox="0 0 {layout.width:g} {layout.height:g}"'
    return f'<svg class="m-net" xmlns="http://www.w3.org/2000/svg" {size}>{HEADS}{"".join(parts)}</svg>'


def entries_of(step: Step) -> str:
    """How large the encoding of a monitor is, in words."""
    return f"{step.entries} {'entry' if step.entries == 1 else 'entries'}"


def _corners(components: Sequence[str], tall: float) -> dict[str, Point]:
    count = len(components)
    if count > MOST_ON_A_RING:
        columns = math.ceil(math.sqrt(count))
        return {
            name: Point(10 + number % columns * (WIDTH + 50), 10 + number // columns * (tall + 40))
            for number, name in enumerate(components)
        }
    # So large that neighbours on the ring have room between them.
    across, down = max(180, count * 80), max(1.2 * tall, count * 0.3 * tall) if count > 2 else 0
    turns = [2 * math.pi * (number / max(count, 1)) - math.pi * (1 if count == 2 else 0.5) for number in range(count)]
    points = [Point(across * math.cos(turn), down * math.sin(turn)) for turn in turns]
    left, top = min((each.x for each in points), default=0), min((each.y for each in points), default=0)
    return {name: Point(each.x - left + 10, each.y - top + 10) for name, each in zip(components, points, strict=True)}


def _component(layout: Layout, moment: Moment, name: str, chosen: str | None) -> str:
    corner = layout.corners[name]
    seen = ", ".join(f"{'' if value else '!'}{put}" for put, value in moment.observed.get(name, {}).items())
    lines = [
        f'<g class="component{" apart" * (name in moment.apart)}" data-component="{escape(name)}">',
        f'<rect class="box" x="{corner.x:g}" y="{corner.y:g}" width="{WIDTH}" height="{layout.tall(name)}" rx="8"/>',
        f'<text class="name" x="{corner.x + 10:g}" y="{corner.y + 18:g}">{_short(name, 20)}</text>',
        f'<text class="seen" x="{corner.x + 10:g}" y="{corner.y + 34:g}">{_short(seen, 30)}</text>',
        *(_monitor(layout, moment, each, each == chosen) for each in layout.monitors[name]),
        "</g>",
    ]
    return "".join(lines)


def _monitor(layout: Layout, moment: Moment, name: str, chosen: bool) -> str:
    place = layout.places[name]
    states = {"ran": name in moment.ran, "down": name in moment.down, "chosen": chosen}
    classes = " ".join(("monitor", *(state for state, holds in states.items() if holds)))
    step = moment.steps.get(name)
    size = entries_of(step) if step is not None and step.states else ""
    found = [each.verdict for each in moment.findings if each.monitor == name]
    word = "" if not found else "true" if found[-1] else "false"
    left, top = place.x - WIDTH / 2 + 8, place.y - ROW / 2 + 2
    return (
        f'<g class="{classes}" data-monitor="{escape(name)}"><title>{escape(name)}</title>'
        f'<rect x="{left:g}" y="{top:g}" width="{WIDTH - 16}" height="{ROW - 4}" rx="5"/>'
        f'<text x="{left + 8:g}" y="{top + 15:g}">{_short(name, 14)}</text>'
        f'<text class="{f"found-{word}" if word else "seen"}" x="{left + WIDTH - 24:g}" y="{top + 15:g}" '
        f'text-anchor="end">{word or size}</text></g>'
    )


def _legend(layout: Layout, kinds: Sequence[str], left: int) -> str:
    """Which colour is which kind of message, and how many are not drawn."""
    below = layout.height - 8
    lines = [
        f'<g class="kind-{KINDS.get(kind, 0)}"><circle cx="{16 + 120 * number}" cy="{below - 4:g}" r="5"/>'
        f'<text class="seen" x="{26 + 120 * number}" y="{below:g}">{_short(kind, 16)}</text></g>'
        for number, kind in enumerate(kinds)
    ]
    if left:
        lines.append(f'<text class="seen" x="{26 + 120 * len(kinds)}" y="{below:g}">and {left} messages more</text>')
    return f'<g class="legend">{"".join(lines)}</g>'


def _grouped(messages: Sequence[Sent]) -> dict[tuple[str, str, str], list[Sent]]:
    """Messages of one kind that go the same way: one arrow."""
    groups: dict[tuple[str, str, str], list[Sent]] = defaultdict(list)
    for each in messages:
        groups[each.source, each.target, each.kind].append(each)
    return groups


def _arrow(
    layout: Layout, now: int, state: str, source: str, target: str, group: Sequence[Sent], labelled: bool
) -> str:
    kind = group[0].kind
    one, other = layout.places[source], layout.places[target]
    # Arrows leave and arrive at the sides that look at each other, and bend to their right: ways back lie beside them.
    toward = math.copysign(WIDTH / 2 - 8, other.x - one.x) if abs(other.x - one.x) > 1 else WIDTH / 2 - 8
    begin = Point(one.x + toward, one.y)
    end = Point(other.x - (toward if abs(other.x - one.x) > 1 else -toward), other.y)
    bend = Point(
        (begin.x + end.x) / 2 - (end.y - begin.y) * 0.15 + (60 if begin.x == end.x else 0),
        (begin.y + end.y) / 2 + (end.x - begin.x) * 0.15 + 12 * KINDS.get(kind, 0),
    )
    count = f"{len(group)} " if len(group) > 1 else ""
    note = f"{kind} from {source} to {target}, sent in round {group[0].sent}: {group[0].text}"
    lines = [
        f'<g class="message {state} kind-{KINDS.get(kind, 0)}" data-message="{escape(kind)}">',
        f"<title>{escape(note)}</title>",
        f'<path d="M {begin.x:g} {begin.y:g} Q {bend.x:g} {bend.y:g} {end.x:g} {end.y:g}" marker-end="url(#m-head)"/>',
    ]
    for each in group:
        at = _on_curve(begin, bend, end, _way(each, now))
        lines.append(f'<circle cx="{at.x:.1f}" cy="{at.y:.1f}" r="5"/>')
    if labelled and state != "arrived":
        middle = _on_curve(begin, bend, end, 0.5)
        word = f"{count}{kind}" + (" (lost)" if state == "lost" else "")
        lines.append(f'<text x="{middle.x:.1f}" y="{middle.y - 8:.1f}" text-anchor="middle">{escape(word)}</text>')
    return "".join((*lines, "</g>"))


def _way(message: Sent, now: int) -> float:
    """How far a message has come, from 0 to 1."""
    if message.delivered is None:
        return 0.35
    return min(1.0, (now - message.sent + 0.5) / max(1, message.delivered - message.sent))


def _on_curve(begin: Point, bend: Point, end: Point, way: float) -> Point:
    back = 1 - way
    return Point(
        back * back * begin.x + 2 * back * way * bend.x + way * way * end.x,
        back * back * begin.y + 2 * back * way * bend.y + way * way * end.y,
    )


def _short(text: str, most: int) -> str:
    return escape(text if len(text) <= most else text[: most - 1] + "…")
