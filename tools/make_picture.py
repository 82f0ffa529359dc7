"""Draw the picture of the README: what `mopsus check` really prints on a terminal, as an SVG.

python tools/make_picture.py            write docs/images/check.svg
python tools/make_picture.py --check    status 1 where the picture is not what it would write
"""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "check.svg"
WIDTH = 100
RATE = re.compile(r" · [\d.,]+ (?:[kM] )?events/s")
"""Left out of the picture: only a run on a busy machine takes so long that it has one."""
COMMAND = ("check", "leases.mop", "queue.jsonl")


def draw() -> str:
    """The terminal after the command, as SVG; the same text for the same output."""
    output, status = on_terminal([sys.executable, "-m", "mopsus", *COMMAND], ROOT / "examples" / "leases")
    if status != 1:
        raise SystemExit(f"the example should give violations, but its status is {status}")
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_markup(f"[bold green]$[/] mopsus {' '.join(COMMAND)}"))
    console.print(Text.from_ansi(RATE.sub("", output).rstrip()))
    # Without the fonts that rich would load from elsewhere: a picture must not call home.
    return re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="mopsus", unique_id="check"), flags=re.DOTALL)


def words(picture: str) -> str:
    """What is written in a picture; the drawing around it is the business of rich's version."""
    return re.sub(r"\s|&#160;", "", "".join(re.findall(r"<text[^>]*>(.*?)</text>", picture, flags=re.DOTALL)))


def on_terminal(command: list[str], folder: Path) -> tuple[str, int]:
    """What a command writes to standard output when that is a terminal, and its status."""
    here, there = pty.openpty()
    environment = os.environ | {"COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=there, stderr=subprocess.DEVNULL) as child:
        os.close(there)
        parts = []
        # Linux ends the reading with an error when the other side is gone.
        with contextlib.suppress(OSError):
            while part := os.read(here, 65536):
                parts.append(part)
    os.close(here)
    return b"".join(parts).decode().replace("\r\n", "\n"), child.returncode


def main() -> int:
    picture = draw()
    if "--check" in sys.argv:
        if PICTURE.exists() and words(PICTURE.read_text(encoding="utf-8")) == words(picture):
            return 0
        print("docs/images/check.svg is not what the command prints; run tools/make_picture.py")
        return 1
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
