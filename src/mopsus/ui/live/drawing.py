"""The automaton of a property as SVG, in the colours of how its slices stand.

A current accepting state is green, a current non-accepting one red, another non-accepting one light red; the transition
of the last change is brown, and a state that was current before it grey. Nobody has to tell colours apart: a current
state has a thick border and the number of its slices, one that was current a dashed border, a non-accepting one a
double border, and the last transition a thick line.
"""

from __future__ import annotations

from html import escape

from mopsus.interactive.live.picture import Automaton, Node, Now, Slice
from mopsus.model import Acceptance
from mopsus.ui.live.layout import LETTER, LINE, Arrow, Box, Layout

STYLE = """
:root { --m-current-accepting: #4caf50; --m-current-non-accepting: #d32f2f; --m-current-neutral: #4fc3f7;
        --m-non-accepting: #ffcdd2; --m-previous: #9e9e9e; --m-taken: #795548; --m-on-colour: #10191d; }
.body--dark { --m-taken: #c8966a; }
.m-live-drawing { overflow-x: auto; }
.m-live-drawing.m-large { background: var(--m-box) !important; }
.m-live-automaton { display: block; margin: 0 auto; max-height: 62vh; }
.m-large .m-live-automaton { max-height: none; width: 100%; }
.m-live-automaton text { font: 13px system-ui, "Helvetica Neue", Arial, sans-serif; fill: var(--m-text); }
.m-live-automaton .state rect { fill: var(--m-box); stroke: var(--m-text); stroke-width: 1; }
.m-live-automaton .state .name { font-weight: 600; }
.m-live-automaton .state .note { font-size: 11px; }
.m-live-automaton .state .inner { fill: none; }
.m-live-automaton .non-accepting .outer { fill: var(--m-non-accepting); }
.m-live-automaton .previous .outer { fill: var(--m-previous); stroke-dasharray: 5 3; stroke-width: 2; }
.m-live-automaton .current .outer { stroke-width: 3.5; stroke-dasharray: none; fill: var(--m-current-neutral); }
.m-live-automaton .current.accepting .outer { fill: var(--m-current-accepting); }
.m-live-automaton .current.non-accepting .outer { fill: var(--m-current-non-accepting); }
.m-live-automaton :is(.non-accepting, .previous, .current) text { fill: var(--m-on-colour); }
.m-live-automaton :is(.non-accepting, .previous, .current) .inner { stroke: var(--m-on-colour); }
.m-live-automaton .current.non-accepting text { fill: white; }
.m-live-automaton .current.non-accepting .inner { stroke: white; }
.m-live-automaton .current .badge { fill: var(--m-box); stroke: var(--m-text); stroke-width: 1.5; }
.m-live-automaton .current text.count { fill: var(--m-text); font-size: 11px; font-weight: 700; }
.m-live-automaton .way path { fill: none; stroke: var(--m-text); stroke-width: 1.2; }
.m-live-automaton .way text { paint-order: stroke; stroke: var(--m-box); stroke-width: 3px; font-size: 12px; }
.m-live-automaton .taken path { stroke: var(--m-taken); stroke-width: 4; }
.m-live-automaton .taken text { fill: var(--m-taken); font-weight: 700; }
.m-live-automaton .begin circle { fill: var(--m-text); }
.m-listing { max-height: 62vh; overflow: auto; }
.m-legend { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 0.75rem; align-items: center; }
.m-legend > span { display: inline-flex; align-items: center; gap: 6px; }
.m-legend i { width: 22px; height: 14px; border-radius: 4px; border: 1px solid var(--m-text); }
.m-legend .non-accepting { background: var(--m-non-accepting); border: 3px double var(--m-on-colour); }
.m-legend .previous { background: var(--m-previous); border: 2px dashed var(--m-text); }
.m-legend .current { border-width: 3px; background: var(--m-current-neutral); }
.m-legend .current.accepting { background: var(--m-current-accepting); }
.m-legend .current.non-accepting { background: var(--m-current-non-accepting); border: 3px solid var(--m-text); }
.m-legend .taken { height: 0; border: 0; border-top: 4px solid var(--m-taken); border-radius: 0; }
"""

_HEADS = (
    '<defs><marker id="m-way" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="11" markerHeight="9" orient="auto" '
    'markerUnits="userSpaceOnUse"><path d="M 0 0 L 8 4 L 0 8 z" style="fill: context-stroke; stroke: none"/></marker>'
    '<marker id="m-taken" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="16" markerHeight="14" orient="auto" '
    'markerUnits="userSpaceOnUse"><path d="M 0 0 L 8 4 L 0 8 z" style="fill: context-stroke; stroke: none"/></marker>'
    "</defs>"
)

_LEGEND = (
    ("current accepting", "current, accepting"),
    ("current non-accepting", "current, non-accepting"),
    ("current", "current, neither"),
    ("non-accepting", "non-accepting"),
    ("previous", "current before"),
    ("taken", "last transition"),
)


