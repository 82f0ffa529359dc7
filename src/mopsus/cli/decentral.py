"""What the commands do with decentralized specifications."""

from __future__ import annotations

from pathlib import Path

from mopsus.cli.graph import Form, render_drawing
from mopsus.cli.messages import CommandError, unknown
from mopsus.decentral.analysis.dependencies import DependencyPicture
from mopsus.decentral.load import load_specification


def draw_specification(file: Path, name: str | None, form: Form) -> bytes:
    """The automata of a specification as text, or one drawing of it in another form."""
    specification = load_specification(file).specification
    if name is not None and name not in specification.monitors:
        raise unknown("monitor", name, specification.monitors)
    if form is Form.HOA:
        raise CommandError("automata over propositions are not written as hoa", hint="draw as dot", code="CLI-003")
    together = DependencyPicture(specification)
    if form is not Form.TEXT:
        drawn = together if name is None else specification.monitors[name].automaton
        return render_drawing(drawn, form, name or file.stem)
    chosen = specification.monitors if name is None else [name]
    parts = [render_drawing(specification.monitors[each].automaton, form, each) for each in chosen]
    if name is None and len(parts) > 1:
        parts.insert(0, render_drawing(together, form, file.stem))
    return b"\n".join(parts)
