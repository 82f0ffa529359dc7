"""Stage 2: a machine drawn for people: text for a terminal, DOT, Mermaid.

What is drawn, the machine says itself (`Machine.drawing`); here it gets its form. Pictures are
made from DOT by Graphviz, which is a program; this stage runs none.
"""

from __future__ import annotations

from mopsus.logics.logic import LogicError
from mopsus.model.drawing import Drawable, Drawing, Node

FORMATS = ("text", "dot", "mermaid")


def draw(machine: Drawable, form: str, title: str = "") -> str:
    """The machine in one of `FORMATS`; `LogicError` for any other."""
    match form:
        case "text":
            return draw_text(machine.drawing(), title)
        case "dot":
            return draw_dot(machine.drawing(), title)
        case "mermaid":
            return draw_mermaid(machine.drawing(), title)
    raise LogicError(f"unknown drawing format '{form}'", code="LOGIC-014", hint="there is: " + ", ".join(FORMATS))


def draw_text(drawing: Drawing, title: str = "") -> str:
    """A listing for the terminal: `>` marks the initial node, `*` a node that reports; a word says what."""
    lines = [f"{title + ': ' if title else ''}{drawing.summary}", *drawing.remarks]
    width = max((len(edge.label) for edge in drawing.edges), default=0)
    leaving: list[list[str]] = [[] for _ in drawing.nodes]
    for edge in drawing.edges:
        where = "stays" if edge.target == edge.source else drawing.nodes[edge.target].name
        leaving[edge.source].append(f"       {edge.label:<{width}} -> {where}")
    for number, node in enumerate(drawing.nodes):
        marks = (">" if number == drawing.initial else " ") + ("*" if node.reports else " ")
        lines += [f"{marks} {node.name}{_bracketed(node, ' ')}", *leaving[number]]
    return "\n".join(lines) + "\n"


def draw_dot(drawing: Drawing, title: str = "") -> str:
    """A Graphviz digraph; nodes that report have a double border."""
    lines = [f"digraph {_quote(title or 'machine')} {{", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    if caption := "\n".join([*([title] if title else []), *drawing.remarks]):
        lines.append(f"  label={_quote(caption)};")
    if drawing.initial is not None:
        lines.append("  start [shape=point];")
    for number, node in enumerate(drawing.nodes):
        border = ", peripheries=2" if node.reports else ""
        lines.append(f"  n{number} [label={_quote(node.name + _bracketed(node, chr(10)))}{border}];")
    if drawing.initial is not None:
        lines.append(f"  start -> n{drawing.initial};")
    lines += [f"  n{edge.source} -> n{edge.target} [label={_quote(edge.label)}];" for edge in drawing.edges]
    return "\n".join([*lines, "}"]) + "\n"


def draw_mermaid(drawing: Drawing, title: str = "") -> str:
    """A Mermaid state diagram; nodes that report have the class `report`."""
    lines = ["---", f"title: {_mermaid(title)}", "---"] if title else []
    lines += ["stateDiagram-v2", "  direction LR", "  classDef report stroke-width:3px"]
    lines += [f"  %% {remark}" for remark in drawing.remarks]
    for number, node in enumerate(drawing.nodes):
        lines.append(f'  state "{_mermaid(node.name + _bracketed(node, " "))}" as n{number}')
    if drawing.initial is not None:
        lines.append(f"  [*] --> n{drawing.initial}")
    for edge in drawing.edges:
        label = f": {_mermaid(edge.label)}" if edge.label else ""
        lines.append(f"  n{edge.source} --> n{edge.target}{label}")
    lines += [f"  class n{number} report" for number, node in enumerate(drawing.nodes) if node.reports]
    return "\n".join(lines) + "\n"


def _bracketed(node: Node, before: str) -> str:
    return f"{before}[{node.note}]" if node.note else ""


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _mermaid(text: str) -> str:
    return text.replace('"', "'").replace(":", "#58;").replace("\n", " ")