def now_of_slice(chosen: Slice, property: str) -> Now:
    """Where one slice alone is in the automaton of a property."""
    if chosen.property != property:
        return Now(property, {})
    here, before, taken = ((each,) if each is not None else () for each in (chosen.node, chosen.previous, chosen.edge))
    return Now(property, dict.fromkeys(here, 1), before, taken)


def draw_automaton(automaton: Automaton, layout: Layout, now: Now) -> str:
    """The whole drawing. All names in it are escaped."""
    width = layout.width + 26
    lines = [
        f'<svg class="m-live-automaton" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{escape(in_words(automaton, now))}" '
        f'viewBox="-12 -18 {width:.0f} {layout.height + 30:.0f}" '
        # Rather to be scrolled than not to be read.
        f'style="width: 100%; min-width: {0.7 * width:.0f}px; max-width: {width:.0f}px">',
        _HEADS,
    ]
    if layout.start is not None:
        x, y = layout.start.split()[1].split(",")
        lines.append(
            f'<g class="way begin"><circle cx="{x}" cy="{y}" r="4"/>'
            f'<path d="{layout.start}" marker-end="url(#m-way)"/></g>'
        )
    # What was taken lies above the others, and words above all lines.
    order = sorted(range(len(layout.arrows)), key=lambda number: number in now.taken)
    lines += [_way(number, layout.arrows[number], number in now.taken) for number in order]
    lines += [_label(automaton.edges[number].label, layout.arrows[number], number in now.taken) for number in order]
    lines += [_state(number, node, layout.boxes[number], now) for number, node in enumerate(automaton.nodes)]
    return "".join([*lines, "</svg>"])


def legend() -> str:
    """What the colours and borders mean."""
    return (
        '<div class="m-legend">'
        + "".join(f'<span><i class="{how}"></i>{what}</span>' for how, what in _LEGEND)
        + "</div>"
    )


def in_words(automaton: Automaton, now: Now) -> str:
    """Where the slices are, for those who see no drawing."""
    if not now.counts:
        return "No slice is there yet."
    names = (
        automaton.nodes[node].name + ("" if _is_alone(now) else f" x{count:,}")
        for node, count in sorted(now.counts.items())
    )
    return f"In {', '.join(names)}."


def _state(number: int, node: Node, box: Box, now: Now) -> str:
    count = now.counts.get(number, 0)
    holds = {
        node.acceptance.value: bool(node.acceptance.value),
        "previous": number in now.previous and not count,
        "current": bool(count),
    }
    classes = " ".join(("state", *(each for each, is_so in holds.items() if is_so)))
    left, top = box.x - box.width / 2, box.y - box.height / 2
    lines = [
        f'<g class="{classes}" data-state="{escape(node.name)}"><title>{escape(f"{node.name} {node.note}")}</title>',
        f'<rect class="outer" x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="8"/>',
    ]
    if node.acceptance is Acceptance.NON_ACCEPTING:
        lines.append(
            f'<rect class="inner" x="{left + 4:.1f}" y="{top + 4:.1f}" width="{box.width - 8:.1f}" '
            f'height="{box.height - 8:.1f}" rx="5"/>'
        )
    middle = box.y - (LINE / 2 - 1 if box.note else 0)
    lines.append(_text("name", box.x, middle, box.name))
    if box.note:
        lines.append(_text("note", box.x, middle + LINE - 1, box.note))
    if count:
        shown = "●" if _is_alone(now) else f"{count:,}"
        width = LETTER * len(shown) + 10
        x = left + box.width - width / 2 + 8
        lines.append(
            f'<rect class="badge" x="{x - width / 2:.1f}" y="{top - 13:.1f}" width="{width:.1f}" height="18" rx="9"/>'
        )
        lines.append(_text("count", x, top - 4.5, shown))
    return "".join([*lines, "</g>"])


def _way(number: int, arrow: Arrow, taken: bool) -> str:
    head = "m-taken" if taken else "m-way"
    line = f'<path d="{arrow.path}" marker-end="url(#{head})"/>'
    return f'<g class="way{" taken" * taken}" data-edge="{number}">{line}</g>'


def _label(label: str, arrow: Arrow, taken: bool) -> str:
    top = arrow.y - LINE * (len(arrow.words) - 1) / 2
    lines = [_text("label", arrow.x, top + LINE * row, words) for row, words in enumerate(arrow.words)]
    return f'<g class="way{" taken" * taken}"><title>{escape(label)}</title>{"".join(lines)}</g>'


def _text(kind: str, x: float, y: float, text: str) -> str:
    """Words around a point; the line of letters lies a bit below it."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle">{escape(text)}</text>'


def _is_alone(now: Now) -> bool:
    """Is there one slice, so that nobody has to count?"""
    return sum(now.counts.values()) == 1
