"""Stage 2: a machine drawn for people: text for a terminal, DOT, Mermaid.

Pictures are made from DOT by Graphviz, which is a program; this stage runs none.
"""

from __future__ import annotations

from mopsus.logics.logic import LogicError
from mopsus.model import Machine, TableMachine

FORMATS = ("text", "dot", "mermaid")

OTHERS = "others"
"""How a drawing calls all events of a state that are not drawn on their own."""


def draw(machine: Machine, form: str, title: str = "") -> str:
    """The machine in one of `FORMATS`; `LogicError` for any other."""
    if not isinstance(machine, TableMachine):
        raise LogicError("this machine has no states to draw", code="LOGIC-014")
    match form:
        case "text":
            return draw_text(machine, title)
        case "dot":
            return draw_dot(machine, title)
        case "mermaid":
            return draw_mermaid(machine, title)
    raise LogicError(f"unknown drawing format '{form}'", code="LOGIC-014", hint="there is: " + ", ".join(FORMATS))


def draw_text(machine: TableMachine, title: str = "") -> str:
    """A listing for the terminal: `>` marks the initial state, `*` a state that reports; a word says what."""
    count = len(machine.table)
    goal = ", ".join(sorted(machine.goal)) or "nothing"
    begin = machine.names[machine.initial]
    head = f"{title + ': ' if title else ''}{count} state{'s' * (count > 1)}, starts in {begin}, reports {goal}"
    lines = [head]
    width = max((len(label) for state in range(count) for label, _ in _edges(machine, state)), default=0)
    for state in range(count):
        marks = (">" if state == machine.initial else " ") + ("*" if _reported(machine, state) else " ")
        lines.append(f"{marks} {machine.names[state]}{_note(machine, state)}")
        for label, target in _edges(machine, state):
            where = "stays" if target == state else machine.names[target]
            lines.append(f"       {label:<{width}} -> {where}")
    return "\n".join(lines) + "\n"


def draw_dot(machine: TableMachine, title: str = "") -> str:
    """A Graphviz digraph; states that report have a double border."""
    lines = [f"digraph {_quote(title or 'machine')} {{", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
    if title:
        lines.append(f"  label={_quote(title)};")
    lines.append("  start [shape=point];")
    for state, name in enumerate(machine.names):
        border = ", peripheries=2" if _reported(machine, state) else ""
        label = _quote(name) if not _note(machine, state) else _quote(f"{name}\n{_note(machine, state).strip()}")
        lines.append(f"  n{state} [label={label}{border}];")
    lines.append(f"  start -> n{machine.initial};")
    for state in range(len(machine.table)):
        lines += [f"  n{state} -> n{target} [label={_quote(label)}];" for label, target in _edges(machine, state)]
    return "\n".join([*lines, "}"]) + "\n"


def draw_mermaid(machine: TableMachine, title: str = "") -> str:
    """A Mermaid state diagram; states that report have the class `report`."""
    lines = ["---", f"title: {_mermaid(title)}", "---"] if title else []
    lines += ["stateDiagram-v2", "  direction LR", "  classDef report stroke-width:3px"]
    for state, name in enumerate(machine.names):
        lines.append(f'  state "{_mermaid(name + _note(machine, state))}" as n{state}')
    lines.append(f"  [*] --> n{machine.initial}")
    for state in range(len(machine.table)):
        lines += [f"  n{state} --> n{target}: {_mermaid(label)}" for label, target in _edges(machine, state)]
    lines += [f"  class n{state} report" for state in range(len(machine.table)) if _reported(machine, state)]
    return "\n".join(lines) + "\n"


def _reported(machine: TableMachine, state: int) -> frozenset[str]:
    return machine.categories[state] & machine.goal


def _note(machine: TableMachine, state: int) -> str:
    """What a state reports, in brackets, unless its name says it; for ever or only as long as it is there."""
    parts = [
        category + (" for good" if category in machine.final[state] else "")
        for category in sorted(_reported(machine, state))
    ]
    return f" [{', '.join(parts)}]" if parts and parts != [machine.names[state]] else ""


def _edges(machine: TableMachine, state: int) -> list[tuple[str, int]]:
    """The transitions of a state as (label, target), one for each target.

    The target of most events comes last, labelled `others` if they are three or more, `every event` if they are all.
    """
    events: dict[int, list[str]] = {}
    for letter, target in enumerate(machine.table[state]):
        events.setdefault(target, []).append(machine.alphabet[letter])
    if len(events) == 1 and len(machine.alphabet) > 1:
        return [("every event", next(iter(events)))]
    common = max(events, key=lambda target: len(events[target]), default=None)
    edges = [(", ".join(names), target) for target, names in events.items() if target != common]
    if common is not None:
        names = events[common]
        # An event of that name would make the word ambiguous.
        edges.append((OTHERS if len(names) > 2 and OTHERS not in machine.alphabet else ", ".join(names), common))
    return edges


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _mermaid(text: str) -> str:
    return text.replace('"', "'").replace(":", "#58;").replace("\n", " ")
