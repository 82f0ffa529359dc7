"""Pictures of machines, drawn by Graphviz.

Here and not with the other drawings, because the stages below start no processes.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from mopsus.report.messages import ReportError

if TYPE_CHECKING:
    from mopsus.model import Machine
    from mopsus.model.drawing import Drawable


def draw_picture(machine: Drawable, form: str, title: str = "") -> bytes:
    """The machine as `svg` or `png`; `ReportError` where Graphviz is missing or fails."""
    from mopsus.logics import draw

    program = shutil.which("dot")
    if program is None:
        hint = "install graphviz, or draw as text, dot or mermaid"
        raise ReportError(f"{form} is drawn by Graphviz, which is not installed", hint=hint, code="CLI-003")
    source = draw(machine, "dot", title).encode()
    done = subprocess.run([program, f"-T{form}"], input=source, capture_output=True, check=False)
    if done.returncode != 0:
        complaint = done.stderr.decode("utf-8", "replace").strip()
        raise ReportError(f"Graphviz failed: {complaint}", hint="draw as text, dot or mermaid", code="CLI-003")
    return done.stdout


def draw_svg(machine: Machine) -> str:
    """Draw the machine as an SVG element; nothing if Graphviz is not there."""
    if shutil.which("dot") is None:
        return ""
    text = draw_picture(machine, "svg").decode()
    return text[text.index("<svg") :]
