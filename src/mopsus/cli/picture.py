"""Pictures of machines, drawn by Graphviz.

Here and not with the other drawings, because the stages below start no processes.
"""

from __future__ import annotations

import shutil
import subprocess

from mopsus.cli.messages import CommandError
from mopsus.model.drawing import Drawable


def draw_picture(machine: Drawable, form: str, title: str = "") -> bytes:
    """The machine as `svg` or `png`; `CommandError` where Graphviz is missing or fails."""
    from mopsus.logics import draw

    program = shutil.which("dot")
    if program is None:
        hint = "install graphviz, or draw as text, dot or mermaid"
        raise CommandError(f"{form} is drawn by Graphviz, which is not installed", hint=hint, code="CLI-003")
    source = draw(machine, "dot", title).encode()
    done = subprocess.run([program, f"-T{form}"], input=source, capture_output=True, check=False)
    if done.returncode != 0:
        complaint = done.stderr.decode("utf-8", "replace").strip()
        raise CommandError(f"Graphviz failed: {complaint}", hint="draw as text, dot or mermaid", code="CLI-003")
    return done.stdout
